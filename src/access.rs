//! What a token has to be granted: for the nodes of a cluster, or for whatever cluster there will be.
//!
//! ```text
//! Cluster ──► Needs ──► Paths ──► rules: a role on a path ──► pveum commands
//! ```
//!
//! All of it is pure; nobody is asked, and nothing is granted here.

use std::collections::BTreeSet;

use crate::model::{Cluster, ClusterName, NodeName, PoolId, TokenId, VmId};
use crate::preflight::{Needs, network_path, storage_path};
use crate::pveum::{Command, Release, TokenRole};

/// What is asked for beside the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    pub release: Release,
    pub token: TokenId,
    /// Where the VMs are, whatever the files say.
    pub pool: Option<PoolId>,
    /// Templates outside of the pool.
    pub clone_from: BTreeSet<VmId>,
    /// What the nodes can do without.
    pub extras: BTreeSet<Extra>,
}

/// What the nodes can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// Making templates.
    Templates,
    /// Letting the storage of images take some.
    EnableImport,
    /// Setting the order in which VMs start.
    StartOrder,
    /// Placing nodes by the free memory of hosts.
    FreeMemory,
    /// Asking the guest agent about a node that does not answer.
    GuestAgent,
}

impl Extra {
    pub const ALL: [Self; 5] =
        [Self::Templates, Self::EnableImport, Self::StartOrder, Self::FreeMemory, Self::GuestAgent];

    /// The roles that it takes.
    pub fn roles(self) -> &'static [TokenRole] {
        match self {
            Self::Templates => &[TokenRole::Images, TokenRole::Download],
            Self::EnableImport => &[TokenRole::Import],
            Self::StartOrder => &[TokenRole::StartOrder],
            Self::FreeMemory => &[TokenRole::Memory],
            Self::GuestAgent => &[TokenRole::Agent],
        }
    }
}

/// Everything that has to be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub wishes: Wishes,
    /// The cluster that it is for; none if it is for whatever there will be.
    pub cluster: Option<ClusterName>,
    /// The pools that have to be there.
    pub pools: BTreeSet<PoolId>,
    /// The rules, each for the token and its user.
    pub rules: Vec<Rule>,
    /// Whether some node goes where there is room.
    pub any_host: bool,
}

/// A role on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub path: String,
    pub role: TokenRole,
}

/// Where things are, among the permissions.
struct Paths {
    vms: Vec<String>,
    disks: Vec<String>,
    networks: Vec<String>,
    images: String,
    hosts: Vec<String>,
}

impl Access {
    /// For the nodes of a cluster, and nothing beside what they use.
    pub fn for_cluster(cluster: &Cluster, wishes: Wishes) -> Self {
        let mut needs = Needs::of(cluster);
        if let Some(pool) = &wishes.pool {
            (needs.pools, needs.outside_pools) = (BTreeSet::from([pool.clone()]), false);
        }
        let hosts = needs.hosts.iter().map(|host| format!("/nodes/{host}")).collect();
        let paths = Paths {
            // Whoever may do something with all VMs may do it in a pool too.
            vms: if needs.outside_pools { vec!["/vms".to_owned()] } else { needs.vm_paths() },
            disks: needs.storages.iter().map(|storage| storage_path(&storage.what)).collect(),
            networks: needs.networks.iter().map(|(bridge, vlan)| network_path(bridge, *vlan)).collect(),
            images: storage_path(&cluster.proxmox.image_storage.value),
            hosts: if needs.any_host { vec!["/nodes".to_owned()] } else { hosts },
        };
        let name = Some(cluster.name.value.clone());
        Self { cluster: name, any_host: needs.any_host, ..Self::new(needs.pools, paths, wishes) }
    }

    /// For whatever cluster there will be.
    pub fn in_general(wishes: Wishes) -> Self {
        let pools: BTreeSet<PoolId> = wishes.pool.iter().cloned().collect();
        let vms = pools.iter().map(|pool| format!("/pool/{pool}")).next();
        let paths = Paths {
            vms: vec![vms.unwrap_or_else(|| "/vms".to_owned())],
            disks: vec!["/storage".to_owned()],
            networks: vec!["/sdn/zones/localnetwork".to_owned()],
            images: "/storage".to_owned(),
            hosts: vec!["/nodes".to_owned()],
        };
        Self::new(pools, paths, wishes)
    }

