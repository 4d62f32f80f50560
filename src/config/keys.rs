//! Every key of every file, once: its names, its type, its words.

use std::net::IpAddr;
use std::path::PathBuf;

use super::layer::layer;
use super::nested::{DataDisks, Nics};
use super::values::{Gib, Ignored, Memory, Unchecked};
use crate::model::{
    ApiToken, BalloonMib, Bios, BridgeName, CloneMode, ClusterName, Cores, CpuType, DiskSerial, DomainName, Endpoint,
    Fingerprint, HostName, InstallDisk, MacAddress, Machine, Mtu, NicAddress, NodeName, OsType, PoolId, Prefixed,
    Queues, SchematicId, ScsiController, ShutdownDelay, Sockets, StartupDelay, StartupOrder, StorageId, Tag,
    TalosVersion, TemplateName, TokenId, TokenSecret, VlanTag, VmId,
};

layer! {
    /// Who a node is.
    NodeLayer {
        /// Name of the VM and host name of the node.
        name: NodeName, Node ["name"];
        /// Address of the node, inside the nodes' network; maintenance mode is awaited there.
        address: IpAddr, Node ["address"], Overlay ["address"];
        /// Whether the node is a control plane (`true`) or a worker (`false`).
        controller: bool, Node ["controller"], Overlay ["controller"];
        /// Hardware address of the first network card.
        mac_addr: MacAddress, Node ["mac_addr"], Overlay ["mac_addr"];
        /// Disk that Talos installs to: a path, or a serial number that the system disk then gets.
        disk: InstallDisk, Node ["disk"], Overlay ["disk"];
        /// Number of the VM; the lowest free one from `vm_id_base` on when not given.
        vm_id: VmId, Node ["vm_id"], Overlay ["vm_id"];
        /// Network cards beside the first one, in order: the first of them is `net1`.
        nics: Nics, Node ["nics"], Overlay ["nics"];
        /// Read by Talos tooling; not used here.
        kernel_modules: Ignored, Node ["kernel_modules"];
    }
}

layer! {
    /// What a VM is like and how it is made.
    VmLayer {
        /// Proxmox host that the VM is made on; chosen by free memory when not given.
        host: HostName, Vm ["proxmox_node", "host"], Proxmox ["node", "host"], Top ["proxmox_node"];
        /// Storage of the VM's disks.
        storage: StorageId, Vm ["storage", "proxmox_disk_storage"], Proxmox ["storage", "disk_storage"],
            Top ["proxmox_disk_storage", "proxmox_storage", "storage_pool"];
        /// Resource pool that the VM is put into.
        pool: PoolId, Vm ["pool"], Proxmox ["pool"], Top ["proxmox_pool"];
        /// Name of the template to clone; otherwise the one made from `talos_version`, `schematic_id` and `secureboot`.
        template: TemplateName, Vm ["talos_template", "template"], Proxmox ["template"], Top ["talos_template"];
        /// `full` copies the template's disks, `linked` depends on them.
        clone: CloneMode, Vm ["clone"], Proxmox ["clone"], Top ["proxmox_clone"];
        /// Talos release of the template.
        talos_version: TalosVersion, Vm ["talos_version"], Top ["talos_version"];
        /// Image Factory schematic of the template.
        schematic_id: SchematicId, Vm ["schematic_id"], Top ["schematic_id"];
        /// Boot the secure boot image.
        secureboot: bool, Vm ["secureboot"];
        /// Give the VM a TPM, to which Talos can seal its disk encryption keys.
        encrypt_disk: bool, Vm ["encrypt_disk"];
        /// CPU cores per socket.
        cores: Cores, Vm ["vm_cores", "cores"];
        /// CPU sockets.
        sockets: Sockets, Vm ["vm_sockets", "sockets"];
        /// Memory in MiB.
        memory: Memory, Vm ["vm_memory", "memory"];
        /// Memory in MiB that the VM keeps when the host asks for some back; 0 for no balloon device.
        balloon: BalloonMib, Vm ["balloon"];
        /// Show the VM a NUMA topology.
        numa: bool, Vm ["numa"];
        /// CPU model.
        cpu_type: CpuType, Vm ["cpu_type"];
        /// Firmware.
        bios: Bios, Vm ["bios"];
        /// Chipset.
        machine: Machine, Vm ["machine"];
        /// Kind of guest that Proxmox is told.
        ostype: OsType, Vm ["ostype"];
        /// SCSI controller of the disks.
        scsi_hw: ScsiController, Vm ["scsi_hw"];
        /// Size of the system disk: GiB, or a text with a unit such as `100G`.
        disk_size: Gib<32, 4096>, Vm ["vm_disk_size", "disk_size"];
        /// Pass the guest's discard requests on to the storage.
        disk_discard: bool, Vm ["disk_discard"];
        /// Show the disks to the guest as SSDs.
        disk_ssd: bool, Vm ["disk_ssd"];
        /// Include the disks in Proxmox backups; a data disk may say otherwise.
        disk_backup: bool, Vm ["disk_backup"];
        /// Include the disks in storage replication.
        disk_replicate: bool, Vm ["disk_replicate"];
        /// Disks beside the system disk, in order: the first of them is `scsi1`.
        data_disks: DataDisks, Vm ["data_disks"];
        /// Bridge or virtual network of the first network card.
        bridge: BridgeName, Vm ["bridge", "network_bridge"], Proxmox ["bridge"], Network ["bridge"], Top ["proxmox_bridge"];
        /// Largest frame of the first network card; the bridge's own when not given.
        mtu: Mtu, Vm ["mtu"], Network ["mtu"];
        /// Queues of the first network card, at most one for each virtual CPU.
        net_queues: Queues, Vm ["net_queues"];
        /// VLAN of the nodes; the card carries it only with `vlan_mode: true`.
        vlan_tag: VlanTag, Vm ["vlan_tag"], Network ["vlan_tag", "node_vlan_tag"], Top ["node_vlan_tag"];
        /// Let Proxmox talk to the QEMU guest agent, which is an extension of Talos.
        qemu_agent: bool, Vm ["qemu_agent"];
        /// Start the VM when its host boots.
        onboot: bool, Vm ["onboot"];
        /// Place in the start order of the host; the place in the list plus 3 when not given.
        startup_order: StartupOrder, Vm ["vm_startup_order", "startup_order"];
        /// Seconds until the next VM starts.
        startup_delay: StartupDelay, Vm ["vm_startup_delay", "startup_delay"];
        /// Seconds that the VM has for shutting down.
        shutdown_delay: ShutdownDelay, Vm ["vm_shutdown_delay", "shutdown_delay"];
        /// Tags of your own, beside `talos`, `kubernetes`, the role's and the cluster's.
        tags: Vec<Tag>, Vm ["tags"];
    }
}

