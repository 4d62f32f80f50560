use std::collections::HashMap;
use std::sync::Arc;

use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::{Field, Layer, Scope};
use super::problem::{Place, Problem, Problems};
use super::reader::{Fields, Reader};
use super::source::{Source, Span};
use super::talconfig;
use super::yaml::{self, Content, Entry, Yaml};
use crate::model::{Quoted, Role};

/// What one file says about everything but single nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Globals {
    pub(super) cluster: ClusterLayer,
    pub(super) vm: VmLayer,
    pub(super) controllers: VmLayer,
    pub(super) workers: VmLayer,
}

impl Globals {
    pub(super) fn of_role(&self, role: Role) -> &VmLayer {
        role.choose(&self.controllers, &self.workers)
    }
}

/// What one place says about one node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSays {
    pub(super) node: NodeLayer,
    pub(super) vm: VmLayer,
    /// Where it stands, for problems with the node as a whole.
    pub(super) span: Span,
}

/// Whose words the list of nodes is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// nodes.yaml.
    #[default]
    Own,
    /// talconfig.yaml, which has no key of ours.
    Talhelper,
}

/// nodes.yaml: the nodes, and perhaps everything else.
#[derive(Debug, Default)]
pub(super) struct NodesFile {
    pub(super) format: Format,
    pub(super) globals: Globals,
    pub(super) nodes: Vec<NodeSays>,
}

/// pvetalos.yaml: what the family repositories have no key for.
#[derive(Debug, Default)]
pub(super) struct SettingsFile {
    pub(super) globals: Globals,
    /// By node name, with the name's place.
    pub(super) nodes: HashMap<String, (NodeSays, Span)>,
}

/// The maps of cluster.yaml that hold settings of VMs.
pub(super) const VM_MAPS: [&str; 4] =
    ["proxmox_vm_defaults", "proxmox_vm_advanced", "proxmox_vm_controller_defaults", "proxmox_vm_worker_defaults"];

/// The sections that only our own files have.
const SECTIONS: [&str; 3] = ["proxmox", "network", "defaults"];

/// `variables` is talenv.yaml, for a talconfig.yaml.
pub(super) fn nodes_file(
    source: &Arc<Source>,
    variables: Option<&Arc<Source>>,
    problems: &mut Problems,
) -> Option<NodesFile> {
    let tree = yaml::parse(source, problems)?;
    let mut reader = Reader { source, problems };
    if talconfig::is_talconfig(source, &tree) {
        return talconfig::nodes_file(tree, variables, &mut reader);
    }
    let mut fields = top_level(&tree, &mut reader)?;
    let globals = own_globals(&mut fields, &mut reader);
    let nodes = fields.entry(&["nodes"], &mut reader).map(|entry| node_list(entry, &mut reader));
    refuse_rest("nodes.yaml", &mut fields, &mut reader);
    if nodes.is_none() && !reader.problems.is_meant(&["nodes"]) {
        let problem = Problem::error("there is no list `nodes`").at(Place::Named(source.name().to_string()));
        reader.report(problem.hint(EXAMPLE_NODE));
    }
    Some(NodesFile { format: Format::Own, globals, nodes: nodes.unwrap_or_default() })
}

const EXAMPLE_NODE: &str = "give at least one node, for example:
  nodes:
    - name: cp-1
      address: 192.168.1.11
      controller: true
      mac_addr: bc:24:11:00:00:11";

pub(super) fn settings_file(source: &Arc<Source>, problems: &mut Problems) -> Option<SettingsFile> {
    let tree = yaml::parse(source, problems)?;
    // An empty file says nothing, which is allowed here.
    if tree.content == Content::Null {
        return Some(SettingsFile::default());
    }
    let mut reader = Reader { source, problems };
    let mut fields = top_level(&tree, &mut reader)?;
    let globals = own_globals(&mut fields, &mut reader);
    let nodes = fields.entry(&["nodes"], &mut reader).map(|entry| overlays(entry, &mut reader)).unwrap_or_default();
    refuse_rest("pvetalos.yaml", &mut fields, &mut reader);
    Some(SettingsFile { globals, nodes })
}