    fn new(pools: BTreeSet<PoolId>, paths: Paths, wishes: Wishes) -> Self {
        let Paths { vms, disks, networks, images, hosts } = paths;
        let templates = wishes.clone_from.iter().map(|vmid| format!("/vms/{vmid}"));
        let always = [
            (TokenRole::Vms, vms.clone()),
            (TokenRole::Cloning, templates.collect()),
            (TokenRole::Disks, disks),
            (TokenRole::Network, networks),
        ];
        let granted = |role: TokenRole| wishes.extras.iter().any(|extra| extra.roles().contains(&role));
        let extra = [
            (TokenRole::Images, vec![images]),
            (TokenRole::Download, hosts.clone()),
            (TokenRole::Import, vec!["/storage".to_owned()]),
            (TokenRole::StartOrder, vec!["/".to_owned()]),
            (TokenRole::Memory, hosts),
            (TokenRole::Agent, vms),
        ];
        let all = always.into_iter().chain(extra.into_iter().filter(|(role, _)| granted(*role)));
        let rules = all.flat_map(|(role, paths)| paths.into_iter().map(move |path| Rule { path, role })).collect();
        Self { wishes, cluster: None, pools, rules, any_host: true }
    }

    /// Whether the token may do something with VMs in pools only.
    pub fn is_in_pools(&self) -> bool {
        self.rules.iter().filter(|rule| rule.role == TokenRole::Vms).all(|rule| rule.path.starts_with("/pool/"))
    }

    /// The roles that the rules are about.
    pub fn roles(&self) -> BTreeSet<TokenRole> {
        self.rules.iter().map(|rule| rule.role).collect()
    }

    pub fn add_roles(&self) -> Vec<Command> {
        self.roles().into_iter().map(|role| Command::add_role(role, self.wishes.release)).collect()
    }

