use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::identity::{Match, identify};
use super::observed::{Observed, ObservedVm};
use super::planner::left_over;
use crate::model::{Cluster, ClusterName, HostName, Mark, Node, NodeName, Role, VmId};
use crate::proxmox::types::{Drive, VolumeId};
use crate::talos::NodeState;

/// Which VMs go, and what goes and stays with them.
#[derive(Clone, Debug, Serialize)]
pub struct DestroyPlan {
    pub cluster: ClusterName,
    pub targets: Vec<Target>,
    /// What has no VM, so that nothing has to be done.
    pub absent: Vec<NodeName>,
    /// The names under which something is left over, where only that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_over: Option<BTreeSet<NodeName>>,
    /// What cannot be destroyed, a sentence each. Nothing is, while there is any.
    pub obstacles: Vec<Obstacle>,
}

/// A VM that goes.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    pub node: NodeName,
    pub vmid: VmId,
    pub host: HostName,
    pub power: String,
    /// What makes sure, right before it goes, that it is still the same VM.
    #[serde(skip)]
    pub identity: Identity,
    /// Volumes that go with it.
    pub goes: Vec<String>,
    /// Volumes that stay, and why.
    pub stays: Vec<Staying>,
    /// Whether the cluster's HA manager decides about it.
    pub ha_managed: bool,
    /// Whether the VM is also taken out of backup jobs, replication and HA.
    pub purge: bool,
}

/// By what a VM is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub mark: Mark,
    pub uuid: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Staying {
    pub volume: String,
    pub why: String,
}

/// Why something cannot be destroyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    pub node: NodeName,
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct DestroyOptions {
    pub only: Option<BTreeSet<NodeName>>,
    /// Names of nodes that are no longer in the files; then no others go.
    pub left_over: Option<BTreeSet<NodeName>>,
    pub break_quorum: bool,
    pub detach_foreign: bool,
    pub purge: bool,
}

/// What has to be known of a VM beyond its options before it goes.
#[derive(Clone, Debug, Default)]
pub struct Belongings {
    pub ha_managed: bool,
    /// Volumes with its number on any storage.
    pub volumes: BTreeSet<VolumeId>,
    /// Storages that could not be looked at.
    pub unseen: Vec<String>,
}

/// The VMs that the user wants to be gone, without any check.
pub fn wanted_gone<'a>(cluster: &'a Cluster, observed: &'a Observed, options: &DestroyOptions) -> Vec<&'a ObservedVm> {
    match &options.left_over {
        Some(names) => left_over(cluster, observed)
            .into_iter()
            .filter(|left| names.contains(&left.node))
            .filter_map(|left| observed.vms.get(&left.vmid))
            .collect(),
        None => selected(cluster, options)
            .filter_map(|node| match identify(cluster, node, observed) {
                Match::Ours(vm) => Some(vm),
                _ => None,
            })
            .collect(),
    }
}

fn selected<'a>(cluster: &'a Cluster, options: &DestroyOptions) -> impl Iterator<Item = &'a Node> {
    cluster.nodes.iter().filter(|node| options.only.as_ref().is_none_or(|only| only.contains(&node.name.value)))
}

/// Decides what goes. Reads its arguments and nothing else.
pub fn plan_destroy(
    cluster: &Cluster,
    observed: &Observed,
    belongings: &BTreeMap<VmId, Belongings>,
    options: &DestroyOptions,
) -> DestroyPlan {
    let mut plan = DestroyPlan {
        cluster: cluster.name.value.clone(),
        targets: Vec::new(),
        absent: Vec::new(),
        left_over: None,
        obstacles: Vec::new(),
    };
    if let Some(names) = &options.left_over {
        for name in names {
            add_left_over(&mut plan, cluster, observed, belongings, options, name);
        }
        plan.left_over = Some(left_over(cluster, observed).into_iter().map(|left| left.node).collect());
        return plan;
    }
    for node in selected(cluster, options) {
        add_node(&mut plan, cluster, node, observed, belongings, options);
    }
    if !options.break_quorum {
        plan.obstacles.extend(broken_quorum(cluster, &plan.targets, observed));
    }
    plan
}

fn add_left_over(
    plan: &mut DestroyPlan,
    cluster: &Cluster,
    observed: &Observed,
    belongings: &BTreeMap<VmId, Belongings>,
    options: &DestroyOptions,
    name: &NodeName,
) {
    if cluster.nodes.iter().any(|node| node.name.value == *name) {
        plan.obstacles.push(Obstacle {
            node: name.clone(),
            message: "it is in the files, so that its VM is not left over".to_owned(),
            fix: format!("use `--only {name}` instead of `--left-over {name}`, or take the node out of the files"),
        });
        return;
    }
    let vms: Vec<&ObservedVm> = observed.vms.marked(&cluster.name.value, name).collect();
    if vms.is_empty() {
        plan.absent.push(name.clone());
    }
    for vm in vms {
        add_target(plan, name, vm, belongings.get(&vm.vmid), options);
    }
}

