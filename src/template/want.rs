use crate::model::{CloneMode, Cluster, HostName, PoolId, StorageId};
use crate::schematic::Image;

/// A template that is needed somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    pub image: Image,
    pub storage: StorageId,
    /// Every host that is up, if none is named.
    pub host: Option<HostName>,
    /// Where VMs of the token belong, if it may have none elsewhere.
    pub pool: Option<PoolId>,
    /// Linked clones live on their template's storage, so that it has to be this one and no other.
    pub linked: bool,
    /// Whether the image has the guest agent.
    pub agent: bool,
}

impl Want {
    /// What the nodes of a cluster need, without those that name a template: what is in that one, nobody knows.
    ///
    /// One host needs an image once, wherever its disk lies, unless linked clones ask for several storages.
    pub fn of_cluster(cluster: &Cluster) -> Vec<Self> {
        let of_node = |node: &crate::model::Node| {
            let vm = &node.vm;
            Some(Self {
                image: Image::of_template(&vm.template)?,
                storage: vm.storage.value.clone(),
                host: vm.host.as_ref().map(|host| host.value.clone()),
                pool: vm.pool.as_ref().map(|pool| pool.value.clone()),
                linked: vm.clone.value == CloneMode::Linked,
                agent: vm.qemu_agent.value,
            })
        };
        let mut all: Vec<Self> = cluster.nodes.iter().filter_map(of_node).collect();
        // Whoever is particular about the storage decides about it; otherwise the order is that of the file.
        all.sort_by_key(|want| !want.linked);
        let mut wants: Vec<Self> = Vec::new();
        for want in all {
            let serves = |known: &Self| {
                known.image == want.image && known.host == want.host && (!want.linked || known.storage == want.storage)
            };
            match wants.iter_mut().find(|known| serves(known)) {
                Some(known) => known.agent |= want.agent,
                None => wants.push(want),
            }
        }
        wants
    }
}
