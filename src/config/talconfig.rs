//! talconfig.yaml, the file of talhelper: what it says about the nodes, in the words of nodes.yaml.
//!
//! It is committed where nodes.yaml is not, and most of it is nobody's business here. Keys that are not ours are left
//! alone. `${name}` is filled in from talenv.yaml; where only talhelper could do that, the value counts as not given.

use std::collections::HashMap;
use std::fmt::Display;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use url::{Host, Url};

use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::Field;
use super::problem::{Place, Problem, Problems};
use super::read::{Format, Globals, NodeSays, NodesFile};
use super::reader::{FromYaml, Reader};
use super::schematic_file::schematic_id;
use super::source::{Source, is_secret};
use super::yaml::{self, Content, Yaml};
use crate::model::{Origin, Prefixed, SchematicId, Setting, TalosVersion};

/// The name that talhelper looks for, and the folder that cluster repositories keep it in.
pub(super) const NAME: &str = "talconfig.yaml";
pub(super) const FOLDER: &str = "talos";

/// Beside it: the variables that talhelper fills in.
pub(super) const VARIABLES_NAME: &str = "talenv.yaml";

/// What Ethernet has anyway: repositories write it for every node whose nodes.yaml says nothing.
const USUAL_MTU: u32 = 1500;

/// Whether a file is talhelper's: by its name, or by keys that no nodes.yaml has.
pub(super) fn is_talconfig(source: &Source, tree: &Yaml) -> bool {
    let named = Path::new(&**source.name()).file_name().is_some_and(|name| name == NAME);
    let has_hosts = || list(tree, "nodes").iter().any(|node| value(node, "hostname").is_some());
    named || (value(tree, "clusterName").is_some() && has_hosts())
}

/// The nodes of the file, once the variables are filled in.
pub(super) fn nodes_file(
    mut tree: Yaml,
    variables: Option<&Arc<Source>>,
    reader: &mut Reader<'_>,
) -> Option<NodesFile> {
    if let Some(source) = variables {
        fill_in(&mut tree, &read_variables(source));
    }
    let tree = &tree;
    if !matches!(tree.content, Content::Map(_)) {
        reader.wrong_kind(tree, format_args!("{NAME} is a mapping with `clusterName` and `nodes`"));
        return None;
    }
    if list(tree, "nodes").is_empty() {
        let place = Place::Named(reader.source.name().to_string());
        let hint = "talhelper needs it too: give each node a `hostname` and an `ipAddress`";
        reader.report(Problem::error("there is no list `nodes`, or nothing in it").at(place).hint(hint));
    }
    let (nodes, networks): (Vec<NodeSays>, Vec<ClusterLayer>) =
        list(tree, "nodes").iter().filter_map(|yaml| node(yaml, reader)).unzip();
    let mut cidr = agreed("network", networks.iter().map(|network| &network.cidr), reader);
    if nodes.is_empty() {
        // Without nodes nobody misses their network.
        cidr = Field::Wrong;
    }
    let vip = agreed("shared address", networks.iter().map(|network| &network.vip), reader)
        .or(vip_of_endpoint(tree, &cidr, &nodes, reader));
    let dns_servers = networks.iter().map(|network| &network.dns_servers).find(|servers| !servers.is_absent());
    let dns_servers = dns_servers.cloned().unwrap_or_else(|| {
        let of_role = |role| value(tree, role).map_or(Field::Absent, |role| field(role, "nameservers", reader));
        let [controllers, workers] = ["controlPlane", "worker"].map(of_role);
        controllers.or(workers)
    });
    let globals = Globals {
        cluster: ClusterLayer {
            repository_name: field(tree, "clusterName", reader),
            gateway: agreed("gateway", networks.iter().map(|network| &network.gateway), reader),
            cidr,
            vip,
            dns_servers,
            pod_cidr: first(tree, "clusterPodNets", reader),
            svc_cidr: first(tree, "clusterSvcNets", reader),
            ..ClusterLayer::default()
        },
        vm: VmLayer { talos_version: talos_version(tree, reader), ..VmLayer::default() },
        controllers: value(tree, "controlPlane").map(|role| image(role, reader)).unwrap_or_default(),
        workers: value(tree, "worker").map(|role| image(role, reader)).unwrap_or_default(),
    };
    Some(NodesFile { format: Format::Talhelper, globals, nodes })
}

