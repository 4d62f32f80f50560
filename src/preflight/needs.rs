use std::collections::BTreeSet;

use crate::model::{BridgeName, Cluster, HostName, Node, PoolId, StorageId, Template, VlanTag};

/// What a cluster needs of Proxmox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The hosts that nodes name.
    pub hosts: BTreeSet<HostName>,
    /// Whether some node names no host, so that it goes where there is room.
    pub any_host: bool,
    pub storages: Vec<Needed<StorageId>>,
    pub bridges: Vec<Needed<BridgeName>>,
    pub templates: Vec<Needed<Template>>,
    /// The bridges with the VLANs that are used on them: each pair has a place of its own among the permissions.
    pub networks: BTreeSet<(BridgeName, Option<VlanTag>)>,
    pub pools: BTreeSet<PoolId>,
    /// Whether some node goes into no pool.
    pub outside_pools: bool,
}

/// Something that is needed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed<T> {
    pub what: T,
    /// On each of these hosts.
    pub hosts: BTreeSet<HostName>,
    /// And on at least one host, whichever, for nodes that name none.
    pub anywhere: bool,
}

impl Needs {
    pub fn of(cluster: &Cluster) -> Self {
        Self::of_nodes(&cluster.nodes)
    }

    /// What only these nodes need.
    pub fn of_nodes<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Self {
        let mut needs = Self::default();
        for node in nodes {
            needs.add(node);
        }
        needs
    }

    fn add(&mut self, node: &Node) {
        let vm = &node.vm;
        let host = vm.host.as_ref().map(|host| &host.value);
        self.any_host |= host.is_none();
        self.hosts.extend(host.cloned());
        for storage in vm.data_disks.iter().map(|disk| &disk.storage).chain([&vm.storage.value]) {
            note(&mut self.storages, storage, host);
        }
        for bridge in node.nics.iter().map(|nic| &nic.bridge).chain([&vm.bridge.value]) {
            note(&mut self.bridges, bridge, host);
        }
        note(&mut self.templates, &vm.template, host);
        self.networks.insert((vm.bridge.value.clone(), vm.vlan_tag.as_ref().map(|tag| tag.value)));
        self.networks.extend(node.nics.iter().map(|nic| (nic.bridge.clone(), nic.vlan_tag)));
        match &vm.pool {
            Some(pool) => drop(self.pools.insert(pool.value.clone())),
            None => self.outside_pools = true,
        }
    }

    /// The paths below which VMs come and go: pools, and all VMs unless every node is in a pool.
    pub fn vm_paths(&self) -> Vec<String> {
        let pools = self.pools.iter().map(|pool| format!("/pool/{pool}"));
        pools.chain(self.outside_pools.then(|| "/vms".to_owned())).collect()
    }

    /// Every path on which a privilege is looked for.
    pub fn paths(&self) -> BTreeSet<String> {
        let storages = self.storages.iter().map(|storage| storage_path(&storage.what));
        let networks = self.networks.iter().map(|(bridge, vlan)| network_path(bridge, *vlan));
        let vms = self.vm_paths().into_iter().chain(["/vms".to_owned(), "/".to_owned()]);
        vms.chain(storages).chain(networks).collect()
    }
}

/// Adds a place to something that is needed.
fn note<T: Clone + PartialEq>(needed: &mut Vec<Needed<T>>, what: &T, host: Option<&HostName>) {
    let at = needed.iter().position(|known| known.what == *what).unwrap_or_else(|| {
        needed.push(Needed { what: what.clone(), hosts: BTreeSet::new(), anywhere: false });
        needed.len() - 1
    });
    match host {
        Some(host) => drop(needed[at].hosts.insert(host.clone())),
        None => needed[at].anywhere = true,
    }
}

pub(crate) fn storage_path(storage: &StorageId) -> String {
    format!("/storage/{storage}")
}

/// The place of a local bridge among the permissions. Virtual networks have one below their own zone.
pub(crate) fn network_path(bridge: &BridgeName, vlan: Option<VlanTag>) -> String {
    let vlan = vlan.map_or(String::new(), |vlan| format!("/{vlan}"));
    format!("/sdn/zones/localnetwork/{bridge}{vlan}")
}
