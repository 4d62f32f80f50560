//! What Proxmox knows about a node's VM, in the form in which `talos` compares and diagnoses it.
//!
//! Plain functions over values: neither room knows the other, and this one asks nobody.

use std::net::IpAddr;

use crate::model::{Network, Node, Role, VlanMode, VlanTag};
use crate::proxmox::answers::{GuestInterface, Power, VmConfig};
use crate::proxmox::types::{CardIndex, Cpu, IpConfig, Ipv4Config, Ipv6Config, NetworkCard, Reading, Smbios};
use crate::talos::{Target, VmFacts};

/// The first card, which has the node's address.
fn first() -> CardIndex {
    CardIndex::nearest(0)
}

/// A node with what makes its VM unmistakable. `cloud_init_meta` is the `meta` part of the cloud-init dump.
pub fn target(node: &Node, config: &VmConfig, cloud_init_meta: Option<&str>) -> Target {
    let uuid = config.smbios().known().and_then(Smbios::uuid);
    Target::of(node).of_vm(uuid, cloud_init_meta.and_then(instance_id))
}

/// The id of the cloud-init data, out of their `meta` part.
pub fn instance_id(meta: &str) -> Option<String> {
    let value = meta.lines().find_map(|line| line.strip_prefix("instance-id:"))?;
    Some(value.trim().to_owned()).filter(|id| !id.is_empty())
}

/// What a diagnosis can use of a VM. Power and the agent's answer are given where they were asked for.
pub fn vm_facts(
    node: &Node,
    network: &Network,
    config: &VmConfig,
    power: Option<&Power>,
    interfaces: &[GuestInterface],
) -> VmFacts {
    let card = config.card(first()).and_then(Reading::into_known);
    let offered = config.ip_config(first()).and_then(Reading::into_known).unwrap_or_default();
    let ignored = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unicast_link_local(),
    };
    let custom = config.get("cicustom").is_some_and(|custom| custom.split(',').any(|part| part.starts_with("user=")));
    VmFacts {
        is_running: power.map(|power| *power == Power::Running),
        agent_addresses: interfaces
            .iter()
            .flat_map(GuestInterface::addresses)
            .filter(|found| !ignored(found))
            .collect(),
        has_cloud_init_drive: Some(config.cloud_init_slot().is_some()),
        cloud_init_type: Some(cloud_init_type(config).to_owned()),
        offered_address: Some(static_address(&offered, node.address.value)),
        has_custom_user_data: Some(custom),
        vlan_tag: card.as_ref().and_then(|card| card.vlan).map(VlanTag::get).and_then(|tag| tag.try_into().ok()),
        // Talos tags by default, but only who says so has tags at all.
        is_trunk: network.vlan_mode.value == VlanMode::Talos && network.vlan_mode.origin.is_declared(),
        bridge: card.as_ref().and_then(|card| card.bridge.as_ref()).map(ToString::to_string),
        has_firewall: card.as_ref().map(|card: &NetworkCard| card.firewall.get()),
        cpu_type: config.cpu().known().map(|cpu: &Cpu| cpu.model().unwrap_or("kvm64").to_owned()),
        has_enrolled_keys: Some(
            config.efi_disk().and_then(Reading::into_known).is_some_and(|disk| disk.pre_enrolled_keys.get()),
        ),
        memory_mib: config.memory().known().map(|memory| memory.mib.into()),
        // Nothing in Proxmox tells what is in an image.
        joins_siderolink: None,
        is_worker: Some(node.role.value == Role::Worker),
    }
}

/// The type in effect: for Windows another one is the default (`PVE/QemuServer/Cloudinit.pm`).
fn cloud_init_type(config: &VmConfig) -> &str {
    let windows = config.get("ostype").is_some_and(|system| system.starts_with('w'));
    config.get("citype").unwrap_or(if windows { "configdrive2" } else { "nocloud" })
}

/// The static address of the same family, if there is one.
fn static_address(config: &IpConfig, wanted: IpAddr) -> Option<IpAddr> {
    match wanted {
        IpAddr::V4(_) => match config.ip {
            Some(Ipv4Config::Static(net)) => Some(net.addr().into()),
            _ => None,
        },
        IpAddr::V6(_) => match config.ip6 {
            Some(Ipv6Config::Static(net)) => Some(net.addr().into()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Explain, Inputs, load};
    use crate::model::Cluster;

    const NODES: &str = "\
name: home
network: {cidr: 192.168.1.0/24}
defaults: {talos_template: talos}
nodes:
  - {name: w-1, address: 192.168.1.12, controller: false, mac_addr: 'bc:24:11:00:00:12'}
";

    fn cluster() -> Cluster {
        load(Inputs::from_texts(NODES, None, None), Explain::No).cluster.expect("the file is right")
    }

    fn config(options: &[(&str, &str)]) -> VmConfig {
        options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn facts(options: &[(&str, &str)]) -> VmFacts {
        let cluster = cluster();
        vm_facts(&cluster.nodes[0], &cluster.network, &config(options), Some(&Power::Running), &[])
    }

    #[test]
    fn a_vm_as_it_should_be_gives_no_cause() {
        let facts = facts(&[
            ("ide2", "local:100/vm-100-cloudinit.qcow2,media=cdrom,size=4M"),
            ("ipconfig0", "ip=192.168.1.12/24,gw=192.168.1.1"),
            ("net0", "virtio=BC:24:11:00:00:12,bridge=vmbr0,tag=20,firewall=1"),
            ("cpu", "host"),
            ("memory", "4096"),
            ("efidisk0", "local:100/vm-100-disk-0.qcow2,efitype=4m,size=528K"),
        ]);
        let expected = VmFacts {
            is_running: Some(true),
            agent_addresses: Vec::new(),
            has_cloud_init_drive: Some(true),
            cloud_init_type: Some("nocloud".to_owned()),
            offered_address: Some("192.168.1.12".parse().ok()),
            has_custom_user_data: Some(false),
            vlan_tag: Some(20),
            is_trunk: false,
            bridge: Some("vmbr0".to_owned()),
            has_firewall: Some(true),
            cpu_type: Some("host".to_owned()),
            has_enrolled_keys: Some(false),
            memory_mib: Some(4096),
            joins_siderolink: None,
            is_worker: Some(true),
        };
        assert_eq!(facts, expected);
    }

    #[test]
    fn what_proxmox_takes_for_granted_is_told() {
        let facts = facts(&[("ostype", "win11"), ("cicustom", "user=local:snippets/user.yaml")]);
        assert_eq!(facts.cloud_init_type.as_deref(), Some("configdrive2"));
        assert_eq!(facts.cpu_type.as_deref(), Some("kvm64"));
        assert_eq!((facts.has_cloud_init_drive, facts.offered_address), (Some(false), Some(None)));
        assert_eq!((facts.has_custom_user_data, facts.memory_mib), (Some(true), Some(512)));
    }

    #[test]
    fn a_target_has_what_only_its_vm_has() {
        let config = config(&[("smbios1", "uuid=2CCD5E40-ADF6-4429-B2AF-A9237ACFC8F6")]);
        let target = target(&cluster().nodes[0], &config, Some("instance-id: 0123456789abcdef\n"));
        assert_eq!(target.expected.uuid.as_deref(), Some("2ccd5e40-adf6-4429-b2af-a9237acfc8f6"));
        assert_eq!(target.expected.instance_id.as_deref(), Some("0123456789abcdef"));
        assert_eq!(instance_id("something: else\n"), None);
        assert_eq!(instance_id("instance-id:\n"), None);
    }
}
