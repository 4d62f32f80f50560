use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::Serialize;

use super::{
    BalloonMib, Bios, BridgeName, CloneMode, ClusterName, Cores, CpuType, DiskSerial, DiskSize, DomainName, Endpoint,
    Fingerprint, HostName, InstallDisk, MacAddress, Machine, MemoryMib, Mtu, NicAddress, NodeName, OsType, PoolId,
    Prefixed, Queues, SchematicId, ScsiController, Setting, ShutdownDelay, Sockets, StartupDelay, StartupOrder,
    StorageId, Tag, TalosVersion, TemplateName, TokenId, TokenSecret, VlanTag, VmId,
};

/// Everything that the files, the environment and the flags ask for.
#[derive(Clone, Debug, Serialize)]
pub struct Cluster {
    pub name: Setting<ClusterName>,
    pub proxmox: Proxmox,
    pub network: Network,
    /// In the order of the file, which is also the order of everything that is printed.
    pub nodes: Vec<Node>,
}

/// How to reach Proxmox, and what holds for all VMs there.
#[derive(Clone, Debug, Serialize)]
pub struct Proxmox {
    pub endpoint: Option<Setting<Endpoint>>,
    #[serde(flatten)]
    pub credentials: Credentials,
    #[serde(flatten)]
    pub trust: TlsTrust,
    /// The storage that images are downloaded to.
    pub image_storage: Setting<StorageId>,
    /// Where the search for a free VMID begins.
    pub vm_id_base: Setting<VmId>,
}

/// The API token, as far as it was given.
#[derive(Clone, Debug, Serialize)]
pub struct Credentials {
    pub token_id: Option<Setting<TokenId>>,
    pub token_secret: Option<Setting<TokenSecret>>,
    /// The SOPS file that holds what of it is not known yet.
    #[serde(rename = "token_encrypted_in", skip_serializing_if = "Option::is_none")]
    pub encrypted_in: Option<String>,
}

/// What makes the server's certificate trustworthy beside the system's own authorities.
#[derive(Clone, Debug, Serialize)]
pub struct TlsTrust {
    pub ca_file: Option<Setting<PathBuf>>,
    pub fingerprints: Option<Setting<Vec<Fingerprint>>>,
}

/// The network that the nodes share.
#[derive(Clone, Debug, Serialize)]
pub struct Network {
    pub cidr: Setting<Prefixed>,
    pub gateway: Setting<IpAddr>,
    pub dns_servers: Setting<Vec<IpAddr>>,
    pub search_domains: Option<Setting<Vec<DomainName>>>,
    /// The address of the Kubernetes API, which no node may have for its own.
    pub vip: Option<Setting<IpAddr>>,
    pub vlan_mode: Setting<VlanMode>,
}

/// Who puts the VLAN tag on the nodes' frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VlanMode {
    /// Proxmox: the virtual card carries the tag.
    Proxmox,
    /// Talos: the card is a trunk and carries none.
    Talos,
}

impl fmt::Display for VlanMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proxmox => "proxmox",
            Self::Talos => "talos",
        })
    }
}

/// What a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Controller,
    Worker,
}

impl Role {
    /// The one of the two that belongs to this role.
    pub fn choose<T>(self, controller: T, worker: T) -> T {
        match self {
            Self::Controller => controller,
            Self::Worker => worker,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.choose("controller", "worker"))
    }
}

super::invalid::serialize_as_text!(Role, VlanMode);

/// One Talos node.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    pub name: Setting<NodeName>,
    pub role: Setting<Role>,
    pub address: Setting<IpAddr>,
    #[serde(rename = "mac_addr")]
    pub mac_address: Setting<MacAddress>,
    /// Chosen when the plan is made if it is not given.
    pub vm_id: Option<Setting<VmId>>,
    #[serde(rename = "disk")]
    pub install_disk: Setting<InstallDisk>,
    /// Cards beside the first one; the first of them is `net1`.
    pub nics: Vec<ExtraNic>,
    #[serde(flatten)]
    pub vm: Vm,
}

/// A VM's hardware and how it is made.
#[derive(Clone, Debug, Serialize)]
pub struct Vm {
    /// Chosen when the plan is made if it is not given.
    pub host: Option<Setting<HostName>>,
    pub storage: Setting<StorageId>,
    pub pool: Option<Setting<PoolId>>,
    pub template: Template,
    pub clone: Setting<CloneMode>,
    pub talos_version: Option<Setting<TalosVersion>>,
    pub schematic_id: Option<Setting<SchematicId>>,
    pub secureboot: Setting<bool>,
    pub encrypt_disk: Setting<bool>,
    pub cores: Setting<Cores>,
    pub sockets: Setting<Sockets>,
    pub memory: Setting<MemoryMib>,
    /// 0 means no balloon device.
    pub balloon: Setting<BalloonMib>,
    pub numa: Setting<bool>,
    pub cpu_type: Setting<CpuType>,
    pub bios: Setting<Bios>,
    pub machine: Setting<Machine>,
    pub ostype: Setting<OsType>,
    pub scsi_hw: Setting<ScsiController>,
    pub disk_size: Setting<DiskSize>,
    pub disk_discard: Setting<bool>,
    pub disk_ssd: Setting<bool>,
    pub disk_backup: Setting<bool>,
    pub disk_replicate: Setting<bool>,
    /// Disks beside the system disk; the first of them is `scsi1`.
    pub data_disks: Vec<DataDisk>,
    pub bridge: Setting<BridgeName>,
    pub mtu: Option<Setting<Mtu>>,
    pub net_queues: Setting<Queues>,
    /// The tag that the first card carries; none in trunk mode.
    pub vlan_tag: Option<Setting<VlanTag>>,
    /// The tag that Talos itself has to put on the node's frames, on a trunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trunk_vlan: Option<Setting<VlanTag>>,
    pub qemu_agent: Setting<bool>,
    pub onboot: Setting<bool>,
    pub startup_order: Setting<StartupOrder>,
    pub startup_delay: Setting<StartupDelay>,
    pub shutdown_delay: Setting<ShutdownDelay>,
    /// The user's own, beside those that every node gets.
    pub tags: Setting<Vec<Tag>>,
}

/// Which template a node is cloned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// The one of this name.
    Name(TemplateName),
    /// The one that was made from this image.
    Image { talos_version: TalosVersion, schematic_id: SchematicId, secureboot: bool },
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Image { talos_version, schematic_id, secureboot } => {
                let secureboot = if *secureboot { " secureboot" } else { "" };
                write!(f, "{talos_version} {}{secureboot}", schematic_id.short())
            }
        }
    }
}

/// A disk beside the system disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DataDisk {
    pub size: DiskSize,
    pub storage: StorageId,
    pub serial: Option<DiskSerial>,
    pub backup: bool,
}

/// A network card beside the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExtraNic {
    pub bridge: BridgeName,
    #[serde(rename = "mac_addr")]
    pub mac_address: Setting<MacAddress>,
    pub address: Option<Setting<NicAddress>>,
    pub vlan_tag: Option<VlanTag>,
    pub mtu: Option<Mtu>,
}
