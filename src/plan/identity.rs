use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::observed::{Observed, ObservedVm};
use crate::model::{Cluster, HostName, MacAddress, Node, NodeName, VmId};
use crate::proxmox::answers::{Guest, GuestKind};

use super::compare::cluster_tag;

/// Whose VM is whose.
#[derive(Clone, Debug)]
pub enum Match<'a> {
    /// It carries the mark of this node.
    Ours(&'a ObservedVm),
    /// Nothing is there.
    Absent,
    /// Something that has no mark yet is coming into being under this number.
    Making {
        vmid: VmId,
        guest: &'a Guest,
    },
    /// It has the name and the MAC address of the node, and nobody's mark.
    Adoptable(&'a ObservedVm),
    Conflict(String),
    /// It may be on a host, or in a VM, that cannot be seen.
    Unknown(String),
}

/// Finds the VM of a node: by its mark, else by its number, else by its name.
pub fn identify<'a>(cluster: &Cluster, node: &Node, observed: &'a Observed) -> Match<'a> {
    Search::new(cluster, observed).vm_of(node)
}

/// Finds the VMs of many nodes, as [`identify`] does of one.
pub(super) struct Search<'c, 'a> {
    cluster: &'c Cluster,
    observed: &'a Observed,
    /// Only looked for when a node has no VM.
    hidden: OnceCell<Hidden<'a>>,
}

impl<'c, 'a> Search<'c, 'a> {
    pub(super) fn new(cluster: &'c Cluster, observed: &'a Observed) -> Self {
        Self { cluster, observed, hidden: OnceCell::new() }
    }

    pub(super) fn vm_of(&self, node: &Node) -> Match<'a> {
        let (cluster, observed, name) = (self.cluster, self.observed, &node.name.value);
        let marked: Vec<&ObservedVm> = observed.vms.marked(&cluster.name.value, name).collect();
        match marked.as_slice() {
            [] => {}
            [vm] => return own(cluster, node, vm, observed),
            several => {
                let places: Vec<String> = several.iter().map(|vm| place(vm)).collect();
                let reason = format!(
                    "{} carry the mark of this node: keep one, and take the last line out of the others' notes",
                    places.join(" and ")
                );
                return Match::Conflict(reason);
            }
        }
        if let Some(found) = node.vm_id.as_ref().and_then(|vmid| by_number(node, vmid.value, observed)) {
            return found;
        }
        if let Some(vm) = observed.vms.named(name.as_str()).next() {
            return foreign(node, vm, "has the name of this node");
        }
        let hidden = self.hidden.get_or_init(|| Hidden::new(cluster, observed));
        match hidden.suspect(name) {
            None => Match::Absent,
            Some(guest) => Match::Unknown(format!(
                "VM {} on {} may be this node, and cannot be looked at; it is not made a second time",
                guest.vmid, guest.host
            )),
        }
    }
}

fn place(vm: &ObservedVm) -> String {
    format!("VM {} on {}", vm.vmid, vm.host)
}

/// A VM with the node's mark, unless it is something else all the same.
fn own<'a>(cluster: &Cluster, node: &Node, vm: &'a ObservedVm, observed: &Observed) -> Match<'a> {
    if vm.config.is_template() {
        return Match::Conflict(format!("{} carries the mark of this node and is a template", place(vm)));
    }
    let (mac, address) = (node.mac_address.value, node.address.value);
    let same_machine =
        observed.vms.with_mac(mac).chain(observed.vms.with_address(address)).any(|other| other.vmid == vm.vmid);
    // Whoever has an address already was configured by somebody.
    let fresh = || vm.addresses().next().is_none();
    let half_made = || vm.config.lock().is_some() || fresh() && vm.is_unfinished(node, &cluster_tag(cluster));
    if !same_machine && !half_made() {
        let reason = format!(
            "{} carries the mark of this node, but has neither its MAC address {mac} nor its address {address}: is there \
             another cluster with the name `{}`?",
            place(vm),
            cluster.name.value
        );
        return Match::Conflict(reason);
    }
    Match::Ours(vm)
}

fn by_number<'a>(node: &Node, vmid: VmId, observed: &'a Observed) -> Option<Match<'a>> {
    let guest = observed.guests.get(&vmid)?;
    if guest.kind != GuestKind::Vm {
        return Some(Match::Conflict(format!("{vmid} is the number of a container on {}", guest.host)));
    }
    match observed.vms.get(&vmid) {
        Some(vm) if vm.config.lock() == Some("clone") && vm.mark().is_none() => Some(Match::Making { vmid, guest }),
        Some(vm) => Some(foreign(node, vm, "has the number of this node")),
        None => Some(match (observed.unseen.get(&vmid), observed.host(&guest.host)) {
            (Some(unseen), _) => {
                Match::Unknown(format!("VM {vmid} on {} cannot be looked at: {}", guest.host, unseen.why))
            }
            (None, Some(host)) if host.silent.is_some() => {
                Match::Unknown(format!("VM {vmid} is on {}, which does not answer", guest.host))
            }
            _ => Match::Making { vmid, guest },
        }),
    }
}

