//! The hand-over: what pvetalos knows of the nodes, in the languages of the tools that go on with them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::json::versioned;
use super::yaml::to_yaml;
use crate::handover::{Handover, NodeHandover};
use crate::model::{Cluster, ExtraNic, InstallDisk, MacAddress, NicAddress, Node, Prefixed, Role};
use crate::talos::NodeState;

/// What programs read: addresses, numbers, roles and states.
pub fn handover_json(handover: &Handover) -> Value {
    versioned(handover)
}

/// The talosctl commands that make a cluster of the nodes, as a script to be read before it is run.
///
/// Only nodes that wait for a configuration and have proven which machine they are get one; of the others it is said why
/// not. Nothing that would make a second cluster of the first is offered once a node is configured.
pub fn talosctl_script(cluster: &Cluster, handover: &Handover) -> String {
    let mut script = String::new();
    let mut line = |text: &str| writeln!(script, "{text}").expect("writing to a string never fails");
    let name = &handover.cluster;
    line(&format!(
        "# What remains to be done for the cluster {name}. Read it first; then run it, also more than once.\n"
    ));
    let first = handover.nodes.iter().find(|node| node.role == Role::Controller);
    let Some((endpoint, first)) = handover.kubernetes_endpoint.as_ref().zip(first) else {
        line("# There is no control plane among the nodes, so that no cluster can begin with them.");
        return script;
    };
    // What has been done once is shown, but must not be done again.
    let begun = handover.nodes.iter().any(NodeHandover::is_configured);
    let once = if begun { "# " } else { "" };
    if begun {
        line("# 1. Some nodes are configured already: the others get the files that those came from.");
    } else {
        line(
            "# 1. Secrets and machine configurations, once. Keep secrets.yaml safe and out of git: it opens the cluster.",
        );
    }
    line(&format!("{once}[ -f secrets.yaml ] || talosctl gen secrets --output-file secrets.yaml"));
    line(&format!(
        "{once}[ -f talosconfig ] || talosctl gen config {name} {endpoint} --with-secrets secrets.yaml{}",
        installs(first)
    ));
    line("\n# 2. Every node gets its configuration, installs itself and restarts.");
    for (node, handover) in cluster.nodes.iter().zip(&handover.nodes) {
        match apply_config(cluster, node, handover, first) {
            Ok(command) => line(&format!("# {}\n{command}", handover.node)),
            Err(why) => line(&format!("# {} {why}", handover.node)),
        }
    }
    let controllers: Vec<String> = handover.controllers.iter().map(ToString::to_string).collect();
    line("\n# 3. When they are back: the way in, and once the beginning of etcd on one control plane.");
    line("pvetalos wait --for configured");
    line("export TALOSCONFIG=$PWD/talosconfig");
    line(&format!("talosctl config endpoint {}", controllers.join(" ")));
    line(&format!("talosctl config node {}", first.address));
    // A control plane that is made anew and bootstrapped beside others would begin a second cluster.
    let beginning = handover.nodes.iter().any(|node| node.role == Role::Controller && node.is_configured());
    line(if beginning { "# Only if this cluster was never begun: talosctl bootstrap" } else { "talosctl bootstrap" });
    line("talosctl kubeconfig ./kubeconfig");
    script
}

/// What `talosctl gen config` has to be told so that its files fit this node.
fn installs(node: &NodeHandover) -> String {
    let mut flags = String::new();
    let mut flag =
        |name: &str, value: &str| write!(flags, " --{name} {value}").expect("writing to a string never fails");
    if let Some(version) = &node.wanted_version {
        flag("talos-version", &format!("v{version}"));
    }
    if let InstallDisk::Path(path) = &node.install_disk {
        flag("install-disk", path);
    }
    if let Some(installer) = &node.installer {
        flag("install-image", installer);
    }
    flags
}

/// The command that configures a node, or why it gets none.
fn apply_config(
    cluster: &Cluster,
    node: &Node,
    handover: &NodeHandover,
    first: &NodeHandover,
) -> Result<String, String> {
    if !handover.is_ready() {
        return Err(why_not(handover));
    }
    let file = handover.role.choose("controlplane.yaml", "worker.yaml");
    let patch = patch(cluster, node, handover, first);
    let patch = patch.map_or(String::new(), |patch| format!(" \\\n  --config-patch '{patch}'"));
    Ok(format!("talosctl apply-config --insecure --nodes {} --file {file}{patch}", handover.address))
}

fn why_not(node: &NodeHandover) -> String {
    match node.talos {
        _ if node.vmid.is_none() => "has no VM yet; `pvetalos provision` makes it".to_owned(),
        Some(NodeState::Configured) => "is configured already".to_owned(),
        Some(NodeState::Maintenance) => {
            "did not prove that it is this VM: look at `pvetalos status`, and send it nothing until that is clear"
                .to_owned()
        }
        Some(NodeState::WrongHost) => "is another machine: send it nothing, and look at `pvetalos status`".to_owned(),
        Some(state) => format!("is {state}; look at `pvetalos status`"),
        None => "was not asked".to_owned(),
    }
}