/// A node, and what it says about the network of all.
fn node(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<(NodeSays, ClusterLayer)> {
    if !matches!(yaml.content, Content::Map(_)) {
        reader.wrong_kind(yaml, "a node is a mapping with `hostname` and `ipAddress`");
        return None;
    }
    // Several addresses may stand here; the first is the one by which the node is known.
    let address = said(yaml, "ipAddress").map_or(Field::Absent, |given| {
        let first = text(given).and_then(|addresses| addresses.split(',').next());
        setting(&first.map_or_else(|| given.clone(), |first| part(given, first.trim())), "ipAddress", reader)
    });
    let card = first_card(yaml);
    let vlan = card.and_then(|card| list(card, "vlans").iter().find(|vlan| !list(vlan, "addresses").is_empty()));
    // What stands on a VLAN of the card is what counts for the node: Talos itself does the tagging.
    let link = vlan.or(card);
    let mut vm = image(yaml, reader);
    vm.mtu = link.map_or(Field::Absent, |link| field(link, "mtu", reader));
    if vm.mtu.get().is_some_and(|mtu| mtu.value.get() == USUAL_MTU) {
        vm.mtu = Field::Absent;
    }
    vm.vlan_tag = vlan.map_or(Field::Absent, |vlan| field(vlan, "vlanId", reader));
    let own = NodeLayer {
        name: field(yaml, "hostname", reader),
        controller: match value(yaml, "controlPlane") {
            Some(_) => field(yaml, "controlPlane", reader),
            None => Field::Given(Setting::new(false, Origin::Derived("a worker, as talhelper takes it"))),
        },
        mac_addr: card
            .and_then(|card| value(card, "deviceSelector"))
            .filter(|selector| fixed(selector, "hardwareAddr").is_some())
            .map_or(Field::Absent, |selector| field(selector, "hardwareAddr", reader)),
        // To Talos a selector stands above a path.
        disk: value(yaml, "installDiskSelector")
            .filter(|selector| fixed(selector, "serial").is_some())
            .map_or(Field::Absent, |selector| field(selector, "serial", reader))
            .or(field(yaml, "installDisk", reader)),
        ..NodeLayer::default()
    };
    let network = ClusterLayer {
        cidr: link.map_or(Field::Absent, |link| network_of(link, &address, reader)),
        gateway: link.map_or(Field::Absent, |link| gateway(link, reader)),
        vip: link.and_then(|link| value(link, "vip")).map_or(Field::Absent, |vip| field(vip, "ip", reader)),
        dns_servers: field(yaml, "nameservers", reader),
        ..ClusterLayer::default()
    };
    let says = NodeSays { node: NodeLayer { address, ..own }, vm, span: yaml.span.clone() };
    Some((says, network))
}

/// The card that becomes the VM's first: one that is named by its hardware address, if any is.
fn first_card(node: &Yaml) -> Option<&Yaml> {
    let cards = list(node, "networkInterfaces");
    let has_mac = |card: &&Yaml| value(card, "deviceSelector").and_then(|by| fixed(by, "hardwareAddr")).is_some();
    cards.iter().find(has_mac).or(cards.first())
}

/// The network of a node, by its own address among those of its card.
fn network_of(link: &Yaml, own: &Field<IpAddr>, reader: &mut Reader<'_>) -> Field<Prefixed> {
    // One without a prefix length says nothing about a network.
    let tells = |yaml: &&Yaml| !is_open(yaml) && text(yaml).is_some_and(|text| text.contains('/'));
    let addresses = || list(link, "addresses").iter().filter(tells);
    let is_own = |yaml: &&Yaml| {
        let address = text(yaml).and_then(|text| text.parse::<Prefixed>().ok()).map(|prefixed| prefixed.address());
        address.is_some() && address == own.get().map(|own| own.value)
    };
    let Some(yaml) = addresses().find(is_own).or_else(|| addresses().next()) else {
        return Field::Absent;
    };
    match setting::<Prefixed>(yaml, "addresses", reader) {
        Field::Given(Setting { value, origin }) => {
            let network = Prefixed::in_network(value.network().addr(), value).unwrap_or(value);
            Field::Given(Setting::new(network, origin))
        }
        other => other,
    }
}

/// The gateway of the default route.
fn gateway(link: &Yaml, reader: &mut Reader<'_>) -> Field<IpAddr> {
    let is_default = |route: &&Yaml| said(route, "network").and_then(text).is_some_and(|to| to.ends_with("/0"));
    list(link, "routes").iter().find(is_default).map_or(Field::Absent, |route| field(route, "gateway", reader))
}

/// What the VM boots, and what it needs for that; of a node, or of a role.
fn image(yaml: &Yaml, reader: &mut Reader<'_>) -> VmLayer {
    let mut vm = VmLayer::default();
    let installer = said(yaml, "talosImageURL");
    if let Some(url) = installer
        && let Some((kind, id)) = text(url).and_then(factory_image)
    {
        vm.schematic_id = setting(&part(url, id), "talosImageURL", reader);
        if kind.ends_with("-secureboot") {
            vm.secureboot = setting(&part(url, "true"), "talosImageURL", reader);
        }
    } else if let Some(schematic) = said(yaml, "schematic").filter(|_| installer.is_none()) {
        vm.schematic_id = inline_schematic(schematic, reader);
    }
    // Repositories say it in both places, and older ones only here. They write `false` for every node whose nodes.yaml
    // says nothing, so that it is nobody's word.
    let spec = value(yaml, "machineSpec").map_or(Field::Absent, |spec| field(spec, "secureboot", reader));
    if !matches!(spec, Field::Given(Setting { value: false, .. })) {
        vm.secureboot = vm.secureboot.or(spec);
    }
    let seals =
        |patch: &&Yaml| text(patch).is_some_and(|it| it.contains("systemDiskEncryption") && it.contains("tpm:"));
    if let Some(patch) = list(yaml, "patches").iter().find(seals) {
        vm.encrypt_disk = setting(&part(patch, "true"), "patches", reader);
    }
    vm
}

/// The kind of installer and the schematic of `factory.talos.dev/nocloud-installer/<id>:v1.12.0`; none of an image that
/// comes from no factory.
fn factory_image(url: &str) -> Option<(&str, &str)> {
    let mut parts = url.rsplit('/');
    let (id, kind) = (parts.next()?, parts.next()?);
    let id = id.split([':', '@']).next().unwrap_or(id);
    kind.trim_end_matches("-secureboot").ends_with("installer").then_some((kind, id))
}

/// The id of a schematic that stands in the file. What is wrong with it is talhelper's business; that there is no id
/// then is ours.
fn inline_schematic(yaml: &Yaml, reader: &mut Reader<'_>) -> Field<SchematicId> {
    match schematic_id(yaml, reader.source) {
        Ok(id) => {
            let origin = reader.origin(&yaml.span, &Arc::from("schematic"));
            Field::Given(Setting::new(id, origin))
        }
        Err(why) => {
            let place = reader.place(&yaml.span, "not used");
            let problem = Problem::warning(format!("the id of this schematic cannot be told: {why}")).at(place);
            reader
                .report(problem.hint("give it as `schematic_id` in pvetalos.yaml, for the node or under `defaults:`"));
            Field::Absent
        }
    }
}

/// The release; `latest` names none.
fn talos_version(tree: &Yaml, reader: &mut Reader<'_>) -> Field<TalosVersion> {
    let version = said(tree, "talosVersion").filter(|version| text(version) != Some("latest"));
    version.map_or(Field::Absent, |version| setting(version, "talosVersion", reader))
}

/// The address in the endpoint of the Kubernetes API, if the nodes can share it: one of their network, and nobody's own.
fn vip_of_endpoint(tree: &Yaml, cidr: &Field<Prefixed>, nodes: &[NodeSays], reader: &mut Reader<'_>) -> Field<IpAddr> {
    let endpoint = said(tree, "endpoint");
    let url = endpoint.and_then(text).and_then(|text| Url::parse(text).ok());
    let address = match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        Some(Host::Domain(_)) | None => return Field::Absent,
    };
    let inside = cidr.get().is_some_and(|cidr| cidr.value.network().contains(&address));
    let taken = nodes.iter().filter_map(|node| node.node.address.get()).any(|own| own.value == address);
    match endpoint {
        Some(endpoint) if inside && !taken => setting(&part(endpoint, &address.to_string()), "endpoint", reader),
        _ => Field::Absent,
    }
}

