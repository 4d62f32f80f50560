use std::fmt;
use std::str::FromStr;

/// The place of a drive in a VM: `scsi0`, `ide2`, `efidisk0`, `unused0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriveSlot {
    bus: DriveBus,
    index: u8,
}

/// What a drive hangs on. The order is that of the names, which is the order in which Proxmox makes volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriveBus {
    Efi,
    Ide,
    Sata,
    Scsi,
    Tpm,
    /// A volume that belongs to the VM and hangs on nothing.
    Unused,
    Virtio,
}

/// A text that names no slot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no place for a drive, such as `scsi0`")]
pub struct InvalidSlot;

impl DriveBus {
    const ALL: [Self; 7] = [Self::Efi, Self::Ide, Self::Sata, Self::Scsi, Self::Tpm, Self::Unused, Self::Virtio];

    fn name(self) -> &'static str {
        match self {
            Self::Efi => "efidisk",
            Self::Ide => "ide",
            Self::Sata => "sata",
            Self::Scsi => "scsi",
            Self::Tpm => "tpmstate",
            Self::Unused => "unused",
            Self::Virtio => "virtio",
        }
    }

    /// The highest number on this bus (qemu-server: src/PVE/QemuServer/Drive.pm).
    fn last(self) -> u8 {
        match self {
            Self::Efi | Self::Tpm => 0,
            Self::Ide => 3,
            Self::Sata => 5,
            Self::Scsi => 30,
            Self::Unused => 255,
            Self::Virtio => 15,
        }
    }
}

impl DriveSlot {
    pub const EFI: Self = Self { bus: DriveBus::Efi, index: 0 };
    pub const TPM: Self = Self { bus: DriveBus::Tpm, index: 0 };

    /// The slot, unless the bus has none of that number.
    pub fn new(bus: DriveBus, index: u8) -> Option<Self> {
        (index <= bus.last()).then_some(Self { bus, index })
    }

    pub fn bus(self) -> DriveBus {
        self.bus
    }

    pub fn index(self) -> u8 {
        self.index
    }
}

/// The place of a disk or a CD: `scsi0`, `ide2`. What the firmware and the TPM keep is neither, and must not be treated
/// like one: a firmware disk that was resized no longer boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskSlot(DriveSlot);

impl TryFrom<DriveSlot> for DiskSlot {
    type Error = InvalidSlot;

    fn try_from(slot: DriveSlot) -> Result<Self, InvalidSlot> {
        let ordinary = matches!(slot.bus, DriveBus::Ide | DriveBus::Sata | DriveBus::Scsi | DriveBus::Virtio);
        if ordinary { Ok(Self(slot)) } else { Err(InvalidSlot) }
    }
}

impl From<DiskSlot> for DriveSlot {
    fn from(slot: DiskSlot) -> Self {
        slot.0
    }
}

impl FromStr for DiskSlot {
    type Err = InvalidSlot;

    fn from_str(text: &str) -> Result<Self, InvalidSlot> {
        text.parse::<DriveSlot>()?.try_into()
    }
}

impl fmt::Display for DiskSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DriveSlot {
    type Err = InvalidSlot;

    fn from_str(text: &str) -> Result<Self, InvalidSlot> {
        let (bus, index) =
            DriveBus::ALL.iter().find_map(|bus| Some((*bus, text.strip_prefix(bus.name())?))).ok_or(InvalidSlot)?;
        let number = index.bytes().all(|b| b.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
        let index = number.then(|| index.parse().ok()).flatten().ok_or(InvalidSlot)?;
        Self::new(bus, index).ok_or(InvalidSlot)
    }
}

impl fmt::Display for DriveSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.bus.name(), self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bus_has_its_numbers() {
        for text in ["scsi0", "scsi30", "ide3", "sata5", "virtio15", "efidisk0", "tpmstate0", "unused255"] {
            assert_eq!(text.parse::<DriveSlot>().unwrap().to_string(), text);
        }
        assert_eq!("scsi0".parse::<DiskSlot>().unwrap().to_string(), "scsi0");
        for text in ["efidisk0", "tpmstate0", "unused0", "scsi31"] {
            assert!(text.parse::<DiskSlot>().is_err(), "{text}");
        }
        for text in ["scsi31", "ide4", "efidisk1", "scsi", "scsi01", "scsihw", "net0", "", "scsi-1", "scsi+1"] {
            assert!(text.parse::<DriveSlot>().is_err(), "{text}");
        }
    }
}
