use std::collections::BTreeMap;
use std::net::IpAddr;

use super::observed_vms::ObservedVms;
use crate::model::{HostName, MacAddress, Mark, Node, NodeName, Tag, VmId};
use crate::preflight::{Seen, Unseen};
use crate::proxmox::answers::{Guest, Power, VmConfig, VmPending};
use crate::proxmox::types::{IpConfig, Ipv4Config, Ipv6Config};
use crate::talos::{NodeState, Sighting};

/// What Proxmox showed, as far as the plan needs it.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub hosts: Vec<ObservedHost>,
    /// Every VM and container that the token may see, by number.
    pub guests: BTreeMap<VmId, Guest>,
    /// The VMs that were looked at closely, by number.
    pub vms: ObservedVms,
    /// VMs that should have been looked at and could not be, by number.
    pub unseen: BTreeMap<VmId, Unseen>,
    /// What the nodes themselves said, where they were asked.
    pub talos: BTreeMap<NodeName, Sighting>,
    /// Whether the token may set the order in which VMs start; only asked when one has another than it should.
    pub may_order_starts: Option<bool>,
    /// What the preflight saw; only there when a node has no VM yet.
    pub seen: Option<Seen>,
}

/// A Proxmox host.
#[derive(Clone, Debug)]
pub struct ObservedHost {
    pub name: HostName,
    /// Why its VMs cannot be seen, if they cannot.
    pub silent: Option<Unseen>,
    /// Bytes; unknown without `Sys.Audit` on the host.
    pub free_memory: Option<u64>,
}

/// A VM, looked at closely.
#[derive(Clone, Debug)]
pub struct ObservedVm {
    pub vmid: VmId,
    pub host: HostName,
    pub power: Power,
    pub pending: VmPending,
    /// The options with those applied that wait for a power cycle.
    pub config: VmConfig,
}

impl ObservedVm {
    pub fn new(vmid: VmId, host: HostName, power: Power, pending: VmPending) -> Self {
        let config = pending.wanted();
        Self { vmid, host, power, pending, config }
    }

    /// The mark in its description, which may be a copy of another VM's.
    pub fn mark(&self) -> Option<Mark> {
        Mark::find(self.config.description())
    }

    /// The mark, unless it is a copy of another VM's.
    pub fn own_mark(&self) -> Option<Mark> {
        self.mark().filter(|mark| mark.vmid == self.vmid)
    }

    pub fn is_running(&self) -> bool {
        self.power != Power::Stopped
    }

    /// Whether it was cloned by us and not yet configured to its end.
    pub fn is_unfinished(&self, node: &Node, tag: &Tag) -> bool {
        is_unfinished(&self.pending, self.is_running(), node, tag)
    }

    /// The UUID by which the guest knows itself; it is made anew with every clone.
    pub fn uuid(&self) -> Option<String> {
        self.config.smbios().known().and_then(crate::proxmox::types::Smbios::uuid)
    }

    /// The MAC addresses of its cards.
    pub(super) fn macs(&self) -> impl Iterator<Item = MacAddress> {
        let stored = self.config.cards().filter_map(|(_, card)| card.into_known()?.mac);
        stored.map(|mac| mac.address())
    }

    /// The addresses that cloud-init gives it.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let configs = self.config.ip_configs().filter_map(|(_, config)| config.into_known());
        configs.flat_map(|config| {
            let v4 = match config.ip {
                Some(Ipv4Config::Static(net)) => Some(IpAddr::V4(net.addr())),
                _ => None,
            };
            let v6 = match config.ip6 {
                Some(Ipv6Config::Static(net)) => Some(IpAddr::V6(net.addr())),
                _ => None,
            };
            v4.into_iter().chain(v6)
        })
    }

    pub fn has_mac(&self, mac: MacAddress) -> bool {
        self.config.has_mac(mac)
    }
}

/// Whether a VM was cloned by us and not yet configured to its end.
///
/// The last write of all brings the cluster's tag and the node's MAC address and address, together with everything else;
/// a clone has none of them before. One of them is enough, because people change them by hand, and tags may not even be
/// allowed. What only waits for a power cycle is no sign: a guest that switches itself off leaves it waiting, whoever
/// wanted it.
pub(crate) fn is_unfinished(pending: &VmPending, running: bool, node: &Node, tag: &Tag) -> bool {
    if running {
        return false;
    }
    let config = pending.in_effect();
    let configured = config.tags().contains(tag)
        || config.has_mac(node.mac_address.value)
        || config_has_address(&config, node.address.value);
    !configured
}

fn config_has_address(config: &VmConfig, address: IpAddr) -> bool {
    config.ip_configs().any(|(_, config)| config.known().is_some_and(|config| has_address(config, address)))
}

fn has_address(config: &IpConfig, address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(config.ip, Some(Ipv4Config::Static(net)) if net.addr() == address),
        IpAddr::V6(address) => matches!(config.ip6, Some(Ipv6Config::Static(net)) if net.addr() == address),
    }
}

impl Observed {
    /// How a node was when it was asked, if it was.
    pub fn talos_state(&self, node: &NodeName) -> Option<NodeState> {
        self.talos.get(node).map(|sighting| sighting.state)
    }

    pub fn host(&self, name: &HostName) -> Option<&ObservedHost> {
        self.hosts.iter().find(|host| host.name == *name)
    }
}
