use std::collections::BTreeSet;

use super::compare::{Comparison, Scope, cluster_tag, compare};
use super::difference::{Difference, Edit, Effect};
use super::identity::{Match, Search, rival};
use super::observed::{Observed, ObservedVm};
use super::place::Places;
use super::verdict::{LeftOver, NodePlan, Plan, Verdict};
use crate::model::{Cluster, Node, NodeName, Role, TokenId, VmId};
use crate::preflight::{Needs, State, check_access};
use crate::proxmox::calls::PlainKey;
use crate::talos::NodeState;

/// What the user asked for beside the files.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether VMs that look like ours get our mark.
    pub adopt: bool,
    /// Whether running VMs may be interrupted.
    pub disruptive: bool,
    /// Whether VMs that are off are started.
    pub start: bool,
    /// The nodes that something may be done with; all when there is none.
    pub only: Option<BTreeSet<NodeName>>,
    /// For the commands that would help.
    pub token: TokenId,
}

/// The nodes that have no VM, so that one would be made: whoever observes looks further then.
pub fn without_vm<'a>(cluster: &'a Cluster, observed: &Observed) -> Vec<&'a Node> {
    let search = Search::new(cluster, observed);
    let without = |node: &&Node| matches!(search.vm_of(node), Match::Absent);
    cluster.nodes.iter().filter(without).collect()
}

/// Decides what makes `observed` what `cluster` says. Reads its arguments and nothing else.
pub fn plan(cluster: &Cluster, observed: &Observed, options: &Options) -> Plan {
    let search = Search::new(cluster, observed);
    let matches: Vec<(&Node, Match<'_>)> = cluster.nodes.iter().map(|node| (node, search.vm_of(node))).collect();
    let absent: Vec<&Node> =
        matches.iter().filter(|(_, found)| matches!(found, Match::Absent)).map(|(node, _)| *node).collect();
    let mut making = Making::new(cluster, observed, &matches, &absent, options);
    let planned = matches.iter().map(|(node, found)| {
        let mut plan = match found {
            Match::Ours(vm) => existing(cluster, node, vm, observed, options),
            Match::Absent => making.plan(node),
            Match::Making { vmid, guest } => NodePlan {
                vmid: Some(*vmid),
                host: Some(guest.host.clone()),
                start: options.start,
                ..new(node, Verdict::Join)
            },
            Match::Adoptable(vm) => adoptable(cluster, node, vm, options),
            Match::Conflict(reason) => new(node, Verdict::Conflict { reason: reason.clone() }),
            Match::Unknown(reason) => new(node, Verdict::Unknown { reason: reason.clone() }),
        };
        plan.selected = options.only.as_ref().is_none_or(|only| only.contains(&node.name.value));
        plan
    });
    let planned = planned.collect();
    let mut notes = making.notes;
    notes.extend(observed.hosts.iter().filter_map(|host| {
        let silent = host.silent.as_ref()?;
        Some(format!("host {} cannot be looked at: {}", host.name, silent.why))
    }));
    Plan {
        cluster: cluster.name.value.clone(),
        nodes: planned,
        left_over: left_over(cluster, observed),
        notes,
        findings: making.findings,
        strangers: strangers(cluster, observed),
    }
}

/// The guests that are there and are no node's VM, nor could they turn out to be one.
fn strangers(cluster: &Cluster, observed: &Observed) -> BTreeSet<VmId> {
    let names = names(cluster);
    let is_node = |vm: &ObservedVm| {
        vm.own_mark().is_some_and(|mark| mark.cluster == cluster.name.value && names.contains(&mark.node))
    };
    let in_the_making = |vm: &ObservedVm| vm.config.lock() == Some("clone") && vm.mark().is_none();
    let stranger = |vmid: &&VmId| observed.vms.get(vmid).is_none_or(|vm| !is_node(vm) && !in_the_making(vm));
    observed.guests.keys().filter(stranger).copied().collect()
}

fn names(cluster: &Cluster) -> BTreeSet<&NodeName> {
    cluster.nodes.iter().map(|node| &node.name.value).collect()
}

/// A plan that does nothing yet.
fn new(node: &Node, verdict: Verdict) -> NodePlan {
    NodePlan {
        node: node.name.value.clone(),
        role: node.role.value,
        address: node.address.value,
        vmid: None,
        host: None,
        verdict,
        differences: Vec::new(),
        held_back: Vec::new(),
        waiting: Vec::new(),
        power_cycle: false,
        start: false,
        notes: Vec::new(),
        selected: true,
        running: false,
        uuid: None,
    }
}

fn of_vm(node: &Node, vm: &ObservedVm, verdict: Verdict) -> NodePlan {
    NodePlan {
        vmid: Some(vm.vmid),
        host: Some(vm.host.clone()),
        running: vm.is_running(),
        uuid: vm.uuid(),
        ..new(node, verdict)
    }
}

/// Plans for the nodes that have no VM yet.
struct Making<'a> {
    cluster: &'a Cluster,
    names: BTreeSet<&'a NodeName>,
    observed: &'a Observed,
    places: Option<Places<'a>>,
    findings: Vec<crate::preflight::Finding>,
    notes: Vec<String>,
    start: bool,
}