/// cluster.yaml belongs to the repository: keys that are not ours are nobody's mistake.
pub(super) fn cluster_file(source: &Arc<Source>, problems: &mut Problems) -> Option<Globals> {
    let tree = yaml::parse(source, problems)?;
    if tree.content == Content::Null {
        return Some(Globals::default());
    }
    let mut reader = Reader { source, problems };
    let mut fields = top_level(&tree, &mut reader)?;
    let mut globals = flat_globals(&mut fields, &mut reader);
    let secrets = ClusterLayer::read(Scope::Cluster, &mut fields, &mut reader);
    globals.cluster = globals.cluster.unite(secrets, reader.problems);
    for (entry, _) in fields.unknown(&[]) {
        tracing::debug!(file = %Quoted::new(source.name()), key = %Quoted::new(&entry.key), "not a key of ours");
    }
    Some(globals)
}

/// The keys whose lines in cluster.yaml may be shown in a message.
pub(super) fn shown_cluster_keys() -> Vec<&'static str> {
    let top = [ClusterLayer::names(Scope::Top), VmLayer::names(Scope::Top), VmLayer::names(Scope::Vm)];
    top.concat().into_iter().chain(VM_MAPS).collect()
}

fn top_level<'y>(tree: &'y Yaml, reader: &mut Reader<'_>) -> Option<Fields<'y>> {
    if tree.content == Content::Null {
        let place = Place::Named(reader.source.name().to_string());
        reader.report(Problem::error("the file is empty").at(place).hint(EXAMPLE_NODE));
        return None;
    }
    Fields::of(tree, "the file", None, reader)
}

/// Every name that may stand at the top level of nodes.yaml and pvetalos.yaml.
pub(super) fn own_top_level_names() -> Vec<&'static str> {
    let mut names = vec!["nodes"];
    names.extend(SECTIONS);
    names.extend(VM_MAPS);
    for scope in [Scope::Own, Scope::Top] {
        names.extend(ClusterLayer::names(scope));
        names.extend(VmLayer::names(scope));
    }
    names
}

