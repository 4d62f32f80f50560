use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError};
use crate::model::Machine;

/// The `machine` value: a chipset, perhaps pinned to a version, and what else may follow.
///
/// Two are equal when they are the same hardware, whatever version it is pinned to: a pinned version is somebody's
/// decision and no difference that we would mend.
#[derive(Clone, Debug, Default)]
pub struct MachineType {
    kind: Option<String>,
    pub unmanaged: Properties,
}

impl MachineType {
    /// The chipset, unless it is one of another architecture.
    pub fn chipset(&self) -> Option<Machine> {
        match self.kind.as_deref() {
            None => Some(Machine::I440Fx),
            Some(kind) if kind == "q35" || kind.starts_with("pc-q35-") => Some(Machine::Q35),
            Some(kind) if kind == "pc" || kind == "i440fx" || kind.starts_with("pc-i440fx-") => Some(Machine::I440Fx),
            Some(_) => None,
        }
    }

    /// The text before the first comma, as Proxmox holds it.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }
}

impl From<Machine> for MachineType {
    /// The older chipset is called `pc` here, and it is what Proxmox takes where nothing is written.
    fn from(machine: Machine) -> Self {
        let kind = match machine {
            Machine::Q35 => "q35",
            Machine::I440Fx => "pc",
        };
        Self { kind: Some(kind.to_owned()), unmanaged: Properties::default() }
    }
}

impl PartialEq for MachineType {
    fn eq(&self, other: &Self) -> bool {
        let same_kind = match (self.chipset(), other.chipset()) {
            (None, None) => self.kind == other.kind,
            (one, another) => one == another,
        };
        same_kind && self.unmanaged == other.unmanaged
    }
}

impl Eq for MachineType {}

impl FromStr for MachineType {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, Some("type"))?;
        Ok(Self { kind: keys.take("type"), unmanaged: keys })
    }
}

impl fmt::Display for MachineType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) => self.unmanaged.clone().print_default("type", kind, f),
            None => self.unmanaged.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_version_is_the_same_hardware() {
        #[track_caller]
        fn case(text: &str, chipset: Option<Machine>) {
            let machine: MachineType = text.parse().unwrap();
            assert_eq!((machine.chipset(), machine.to_string().as_str()), (chipset, text));
        }
        case("q35", Some(Machine::Q35));
        case("pc-q35-10.0,viommu=virtio", Some(Machine::Q35));
        case("pc", Some(Machine::I440Fx));
        case("pc-i440fx-9.2+pve1", Some(Machine::I440Fx));
        case("", Some(Machine::I440Fx));
        case("virt", None);
        assert_eq!("pc-q35-10.0".parse::<MachineType>().unwrap(), Machine::Q35.into());
        assert_ne!("virt".parse::<MachineType>().unwrap(), "sbsa-ref".parse().unwrap());
        assert_eq!(MachineType::default(), Machine::I440Fx.into());
    }
}