fn add_node(
    plan: &mut DestroyPlan,
    cluster: &Cluster,
    node: &Node,
    observed: &Observed,
    belongings: &BTreeMap<VmId, Belongings>,
    options: &DestroyOptions,
) {
    let name = &node.name.value;
    let obstacle =
        |message: &str, fix: &str| Obstacle { node: name.clone(), message: message.to_owned(), fix: fix.to_owned() };
    match identify(cluster, node, observed) {
        Match::Ours(vm) => add_target(plan, name, vm, belongings.get(&vm.vmid), options),
        Match::Making { vmid, guest } => plan.obstacles.push(obstacle(
            &format!("VM {vmid} on {} is only just being made", guest.host),
            "wait until it is there, and run it again",
        )),
        Match::Conflict(reason) if node_has_mark(cluster, node, observed) => {
            let fix = "look at it yourself: it is not clear which VM is meant";
            plan.obstacles.push(obstacle(&reason, fix));
        }
        // What does not carry our mark is not ours to destroy, and not in the way of what is.
        Match::Absent | Match::Adoptable(_) | Match::Conflict(_) => plan.absent.push(name.clone()),
        Match::Unknown(reason) => {
            plan.obstacles.push(obstacle(&reason, "bring the host back, or leave the node out by `--only`"));
        }
    }
}

fn node_has_mark(cluster: &Cluster, node: &Node, observed: &Observed) -> bool {
    observed.vms.marked(&cluster.name.value, &node.name.value).next().is_some()
}

fn add_target(
    plan: &mut DestroyPlan,
    node: &NodeName,
    vm: &ObservedVm,
    belongings: Option<&Belongings>,
    options: &DestroyOptions,
) {
    let Some(mark) = vm.own_mark() else {
        return;
    };
    let vmid = vm.vmid;
    let mut obstacle =
        |message: String, fix: String| plan.obstacles.push(Obstacle { node: node.clone(), message, fix });
    if vm.config.flag("protection", false) {
        let fix = format!("switch it off if the VM really shall go: `qm set {vmid} --protection 0` on {}", vm.host);
        obstacle(format!("VM {vmid} is protected"), fix);
    }
    if let Some(lock) = vm.config.lock() {
        let fix = format!(
            "wait for the `{lock}` task to end; if none is running, `qm unlock {vmid}` on {}, because no API token can",
            vm.host
        );
        obstacle(format!("VM {vmid} is locked ({lock})"), fix);
    }
    let ha_managed = belongings.is_some_and(|belongings| belongings.ha_managed);
    if ha_managed && !options.purge {
        let fix = format!("add `--purge`, or take it out yourself: `ha-manager remove vm:{vmid}`");
        obstacle(format!("VM {vmid} is managed by HA"), fix);
    }
    if vm.config.is_template() {
        obstacle(format!("VM {vmid} is a template"), "use `pvetalos template delete`".to_owned());
    }
    let (goes, foreign) = volumes(vm);
    if !foreign.is_empty() && !options.detach_foreign {
        let names: Vec<String> = foreign.iter().map(ToString::to_string).collect();
        obstacle(
            format!("VM {vmid} holds volumes that are not its own: {}", names.join(", ")),
            "detach them (a CSI driver does so when its node is drained), or add `--detach-foreign`: they stay, and are \
             not detached cleanly"
                .to_owned(),
        );
    }
    let mut stays: Vec<Staying> = foreign
        .iter()
        .map(|volume| Staying { volume: volume.to_string(), why: "it belongs to somebody else".to_owned() })
        .collect();
    let unreferenced = belongings.into_iter().flat_map(|belongings| &belongings.volumes);
    stays.extend(
        unreferenced
            .filter(|volume| !goes.contains(volume))
            .map(|volume| Staying { volume: volume.to_string(), why: "the VM does not use it".to_owned() }),
    );
    stays.extend(
        belongings.into_iter().flat_map(|belongings| &belongings.unseen).map(|storage| Staying {
            volume: format!("{storage}:?"),
            why: "the storage cannot be looked at".to_owned(),
        }),
    );
    plan.targets.push(Target {
        node: node.clone(),
        vmid,
        host: vm.host.clone(),
        power: vm.power.to_string(),
        identity: Identity { mark, uuid: vm.uuid() },
        goes: goes.iter().map(ToString::to_string).collect(),
        stays,
        ha_managed,
        purge: options.purge,
    });
}

/// The volumes of a VM: its own, and those of others that it holds. What is on a CD belongs to nobody.
fn volumes(vm: &ObservedVm) -> (BTreeSet<VolumeId>, BTreeSet<VolumeId>) {
    let cds: BTreeSet<VolumeId> = vm
        .config
        .drives()
        .filter_map(|(_, drive)| drive.into_known().filter(|drive: &Drive| drive.cdrom.get() && !drive.is_cloud_init()))
        .filter_map(|drive| drive.source.volume().cloned())
        .collect();
    let all = vm.config.volumes().map(|(_, volume)| volume).filter(|volume| !cds.contains(volume));
    all.partition(|volume| volume.owner() == Some(vm.vmid))
}

