//! The words of the domain: values that cannot be wrong, and the desired cluster made of them.
//!
//! Nothing here reads a file, a socket or a clock, and nothing here uses another room of the crate.

mod address;
mod bounded;
mod cluster;
mod disk_size;
mod endpoint;
mod fingerprint;
mod hardware;
mod hex;
mod install_disk;
mod invalid;
mod mac_address;
mod mark;
mod names;
mod origin;
#[cfg(test)]
mod round_trips;
mod schematic_id;
mod shell;
mod talos_version;
mod template_mark;
mod template_record;
mod token;

pub use address::{NicAddress, Prefixed};
pub use bounded::{
    BalloonMib, Bounded, Cores, MemoryMib, Mtu, Queues, ShutdownDelay, Sockets, StartupDelay, StartupOrder, VlanTag,
    VmId,
};
pub use cluster::{
    Cluster, Credentials, DataDisk, ExtraNic, Network, Node, Proxmox, Role, Template, TlsTrust, VlanMode, Vm,
};
pub use disk_size::DiskSize;
pub use endpoint::Endpoint;
pub use fingerprint::Fingerprint;
pub use hardware::{Bios, CloneMode, CpuType, Machine, OsType, ScsiController};
pub(crate) use hex::hexadecimal;
pub use install_disk::{DiskSerial, InstallDisk};
pub use invalid::{Invalid, Quoted, Text};
pub(crate) use invalid::{made_printable, printable, secret_in};
pub use mac_address::MacAddress;
pub use mark::Mark;
pub use names::{BridgeName, ClusterName, DomainName, HostName, NodeName, PoolId, StorageId, Tag, TemplateName};
pub use origin::{Origin, Setting};
pub use schematic_id::SchematicId;
pub(crate) use shell::shell_quoted;
pub use talos_version::TalosVersion;
pub use template_mark::TemplateMark;
pub use template_record::TemplateRecord;
pub use token::{ApiToken, TokenId, TokenSecret};