/// What a node needs beside the file of its role: another disk or image than the first, and the shared address.
fn patch(cluster: &Cluster, node: &Node, handover: &NodeHandover, first: &NodeHandover) -> Option<Value> {
    let mut install = Map::new();
    match &handover.install_disk {
        InstallDisk::Serial(serial) => drop(install.insert("diskSelector".to_owned(), json!({ "serial": serial }))),
        other if *other != first.install_disk => drop(install.insert("disk".to_owned(), json!(other))),
        InstallDisk::Path(_) => {}
    }
    if handover.installer != first.installer {
        install.extend(handover.installer.as_ref().map(|installer| ("image".to_owned(), json!(installer))));
    }
    let mut machine = Map::new();
    if !install.is_empty() {
        machine.insert("install".to_owned(), Value::Object(install));
    }
    if handover.role == Role::Controller && cluster.network.vip.is_some() {
        machine.insert("network".to_owned(), json!({ "interfaces": [first_card(cluster, node)] }));
    }
    (!machine.is_empty()).then(|| json!({ "machine": machine }))
}

/// A talconfig.yaml for talhelper, with everything that the files say about the nodes.
pub fn talconfig(cluster: &Cluster, handover: &Handover) -> String {
    let versions = handover.nodes.iter().filter_map(|node| node.wanted_version.as_ref());
    let newest = versions.max_by_key(|version| version.numbers());
    let mut document = Map::new();
    let mut put = |key: &str, value: Option<Value>| document.extend(value.map(|value| (key.to_owned(), value)));
    put("clusterName", Some(json!(handover.cluster)));
    put("talosVersion", newest.map(|version| json!(format!("v{version}"))));
    put("endpoint", handover.kubernetes_endpoint.as_ref().map(|endpoint| json!(endpoint)));
    let nodes =
        cluster.nodes.iter().zip(&handover.nodes).map(|(node, handover)| talhelper_node(cluster, node, handover));
    put("nodes", Some(nodes.collect()));
    to_yaml(&Value::Object(document))
}

fn talhelper_node(cluster: &Cluster, node: &Node, handover: &NodeHandover) -> Value {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    put("hostname", json!(handover.node));
    put("ipAddress", json!(handover.address.to_string()));
    put("controlPlane", json!(handover.role == Role::Controller));
    match &handover.install_disk {
        InstallDisk::Path(path) => put("installDisk", json!(path)),
        InstallDisk::Serial(serial) => put("installDiskSelector", json!({ "serial": serial })),
    }
    // talhelper adds the version itself.
    if let Some((image, _)) = handover.installer.as_deref().and_then(|installer| installer.rsplit_once(':')) {
        put("talosImageURL", json!(image));
    }
    if !cluster.network.dns_servers.value.is_empty() {
        put("nameservers", json!(cluster.network.dns_servers.value));
    }
    let others = node.nics.iter().filter_map(extra_card);
    put("networkInterfaces", std::iter::once(first_card(cluster, node)).chain(others).collect());
    Value::Object(entry)
}

/// The first network card of a node, in the words of a machine configuration. A configuration that names a card has to
/// say everything about it: what cloud-init said of it no longer counts.
fn first_card(cluster: &Cluster, node: &Node) -> Value {
    let network = &cluster.network;
    let address = Prefixed::in_network(node.address.value, network.cidr.value);
    let everywhere = if node.address.value.is_ipv4() { "0.0.0.0/0" } else { "::/0" };
    let mut card = card(node.mac_address.value);
    card.insert("addresses".to_owned(), address.map(|address| json!(address.to_string())).into_iter().collect());
    card.insert("routes".to_owned(), json!([{ "network": everywhere, "gateway": network.gateway.value }]));
    card.extend(node.vm.mtu.as_ref().map(|mtu| ("mtu".to_owned(), json!(mtu.value.get()))));
    let vip = network.vip.as_ref().filter(|_| node.role.value == Role::Controller);
    card.extend(vip.map(|vip| ("vip".to_owned(), json!({ "ip": vip.value }))));
    Value::Object(card)
}

/// Another card, if it gets an address.
fn extra_card(nic: &ExtraNic) -> Option<Value> {
    let mut card = card(nic.mac_address.value);
    match nic.address.as_ref()?.value {
        NicAddress::Dhcp => card.insert("dhcp".to_owned(), json!(true)),
        NicAddress::Static(address) => card.insert("addresses".to_owned(), json!([address.to_string()])),
    };
    card.extend(nic.mtu.map(|mtu| ("mtu".to_owned(), json!(mtu.get()))));
    Some(Value::Object(card))
}

/// A card by its hardware address, which Talos compares in lower case.
fn card(mac: MacAddress) -> Map<String, Value> {
    let selector = json!({ "hardwareAddr": mac.to_string().to_lowercase() });
    Map::from_iter([("deviceSelector".to_owned(), selector)])
}
