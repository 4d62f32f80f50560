use std::path::{Path, PathBuf};

use super::merge::{Draft, NodeDraft};
use crate::model::{
    Cluster, Credentials, Network, Node, Origin, Proxmox, Role, Setting, Template, TlsTrust, VlanMode, Vm,
};

/// Makes the cluster of a draft in which nothing is wrong; none when something is missing after all.
pub(super) fn build(draft: Draft) -> Option<Cluster> {
    let cluster = draft.cluster;
    let vlan_mode =
        cluster.vlan_mode.into_setting()?.map(|tagged| if tagged { VlanMode::Proxmox } else { VlanMode::Talos });
    let sealed = cluster.token_id.sealed().or(cluster.token_secret.sealed());
    let encrypted_in = sealed.and_then(Origin::file).map(ToString::to_string);
    let nodes: Option<Vec<Node>> = draft.nodes.into_iter().map(build_node).collect();
    Some(Cluster {
        name: cluster.name.into_setting()?,
        proxmox: Proxmox {
            endpoint: cluster.endpoint.into_setting(),
            credentials: Credentials {
                token_id: cluster.token_id.into_setting(),
                token_secret: cluster.token_secret.into_setting(),
                encrypted_in,
            },
            trust: TlsTrust {
                ca_file: cluster.ca_file.into_setting().map(beside_its_file),
                fingerprints: cluster.fingerprints.into_setting(),
            },
            image_storage: cluster.image_storage.into_setting()?,
            vm_id_base: cluster.vm_id_base.into_setting()?,
        },
        network: Network {
            cidr: cluster.cidr.into_setting()?,
            gateway: cluster.gateway.into_setting()?,
            dns_servers: cluster.dns_servers.into_setting()?,
            search_domains: cluster.search_domains.into_setting(),
            vip: cluster.vip.into_setting(),
            vlan_mode,
        },
        nodes: nodes?,
    })
}

fn build_node(draft: NodeDraft) -> Option<Node> {
    let NodeDraft { node, vm, trunk_vlan, .. } = draft;
    let talos_version = vm.talos_version.into_setting();
    let schematic_id = vm.schematic_id.into_setting();
    let secureboot = vm.secureboot.into_setting()?;
    let storage = vm.storage.into_setting()?;
    let disk_backup = vm.disk_backup.into_setting()?;
    let data_disks = vm.data_disks.into_setting()?.value.resolved(&storage.value, disk_backup.value);
    let template = match vm.template.into_setting() {
        Some(name) => Template::Name(name.value),
        None => Template::Image {
            talos_version: talos_version.as_ref()?.value.clone(),
            schematic_id: schematic_id.as_ref()?.value.clone(),
            secureboot: secureboot.value,
        },
    };
    Some(Node {
        name: node.name.into_setting()?,
        role: node
            .controller
            .into_setting()?
            .map(|controller| if controller { Role::Controller } else { Role::Worker }),
        address: node.address.into_setting()?,
        mac_address: node.mac_addr.into_setting()?,
        vm_id: node.vm_id.into_setting(),
        install_disk: node.disk.into_setting()?,
        nics: node.nics.into_setting().map(|nics| nics.value.0).unwrap_or_default(),
        vm: Vm {
            host: vm.host.into_setting(),
            storage,
            pool: vm.pool.into_setting(),
            template,
            clone: vm.clone.into_setting()?,
            talos_version,
            schematic_id,
            secureboot,
            encrypt_disk: vm.encrypt_disk.into_setting()?,
            cores: vm.cores.into_setting()?,
            sockets: vm.sockets.into_setting()?,
            memory: vm.memory.into_setting()?.map(|memory| memory.0),
            balloon: vm.balloon.into_setting()?,
            numa: vm.numa.into_setting()?,
            cpu_type: vm.cpu_type.into_setting()?,
            bios: vm.bios.into_setting()?,
            machine: vm.machine.into_setting()?,
            ostype: vm.ostype.into_setting()?,
            scsi_hw: vm.scsi_hw.into_setting()?,
            disk_size: vm.disk_size.into_setting()?.map(|size| size.0),
            disk_discard: vm.disk_discard.into_setting()?,
            disk_ssd: vm.disk_ssd.into_setting()?,
            disk_backup,
            disk_replicate: vm.disk_replicate.into_setting()?,
            data_disks,
            bridge: vm.bridge.into_setting()?,
            mtu: vm.mtu.into_setting(),
            net_queues: vm.net_queues.into_setting()?,
            vlan_tag: vm.vlan_tag.into_setting(),
            trunk_vlan: trunk_vlan.into_setting(),
            qemu_agent: vm.qemu_agent.into_setting()?,
            onboot: vm.onboot.into_setting()?,
            startup_order: vm.startup_order.into_setting()?,
            startup_delay: vm.startup_delay.into_setting()?,
            shutdown_delay: vm.shutdown_delay.into_setting()?,
            tags: vm.tags.into_setting()?,
        },
    })
}

/// A file is named as seen from the file that names it, wherever the program is started.
fn beside_its_file(path: Setting<PathBuf>) -> Setting<PathBuf> {
    let Setting { value, origin } = path;
    let folder = match &origin {
        Origin::File { file, .. } => Path::new(&**file).parent().map(Path::to_owned).unwrap_or_default(),
        _ => PathBuf::new(),
    };
    Setting::new(folder.join(value), origin)
}
