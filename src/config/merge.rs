use std::net::IpAddr;
use std::sync::Arc;

use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::{Field, Layer};
use super::problem::{Place, Problem, Problems};
use super::read::{Format, Globals, NodesFile, SettingsFile};
use super::source::{Source, Span};
use super::suggest::did_you_mean;
use super::{built_in, credentials};
use crate::model::{ClusterName, Origin, Queues, Quoted, Role, Setting, StartupOrder, VlanTag};

/// What counts in the end, whether or not it makes sense.
pub(super) struct Draft {
    /// Whose words the nodes are written in.
    pub(super) format: Format,
    pub(super) cluster: ClusterLayer,
    pub(super) nodes: Vec<NodeDraft>,
}

pub(super) struct NodeDraft {
    pub(super) node: NodeLayer,
    pub(super) vm: VmLayer,
    /// The VLAN that is left to Talos.
    pub(super) trunk_vlan: Field<VlanTag>,
    /// Its entry in nodes.yaml.
    pub(super) span: Span,
}

impl Draft {
    /// Brings values in line with each other where that needs no word from the user any more.
    pub(super) fn settle(&mut self, problems: &mut Problems) {
        let csi_endpoint = std::mem::take(&mut self.cluster.csi_endpoint);
        self.cluster.endpoint = std::mem::take(&mut self.cluster.endpoint).or_checked(csi_endpoint, problems);
        let proxmox_tags = self.cluster.vlan_mode.get().is_some_and(|mode| mode.value);
        for NodeDraft { vm, trunk_vlan, .. } in &mut self.nodes {
            if let (Some(vcpus), Field::Given(queues)) = (vcpus(vm), &mut vm.net_queues) {
                queues.value = Queues::nearest(queues.value.get().min(vcpus));
            }
            if !proxmox_tags {
                *trunk_vlan = std::mem::take(&mut vm.vlan_tag);
            }
        }
    }
}

/// How many virtual CPUs a VM has.
pub(super) fn vcpus(vm: &VmLayer) -> Option<u32> {
    Some(vm.cores.get()?.value.get() * vm.sockets.get()?.value.get())
}

impl NodeDraft {
    /// A node whose role is not known yet is looked at as a worker.
    pub(super) fn role(&self) -> Role {
        match &self.node.controller {
            Field::Given(Setting { value: true, .. }) => Role::Controller,
            _ => Role::Worker,
        }
    }
}

/// The files, as far as they are there.
pub(super) struct Files {
    pub(super) nodes: NodesFile,
    pub(super) nodes_name: Arc<str>,
    pub(super) cluster: Globals,
    /// The token that the SOPS file holds, known or not.
    pub(super) secrets: ClusterLayer,
    pub(super) settings: SettingsFile,
    pub(super) settings_source: Option<Arc<Source>>,
}

/// Takes every setting from the highest place that gives it.
pub(super) fn merge(files: Files, outside: ClusterLayer, problems: &mut Problems) -> Draft {
    let Files { nodes, nodes_name, cluster, secrets, settings, settings_source } = files;
    if let Some(source) = &settings_source {
        report_strangers(&settings, &nodes, &nodes_name, source, problems);
    }
    let NodesFile { format, globals: nodes_globals, nodes } = nodes;
    let globals = [&settings.globals, &cluster, &nodes_globals];
    let base = |role: Role| {
        let mut base = VmLayer::default();
        for file in globals {
            base.fill_from(file.of_role(role));
        }
        for file in globals {
            base.fill_from(&file.vm);
        }
        base.fill_from(&built_in::vm(role));
        base
    };
    let (controllers, workers) = (base(Role::Controller), base(Role::Worker));
    let any_node = built_in::node();

    let drafts = nodes.into_iter().enumerate().map(|(index, entry)| {
        let name = entry.node.name.get().map(|name| name.value.as_str());
        let overlay = name.and_then(|name| settings.nodes.get(name)).map(|(overlay, _)| overlay);
        let mut node = overlay.map(|overlay| overlay.node.clone()).unwrap_or_default();
        node.fill_from(&entry.node);
        node.fill_from(&any_node);
        let mut vm = overlay.map(|overlay| overlay.vm.clone()).unwrap_or_default();
        vm.fill_from(&entry.vm);
        let mut draft = NodeDraft { node, vm, trunk_vlan: Field::Absent, span: entry.span };
        draft.vm.fill_from(draft.role().choose(&controllers, &workers));
        draft.vm.startup_order = draft.vm.startup_order.or(Field::Given(startup_order(index)));
        draft
    });
    let drafts = drafts.collect();

    let mut places = [outside, settings.globals.cluster, secrets, cluster.cluster, nodes_globals.cluster];
    let (token_id, token_secret) = credentials::take(&mut places, problems);
    let name = cluster_name(&mut places, problems);
    let mut merged = ClusterLayer { name, token_id, token_secret, ..ClusterLayer::default() };
    for place in &places {
        merged.fill_from(place);
    }
    merged.fill_from(&built_in::cluster());
    merged.gateway = std::mem::take(&mut merged.gateway).or(first_of_network(&merged));
    Draft { format, cluster: merged, nodes: drafts }
}

/// The repository's own name for the cluster has the rank of its file, but is looked at only when it counts.
fn cluster_name(places: &mut [ClusterLayer; 5], problems: &mut Problems) -> Field<ClusterName> {
    let [outside, settings, _, cluster, nodes] = places;
    let above = std::mem::take(&mut outside.name).or(std::mem::take(&mut settings.name));
    let below = std::mem::take(&mut cluster.repository_name);
    above
        .or_checked(below, problems)
        .or(std::mem::take(&mut nodes.name))
        .or_checked(std::mem::take(&mut nodes.repository_name), problems)
}

/// The family's rule: the place in the list, from 1, plus 3.
fn startup_order(index: usize) -> Setting<StartupOrder> {
    let order = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(4);
    Setting::new(StartupOrder::nearest(order), Origin::Derived("from the place in the list"))
}

fn first_of_network(cluster: &ClusterLayer) -> Field<IpAddr> {
    let Some(network) = cluster.cidr.get().map(|cidr| cidr.value.network()) else {
        return Field::Absent;
    };
    // IPv6 counts the network's own address among the hosts.
    let skipped = usize::from(network.addr().is_ipv6() && network.prefix_len() < 127);
    network.hosts().nth(skipped).map_or(Field::Absent, |first| {
        Field::Given(Setting::new(first, Origin::Derived("first address of the network")))
    })
}

/// Settings for a node that does not exist are a mistake in one of the two files.
fn report_strangers(
    settings: &SettingsFile,
    nodes: &NodesFile,
    nodes_name: &str,
    source: &Arc<Source>,
    problems: &mut Problems,
) {
    let names: Option<Vec<&str>> =
        nodes.nodes.iter().map(|node| node.node.name.get().map(|name| name.value.as_str())).collect();
    // With a name that cannot be read it may be that one's settings.
    let Some(names) = names else {
        return;
    };
    for (name, (_, span)) in settings.nodes.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
        let place = Place::part(source, span.clone(), "no such node");
        let problem = Problem::error(format!("{nodes_name} has no node {}", Quoted::new(name))).at(place);
        problems.report(problem.did_you_mean(did_you_mean(name, names.iter().copied())));
    }
}
