//! The hand-over: what pvetalos knows of the nodes, in the languages of the tools that go on with them.

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
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The flags by which `pvetalos` finds the same cluster.
    pub flags: &'a str,
    /// The nodes exist only in a simulation, and somebody else may have their addresses.
    pub simulated: bool,
}

impl Script<'_> {
    /// Only nodes that wait for a configuration and have proven which machine they are get one; of the others it is said
    /// why not. What has been done once is not done again, neither by this script nor by the next.
    pub fn text(&self, cluster: &Cluster, handover: &Handover) -> String {
        let mut script = Lines::default();
        let name = &handover.cluster;
        script.line(&format!(
            "# What remains to be done for the cluster {name}, as of now. Read it, then run it with `sh -eu`;"
        ));
        script.line("# to go on after a failure, make it anew.");
        if self.simulated {
            script.line("\necho 'this was made from a simulation: there are no such nodes' >&2; exit 1");
        }
        let first = handover.nodes.iter().find(|node| node.role == Role::Controller);
        let Some((endpoint, first)) = handover.kubernetes_endpoint.as_ref().zip(first) else {
            script.line("\n# There is no control plane among the nodes, so that no cluster can begin with them.");
            return script.0;
        };
        let folder = format!("talos-{name}");
        configurations(&mut script, cluster, handover, (endpoint, first), &folder);
        script.line("\n# 2. Every node gets its configuration, installs itself and restarts.");
        for (node, handover) in cluster.nodes.iter().zip(&handover.nodes) {
            match apply_config(cluster, node, handover, first, &folder) {
                Ok(command) => script.line(&format!("# {}\n{command}", handover.node)),
                Err(why) => script.line(&format!("# {} {why}", handover.node)),
            }
        }
        self.beginning(&mut script, handover, first, &folder);
        script.0
    }

    /// The way in, and the beginning of etcd.
    fn beginning(&self, script: &mut Lines, handover: &Handover, first: &NodeHandover, folder: &str) {
        let is_there = |node: &&NodeHandover| node.is_ready() || node.is_configured();
        let there: Vec<&NodeHandover> = handover.nodes.iter().filter(is_there).collect();
        let controllers = || handover.nodes.iter().filter(|node| node.role == Role::Controller);
        if !controllers().any(|node| is_there(&node)) {
            script.line("\n# 3. No control plane is there yet, with which the cluster could begin.");
            return;
        }
        let only = if there.len() == handover.nodes.len() {
            String::new()
        } else {
            let names: Vec<&str> = there.iter().map(|node| node.node.as_str()).collect();
            format!(" --only {}", names.join(","))
        };
        let addresses: Vec<String> = handover.controllers.iter().map(ToString::to_string).collect();
        let addresses = addresses.join(" ");
        script.line("\n# 3. When they are back: the way in, and the beginning of etcd, unless it has begun.");
        script.line(&format!("pvetalos wait --for configured{only}{}", self.flags));
        script.line(&format!("export TALOSCONFIG=$PWD/{folder}/talosconfig"));
        script.line(&format!("talosctl config endpoint {addresses}"));
        script.line(&format!("talosctl config node {}", first.address));
        // A control plane that is made anew, and bootstrapped because the others are silent, would begin a second cluster.
        let (new, old) = (controllers().any(NodeHandover::is_ready), controllers().any(NodeHandover::is_configured));
        let alike = controllers().all(NodeHandover::is_ready) || controllers().all(NodeHandover::is_configured);
        if alike {
            script.line("begun=");
            script.line(&format!("for node in {addresses}; do"));
            script.line("  if talosctl --nodes \"$node\" etcd members >/dev/null 2>&1; then begun=yes; fi");
            script.line("done");
            script.line("[ \"$begun\" ] || talosctl bootstrap");
        } else {
            let why = if new && old {
                "Some control planes are new and others are not."
            } else {
                "Not every control plane answers."
            };
            script.line(&format!("# {why} Only if this cluster was never begun: talosctl bootstrap"));
        }
        script.line(&format!("talosctl kubeconfig --force {folder}/kubeconfig"));
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }
}

