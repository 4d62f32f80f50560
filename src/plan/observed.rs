use std::collections::BTreeMap;

use crate::model::{ClusterName, HostName, MacAddress, Mark, NodeName, Tag, VmId};
use crate::preflight::{Seen, Unseen};
use crate::proxmox::answers::{Guest, Power, VmConfig, VmPending};
use crate::proxmox::types::{IpConfig, Ipv4Config, Ipv6Config, NetworkCard};
use crate::talos::{NodeState, Sighting};

/// What Proxmox showed, as far as the plan needs it.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub hosts: Vec<ObservedHost>,
    /// Every VM and container that the token may see, by number.
    pub guests: BTreeMap<VmId, Guest>,
    /// The VMs that were looked at closely, by number.
    pub vms: BTreeMap<VmId, ObservedVm>,
    /// VMs that should have been looked at and could not be, by number.
    pub unseen: BTreeMap<VmId, Unseen>,
    /// What the nodes themselves said, where they were asked.
    pub talos: BTreeMap<NodeName, Sighting>,
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

    /// Whether it is the VM of this node, by its mark.
    pub fn belongs_to(&self, cluster: &ClusterName, node: &NodeName) -> bool {
        self.own_mark().is_some_and(|mark| mark.cluster == *cluster && mark.node == *node)
    }

    /// The mark, unless it is a copy of another VM's.
    pub fn own_mark(&self) -> Option<Mark> {
        self.mark().filter(|mark| mark.vmid == self.vmid)
    }

    pub fn is_running(&self) -> bool {
        self.power != Power::Stopped
    }

    /// Whether it was cloned by us and not yet configured to its end: the tag of the cluster is written last of all.
    pub fn is_unfinished(&self, tag: &Tag) -> bool {
        is_unfinished(&self.pending, &self.config, self.is_running(), tag)
    }

    /// The UUID by which the guest knows itself; it is made anew with every clone.
    pub fn uuid(&self) -> Option<String> {
        self.config.smbios().known().and_then(crate::proxmox::types::Smbios::uuid)
    }

    pub fn has_mac(&self, mac: MacAddress) -> bool {
        self.config.cards().any(|(_, card)| card.known().is_some_and(|card| has_mac(card, mac)))
    }

    pub fn has_address(&self, address: std::net::IpAddr) -> bool {
        self.config.ip_configs().any(|(_, config)| config.known().is_some_and(|config| has_address(config, address)))
    }
}

/// See [`ObservedVm::is_unfinished`].
pub(crate) fn is_unfinished(pending: &VmPending, config: &VmConfig, running: bool, tag: &Tag) -> bool {
    !running && (!config.tags().contains(tag) || !pending.waiting().is_empty())
}

fn has_mac(card: &NetworkCard, mac: MacAddress) -> bool {
    card.mac.as_ref().is_some_and(|stored| stored.address() == mac)
}

fn has_address(config: &IpConfig, address: std::net::IpAddr) -> bool {
    match address {
        std::net::IpAddr::V4(address) => matches!(config.ip, Some(Ipv4Config::Static(net)) if net.addr() == address),
        std::net::IpAddr::V6(address) => matches!(config.ip6, Some(Ipv6Config::Static(net)) if net.addr() == address),
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
