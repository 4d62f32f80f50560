use super::observed::{Observed, ObservedVm};
use crate::model::{Cluster, Node, VmId};
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
    let name = &node.name.value;
    let marked: Vec<&ObservedVm> =
        observed.vms.values().filter(|vm| vm.belongs_to(&cluster.name.value, name)).collect();
    match marked.as_slice() {
        [] => {}
        [vm] => return own(cluster, node, vm),
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
    let named = |vm: &&ObservedVm| vm.config.name() == Some(name.as_str());
    if let Some(vm) = observed.vms.values().find(named) {
        return foreign(node, vm, "has the name of this node");
    }
    hidden(cluster, node, observed).map_or(Match::Absent, Match::Unknown)
}

fn place(vm: &ObservedVm) -> String {
    format!("VM {} on {}", vm.vmid, vm.host)
}

/// A VM with the node's mark, unless it is something else all the same.
fn own<'a>(cluster: &Cluster, node: &Node, vm: &'a ObservedVm) -> Match<'a> {
    if vm.config.is_template() {
        return Match::Conflict(format!("{} carries the mark of this node and is a template", place(vm)));
    }
    let same_machine = vm.has_mac(node.mac_address.value) || vm.has_address(node.address.value);
    let half_made = vm.config.lock().is_some() || vm.is_unfinished(node, &cluster_tag(cluster));
    if !same_machine && !half_made {
        let reason = format!(
            "{} carries the mark of this node, but has neither its MAC address {} nor its address {}: is there another \
             cluster with the name `{}`?",
            place(vm),
            node.mac_address.value,
            node.address.value,
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
        Some(vm) if vm.config.lock().is_some() && vm.mark().is_none() => Some(Match::Making { vmid, guest }),
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

/// Why a node without a VM may have one after all, where nobody can look.
fn hidden(cluster: &Cluster, node: &Node, observed: &Observed) -> Option<String> {
    let tag = cluster_tag(cluster);
    let suspect = |guest: &&Guest| {
        let silent = observed.host(&guest.host).is_some_and(|host| host.silent.is_some());
        let unseen = silent || observed.unseen.contains_key(&guest.vmid);
        let maybe = guest.tags.contains(&tag)
            || guest.lock.is_some()
            || guest.stale_name.as_deref().is_none_or(|name| name == node.name.value.as_str());
        guest.kind == GuestKind::Vm && unseen && maybe
    };
    let guest = observed.guests.values().find(suspect)?;
    Some(format!(
        "VM {} on {} may be this node, and cannot be looked at; it is not made a second time",
        guest.vmid, guest.host
    ))
}

/// Who else has the MAC or the address of a node, for nodes that are to be made.
pub(super) fn rival<'a>(node: &Node, observed: &'a Observed) -> Option<(&'a ObservedVm, String)> {
    let others = || observed.vms.values().filter(|vm| !vm.config.is_template());
    let by_mac = || others().find(|vm| vm.has_mac(node.mac_address.value));
    let by_address = || others().find(|vm| vm.has_address(node.address.value));
    let extra = |mac| others().find(|vm: &&ObservedVm| vm.has_mac(mac));
    by_mac()
        .map(|vm| (vm, format!("the MAC address {}", node.mac_address.value)))
        .or_else(|| by_address().map(|vm| (vm, format!("the address {}", node.address.value))))
        .or_else(|| {
            node.nics.iter().find_map(|nic| {
                let mac = nic.mac_address.value;
                extra(mac).map(|vm| (vm, format!("the MAC address {mac}")))
            })
        })
}