impl<'a> Making<'a> {
    fn new(
        cluster: &'a Cluster,
        observed: &'a Observed,
        matches: &[(&'a Node, Match<'a>)],
        absent: &[&'a Node],
        options: &Options,
    ) -> Self {
        let present = matches.iter().filter_map(|(node, found)| match found {
            Match::Ours(vm) => Some((*node, &vm.host)),
            _ => None,
        });
        let mut findings = Vec::new();
        let mut places = None;
        if let (Some(seen), false) = (&observed.seen, absent.is_empty()) {
            let needs = Needs::of_nodes(absent.iter().copied());
            findings = check_access(&needs, seen, &options.token);
            findings.retain(|finding| finding.state != State::Ok);
            places = Some(Places::new(cluster, observed, seen, present));
        }
        let names = names(cluster);
        Self { cluster, names, observed, places, findings, notes: Vec::new(), start: options.start }
    }

    fn plan(&mut self, node: &'a Node) -> NodePlan {
        if let Some((vm, what)) = rival(node, self.observed) {
            return new(node, Verdict::Conflict { reason: self.rivalry(vm, &what) });
        }
        let Some(places) = &mut self.places else {
            let reason = "Proxmox was not looked at closely enough to make a VM".to_owned();
            return new(node, Verdict::Unknown { reason });
        };
        let errors = self.findings.iter().filter(|finding| finding.state == State::Error);
        let errors: Vec<String> = errors.map(|finding| finding.message.clone()).collect();
        match places.find(node) {
            Ok((creation, notes)) if errors.is_empty() => NodePlan {
                vmid: Some(creation.vmid),
                host: Some(creation.host.clone()),
                start: self.start,
                notes,
                ..new(node, Verdict::Create(creation))
            },
            Ok(_) => new(node, Verdict::Refuse { reasons: errors }),
            Err(reasons) => new(node, Verdict::Refuse { reasons: errors.into_iter().chain(reasons).collect() }),
        }
    }

    fn rivalry(&self, vm: &ObservedVm, what: &str) -> String {
        let name = vm.config.name().unwrap_or("no name");
        let base = format!("VM {} ({name}) on {} has {what} already", vm.vmid, vm.host);
        match vm.own_mark().filter(|mark| mark.cluster == self.cluster.name.value) {
            Some(mark) if self.names.contains(&mark.node) => {
                format!("{base}: it is the VM of node {}", mark.node)
            }
            Some(mark) => format!(
                "{base}: it was made for node {}, which is not in the files any more. Was it renamed? Rename it back, or \
                 remove that VM first (`pvetalos destroy --left-over {}`)",
                mark.node, mark.node
            ),
            None => format!("{base}: give the node another one, or remove that VM yourself"),
        }
    }
}

/// Plans for a VM with the node's mark.
fn existing(cluster: &Cluster, node: &Node, vm: &ObservedVm, observed: &Observed, options: &Options) -> NodePlan {
    if vm.config.lock() == Some("clone") {
        return NodePlan { start: options.start, ..of_vm(node, vm, Verdict::Join) };
    }
    let unfinished = vm.is_unfinished(node, &cluster_tag(cluster));
    let scope = if unfinished { Scope::Whole } else { Scope::Declared };
    let Comparison { mut differences, refusals, mut notes } = compare(cluster, node, vm.vmid, &vm.config, scope);
    if observed.may_order_starts == Some(false) {
        let orders = |difference: &mut Difference| orders_starts(difference);
        notes.extend(differences.extract_if(.., orders).map(|difference| {
            let (from, to) = (difference.from.as_deref().unwrap_or("not set"), difference.to.unwrap_or_default());
            format!("startup is {from}, not {to} ({}): the token lacks Sys.Modify on /", difference.because)
        }));
    }
    notes.extend(creation_notes(node, vm, observed));
    if let Some(lock) = vm.config.lock() {
        notes.push(format!("it is locked ({lock})"));
    }
    if !refusals.is_empty() {
        return NodePlan { notes, ..of_vm(node, vm, Verdict::Refuse { reasons: refusals }) };
    }
    if !vm.is_running() {
        let verdict = match (unfinished, differences.is_empty(), options.start) {
            (true, _, _) => Verdict::Finish,
            (false, false, _) => Verdict::Update,
            (false, true, true) => Verdict::Start,
            (false, true, false) => Verdict::Nothing,
        };
        return NodePlan { differences, start: options.start, notes, ..of_vm(node, vm, verdict) };
    }
    running(node, vm, differences, notes, observed, options)
}

fn orders_starts(difference: &Difference) -> bool {
    matches!(difference.edit, Edit::Set(PlainKey::Startup, _))
}

/// Whether some VM has another place in the start order than it should, so that whoever observes asks whether the token
/// may change it: that takes a right on the whole cluster, and is none of the rights that VMs are made with.
pub fn wants_start_order(cluster: &Cluster, observed: &Observed) -> bool {
    let search = Search::new(cluster, observed);
    cluster.nodes.iter().any(|node| match search.vm_of(node) {
        Match::Ours(vm) => {
            let comparison = compare(cluster, node, vm.vmid, &vm.config, Scope::Declared);
            comparison.differences.iter().any(orders_starts)
        }
        _ => false,
    })
}

/// Plans for a VM that runs: nothing that interrupts it happens unasked.
fn running(
    node: &Node,
    vm: &ObservedVm,
    differences: Vec<Difference>,
    notes: Vec<String>,
    observed: &Observed,
    options: &Options,
) -> NodePlan {
    let mut waiting: BTreeSet<String> = vm.pending.waiting().into_iter().map(str::to_owned).collect();
    let (disruptive, differences): (Vec<_>, Vec<_>) =
        differences.into_iter().partition(|difference| difference.effect == Effect::Disruptive);
    let later = differences.iter().filter(|difference| difference.effect == Effect::AfterPowerCycle);
    waiting.extend(later.map(|difference| difference.option.clone()));
    let wants_cycle = !waiting.is_empty() || !disruptive.is_empty();
    let waiting: Vec<String> = waiting.into_iter().collect();
    if options.disruptive && wants_cycle {
        if let Some(refusal) = not_now(node, vm, observed) {
            return NodePlan { waiting, notes, ..of_vm(node, vm, Verdict::Refuse { reasons: vec![refusal] }) };
        }
        let differences = disruptive.into_iter().chain(differences).collect();
        return NodePlan { differences, power_cycle: true, notes, ..of_vm(node, vm, Verdict::Update) };
    }
    let verdict = if differences.is_empty() { Verdict::Nothing } else { Verdict::Update };
    NodePlan { differences, held_back: disruptive, waiting, notes, ..of_vm(node, vm, verdict) }
}

/// Why a running VM must not be interrupted, even when asked to.
fn not_now(node: &Node, vm: &ObservedVm, observed: &Observed) -> Option<String> {
    let state = observed.talos_state(&node.name.value);
    if node.role.value != Role::Controller || state == Some(NodeState::Maintenance) {
        return None;
    }
    if state != Some(NodeState::Configured) {
        return Some(format!(
            "it is a control plane whose state cannot be seen ({}): shut it down yourself if it is not in use, and run this \
             again while VM {} is off",
            state.map_or_else(|| "it was not asked".to_owned(), |state| state.to_string()),
            vm.vmid
        ));
    }
    Some({
        format!(
            "it is a configured control plane: make sure that etcd is healthy, shut it down yourself (`talosctl -n {} \
             shutdown`), and run this again while VM {} is off",
            node.address.value, vm.vmid
        )
    })
}

/// What was decided when the VM was made and is otherwise in the files now.
fn creation_notes(node: &Node, vm: &ObservedVm, observed: &Observed) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(host) = node.vm.host.as_ref().filter(|host| host.value != vm.host) {
        notes.push(format!("it is on {}, not on {} ({}): it is not moved", vm.host, host.value, host.origin));
    }
    if let Some(vmid) = node.vm_id.as_ref().filter(|vmid| vmid.value != vm.vmid) {
        notes.push(format!("its VMID is {}, not {} ({}): a number stays", vm.vmid, vmid.value, vmid.origin));
    }
    if let Some(pool) = &node.vm.pool {
        let is = observed.guests.get(&vm.vmid).and_then(|guest| guest.pool.as_deref());
        // A pool that the token may not look at is not shown, so that absence proves nothing.
        if let Some(is) = is.filter(|is| *is != pool.value.as_str()) {
            notes.push(format!("it is in pool {is}, not in {} ({}): it is not moved", pool.value, pool.origin));
        }
    }
    notes
}

