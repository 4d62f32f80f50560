use std::fmt;
use std::str::FromStr;

use super::drive::source_and_options;
use super::switch::digit;
use super::{DriveSource, Properties, PropertyError, Switch};
use crate::model::DiskSize;

/// The value of `efidisk0`: where OVMF keeps its variables.
///
/// Proxmox adds `ms-cert` of its own accord when keys are enrolled, so it is no part of equality.
#[derive(Clone, Debug)]
pub struct EfiDisk {
    pub source: DriveSource,
    pub size: Option<DiskSize>,
    /// Proxmox takes `2m` for granted where nothing is written.
    pub kind: Option<EfiType>,
    /// Whether Microsoft's keys are enrolled, with which a kernel signed by Talos does not boot.
    pub pre_enrolled_keys: Switch<false>,
    pub unmanaged: Properties,
}

impl EfiDisk {
    /// The kind in effect.
    pub fn effective_kind(&self) -> EfiType {
        self.kind.unwrap_or(EfiType::TwoMegabytes)
    }
}

/// The size class of the firmware, which decides whether secure boot is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EfiType {
    TwoMegabytes,
    FourMegabytes,
}

impl FromStr for EfiType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "2m" => Ok(Self::TwoMegabytes),
            "4m" => Ok(Self::FourMegabytes),
            _ => Err(()),
        }
    }
}

impl fmt::Display for EfiType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoMegabytes => "2m",
            Self::FourMegabytes => "4m",
        })
    }
}

impl PartialEq for EfiDisk {
    fn eq(&self, other: &Self) -> bool {
        let unmanaged = |disk: &Self| {
            let mut keys = disk.unmanaged.clone();
            keys.take("ms-cert");
            keys
        };
        self.source == other.source
            && self.size == other.size
            && self.effective_kind() == other.effective_kind()
            && self.pre_enrolled_keys == other.pre_enrolled_keys
            && unmanaged(self) == unmanaged(other)
    }
}

impl Eq for EfiDisk {}

impl FromStr for EfiDisk {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let (source, mut keys) = source_and_options(text)?;
        Ok(Self {
            source,
            size: keys.take_as("size"),
            kind: keys.take_as("efitype"),
            pre_enrolled_keys: keys.take_as("pre-enrolled-keys").unwrap_or_default(),
            unmanaged: keys,
        })
    }
}

impl fmt::Display for EfiDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.unmanaged.clone();
        keys.set_some("size", self.size);
        keys.set_some("efitype", self.kind);
        keys.set_some("pre-enrolled-keys", self.pre_enrolled_keys.written().map(digit));
        keys.print_default("file", &self.source, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(text: &str) -> EfiDisk {
        text.parse().unwrap()
    }

    #[test]
    fn what_proxmox_adds_is_no_difference() {
        let stored = disk("local-lvm:vm-9000-disk-0,efitype=4m,ms-cert=2023k,pre-enrolled-keys=1,size=4M");
        assert_eq!(stored, disk("local-lvm:vm-9000-disk-0,size=4M,efitype=4m,pre-enrolled-keys=yes"));
        assert_ne!(stored, disk("local-lvm:vm-9000-disk-0,efitype=4m,pre-enrolled-keys=0,size=4M"));
        assert_eq!(stored.to_string(), "local-lvm:vm-9000-disk-0,efitype=4m,ms-cert=2023k,pre-enrolled-keys=1,size=4M");
        assert_eq!(disk("local-lvm:1").effective_kind(), EfiType::TwoMegabytes);
    }
}