/// What all nodes say that say anything; two that differ are reported.
fn agreed<'f, T: Clone + Display + PartialEq + 'f>(
    what: &str,
    fields: impl Iterator<Item = &'f Field<T>>,
    reader: &mut Reader<'_>,
) -> Field<T> {
    let mut agreed = &Field::Absent;
    for field in fields {
        if let (Field::Given(first), Field::Given(other)) = (agreed, field)
            && first.value != other.value
        {
            let message = format!("the nodes disagree about their {what}: {} and {}", first.value, other.value);
            let problem = Problem::error(message)
                .at(reader.problems.place(&other.origin, "another one"))
                .at(reader.problems.place(&first.origin, "first given here"));
            reader.report(problem);
            return Field::Wrong;
        }
        agreed = if agreed.is_absent() { field } else { agreed };
    }
    agreed.clone()
}

/// Nothing that is read here is longer, filled in or not; patches and keys may be.
const LONGEST: usize = 512;

/// What talenv.yaml gives. What is encrypted, sounds like a secret or is not plain YAML is left to talhelper.
fn read_variables(source: &Arc<Source>) -> HashMap<String, String> {
    let entries = match yaml::parse(source, &mut Problems::default()).map(|tree| tree.content) {
        Some(Content::Map(entries)) => entries,
        _ => Vec::new(),
    };
    let entries = entries.into_iter().filter(|entry| !is_secret(&entry.key));
    let variables = entries.filter_map(|entry| match entry.value.content {
        Content::Scalar { text, .. } if text.len() <= LONGEST && !text.starts_with("ENC[") => Some((entry.key, text)),
        _ => None,
    });
    variables.collect()
}

