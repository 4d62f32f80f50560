use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::proxmox::Request;
use crate::proxmox::types::{CardIndex, DiskSlot, Drive, DriveSlot, EfiDisk, IpConfig, NetworkCard, TpmState};

/// The options of a VM to set and to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChange {
    set: BTreeMap<String, String>,
    delete: BTreeSet<String>,
    /// What the configuration was when the change was decided. Proxmox refuses the change if it is another now.
    pub digest: Option<String>,
}

/// Proxmox would make up a new address on every write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the network card `net{0}` has no MAC address")]
pub struct CardWithoutMac(CardIndex);

macro_rules! plain_keys {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// The options that hold what they are given.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PlainKey { $($(#[$doc])* $variant),+ }

        impl PlainKey {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

plain_keys! {
    Agent = "agent",
    Balloon = "balloon",
    Bios = "bios",
    Boot = "boot",
    CloudInitType = "citype",
    CloudInitUpgrade = "ciupgrade",
    Cores = "cores",
    Cpu = "cpu",
    Description = "description",
    Machine = "machine",
    Memory = "memory",
    Name = "name",
    /// Separated by spaces: the generator of cloud-init's data knows no commas.
    Nameserver = "nameserver",
    Numa = "numa",
    OnBoot = "onboot",
    OsType = "ostype",
    Protection = "protection",
    ScsiController = "scsihw",
    SearchDomain = "searchdomain",
    Serial = "serial0",
    Sockets = "sockets",
    /// Needs `Sys.Modify` on `/`.
    Startup = "startup",
    Tags = "tags",
    Vga = "vga",
}

impl fmt::Display for PlainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ConfigChange {
    /// A change that is refused unless the configuration still has this digest.
    pub fn conditional_on(digest: Option<&str>) -> Self {
        Self { digest: digest.map(str::to_owned), ..Self::default() }
    }

    /// Sets an option. An empty value deletes it, because Proxmox would store a blank.
    pub fn set(&mut self, key: PlainKey, value: impl fmt::Display) -> &mut Self {
        let value = value.to_string();
        if value.is_empty() { self.delete(key.as_str()) } else { self.put(key.as_str(), value) }
    }

    /// Sets an option to `1` or `0`.
    pub fn set_flag(&mut self, key: PlainKey, value: bool) -> &mut Self {
        self.set(key, u8::from(value))
    }

    pub fn set_card(&mut self, index: CardIndex, card: &NetworkCard) -> Result<&mut Self, CardWithoutMac> {
        if card.mac.is_none() {
            return Err(CardWithoutMac(index));
        }
        Ok(self.put(&format!("net{index}"), card.to_string()))
    }

    pub fn set_ip_config(&mut self, index: CardIndex, config: &IpConfig) -> &mut Self {
        self.put(&format!("ipconfig{index}"), config.to_string())
    }

    /// Sets a disk or a CD. A source that asks for a new volume gets one every time it is sent.
    pub fn set_drive(&mut self, slot: DiskSlot, drive: &Drive) -> &mut Self {
        self.put(&slot.to_string(), drive.to_string())
    }

    pub fn set_efi_disk(&mut self, disk: &EfiDisk) -> &mut Self {
        self.put(&DriveSlot::EFI.to_string(), disk.to_string())
    }

    pub fn set_tpm_state(&mut self, state: &TpmState) -> &mut Self {
        self.put(&DriveSlot::TPM.to_string(), state.to_string())
    }

    /// Returns an option to its default. A disk that is deleted becomes an unused one.
    pub fn delete(&mut self, key: &str) -> &mut Self {
        self.set.remove(key);
        self.delete.insert(key.to_owned());
        self
    }

    fn put(&mut self, key: &str, value: String) -> &mut Self {
        self.delete.remove(key);
        self.set.insert(key.to_owned(), value);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.delete.is_empty()
    }

    /// The options that are set, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.set.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The options that are deleted, in alphabetical order.
    pub fn deleted(&self) -> impl Iterator<Item = &str> {
        self.delete.iter().map(String::as_str)
    }

    pub(super) fn add_to(&self, request: Request) -> Request {
        let deleted = self.deleted().collect::<Vec<_>>().join(",");
        self.iter()
            .fold(request, |request, (key, value)| request.with(key, value))
            .with_some("delete", Some(deleted).filter(|deleted| !deleted.is_empty()))
            .with_some("digest", self.digest.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_without_an_address_cannot_be_sent() {
        let mut change = ConfigChange::default();
        let index = CardIndex::nearest(0);
        assert!(change.set_card(index, &"virtio,bridge=vmbr0".parse().unwrap()).is_err());
        assert!(change.is_empty());
        assert!(change.set_card(index, &"virtio=bc:24:11:00:00:0a,bridge=vmbr0".parse().unwrap()).is_ok());
        let sent: Vec<_> = change.iter().collect();
        assert_eq!(sent, [("net0", "virtio=bc:24:11:00:00:0a,bridge=vmbr0")]);
    }

    #[test]
    fn an_empty_value_deletes_its_option() {
        let mut change = ConfigChange::conditional_on(Some("abc"));
        change.set(PlainKey::Tags, "").set(PlainKey::Cores, 4).delete("protection");
        let request = change.add_to(Request::put("/x"));
        let text = |name: &str| request.param(name).unwrap_or_default().to_owned();
        assert_eq!([text("cores"), text("delete"), text("digest")], ["4", "protection,tags", "abc"]);
        assert_eq!(change.set(PlainKey::Tags, "a").deleted().collect::<Vec<_>>(), ["protection"]);
    }
}
