use serde::Serialize;

use crate::model::DiskSize;
use crate::proxmox::calls::{ConfigChange, PlainKey};
use crate::proxmox::types::{CardIndex, DiskSlot, Drive, IpConfig, NetworkCard, TpmState};

/// One option of a VM that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The option as Proxmox calls it, such as `cores` or `net0`.
    pub option: String,
    /// What it is; nothing when it is absent.
    pub from: Option<String>,
    /// What it shall be; nothing when it shall go.
    pub to: Option<String>,
    /// Where the wish came from, such as `nodes.yaml:12 vm_cores`.
    pub because: String,
    pub effect: Effect,
    #[serde(skip)]
    pub edit: Edit,
}

/// What a change does to a VM that runs. A stopped one takes everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The guest does not notice.
    Harmless,
    /// It is stored, and takes effect when the VM is switched off and on.
    AfterPowerCycle,
    /// The guest loses its network, or its identity.
    Disruptive,
}

/// How a difference is mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Set(PlainKey, String),
    Delete(&'static str),
    Card(CardIndex, NetworkCard),
    IpConfig(CardIndex, IpConfig),
    ForgetIpConfig(CardIndex),
    /// Other options for the volume that is there.
    Drive(DiskSlot, Drive),
    /// A new volume, where there is none.
    AddDrive(DiskSlot, Drive),
    AddTpm(TpmState),
    Grow(DiskSlot, DiskSize),
}

impl Edit {
    /// Whether it makes a volume, which takes its time and must not be sent twice.
    pub fn makes_volume(&self) -> bool {
        matches!(self, Self::AddDrive(..) | Self::AddTpm(_))
    }

    /// The growth that it asks for, if it is one.
    pub fn growth(&self) -> Option<(DiskSlot, DiskSize)> {
        match self {
            Self::Grow(slot, size) => Some((*slot, *size)),
            _ => None,
        }
    }

    /// Adds it to a change of options; a growth is none.
    pub fn add_to(&self, change: &mut ConfigChange) {
        match self {
            Self::Set(key, value) => drop(change.set(*key, value)),
            Self::Delete(key) => drop(change.delete(key)),
            Self::Card(index, card) => {
                change.set_card(*index, card).expect("a wanted card always has its MAC address");
            }
            Self::IpConfig(index, config) => drop(change.set_ip_config(*index, config)),
            Self::ForgetIpConfig(index) => drop(change.delete(&format!("ipconfig{index}"))),
            Self::Drive(slot, drive) | Self::AddDrive(slot, drive) => drop(change.set_drive(*slot, drive)),
            Self::AddTpm(state) => drop(change.set_tpm_state(state)),
            Self::Grow(..) => {}
        }
    }
}
