use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::observed::ObservedVm;
use crate::model::{ClusterName, MacAddress, NodeName, VmId};

/// The VMs that were looked at closely, by number, and by all that nodes are found and told apart by.
///
/// Thousands of nodes each ask for their own, so that nobody may have to look through all of them.
#[derive(Clone, Debug, Default)]
pub struct ObservedVms {
    vms: BTreeMap<VmId, ObservedVm>,
    by_mark: BTreeMap<(ClusterName, NodeName), BTreeSet<VmId>>,
    by_name: BTreeMap<String, BTreeSet<VmId>>,
    by_mac: BTreeMap<MacAddress, BTreeSet<VmId>>,
    by_address: BTreeMap<IpAddr, BTreeSet<VmId>>,
}

impl ObservedVms {
    /// Adds a VM, in the place of one that was seen before under the same number.
    pub fn insert(&mut self, vm: ObservedVm) {
        let vmid = vm.vmid;
        if self.vms.contains_key(&vmid) {
            forget(&mut self.by_mark, vmid);
            forget(&mut self.by_name, vmid);
            forget(&mut self.by_mac, vmid);
            forget(&mut self.by_address, vmid);
        }
        if let Some(mark) = vm.own_mark() {
            self.by_mark.entry((mark.cluster, mark.node)).or_default().insert(vmid);
        }
        if let Some(name) = vm.config.name() {
            self.by_name.entry(name.to_owned()).or_default().insert(vmid);
        }
        for mac in vm.macs() {
            self.by_mac.entry(mac).or_default().insert(vmid);
        }
        for address in vm.addresses() {
            self.by_address.entry(address).or_default().insert(vmid);
        }
        self.vms.insert(vmid, vm);
    }

    pub fn get(&self, vmid: &VmId) -> Option<&ObservedVm> {
        self.vms.get(vmid)
    }

    /// All of them, by number.
    pub fn values(&self) -> impl Iterator<Item = &ObservedVm> {
        self.vms.values()
    }

    /// Those that carry the mark of a node, and no copy of it.
    pub fn marked(&self, cluster: &ClusterName, node: &NodeName) -> impl Iterator<Item = &ObservedVm> {
        self.all(self.by_mark.get(&(cluster.clone(), node.clone())))
    }

    pub fn named(&self, name: &str) -> impl Iterator<Item = &ObservedVm> {
        self.all(self.by_name.get(name))
    }

    pub fn with_mac(&self, mac: MacAddress) -> impl Iterator<Item = &ObservedVm> {
        self.all(self.by_mac.get(&mac))
    }

    pub fn with_address(&self, address: IpAddr) -> impl Iterator<Item = &ObservedVm> {
        self.all(self.by_address.get(&address))
    }

    fn all<'a>(&'a self, vmids: Option<&'a BTreeSet<VmId>>) -> impl Iterator<Item = &'a ObservedVm> {
        vmids.into_iter().flatten().filter_map(|vmid| self.vms.get(vmid))
    }
}

fn forget<K: Ord>(index: &mut BTreeMap<K, BTreeSet<VmId>>, vmid: VmId) {
    for vmids in index.values_mut() {
        vmids.remove(&vmid);
    }
}
