use crate::model::{CloneMode, Cluster, HostName, Node, PoolId, StorageId};
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
        Self::of_nodes(&cluster.nodes)
    }

    /// The same for some of the nodes.
    pub fn of_nodes<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<Self> {
        let of_node = |node: &Node| {
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
        let mut all: Vec<Self> = nodes.into_iter().filter_map(of_node).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Explain, Inputs, load};

    #[test]
    fn a_host_needs_an_image_once_unless_linked_clones_are_particular() {
        #[track_caller]
        fn case(nodes: &str, expected: &[&str]) {
            let text = format!(
                "name: home\nnetwork: {{cidr: 192.168.1.0/24}}\nproxmox: {{storage: local-lvm}}\ndefaults:\n  \
                 talos_version: 1.12.0\n  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515\n\
                 nodes:\n{nodes}"
            );
            let loaded = load(Inputs::from_texts(&text, None, None), Explain::No);
            let cluster = loaded.cluster.unwrap_or_else(|| panic!("{:?}", loaded.problems));
            let shown = |want: &Want| {
                let host = want.host.as_ref().map_or("anywhere", HostName::as_str);
                format!("{} {} {host}", want.image.talos_version, want.storage)
            };
            assert_eq!(Want::of_cluster(&cluster).iter().map(shown).collect::<Vec<_>>(), expected);
        }
        let node = |number: u8, more: &str| {
            format!(
                "  - {{name: n-{number}, address: 192.168.1.1{number}, controller: {}, mac_addr: 'bc:24:11:00:00:1{number}'{more}}}\n",
                number == 1
            )
        };
        case(&(node(1, "") + &node(2, "")), &["1.12.0 local-lvm anywhere"]);
        case(
            &(node(1, ", host: pve1") + &node(2, ", host: pve2") + &node(3, ", host: pve1, storage: tank")),
            &["1.12.0 local-lvm pve1", "1.12.0 local-lvm pve2"],
        );
        case(
            &(node(1, ", host: pve1") + &node(2, ", host: pve1, storage: tank, clone: linked")),
            &["1.12.0 tank pve1"],
        );
        case(
            &(node(1, ", talos_version: 1.11.0") + &node(2, "")),
            &["1.11.0 local-lvm anywhere", "1.12.0 local-lvm anywhere"],
        );
        case(&node(1, ", talos_template: mine"), &[]);
    }
}