/// A VM that stands where the node's should, without its mark.
fn foreign<'a>(node: &Node, vm: &'a ObservedVm, why: &str) -> Match<'a> {
    let name = vm.config.name().unwrap_or("no name");
    let what = format!("{} ({name}) {why}", place(vm));
    if vm.config.is_template() {
        return Match::Conflict(format!("{what} and is a template"));
    }
    if let Some(mark) = vm.mark() {
        let copied = if mark.vmid == vm.vmid { "" } else { ", copied from another VM" };
        let reason = format!("{what} and the mark of node {} of cluster {}{copied}", mark.node, mark.cluster);
        return Match::Conflict(reason);
    }
    let same_name = vm.config.name() == Some(node.name.value.as_str());
    if same_name && vm.has_mac(node.mac_address.value) {
        return Match::Adoptable(vm);
    }
    let macs: Vec<String> =
        vm.config.cards().filter_map(|(_, card)| card.into_known()?.mac.map(|mac| mac.to_string())).collect();
    let macs = if macs.is_empty() { "none".to_owned() } else { macs.join(", ") };
    Match::Conflict(format!(
        "{what} but is not it: the file says {} with MAC {}, the VM is {name} with MAC {macs}",
        node.name.value, node.mac_address.value
    ))
}

/// The VMs that nobody can look at: a node without a VM may have one among them after all.
#[derive(Default)]
struct Hidden<'a> {
    /// The first one, by number, that may be any node's.
    of_any_node: Option<&'a Guest>,
    /// The first one of each name.
    by_name: BTreeMap<&'a str, &'a Guest>,
}

impl<'a> Hidden<'a> {
    fn new(cluster: &Cluster, observed: &'a Observed) -> Self {
        let mut hidden = Self::default();
        let silent = observed.hosts.iter().filter(|host| host.silent.is_some());
        let silent: BTreeSet<&HostName> = silent.map(|host| &host.name).collect();
        if observed.unseen.is_empty() && silent.is_empty() {
            return hidden;
        }
        let tag = cluster_tag(cluster);
        let unseen = |guest: &&Guest| silent.contains(&guest.host) || observed.unseen.contains_key(&guest.vmid);
        let vms = observed.guests.values().filter(|guest| guest.kind == GuestKind::Vm);
        for guest in vms.filter(unseen) {
            match guest.stale_name.as_deref() {
                Some(name) if guest.lock.is_none() && !guest.tags.contains(&tag) => {
                    hidden.by_name.entry(name).or_insert(guest);
                }
                _ => drop(hidden.of_any_node.get_or_insert(guest)),
            }
        }
        hidden
    }

    /// The first one that may be the node of this name.
    fn suspect(&self, name: &NodeName) -> Option<&'a Guest> {
        let named = self.by_name.get(name.as_str()).copied();
        named.into_iter().chain(self.of_any_node).min_by_key(|guest| guest.vmid)
    }
}

