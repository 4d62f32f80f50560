use std::fmt;
use std::str::FromStr;

use crate::model::{Invalid, StorageId, VmId};

/// The name of a volume: a storage and a name inside it, like `local-lvm:vm-105-disk-0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId {
    storage: StorageId,
    name: Box<str>,
}

impl VolumeId {
    pub fn storage(&self) -> &StorageId {
        &self.storage
    }

    /// The part after the colon.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last part of the name, which is the file on a storage of files.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The VM that the volume belongs to, by its name.
    pub fn owner(&self) -> Option<VmId> {
        let (kind, rest) = self.file_name().split_once('-')?;
        let of_guest = matches!(kind, "vm" | "base" | "subvol" | "basevol");
        of_guest.then(|| rest.split('-').next()?.parse().ok()).flatten()
    }

    /// Whether it is the disk of a template, which linked clones may depend on.
    pub fn is_base(&self) -> bool {
        self.file_name().starts_with("base-")
    }

    /// The base volume that a linked clone depends on, where the name tells (LVM-thin hides it).
    pub fn parent(&self) -> Option<&str> {
        let (parents, _) = self.name.rsplit_once('/')?;
        let base = parents.rfind("base-").filter(|start| *start == 0 || parents.as_bytes()[start - 1] == b'/')?;
        let end = parents[base..].find('/').map_or(parents.len(), |slash| base + slash);
        Some(&parents[..end])
    }

    /// Whether it carries cloud-init's data: `…vm-105-cloudinit`, perhaps with a file extension.
    pub fn is_cloud_init(&self) -> bool {
        let file = self.file_name();
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        let owner = stem.strip_suffix("cloudinit").map(|owner| owner.strip_prefix("vm-").unwrap_or(owner));
        owner.is_some_and(|owner| {
            owner.is_empty() || owner.strip_suffix('-').is_some_and(|id| id.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

impl FromStr for VolumeId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(text, "a volume id like `local-lvm:vm-105-disk-0`");
        let (storage, name) = text.split_once(':').ok_or_else(invalid)?;
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != ',';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(invalid());
        }
        Ok(Self { storage: storage.parse().map_err(|_| invalid())?, name: name.into() })
    }
}

impl fmt::Display for VolumeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.storage, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_whose_volume_it_is() {
        #[track_caller]
        fn case(text: &str, owner: Option<u32>, parent: Option<&str>, cloud_init: bool) {
            let volume: VolumeId = text.parse().unwrap();
            assert_eq!(volume.to_string(), text);
            assert_eq!(volume.owner().map(VmId::get), owner);
            assert_eq!((volume.parent(), volume.is_cloud_init()), (parent, cloud_init));
        }
        case("local-lvm:vm-105-disk-0", Some(105), None, false);
        case("local:9000/base-9000-disk-0.qcow2", Some(9000), None, false);
        let linked = "local:9000/base-9000-disk-0.qcow2/105/vm-105-disk-0.qcow2";
        case(linked, Some(105), Some("9000/base-9000-disk-0.qcow2"), false);
        case("tank:base-9000-disk-0/vm-105-disk-0", Some(105), Some("base-9000-disk-0"), false);
        case("local-lvm:vm-105-cloudinit", Some(105), None, true);
        case("local:105/vm-105-cloudinit.qcow2", Some(105), None, true);
        case("local:import/talos-1.12.0-nocloud-amd64.qcow2", None, None, false);
        case("local:iso/my-cloudinit.iso", None, None, false);
        case("tank:subvol-200-disk-0", Some(200), None, false);
    }

    #[test]
    fn what_has_no_storage_or_no_name_is_none() {
        for text in ["", ":", "local:", ":x", "none", "/dev/sda", "local:a,b", "local:a b", "9x:vm-1"] {
            assert!(text.parse::<VolumeId>().is_err(), "{text}");
        }
    }
}
