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
        is_trunk: network.vlan_mode.value == VlanMode::Talos,
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
