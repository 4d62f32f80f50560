use std::fmt;
use std::str::FromStr;

use super::switch::digit;
use super::{DriveSource, Properties, PropertyError, Switch};
use crate::model::{DiskSerial, DiskSize};

/// The value of `scsiN`, `virtioN`, `sataN` or `ideN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    pub source: DriveSource,
    /// What Proxmox last knew of the size. It is ignored when it is sent.
    pub size: Option<DiskSize>,
    /// Whether freed blocks are given back to the storage.
    pub discard: Switch<false>,
    pub ssd: Switch<false>,
    pub iothread: Switch<false>,
    pub backup: Switch<true>,
    pub replicate: Switch<true>,
    /// Whether it is a CD drive.
    pub cdrom: Switch<false>,
    pub serial: Option<DiskSerial>,
    /// What we do not manage: `cache`, `aio`, limits, and whatever comes later.
    pub unmanaged: Properties,
}

impl Drive {
    /// A drive without any option.
    pub fn new(source: DriveSource) -> Self {
        Self {
            source,
            size: None,
            discard: Switch::default(),
            ssd: Switch::default(),
            iothread: Switch::default(),
            backup: Switch::default(),
            replicate: Switch::default(),
            cdrom: Switch::default(),
            serial: None,
            unmanaged: Properties::default(),
        }
    }

    /// Whether it carries cloud-init's data, made or still to be made.
    pub fn is_cloud_init(&self) -> bool {
        match &self.source {
            DriveSource::Volume(volume) => volume.is_cloud_init(),
            DriveSource::CloudInit { .. } => true,
            _ => false,
        }
    }

    /// Whether it is a disk that the guest can write to, rather than a CD of any kind.
    pub fn is_disk(&self) -> bool {
        !self.cdrom.get() && !self.is_cloud_init()
    }

    /// Whether both have the same options, whatever volume they sit on and however large it is.
    pub fn has_same_options(&self, other: &Self) -> bool {
        self.options() == other.options()
    }

    fn options(&self) -> Self {
        let mut options = self.clone();
        options.source = DriveSource::Empty;
        options.size = None;
        // Proxmox drops both once the volume is made.
        options.unmanaged.take("format");
        options.unmanaged.take("import-from");
        options
    }
}

impl FromStr for Drive {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let (source, mut keys) = source_and_options(text)?;
        Ok(Self {
            source,
            size: keys.take_as("size"),
            discard: take_word(&mut keys, "discard", "on", "ignore"),
            ssd: keys.take_as("ssd").unwrap_or_default(),
            iothread: keys.take_as("iothread").unwrap_or_default(),
            backup: keys.take_as("backup").unwrap_or_default(),
            replicate: keys.take_as("replicate").unwrap_or_default(),
            cdrom: take_word(&mut keys, "media", "cdrom", "disk"),
            serial: keys.take_as("serial"),
            unmanaged: keys,
        })
    }
}

/// Splits off the source, which may be called `file`, `volume` or nothing at all.
pub(super) fn source_and_options(text: &str) -> Result<(DriveSource, Properties), PropertyError> {
    let mut keys = Properties::parse(text, Some("file"))?;
    let source = match (keys.take("file"), keys.take("volume")) {
        (Some(source), None) | (None, Some(source)) => source,
        (Some(_), Some(_)) => return Err(PropertyError::Duplicate("file".to_owned())),
        (None, None) => return Err(PropertyError::Missing("file")),
    };
    let Ok(source) = source.parse();
    Ok((source, keys))
}

/// Reads a switch whose positions have names of their own.
fn take_word(keys: &mut Properties, key: &str, on: &str, off: &str) -> Switch<false> {
    let written = match keys.get(key) {
        Some(word) if word == on => true,
        Some(word) if word == off => false,
        _ => return Switch::default(),
    };
    keys.take(key);
    Some(written).into()
}

impl fmt::Display for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |switch: Switch<false>, on, off| switch.written().map(|written| if written { on } else { off });
        let mut keys = self.unmanaged.clone();
        keys.set_some("size", self.size);
        keys.set_some("discard", word(self.discard, "on", "ignore"));
        keys.set_some("ssd", self.ssd.written().map(digit));
        keys.set_some("iothread", self.iothread.written().map(digit));
        keys.set_some("backup", self.backup.written().map(digit));
        keys.set_some("replicate", self.replicate.written().map(digit));
        keys.set_some("media", word(self.cdrom, "cdrom", "disk"));
        keys.set_some("serial", self.serial.as_ref());
        keys.print_default("file", &self.source, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(text: &str) -> Drive {
        text.parse().unwrap()
    }

    #[test]
    fn what_proxmox_makes_of_a_drive_is_equal_to_what_was_sent() {
        #[track_caller]
        fn case(sent: &str, stored: &str) {
            assert_eq!(drive(sent), drive(stored));
            assert_eq!(drive(sent).to_string(), stored);
        }
        case(
            "local-lvm:vm-100-disk-0,size=20G,ssd=1,discard=on,iothread=1,cache=none",
            "local-lvm:vm-100-disk-0,cache=none,discard=on,iothread=1,size=20G,ssd=1",
        );
        case("file=local:100/vm-100-disk-1.qcow2,size=1024M", "local:100/vm-100-disk-1.qcow2,size=1G");
        case("volume=none,media=cdrom", "none,media=cdrom");
        case("local-lvm:0,import-from=local:import/a.qcow2", "local-lvm:0,import-from=local:import/a.qcow2");
    }

    #[test]
    fn options_are_compared_without_the_volume_and_its_size() {
        let wanted = drive("local-lvm:32,discard=on,ssd=1,format=raw");
        assert!(wanted.has_same_options(&drive("tank:vm-105-disk-1,backup=1,discard=on,size=33G,ssd=1")));
        assert!(!wanted.has_same_options(&drive("tank:vm-105-disk-1,discard=on,size=32G")));
        assert!(!wanted.has_same_options(&drive("tank:vm-105-disk-1,cache=none,discard=on,size=32G,ssd=1")));
        assert!(!wanted.has_same_options(&drive("tank:vm-105-disk-1,backup=0,discard=on,size=32G,ssd=1")));
    }

    #[test]
    fn disks_cds_and_cloud_init_drives_are_told_apart() {
        assert!(drive("local-lvm:vm-105-disk-0,size=32G").is_disk());
        assert!(!drive("none,media=cdrom").is_disk());
        assert!(drive("local:105/vm-105-cloudinit.qcow2,media=cdrom,size=4M").is_cloud_init());
        assert!(!drive("local-lvm:cloudinit").is_disk());
    }
}