    /// A pool that several others are in is made once.
    pub fn add_pools(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        for command in self.pools.iter().flat_map(Command::add_pool) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    pub fn grants(&self) -> Vec<Command> {
        self.rules.iter().map(|rule| Command::grant(&rule.path, rule.role, &self.wishes.token)).collect()
    }

    /// Everything, in the order in which it works.
    pub fn commands(&self) -> Vec<Command> {
        let token = &self.wishes.token;
        let mut commands = self.add_roles();
        commands.extend(self.add_pools());
        commands.extend(Command::add_user(token));
        commands.push(Command::add_token(token));
        commands.extend(self.grants());
        commands
    }

    /// What takes it all away again. Pools stay: there may be VMs in them.
    pub fn removal(&self) -> Vec<Command> {
        let token = &self.wishes.token;
        let mut commands = vec![Command::remove_token(token)];
        commands.extend(Command::delete_user(token));
        commands.extend(self.roles().into_iter().map(Command::delete_role));
        commands
    }

    /// What was not asked for. Letting a storage take images is of use only to who makes templates, and the memory of
    /// hosts only where nodes go where there is room.
    pub fn left_out(&self) -> Vec<Extra> {
        let extras = &self.wishes.extras;
        let matters = |extra: &Extra| match extra {
            Extra::EnableImport => extras.contains(&Extra::Templates),
            Extra::FreeMemory => self.any_host,
            Extra::Templates | Extra::StartOrder | Extra::GuestAgent => true,
        };
        Extra::ALL.into_iter().filter(|extra| !extras.contains(extra) && matters(extra)).collect()
    }
}

/// The nodes that the files put into another pool, or into none.
pub fn nodes_outside<'a>(cluster: &'a Cluster, pool: &PoolId) -> Vec<&'a NodeName> {
    let elsewhere = cluster.nodes.iter().filter(|node| node.vm.pool.as_ref().is_none_or(|own| own.value != *pool));
    elsewhere.map(|node| &node.name.value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Explain, Inputs, load};

    fn wishes() -> Wishes {
        Wishes {
            release: Release::Nine,
            token: "pvetalos@pve!pvetalos".parse().expect("a token id"),
            pool: None,
            clone_from: BTreeSet::new(),
            extras: BTreeSet::new(),
        }
    }

    fn cluster(nodes: &[&str]) -> Cluster {
        let nodes = nodes.iter().enumerate().map(|(index, more)| {
            format!(
                "  - {{name: n-{index}, address: 10.0.0.1{index}, controller: {}, mac_addr: 'bc:24:11:00:00:1{index}'{more}}}\n",
                index == 0
            )
        });
        let text = format!(
            "name: home\nnetwork: {{cidr: 10.0.0.0/24, bridge: vmbr0}}\nproxmox: {{storage: tank, image_storage: images}}\n\
             defaults: {{talos_template: t}}\nnodes:\n{}",
            nodes.collect::<String>()
        );
        let loaded = load(Inputs::from_texts(&text, None, None), Explain::No);
        loaded.cluster.unwrap_or_else(|| panic!("{:?}", loaded.problems))
    }

    /// The rules as `path role`.
    fn rules(access: &Access) -> Vec<String> {
        access.rules.iter().map(|rule| format!("{} {}", rule.path, rule.role.name())).collect()
    }

    #[test]
    fn a_cluster_gets_the_paths_that_it_uses_and_no_others() {
        let extras: BTreeSet<Extra> = Extra::ALL.into();
        let nodes = [
            ", host: pve1",
            ", host: pve2, vlan_tag: 7, nics: [{bridge: vmbr1, mac_addr: 'bc:24:11:00:01:01', vlan_tag: 30}]",
            ", host: pve1, data_disks: [{size: 1G, storage: fast}]",
        ];
        let access = Access::for_cluster(&cluster(&nodes), Wishes { extras, ..wishes() });
        assert_eq!(
            rules(&access),
            [
                "/vms TalosVMs",
                "/storage/tank TalosDisks",
                "/storage/fast TalosDisks",
                "/sdn/zones/localnetwork/vmbr0 TalosNetwork",
                "/sdn/zones/localnetwork/vmbr1/30 TalosNetwork",
                "/storage/images TalosImages",
                "/nodes/pve1 TalosDownload",
                "/nodes/pve2 TalosDownload",
                "/storage TalosImport",
                "/ TalosStartOrder",
                "/nodes/pve1 TalosMemory",
                "/nodes/pve2 TalosMemory",
                "/vms TalosAgent",
            ]
        );
        assert_eq!(access.left_out(), []);
    }

    #[test]
    fn nodes_in_pools_get_their_pools_unless_one_of_them_is_in_none() {
        #[track_caller]
        fn case(nodes: &[&str], pool: Option<&str>, expected: &[&str], pools: &[&str]) {
            let pool = pool.map(|pool| pool.parse().expect("a pool"));
            let access = Access::for_cluster(&cluster(nodes), Wishes { pool, ..wishes() });
            let vms = access.rules.iter().filter(|rule| rule.role == TokenRole::Vms).map(|rule| rule.path.as_str());
            assert_eq!(vms.collect::<Vec<_>>(), expected);
            assert_eq!(access.is_in_pools(), expected != ["/vms"]);
            assert_eq!(access.add_pools().iter().map(ToString::to_string).collect::<Vec<_>>(), pools);
        }
        let added = ["pveum pool add a", "pveum pool add a/x", "pveum pool add a/y"];
        case(&[", pool: a/x", ", pool: a/y"], None, &["/pool/a/x", "/pool/a/y"], &added);
        case(&[", pool: a", ""], None, &["/vms"], &["pveum pool add a"]);
        case(&[", pool: a", ""], Some("b"), &["/pool/b"], &["pveum pool add b"]);
        case(&[""], None, &["/vms"], &[]);
    }

    #[test]
    fn the_nodes_that_another_pool_would_not_cover_are_found() {
        let cluster = cluster(&[", pool: a", "", ", pool: b"]);
        let outside = nodes_outside(&cluster, &"a".parse().expect("a pool"));
        assert_eq!(outside.iter().map(ToString::to_string).collect::<Vec<_>>(), ["n-1", "n-2"]);
    }

    #[test]
    fn only_what_is_of_use_is_said_to_be_left_out() {
        let named = cluster(&[", host: pve1"]);
        let left_out = |extras: &[Extra]| {
            let extras = extras.iter().copied().collect();
            Access::for_cluster(&named, Wishes { extras, ..wishes() }).left_out()
        };
        assert_eq!(left_out(&[]), [Extra::Templates, Extra::StartOrder, Extra::GuestAgent]);
        assert_eq!(left_out(&[Extra::Templates, Extra::StartOrder]), [Extra::EnableImport, Extra::GuestAgent]);
        assert!(Access::in_general(wishes()).left_out().contains(&Extra::FreeMemory));
    }
}