/// Puts every variable that is known in the place of its name.
fn fill_in(yaml: &mut Yaml, variables: &HashMap<String, String>) {
    match &mut yaml.content {
        Content::Scalar { text, .. } if text.len() <= LONGEST => *text = filled_in(text, variables),
        Content::Scalar { .. } | Content::Null => {}
        Content::List(items) => items.iter_mut().for_each(|item| fill_in(item, variables)),
        Content::Map(entries) => entries.iter_mut().for_each(|entry| fill_in(&mut entry.value, variables)),
    }
}

fn filled_in(text: &str, variables: &HashMap<String, String>) -> String {
    let mut parts = text.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(name, rest)| Some((variables.get(name)?, rest))) {
            Some((value, rest)) => filled.extend([value, rest]),
            None => filled.extend(["${", part]),
        }
    }
    filled
}

/// What stands at a key, if anything does.
fn value<'y>(yaml: &'y Yaml, key: &str) -> Option<&'y Yaml> {
    let Content::Map(entries) = &yaml.content else {
        return None;
    };
    let value = entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
    value.filter(|value| value.content != Content::Null)
}

/// The same for single values and lists of them, without what only talhelper can fill in.
fn said<'y>(yaml: &'y Yaml, key: &str) -> Option<&'y Yaml> {
    value(yaml, key).filter(|value| !is_open(value))
}

/// A text that names one thing: selectors of Talos may have `*` in them.
fn fixed<'y>(yaml: &'y Yaml, key: &str) -> Option<&'y str> {
    said(yaml, key).and_then(text).filter(|text| !text.contains(['*', '?', '[']))
}

/// Whether a value, or anything in it, waits for talhelper's variables.
fn is_open(yaml: &Yaml) -> bool {
    match &yaml.content {
        Content::Null => false,
        Content::Scalar { text, .. } => text.contains("${"),
        Content::List(items) => items.iter().any(is_open),
        Content::Map(entries) => entries.iter().any(|entry| is_open(&entry.value)),
    }
}

fn text(yaml: &Yaml) -> Option<&str> {
    match &yaml.content {
        Content::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// The items of a list; whatever else stands there has none.
fn list<'y>(yaml: &'y Yaml, key: &str) -> &'y [Yaml] {
    match value(yaml, key).map(|value| &value.content) {
        Some(Content::List(items)) => items,
        _ => &[],
    }
}

/// A part of a value, or what follows from it, in the place of the whole.
fn part(whole: &Yaml, text: &str) -> Yaml {
    Yaml { content: Content::Scalar { text: text.to_owned(), plain: false }, span: whole.span.clone() }
}

fn field<T: FromYaml>(yaml: &Yaml, key: &str, reader: &mut Reader<'_>) -> Field<T> {
    said(yaml, key).map_or(Field::Absent, |value| setting(value, key, reader))
}

fn first<T: FromYaml>(yaml: &Yaml, key: &str, reader: &mut Reader<'_>) -> Field<T> {
    let first = list(yaml, key).first().filter(|first| !is_open(first));
    first.map_or(Field::Absent, |value| setting(value, key, reader))
}

fn setting<T: FromYaml>(yaml: &Yaml, key: &str, reader: &mut Reader<'_>) -> Field<T> {
    match T::read(yaml, reader) {
        Some(value) => Field::Given(Setting::new(value, reader.origin(&yaml.span, &Arc::from(key)))),
        None => Field::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installer_of_a_factory_names_its_schematic() {
        #[track_caller]
        fn case(url: &str, expected: Option<(&str, &str)>) {
            assert_eq!(factory_image(url), expected, "{url}");
        }
        case("factory.talos.dev/installer/ab12", Some(("installer", "ab12")));
        case("factory.talos.dev/installer-secureboot/ab12:v1.12.0", Some(("installer-secureboot", "ab12")));
        case("factory.lab:5000/mirror/nocloud-installer/ab12@sha256:00", Some(("nocloud-installer", "ab12")));
        case("factory.talos.dev/metal-installer-secureboot/ab12", Some(("metal-installer-secureboot", "ab12")));
        case("ghcr.io/siderolabs/installer:v1.12.0", None);
        case("installer", None);
    }

    #[test]
    fn variables_are_filled_in_once_and_only_if_they_are_known() {
        #[track_caller]
        fn case(text: &str, expected: &str) {
            let variables = HashMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "${a}".to_owned())]);
            assert_eq!(filled_in(text, &variables), expected);
        }
        case("https://${a}:${a}", "https://1:1");
        case("${b}", "${a}");
        case("${c}${a}${", "${c}1${");
        case("$a ${a", "$a ${a");
        case("", "");
    }
}
