//! What is there: Proxmox asked, and nothing changed.
//!
//! ```text
//! list of all guests ─┐                         one request each
//! list of hosts ──────┼─► candidates ──► their options ──► whose is whose? ──► Observed
//! VMs of every host ──┘                                        └─ a node without a VM: all other VMs, and the preflight
//! ```
//!
//! A host or a VM that cannot be looked at hides no other.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join_all, try_join};

use crate::model::{Cluster, HostName, NodeName, VmId};
use crate::plan::{Match, Observed, ObservedHost, ObservedVm, cluster_tag, identify, wants_start_order, without_vm};
use crate::preflight::{Needs, Unseen, look, unseen};
use crate::proxmox::answers::{Guest, GuestKind, Host, VmListed};
use crate::proxmox::{Client, ProxmoxError, RefusalKind, Transport};
use crate::readiness;
use crate::talos::{Dial, Sighting, Target, Watch};

/// How much to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What is ours, or could be; all VMs if a node has none, because tag and name may have been changed by hand.
    Ours,
    /// All VMs in any case: what is left over may have neither tag nor name.
    AllVms,
    /// And everything that is needed to make VMs, if a node has none.
    ForCreation,
}

/// Looks at everything that the plan needs. Only what makes all else pointless is an error: no connection, no trust, a
/// token that is not accepted.
pub async fn observe<T: Transport>(
    client: &Client<T>,
    cluster: &Cluster,
    depth: Depth,
) -> Result<Observed, ProxmoxError> {
    // By itself and first: a wrong token is answered late, and one late answer is enough.
    let guests = client.guests().await?;
    let hosts = client.hosts().await?;
    let guests: BTreeMap<VmId, Guest> = guests.into_iter().map(|guest| (guest.vmid, guest)).collect();
    let lists = join_all(hosts.iter().map(|host| list(client, host))).await;
    let mut observed = Observed { guests, ..Observed::default() };
    let mut listed: BTreeMap<VmId, (HostName, VmListed)> = BTreeMap::new();
    for (host, vms) in hosts.iter().zip(lists) {
        let silent = match vms {
            Ok(vms) => {
                listed.extend(vms.into_iter().map(|vm| (vm.vmid, (host.name.clone(), vm))));
                None
            }
            Err(why) => Some(why),
        };
        let free_memory = host.memory.zip(host.memory_used).map(|(all, used)| all.saturating_sub(used));
        observed.hosts.push(ObservedHost { name: host.name.clone(), silent, free_memory });
    }
    let (candidates, others): (Vec<_>, Vec<_>) = {
        let is_candidate = candidates(cluster, &observed.guests);
        listed.into_values().partition(|(_, vm)| is_candidate(vm))
    };
    add(&mut observed, look_at(client, candidates).await);
    if wants_start_order(cluster, &observed) {
        let permissions = client.permissions(Some("/")).await?;
        observed.may_order_starts = Some(permissions.has("/", "Sys.Modify"));
    }
    let absent = without_vm(cluster, &observed);
    let creates = depth == Depth::ForCreation && !absent.is_empty();
    if depth == Depth::AllVms || !absent.is_empty() {
        let others = others.into_iter().filter(|(_, vm)| !vm.template).collect();
        let needs = Needs::of_nodes(absent);
        let needed = async { if creates { look(client, &needs).await.map(Some) } else { Ok(None) } };
        let (others, seen) = try_join(async { Ok(look_at(client, others).await) }, needed).await?;
        add(&mut observed, others);
        observed.seen = seen;
    }
    Ok(observed)
}

/// Asks the nodes themselves how they are, and whether they are the machines that Proxmox showed.
pub async fn ask_nodes<D: Dial>(dial: D, cluster: &Cluster, observed: &Observed) -> BTreeMap<NodeName, Sighting> {
    let watch = Watch::new(dial);
    let asked = cluster.nodes.iter().map(async |node| {
        let target = match identify(cluster, node, observed) {
            Match::Ours(vm) => readiness::target(node, &vm.config, None),
            _ => Target::of(node),
        };
        (node.name.value.clone(), watch.look(&target).await)
    });
    join_all(asked).await.into_iter().collect()
}

async fn list<T: Transport>(client: &Client<T>, host: &Host) -> Result<Vec<VmListed>, Unseen> {
    if !host.is_online() {
        let fix = "start it; until then nothing is known about its VMs".to_owned();
        return Err(Unseen { why: "it is not online".to_owned(), fix, forbidden: false });
    }
    client.vms(&host.name).await.map_err(|error| unseen(&error))
}

/// Tells the VMs that are ours, or could be, from those that need not be looked at.
fn candidates<'a>(cluster: &'a Cluster, guests: &'a BTreeMap<VmId, Guest>) -> impl Fn(&VmListed) -> bool + use<'a> {
    let tag = cluster_tag(cluster);
    let nodes: BTreeSet<&str> = cluster.nodes.iter().map(|node| node.name.value.as_str()).collect();
    let numbers: BTreeSet<VmId> =
        cluster.nodes.iter().filter_map(|node| node.vm_id.as_ref()).map(|vmid| vmid.value).collect();
    move |vm| {
        let nameless = format!("VM {}", vm.vmid);
        let named = vm.name.as_deref().is_none_or(|name| nodes.contains(name) || name == nameless);
        let in_the_making = guests.get(&vm.vmid).is_none_or(|guest| guest.stale_name.is_none());
        let ours = vm.tags.contains(&tag) || numbers.contains(&vm.vmid) || named;
        ours || vm.lock.is_some() || (in_the_making && !vm.template)
    }
}

type Looked = (VmId, Result<Option<ObservedVm>, Unseen>);

async fn look_at<T: Transport>(client: &Client<T>, vms: Vec<(HostName, VmListed)>) -> Vec<Looked> {
    let looks = vms.into_iter().map(async |(host, vm)| {
        let looked = match client.vm_pending(&host, vm.vmid).await {
            Ok(pending) => Ok(Some(ObservedVm::new(vm.vmid, host, vm.power, pending))),
            // It was deleted after it was listed.
            Err(error) if error.kind() == Some(&RefusalKind::NotFound) => Ok(None),
            Err(error) => Err(unseen(&error)),
        };
        (vm.vmid, looked)
    });
    join_all(looks).await
}

fn add(observed: &mut Observed, looked: Vec<Looked>) {
    for (vmid, looked) in looked {
        match looked {
            Ok(Some(vm)) => observed.vms.insert(vm),
            Ok(None) => drop(observed.guests.remove(&vmid).filter(|guest| guest.kind == GuestKind::Vm)),
            Err(why) => drop(observed.unseen.insert(vmid, why)),
        }
    }
}
