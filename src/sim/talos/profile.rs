use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::model::{SchematicId, TalosVersion, TemplateMark};

/// The Talos in a guest, as a world file describes it. Whatever is left out follows from the VM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TalosGuest {
    pub(crate) profile: Profile,
    /// Otherwise that of the template that the VM was cloned from.
    #[serde(deserialize_with = "parsed")]
    pub(crate) version: Option<TalosVersion>,
    #[serde(deserialize_with = "parsed")]
    pub(crate) schematic: Option<SchematicId>,
    /// Whether the image is one for secure boot.
    pub(crate) secureboot: Option<bool>,
    /// The address that a DHCP server gives to a guest that ignores cloud-init.
    pub(crate) dhcp: Option<IpAddr>,
}

impl TalosGuest {
    /// Takes over from the mark of the template what is not said yet: a clone may lose the mark, but not its image.
    pub(crate) fn learn(&mut self, description: Option<&String>) {
        if let Some(mark) = description.and_then(|description| TemplateMark::find(description)) {
            self.version.get_or_insert(mark.talos_version);
            self.schematic.get_or_insert(mark.schematic_id);
            self.secureboot.get_or_insert(mark.secureboot);
        }
    }
}

/// What answers at the port of Talos' API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Talos that waits for its configuration.
    #[default]
    Maintenance,
    /// Talos with a configuration: it asks for client certificates.
    Configured,
    /// A configured worker that no control plane has given a certificate: the port stays closed.
    WaitingWorker,
    /// A metal image: it ignores what cloud-init offers and takes what DHCP gives.
    Metal,
    /// Talos on another machine that has the address.
    AnotherMachine,
    /// Talos whose certificate never comes.
    NoCertificate,
    /// Talos that is about to boot for ever.
    Booting,
    /// A disk that was configured once.
    Used,
    Silent,
    SshBanner,
    PlainHttp,
    NoHttp2,
    Reset,
    /// Bytes without end that mean nothing.
    Garbage,
    /// A certificate like no other, in a handshake that is right.
    OddCertificate,
    /// One byte of a handshake now and then.
    SlowDrip,
    /// The right certificate, and an API that knows nothing.
    Impostor,
    /// The right certificate, and answers too large for any Talos.
    HugeAnswer,
    /// The right certificate, and lists without end.
    EndlessList,
    /// The right certificate, and then nothing that is HTTP/2.
    GarbageInside,
    /// The right certificate, and then no word.
    SilentInside,
    /// The right certificate, and then frames without end that every client has to ignore.
    FrameFlood,
}

impl Profile {
    pub const ALL: [Self; 22] = [
        Self::Maintenance,
        Self::Configured,
        Self::WaitingWorker,
        Self::Metal,
        Self::AnotherMachine,
        Self::NoCertificate,
        Self::Booting,
        Self::Used,
        Self::Silent,
        Self::SshBanner,
        Self::PlainHttp,
        Self::NoHttp2,
        Self::Reset,
        Self::Garbage,
        Self::OddCertificate,
        Self::SlowDrip,
        Self::Impostor,
        Self::HugeAnswer,
        Self::EndlessList,
        Self::GarbageInside,
        Self::SilentInside,
        Self::FrameFlood,
    ];
}

/// The word of a world file.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = serde_json::to_value(self).ok();
        f.pad(word.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default())
    }
}

fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}
