//! The little languages inside Proxmox's values: property strings, volume ids, tags, slots.
//!
//! There is one grammar ([`Properties`]) and typed values on top of it. A typed value
//!
//! - reads everything that Proxmox prints and everything that may be sent to it,
//! - keeps what we do not manage, and prints it again,
//! - prints the form into which Proxmox itself brings it, where Proxmox has one,
//! - is equal to another one when Proxmox means the same by both: order, spelled-out defaults, words for a boolean
//!   and the case of a MAC address are no difference.
//!
//! A field that does not hold what it should stays text beside the typed ones; only a string that breaks the grammar
//! itself is refused, and [`Reading`] keeps even that. The strings of other people's VMs thus never stop us.
//!
//! This room uses `crate::model` only, because the simulator reads and prints the same values.

mod agent;
mod boot_order;
mod cpu;
mod drive;
mod drive_source;
mod efi_disk;
mod ip_config;
mod machine_type;
mod memory;
mod network_card;
mod properties;
mod reading;
mod slot;
mod smbios;
mod startup;
mod stored_mac;
mod switch;
mod tags;
mod tpm_state;
mod volume_id;

#[cfg(test)]
mod round_trips;

pub use agent::Agent;
pub use boot_order::BootOrder;
pub use cpu::Cpu;
pub use drive::Drive;
pub use drive_source::DriveSource;
pub use efi_disk::{EfiDisk, EfiType};
pub use ip_config::{IpConfig, Ipv4Config, Ipv6Config};
pub use machine_type::MachineType;
pub use memory::Memory;
pub use network_card::{NetworkCard, NicModel};
pub use properties::{Properties, PropertyError};
pub use reading::Reading;
pub use slot::{DiskSlot, DriveBus, DriveSlot, InvalidSlot};
pub use smbios::Smbios;
pub use startup::Startup;
pub use stored_mac::StoredMac;
pub use switch::Switch;
pub use tags::Tags;
pub use tpm_state::{TpmState, TpmVersion};
pub use volume_id::VolumeId;

/// The number of a network card: `net0` to `net31`, and of the `ipconfigN` that belongs to it.
pub type CardIndex = crate::model::Bounded<0, 31>;