/// Secrets and configurations, in a folder that is nobody else's.
fn configurations(
    script: &mut Lines,
    cluster: &Cluster,
    handover: &Handover,
    (endpoint, first): (&str, &NodeHandover),
    folder: &str,
) {
    let name = &handover.cluster;
    script.line(&format!(
        "\n# Everything goes into {folder}, which git ignores. Keep a copy of its secrets.yaml: it opens the cluster."
    ));
    script.line(&format!("umask 077\nmkdir -p {folder} && printf '*\\n' > {folder}/.gitignore"));
    let begun = handover.nodes.iter().any(NodeHandover::is_configured);
    let once = if begun { "# " } else { "" };
    script.line(if begun {
        "\n# 1. Some nodes are configured already: put the files that they came from there, if they are not."
    } else {
        "\n# 1. Secrets and machine configurations, once."
    });
    if cluster.network.vip.is_none() && handover.controllers.len() > 1 {
        script.line(
            "# No shared address (`vip`) is given: the Kubernetes API is looked for at the first control plane alone.",
        );
    }
    if first.installer.is_none() {
        script.line(
            "# NOT in here: --install-image, because `talos_version` and `schematic_id` are not given. It has to be a",
        );
        script.line("# nocloud-installer: with any other the nodes forget at their next start what Proxmox told them.");
    }
    script.line(&format!(
        "{once}[ -f {folder}/secrets.yaml ] || talosctl gen secrets --output-file {folder}/secrets.yaml"
    ));
    script.line(&format!(
        "{once}[ -f {folder}/talosconfig ] || talosctl gen config {name} {endpoint} --with-secrets {folder}/secrets.yaml \\\n\
         {once}  --output {folder}{}",
        installs(first)
    ));
}

/// What `talosctl gen config` has to be told so that its files fit this node.
fn installs(node: &NodeHandover) -> String {
    let version = node.wanted_version.as_ref().map(|version| format!(" --talos-version v{version}"));
    let disk = match &node.install_disk {
        InstallDisk::Path(path) => Some(format!(" --install-disk {path}")),
        InstallDisk::Serial(_) => None,
    };
    let image = node.installer.as_ref().map(|installer| format!(" --install-image {installer}"));
    [version, disk, image].into_iter().flatten().collect::<Vec<_>>().concat()
}

/// The command that configures a node, or why it gets none.
fn apply_config(
    cluster: &Cluster,
    node: &Node,
    handover: &NodeHandover,
    first: &NodeHandover,
    folder: &str,
) -> Result<String, String> {
    if !handover.is_ready() {
        return Err(why_not(handover));
    }
    let file = handover.role.choose("controlplane.yaml", "worker.yaml");
    let patch = patch(cluster, node, handover, first);
    let patch = patch.map_or(String::new(), |patch| format!(" \\\n  --config-patch '{patch}'"));
    Ok(format!("talosctl apply-config --insecure --nodes {} --file {folder}/{file}{patch}", handover.address))
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

/// What a node needs beside the file of its role: another disk or image than the first, its keys in the TPM, and what
/// cloud-init cannot say of its network.
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
    machine.extend(encryption(node));
    let shares_address = handover.role == Role::Controller && cluster.network.vip.is_some();
    if shares_address || node.vm.trunk_vlan.is_some() {
        machine.insert("network".to_owned(), json!({ "interfaces": [first_card(cluster, node)] }));
    }
    (!machine.is_empty()).then(|| json!({ "machine": machine }))
}

/// Disks whose keys are sealed to the TPM that the VM has for it.
fn encryption(node: &Node) -> Option<(String, Value)> {
    let volume = json!({ "provider": "luks2", "keys": [{ "slot": 0, "tpm": {} }] });
    let disks = json!({ "state": volume, "ephemeral": volume });
    node.vm.encrypt_disk.value.then(|| ("systemDiskEncryption".to_owned(), disks))
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
    if let Some((key, disks)) = encryption(node) {
        put("patches", json!([json!({ "machine": { key: disks } }).to_string()]));
    }
    Value::Object(entry)
}

/// The first network card of a node, in the words of a machine configuration. A configuration that names a card has to
/// say everything about it: what cloud-init said of it no longer counts.
fn first_card(cluster: &Cluster, node: &Node) -> Value {
    let network = &cluster.network;
    let address = Prefixed::in_network(node.address.value, network.cidr.value);
    let everywhere = if node.address.value.is_ipv4() { "0.0.0.0/0" } else { "::/0" };
    let mut link = Map::new();
    link.insert("addresses".to_owned(), address.map(|address| json!(address.to_string())).into_iter().collect());
    link.insert("routes".to_owned(), json!([{ "network": everywhere, "gateway": network.gateway.value }]));
    link.extend(node.vm.mtu.as_ref().map(|mtu| ("mtu".to_owned(), json!(mtu.value.get()))));
    let vip = network.vip.as_ref().filter(|_| node.role.value == Role::Controller);
    link.extend(vip.map(|vip| ("vip".to_owned(), json!({ "ip": vip.value }))));
    let mut card = card(node.mac_address.value);
    match &node.vm.trunk_vlan {
        None => card.extend(link),
        // On a trunk everything belongs to the VLAN, which Talos tags itself.
        Some(tag) => {
            link.insert("vlanId".to_owned(), json!(tag.value.get()));
            card.insert("vlans".to_owned(), json!([link]));
        }
    }
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