/// What may stand at the top level of every file.
fn flat_globals(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Globals {
    let mut globals = Globals {
        cluster: ClusterLayer::read(Scope::Top, fields, reader),
        vm: VmLayer::read(Scope::Top, fields, reader),
        ..Globals::default()
    };
    for map in VM_MAPS {
        let Some(mut section) = fields.section(map, map, reader) else {
            continue;
        };
        let settings = VmLayer::read(Scope::Vm, &mut section, reader);
        for (entry, meant) in section.unknown(&VmLayer::names(Scope::Vm)) {
            let place = reader.place(&entry.key_span, "not used");
            let problem = Problem::warning(format!("`{map}` has no key {}", Quoted::new(&entry.key))).at(place);
            reader.report(problem.did_you_mean(meant));
        }
        let target = match map {
            "proxmox_vm_controller_defaults" => &mut globals.controllers,
            "proxmox_vm_worker_defaults" => &mut globals.workers,
            _ => &mut globals.vm,
        };
        *target = std::mem::take(target).unite(settings, reader.problems);
    }
    globals
}

/// What may stand at the top level of our own files: the same, and the sections.
fn own_globals(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Globals {
    let mut globals = flat_globals(fields, reader);
    let name = ClusterLayer::read(Scope::Own, fields, reader);
    globals.cluster = globals.cluster.unite(name, reader.problems);
    for (section, scope) in [("proxmox", Scope::Proxmox), ("network", Scope::Network)] {
        let Some(mut fields) = fields.section(section, section, reader) else {
            continue;
        };
        let cluster = ClusterLayer::read(scope, &mut fields, reader);
        let vm = VmLayer::read(scope, &mut fields, reader);
        refuse_secrets(&mut fields, reader);
        let known = [ClusterLayer::names(scope), VmLayer::names(scope)].concat();
        for meant in fields.refuse_unknown(&format!("`{section}`"), &known, reader) {
            reader.problems.remember_meant(meant);
        }
        globals.cluster = globals.cluster.unite(cluster, reader.problems);
        globals.vm = globals.vm.unite(vm, reader.problems);
    }
    if let Some(mut fields) = fields.section("defaults", "defaults", reader) {
        let controllers = role_defaults("controller", &mut fields, reader);
        let workers = role_defaults("worker", &mut fields, reader);
        let all = VmLayer::read(Scope::Vm, &mut fields, reader);
        let known = [VmLayer::names(Scope::Vm), vec!["controller", "worker"]].concat();
        fields.refuse_unknown("`defaults`", &known, reader);
        globals.vm = globals.vm.unite(all, reader.problems);
        globals.controllers = globals.controllers.unite(controllers, reader.problems);
        globals.workers = globals.workers.unite(workers, reader.problems);
    }
    globals
}

fn role_defaults(role: &str, defaults: &mut Fields<'_>, reader: &mut Reader<'_>) -> VmLayer {
    let section = format!("defaults.{role}");
    let Some(mut fields) = defaults.section(role, &section, reader) else {
        return VmLayer::default();
    };
    let settings = VmLayer::read(Scope::Vm, &mut fields, reader);
    fields.refuse_unknown(&format!("`{section}`"), &VmLayer::names(Scope::Vm), reader);
    settings
}

/// Reports what is left at the top level of one of our own files.
fn refuse_rest(file: &str, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
    refuse_secrets(fields, reader);
    for meant in fields.refuse_unknown(file, &own_top_level_names(), reader) {
        reader.problems.remember_meant(meant);
    }
}

/// Secrets have no key in files that are committed; whoever puts one there needs to be told where it belongs.
fn refuse_secrets(fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
    let names = ["token_secret", "token", "secret", "password", "proxmox_api_token_secret", "proxmox_api_token"];
    for name in names {
        if let Some(entry) = fields.entry(&[name], reader) {
            let place = reader.place(&entry.key_span, "no secrets here");
            let problem = Problem::error(format!("the secret `{name}` does not belong in this file")).at(place);
            reader
                .report(problem.hint("set PROXMOX_TOKEN_SECRET, or PROXMOX_TOKEN_SECRET_FILE with the name of a file"));
        }
    }
}

fn node_list(entry: &Entry, reader: &mut Reader<'_>) -> Vec<NodeSays> {
    match &entry.value.content {
        Content::List(items) if !items.is_empty() => {
            items.iter().filter_map(|item| node(item, Scope::Node, reader)).collect()
        }
        Content::List(_) | Content::Null => {
            let place = reader.place(&entry.key_span, "no nodes yet");
            reader.report(Problem::error("the list `nodes` is empty").at(place).hint(EXAMPLE_NODE));
            Vec::new()
        }
        _ => {
            reader.wrong_kind(&entry.value, "`nodes` is a list, each entry beginning with `- name:`");
            Vec::new()
        }
    }
}

fn node(yaml: &Yaml, scope: Scope, reader: &mut Reader<'_>) -> Option<NodeSays> {
    let mut fields = Fields::of(yaml, "a node", None, reader)?;
    let mut node = NodeLayer::read(scope, &mut fields, reader);
    let vm = VmLayer::read(Scope::Vm, &mut fields, reader);
    let known = [NodeLayer::names(scope), VmLayer::names(Scope::Vm)].concat();
    // A misspelt key is not also a missing one.
    for meant in fields.refuse_unknown("a node", &known, reader) {
        match meant {
            "name" => node.name = std::mem::take(&mut node.name).or(Field::Wrong),
            "address" => node.address = std::mem::take(&mut node.address).or(Field::Wrong),
            "controller" => node.controller = std::mem::take(&mut node.controller).or(Field::Wrong),
            "mac_addr" => node.mac_addr = std::mem::take(&mut node.mac_addr).or(Field::Wrong),
            _ => {}
        }
    }
    Some(NodeSays { node, vm, span: yaml.span.clone() })
}

fn overlays(entry: &Entry, reader: &mut Reader<'_>) -> HashMap<String, (NodeSays, Span)> {
    let nodes = match &entry.value.content {
        Content::Map(nodes) => nodes,
        Content::Null => return HashMap::new(),
        _ => {
            reader.wrong_kind(
                &entry.value,
                "`nodes` of pvetalos.yaml maps node names to settings, as in `cp-1: {host: pve1}`",
            );
            return HashMap::new();
        }
    };
    let mut overlays = HashMap::new();
    for entry in nodes {
        let says = match &entry.value.content {
            Content::Null => Some(NodeSays::default()),
            _ => node(&entry.value, Scope::Overlay, reader),
        };
        overlays.extend(says.map(|says| (entry.key.clone(), (says, entry.key_span.clone()))));
    }
    overlays
}