layer! {
    /// What holds for the cluster as a whole.
    ClusterLayer {
        /// Name of the cluster: part of the mark by which its VMs are recognised.
        name: ClusterName, Own ["name", "cluster_name"];
        /// Name of the cluster, unless another file or the environment gives one.
        repository_name: Unchecked, Cluster ["cluster_name"];
        /// Address of the Proxmox API.
        endpoint: Endpoint, Proxmox ["endpoint", "api_url"], Top ["proxmox_api_url"];
        /// Address that CSI and CCM use; the API's when no other is given.
        csi_endpoint: Unchecked, Top ["proxmox_endpoint"];
        /// Public half of the API token.
        token_id: TokenId, Proxmox ["token_id"], Top ["proxmox_api_token_id"];
        /// Secret half of the API token; better given by the environment.
        token_secret: TokenSecret, Cluster ["proxmox_api_token_secret"];
        /// Both halves, `user@realm!name=secret`; better given by the environment.
        token: ApiToken, Cluster ["proxmox_api_token"];
        /// File with the authority that signed the server's certificate.
        ca_file: PathBuf, Proxmox ["ca_file"], Top ["proxmox_ca_file"];
        /// SHA-256 fingerprints of server certificates to trust.
        fingerprints: Vec<Fingerprint>, Proxmox ["fingerprints", "fingerprint"], Top ["proxmox_fingerprints"];
        /// Storage that Talos images are downloaded to.
        image_storage: StorageId, Proxmox ["image_storage", "iso_storage"], Top ["proxmox_iso_storage"];
        /// Where the search for a free VMID begins.
        vm_id_base: VmId, Proxmox ["vm_id_base"], Top ["proxmox_vm_id_base"];
        /// Network of the nodes.
        cidr: Prefixed, Network ["cidr", "node_cidr"], Top ["node_cidr"];
        /// Network of the pods, which must not be that of the nodes.
        pod_cidr: Unchecked, Top ["cluster_pod_cidr"];
        /// Network of the services, which must not be that of the nodes.
        svc_cidr: Unchecked, Top ["cluster_svc_cidr"];
        /// Default gateway; the first address of the network when not given.
        gateway: IpAddr, Network ["gateway", "node_default_gateway"],
            Top ["node_default_gateway", "node_gateway", "gateway_address"];
        /// Name servers; with an empty list the VM gets those of its host.
        dns_servers: Vec<IpAddr>, Network ["dns_servers", "node_dns_servers"], Top ["node_dns_servers", "dns_servers"];
        /// Search domains.
        search_domains: Vec<DomainName>, Network ["search_domains"];
        /// Shared address of the Kubernetes API; no node may have it.
        vip: IpAddr, Network ["vip", "cluster_api_addr"], Top ["cluster_api_addr"];
        /// Who tags the nodes' frames: Proxmox (`true`), or Talos on a trunk (`false`).
        vlan_mode: bool, Network ["vlan_mode", "proxmox_vlan_mode"], Top ["proxmox_vlan_mode"];
    }
}

layer! {
    /// A network card beside the first one.
    NicLayer {
        /// Bridge or virtual network.
        bridge: BridgeName, Nic ["bridge"];
        /// Hardware address.
        mac_addr: MacAddress, Nic ["mac_addr"];
        /// `dhcp`, or an address with a prefix length; without it Talos is free to ask for one.
        address: NicAddress, Nic ["address"];
        /// VLAN that the card carries.
        vlan_tag: VlanTag, Nic ["vlan_tag"];
        /// Largest frame.
        mtu: Mtu, Nic ["mtu"];
    }
}

layer! {
    /// A disk beside the system disk.
    DataDiskLayer {
        /// Size: GiB, or a text with a unit such as `500G`.
        size: Gib<1, 131_072>, DataDisk ["size"];
        /// Storage; the VM's own when not given.
        storage: StorageId, DataDisk ["storage"];
        /// Serial number that the guest sees.
        serial: DiskSerial, DataDisk ["serial"];
        /// Include the disk in Proxmox backups; as `disk_backup` says when not given.
        backup: bool, DataDisk ["backup"];
    }
}
