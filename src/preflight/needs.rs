use std::collections::{BTreeMap, BTreeSet};

use crate::model::{BridgeName, Cluster, HostName, Node, PoolId, StorageId, Template, VlanTag};

/// What a cluster needs of Proxmox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The hosts that nodes name; none means that at least one node goes wherever there is room.
    pub hosts: BTreeSet<HostName>,
    /// Whether some node names no host, so that every host may be its own.
    pub any_host: bool,
    /// Storages for disks, and the hosts that they are needed on; an empty set stands for every host that is looked at.
    pub storages: BTreeMap<StorageId, BTreeSet<HostName>>,
    pub bridges: BTreeSet<(BridgeName, Option<VlanTag>)>,
    pub pools: BTreeSet<PoolId>,
    /// Whether some node goes into no pool.
    pub outside_pools: bool,
    /// Templates in words, with the hosts that they are needed on.
    pub templates: Vec<(Template, BTreeSet<HostName>)>,
}

impl Needs {
    pub fn of(cluster: &Cluster) -> Self {
        let mut needs = Self::default();
        for node in &cluster.nodes {
            needs.add(node);
        }
        needs
    }

    fn add(&mut self, node: &Node) {
        let vm = &node.vm;
        let host = vm.host.as_ref().map(|host| host.value.clone());
        self.any_host |= host.is_none();
        self.hosts.extend(host.clone());
        let data = vm.data_disks.iter().map(|disk| &disk.storage);
        for storage in data.chain([&vm.storage.value]) {
            self.storages.entry(storage.clone()).or_default().extend(host.clone());
        }
        self.bridges.insert((vm.bridge.value.clone(), vm.vlan_tag.as_ref().map(|tag| tag.value)));
        self.bridges.extend(node.nics.iter().map(|nic| (nic.bridge.clone(), nic.vlan_tag)));
        match &vm.pool {
            Some(pool) => drop(self.pools.insert(pool.value.clone())),
            None => self.outside_pools = true,
        }
        match self.templates.iter_mut().find(|(template, _)| *template == vm.template) {
            Some((_, hosts)) => hosts.extend(host),
            None => self.templates.push((vm.template.clone(), host.into_iter().collect())),
        }
    }

    /// The paths on which VMs come and go: pools, and all VMs unless every node is in a pool.
    pub fn vm_paths(&self) -> Vec<String> {
        let pools = self.pools.iter().map(|pool| format!("/pool/{pool}"));
        pools.chain(self.outside_pools.then(|| "/vms".to_owned())).collect()
    }

    /// Every path on which a privilege is needed.
    pub fn paths(&self) -> Vec<String> {
        let storages = self.storages.keys().map(storage_path);
        let bridges = self.bridges.iter().map(|(bridge, vlan)| bridge_path(bridge, *vlan));
        let vms = self.vm_paths().into_iter().chain(["/vms".to_owned(), "/".to_owned()]);
        vms.chain(storages).chain(bridges).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

pub(super) fn storage_path(storage: &StorageId) -> String {
    format!("/storage/{storage}")
}

/// The place of a local bridge in the tree of permissions. Virtual networks have one below their own zone.
pub(super) fn bridge_path(bridge: &BridgeName, vlan: Option<VlanTag>) -> String {
    let vlan = vlan.map_or(String::new(), |vlan| format!("/{vlan}"));
    format!("/sdn/zones/localnetwork/{bridge}{vlan}")
}