fn adoptable(cluster: &Cluster, node: &Node, vm: &ObservedVm, options: &Options) -> NodePlan {
    let Comparison { differences, refusals, mut notes } = compare(cluster, node, vm.vmid, &vm.config, Scope::Declared);
    notes.extend(refusals);
    notes.extend(differences.iter().filter(|difference| difference.option != "tags").map(|difference| {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("differs: {} {} → {}", difference.option, text(&difference.from), text(&difference.to))
    }));
    let verdict = if options.adopt {
        Verdict::Adopt
    } else {
        let reason = format!(
            "VM {} on {} has the name and the MAC address of this node and nobody's mark: `--adopt` makes it ours",
            vm.vmid, vm.host
        );
        Verdict::Adoptable { reason }
    };
    NodePlan { notes, ..of_vm(node, vm, verdict) }
}

/// The VMs of this cluster whose nodes are not in the files.
pub fn left_over(cluster: &Cluster, observed: &Observed) -> Vec<LeftOver> {
    let names = names(cluster);
    let own = observed.vms.values().filter_map(|vm| {
        let mark = vm.own_mark().filter(|mark| mark.cluster == cluster.name.value)?;
        let gone = !names.contains(&mark.node);
        gone.then(|| LeftOver { node: mark.node, vmid: vm.vmid, host: vm.host.clone() })
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, observed, options, own_vm};
    use super::*;
    use crate::proxmox::answers::Power;

    /// `verdict; changed; held back; waiting; notes`, of which the last ones may be empty.
    #[track_caller]
    fn case(says: &str, power: Power, vm: &str, expected: &str) {
        let mut observed = observed([own_vm(power, vm)]);
        observed.may_order_starts = Some(false);
        let plan = plan(&cluster(says), &observed, &options());
        let node = &plan.nodes[0];
        let names = |differences: &[Difference]| {
            differences.iter().map(|difference| difference.option.clone()).collect::<Vec<_>>().join(" ")
        };
        let verdict = match &node.verdict {
            Verdict::Refuse { reasons } => reasons.join(" "),
            other => format!("{other:?}"),
        };
        let (changed, held_back) = (names(&node.differences), names(&node.held_back));
        let told = [verdict, changed, held_back, node.waiting.join(" "), node.notes.join(" ")].join("; ");
        assert_eq!(told.trim_end_matches("; "), expected);
    }

    #[test]
    fn a_running_vm_is_not_interrupted_unasked() {
        case("", Power::Running, "", "Nothing");
        case(", tags: [a]", Power::Running, "", "Update; tags");
        case(", vm_cores: 6", Power::Running, "", "Update; cores; ; cores");
        case(", vm_cores: 6", Power::Running, "cores: 4 → 6", "Nothing; ; ; cores");
        case(", bridge: vmbr1", Power::Running, "", "Nothing; ; net0");
        case(", bridge: vmbr1, vm_cores: 6", Power::Running, "", "Update; cores; net0; cores");
    }

    #[test]
    fn a_vm_that_is_off_takes_everything_and_is_started() {
        case("", Power::Stopped, "", "Start");
        case(", bridge: vmbr1, vm_cores: 6", Power::Stopped, "", "Update; cores net0");
    }

    #[test]
    fn only_a_clone_that_never_was_configured_is_reset_as_a_whole() {
        // Somebody took the tags away, and the guest switched itself off while something was waiting.
        case("", Power::Stopped, "tags: mine\ncores: 3 → 5\nprotection: 1", "Update; tags");
        let clone = "tags: talos\nnet0: virtio=BC:24:11:99:00:01,bridge=vmbr0\nipconfig0: ip=dhcp";
        let observed = observed([own_vm(Power::Stopped, &format!("{clone}\nprotection: 1"))]);
        let plan = plan(&cluster(""), &observed, &options());
        assert_eq!(plan.nodes[0].verdict, Verdict::Finish);
        assert!(plan.nodes[0].differences.iter().any(|difference| difference.option == "protection"));
    }

    #[test]
    fn a_start_order_that_the_token_may_not_set_is_a_note() {
        case(
            ", vm_startup_order: 7",
            Power::Running,
            "",
            "Nothing; ; ; ; startup is not set, not order=7 (nodes.yaml:6 vm_startup_order): the token lacks Sys.Modify on /",
        );
    }
}
