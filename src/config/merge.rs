use std::net::IpAddr;
use std::sync::Arc;

use super::built_in;
use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::{Field, Layer};
use super::problem::{Place, Problem, Problems};
use super::read::{Globals, NodesFile, SettingsFile};
use super::source::{Source, Span};
use super::suggest::did_you_mean;
use crate::model::{Origin, Queues, Quoted, Role, Setting, StartupOrder};

/// What counts in the end, whether or not it makes sense.
pub(super) struct Draft {
    pub(super) cluster: ClusterLayer,
    pub(super) nodes: Vec<NodeDraft>,
}

pub(super) struct NodeDraft {
    pub(super) node: NodeLayer,
    pub(super) vm: VmLayer,
    /// Its entry in nodes.yaml.
    pub(super) span: Span,
}

impl Draft {
    /// Brings values in line with each other where that needs no word from the user any more.
    pub(super) fn settle(&mut self) {
        let proxmox_tags = self.cluster.vlan_mode.get().is_some_and(|mode| mode.value);
        for NodeDraft { vm, .. } in &mut self.nodes {
            if let (Field::Given(queues), Some(cores), Some(sockets)) =
                (&mut vm.net_queues, vm.cores.get(), vm.sockets.get())
            {
                let vcpus = cores.value.get() * sockets.value.get();
                queues.value = Queues::nearest(queues.value.get().min(vcpus));
            }
            if !proxmox_tags {
                vm.vlan_tag = Field::Absent;
            }
        }
    }
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

/// The three files, as far as they are there.
pub(super) struct Files {
    pub(super) nodes: NodesFile,
    pub(super) cluster: Globals,
    pub(super) settings: SettingsFile,
    pub(super) settings_source: Option<Arc<Source>>,
}

/// Takes every setting from the highest place that gives it.
pub(super) fn merge(files: Files, outside: ClusterLayer, problems: &mut Problems) -> Draft {
    let Files { nodes, cluster, settings, settings_source } = files;
    if let Some(source) = &settings_source {
        report_strangers(&settings, &nodes, source, problems);
    }
    let globals = [&settings.globals, &cluster, &nodes.globals];
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

    let drafts = nodes.nodes.into_iter().enumerate().map(|(index, entry)| {
        let name = entry.node.name.get().map(|name| name.value.as_str());
        let overlay = name.and_then(|name| settings.nodes.get(name)).map(|(overlay, _)| overlay);
        let mut node = overlay.map(|overlay| overlay.node.clone()).unwrap_or_default();
        node.fill_from(&entry.node);
        let mut vm = overlay.map(|overlay| overlay.vm.clone()).unwrap_or_default();
        vm.fill_from(&entry.vm);
        let mut draft = NodeDraft { node, vm, span: entry.span };
        draft.vm.fill_from(draft.role().choose(&controllers, &workers));
        draft.vm.startup_order = draft.vm.startup_order.or(Field::Given(startup_order(index)));
        draft
    });
    let drafts = drafts.collect();

    let mut merged = halved_token(outside);
    for file in globals {
        merged.fill_from(&halved_token(file.cluster.clone()));
    }
    merged.fill_from(&built_in::cluster());
    merged.gateway = std::mem::take(&mut merged.gateway).or(first_of_network(&merged));
    Draft { cluster: merged, nodes: drafts }
}

/// The family's rule: the place in the list, from 1, plus 3.
fn startup_order(index: usize) -> Setting<StartupOrder> {
    let order = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(4);
    Setting::new(StartupOrder::nearest(order), Origin::Derived("from the place in the list"))
}

/// Splits a whole token, so that its halves take part in the ranking of places.
fn halved_token(mut cluster: ClusterLayer) -> ClusterLayer {
    match std::mem::take(&mut cluster.token) {
        Field::Absent => {}
        Field::Wrong => {
            cluster.token_id = cluster.token_id.or(Field::Wrong);
            cluster.token_secret = cluster.token_secret.or(Field::Wrong);
        }
        Field::Given(Setting { value, origin }) => {
            cluster.token_id = cluster.token_id.or(Field::Given(Setting::new(value.id, origin.clone())));
            cluster.token_secret = cluster.token_secret.or(Field::Given(Setting::new(value.secret, origin)));
        }
    }
    cluster
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
fn report_strangers(settings: &SettingsFile, nodes: &NodesFile, source: &Arc<Source>, problems: &mut Problems) {
    let names: Vec<&str> =
        nodes.nodes.iter().filter_map(|node| node.node.name.get()).map(|name| name.value.as_str()).collect();
    for (name, (_, span)) in &settings.nodes {
        if names.contains(&name.as_str()) {
            continue;
        }
        let place = Place::Part { source: Arc::clone(source), span: span.clone(), label: "no such node".to_owned() };
        let problem = Problem::error(format!("nodes.yaml has no node {}", Quoted::new(name))).at(place);
        problems.report(match did_you_mean(name, names.iter().copied()) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None => problem,
        });
    }
}