/// Control planes that would go while others stay.
fn broken_quorum(cluster: &Cluster, targets: &[Target], observed: &Observed) -> Vec<Obstacle> {
    let going = |node: &Node| targets.iter().find(|target| target.node == node.name.value);
    let controllers = || cluster.nodes.iter().filter(|node| node.role.value == Role::Controller);
    let stays = |node: &&Node| {
        going(node).is_none() && matches!(identify(cluster, node, observed), Match::Ours(vm) if vm.is_running())
    };
    let Some(stays) = controllers().find(stays) else {
        return Vec::new();
    };
    // Whoever is not seen to wait for a configuration may have one.
    let configured = |node: &&Node| {
        let runs = matches!(identify(cluster, node, observed), Match::Ours(vm) if vm.is_running());
        runs && observed.talos_state(&node.name.value) != Some(NodeState::Maintenance)
    };
    controllers()
        .filter(configured)
        .filter_map(|node| {
            let target = going(node)?;
            Some(Obstacle {
                node: target.node.clone(),
                message: format!(
                    "VM {} is a control plane that may be in use, and {} stays: etcd may lose its quorum",
                    target.vmid, stays.name.value
                ),
                fix: format!(
                    "take it out of the cluster first (`talosctl -n {} reset`), or add `--break-quorum`",
                    node.address.value
                ),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, observed, own_vm};
    use super::*;
    use crate::proxmox::answers::Power;

    /// What goes, what stays and what stands in the way.
    #[track_caller]
    fn case(vm: &str, options: &DestroyOptions, expected: &[&str]) {
        let observed = observed([own_vm(Power::Running, vm)]);
        let plan = plan_destroy(&cluster(""), &observed, &BTreeMap::new(), options);
        let goes = plan.targets.iter().flat_map(|target| &target.goes).map(|volume| format!("- {volume}"));
        let stays = plan.targets.iter().flat_map(|target| &target.stays);
        let stays = stays.map(|staying| format!("= {}: {}", staying.volume, staying.why));
        let obstacles = plan.obstacles.iter().map(|obstacle| format!("! {}", obstacle.message));
        let absent = plan.absent.iter().map(|node| format!("absent {node}"));
        assert_eq!(goes.chain(stays).chain(obstacles).chain(absent).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn only_what_is_the_vms_own_goes_with_it() {
        let usual = DestroyOptions::default();
        case("", &usual, &["- local-lvm:vm-4000-disk-0"]);
        case("ide2: local:iso/talos.iso,media=cdrom", &usual, &["- local-lvm:vm-4000-disk-0"]);
        let csi = "scsi5: csi:vm-9999-pvc-1,size=10G";
        case(
            csi,
            &usual,
            &[
                "- local-lvm:vm-4000-disk-0",
                "= csi:vm-9999-pvc-1: it belongs to somebody else",
                "! VM 4000 holds volumes that are not its own: csi:vm-9999-pvc-1",
            ],
        );
        let detach = DestroyOptions { detach_foreign: true, ..DestroyOptions::default() };
        case(csi, &detach, &["- local-lvm:vm-4000-disk-0", "= csi:vm-9999-pvc-1: it belongs to somebody else"]);
    }

    #[test]
    fn what_is_protected_locked_or_not_ours_stays() {
        let usual = DestroyOptions::default();
        case("protection: 1", &usual, &["- local-lvm:vm-4000-disk-0", "! VM 4000 is protected"]);
        case("lock: backup", &usual, &["- local-lvm:vm-4000-disk-0", "! VM 4000 is locked (backup)"]);
        case("description: mine", &usual, &["absent cp-1"]);
        case("description: pvetalos: cluster=home node=cp-1 vmid=4001", &usual, &["absent cp-1"]);
    }

    #[test]
    fn a_node_of_the_files_is_not_left_over() {
        let left_over = Some(["cp-1".parse().expect("a node's name")].into());
        let options = DestroyOptions { left_over, ..DestroyOptions::default() };
        case("", &options, &["! it is in the files, so that its VM is not left over"]);
    }

    #[test]
    fn what_is_left_over_is_named_to_whoever_asks_for_something_else() {
        let left_over = Some(["worker-8".parse().expect("a node's name")].into());
        let options = DestroyOptions { left_over, ..DestroyOptions::default() };
        let observed =
            observed([own_vm(Power::Running, "description: pvetalos: cluster=home node=worker-9 vmid=4000")]);
        let plan = plan_destroy(&cluster(""), &observed, &BTreeMap::new(), &options);
        let names = |names: &mut dyn Iterator<Item = &NodeName>| names.map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&mut plan.absent.iter()), ["worker-8"]);
        assert_eq!(names(&mut plan.left_over.iter().flatten()), ["worker-9"]);
        assert!(plan.targets.is_empty() && plan.obstacles.is_empty());
    }
}