/// Who else has the MAC or the address of a node, for nodes that are to be made.
pub(super) fn rival<'a>(node: &Node, observed: &'a Observed) -> Option<(&'a ObservedVm, String)> {
    let is_vm = |vm: &&ObservedVm| !vm.config.is_template();
    let by_mac = |mac: MacAddress| observed.vms.with_mac(mac).find(is_vm);
    let by_address = || observed.vms.with_address(node.address.value).find(is_vm);
    by_mac(node.mac_address.value)
        .map(|vm| (vm, format!("the MAC address {}", node.mac_address.value)))
        .or_else(|| by_address().map(|vm| (vm, format!("the address {}", node.address.value))))
        .or_else(|| {
            node.nics.iter().find_map(|nic| {
                let mac = nic.mac_address.value;
                by_mac(mac).map(|vm| (vm, format!("the MAC address {mac}")))
            })
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::observed::ObservedHost;
    use super::super::testing::{cluster, number, observed, own_vm, vm};
    use super::*;
    use crate::preflight::Unseen;
    use crate::proxmox::answers::Power;

    #[track_caller]
    fn case(vms: &[ObservedVm], says: &str, expected: &str) {
        let told = told(says, &observed(vms.iter().cloned()));
        assert!(told.contains(expected), "{told}");
    }

    fn told(says: &str, observed: &Observed) -> String {
        let cluster = cluster(says);
        match identify(&cluster, &cluster.nodes[0], observed) {
            Match::Ours(vm) => format!("ours: {}", vm.vmid),
            Match::Absent => "absent".to_owned(),
            Match::Making { vmid, .. } => format!("making: {vmid}"),
            Match::Adoptable(vm) => format!("adoptable: {}", vm.vmid),
            Match::Conflict(reason) => format!("conflict: {reason}"),
            Match::Unknown(reason) => format!("unknown: {reason}"),
        }
    }

    #[test]
    fn a_vm_is_known_by_its_mark_whatever_else_it_is_called() {
        let own = |others: &str| [own_vm(Power::Running, others)];
        case(&[], "", "absent");
        case(&own(""), "", "ours: 4000");
        case(&own(""), ", vm_id: 5000", "ours: 4000");
        case(&own("name: renamed"), "", "ours: 4000");
        case(&own("net0: virtio=BC:24:11:99:00:11,bridge=vmbr0"), "", "ours: 4000");
        case(&own("ipconfig0: ip=dhcp"), "", "ours: 4000");
        case(&own("template: 1"), "", "conflict: VM 4000 on pve carries the mark of this node and is a template");
        let elsewhere = "net0: virtio=BC:24:11:99:00:11,bridge=vmbr0\nipconfig0: ip=10.0.0.1/8";
        case(&own(elsewhere), "", "is there another cluster with the name `home`?");
        // A clone of ours that was never configured has neither, and is ours all the same; one with an address of its own
        // was configured by somebody.
        let off = |options: &str| [own_vm(Power::Stopped, &format!("{options}\ntags: talos;template"))];
        case(&off("net0: virtio=BC:24:11:99:00:11,bridge=vmbr0\nipconfig0: ip=dhcp"), "", "ours: 4000");
        case(&off(elsewhere), "", "is there another cluster with the name `home`?");
    }

    #[test]
    fn a_vm_without_our_mark_is_never_ours() {
        let stranger = |options: &str| [vm(5000, Power::Running, options)];
        let card = "net0: virtio=bc:24:11:20:00:11,bridge=vmbr0";
        case(&stranger("name: nas"), "", "absent");
        case(&stranger("name: nas"), ", vm_id: 5000", "conflict: VM 5000 on pve (nas) has the number of this node");
        case(&stranger("name: cp-1"), "", "conflict: VM 5000 on pve (cp-1) has the name of this node but is not it");
        case(&stranger(&format!("name: cp-1\n{card}")), "", "adoptable: 5000");
        case(&stranger("lock: clone"), ", vm_id: 5000", "making: 5000");
        let marked = |mark: &str| stranger(&format!("name: cp-1\n{card}\ndescription: {mark}"));
        case(&marked("pvetalos: cluster=home node=cp-1 vmid=4000"), "", "copied from another VM");
        case(&marked("pvetalos: cluster=lab node=cp-1 vmid=5000"), "", "the mark of node cp-1 of cluster lab");
        case(&marked("pvetalos: cluster=home node=cp-1 vmid=5000\\nmoved"), "", "adoptable: 5000");
    }

    #[test]
    fn a_node_is_not_absent_while_its_vm_may_be_out_of_sight() {
        /// Host `dark` does not answer, and VM 300 cannot be looked at, wherever it is.
        #[track_caller]
        fn case(guests: Value, expected: &str) {
            let unseen = || Unseen { why: "it is dark".to_owned(), fix: "light it".to_owned(), forbidden: false };
            let mut observed = observed([]);
            let dark = "dark".parse().expect("a host's name");
            observed.hosts.push(ObservedHost { name: dark, silent: Some(unseen()), free_memory: None });
            observed.unseen.insert(number(300), unseen());
            let guests: Vec<Guest> = serde_json::from_value(guests).expect("rows of the list");
            observed.guests = guests.into_iter().map(|guest| (guest.vmid, guest)).collect();
            let told = told("", &observed);
            assert!(told.starts_with(expected), "{told}");
        }
        let row =
            |vmid: u32, host: &str, name: &str| json!({ "vmid": vmid, "node": host, "type": "qemu", "name": name });
        let with = |mut row: Value, key: &str, value: &str| {
            row[key] = value.into();
            row
        };
        let nas = || row(200, "dark", "nas");
        case(json!([nas(), row(201, "pve", "cp-1")]), "absent");
        case(json!([with(row(200, "dark", "cp-1"), "type", "lxc")]), "absent");
        case(json!([nas(), row(201, "dark", "cp-1")]), "unknown: VM 201 on dark may be this node");
        case(json!([nas(), row(300, "pve", "cp-1")]), "unknown: VM 300 on pve may be this node");
        // A name may lag, so that what is locked, nameless or tagged may be any node's.
        case(json!([with(nas(), "lock", "clone")]), "unknown: VM 200 on dark");
        case(json!([with(nas(), "tags", "a;PveTalos-Home")]), "unknown: VM 200 on dark");
        case(json!([{ "vmid": 200, "node": "dark", "type": "qemu" }]), "unknown: VM 200 on dark");
        // The first one is told, whatever makes it suspect.
        case(json!([with(nas(), "lock", "clone"), row(201, "dark", "cp-1")]), "unknown: VM 200 on dark");
        case(json!([row(199, "dark", "cp-1"), with(nas(), "lock", "clone")]), "unknown: VM 199 on dark");
    }

    #[test]
    fn two_vms_with_the_mark_of_a_node_are_a_conflict() {
        let twin = vm(4001, Power::Stopped, "description: pvetalos: cluster=home node=cp-1 vmid=4001");
        case(&[own_vm(Power::Running, ""), twin], "", "conflict: VM 4000 on pve and VM 4001 on pve carry the mark");
    }
}
