//! How every node is: what was seen, held against what is wanted. Reads its arguments and nothing else.

use std::net::IpAddr;

use serde::Serialize;

use crate::model::{Cluster, ClusterName, HostName, Node, NodeName, Role, TokenId, VmId};
use crate::plan::{LeftOver, Match, NodePlan, Observed, ObservedVm, Options, Plan, Verdict, identify, plan};
use crate::talos::{Check, Identity, NodeState, Sighting};

/// How a cluster is.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub cluster: ClusterName,
    pub healthy: bool,
    pub nodes: Vec<NodeStatus>,
    /// VMs with the mark of this cluster whose nodes are no longer in the files.
    pub left_over: Vec<LeftOver>,
    /// What should be known about the whole, a sentence each.
    pub notes: Vec<String>,
}

/// How a node is.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStatus {
    pub node: NodeName,
    pub role: Role,
    pub address: IpAddr,
    /// It runs, it can be reached, and it is as the files say.
    pub healthy: bool,
    pub vmid: Option<VmId>,
    pub host: Option<HostName>,
    /// `running`, `stopped` or what else Proxmox says; nothing when it has no VM or cannot be seen.
    pub power: Option<String>,
    /// Options that are not as the files say.
    pub drift: Vec<String>,
    /// Options whose new values wait for the VM to be switched off and on.
    pub waiting: Vec<String>,
    /// How the node itself was when it was asked.
    pub talos: Option<NodeState>,
    /// The version of Talos, if the node tells it.
    pub talos_version: Option<String>,
    /// Whether what the node says about itself proves that it is this VM.
    pub identity_verified: bool,
    /// What is wrong with it, a sentence each.
    pub findings: Vec<String>,
    /// What is not as in the files and does not have to be, a sentence each.
    pub notes: Vec<String>,
}

/// Holds what was seen against what is wanted.
pub fn status(cluster: &Cluster, observed: &Observed, token: &TokenId) -> Status {
    // Without starting anything, so that a VM that is off is not also a difference.
    let options = Options { adopt: false, disruptive: false, start: false, only: None, token: token.clone() };
    let Plan { nodes: planned, left_over, notes, .. } = plan(cluster, observed, &options);
    let nodes: Vec<NodeStatus> = cluster
        .nodes
        .iter()
        .zip(planned)
        .map(|(node, planned)| node_status(cluster, node, planned, observed))
        .collect();
    let healthy = nodes.iter().all(|node| node.healthy);
    Status { cluster: cluster.name.value.clone(), healthy, nodes, left_over, notes }
}

fn node_status(cluster: &Cluster, node: &Node, planned: NodePlan, observed: &Observed) -> NodeStatus {
    let found = identify(cluster, node, observed);
    let vm = match found {
        Match::Ours(vm) | Match::Adoptable(vm) => Some(vm),
        _ => None,
    };
    let sighting = observed.talos.get(&node.name.value);
    let NodePlan { role, address, vmid, host, verdict, differences, held_back, notes, .. } = planned;
    let mut findings = match (&found, verdict) {
        (Match::Absent, _) => vec!["it has no VM yet; `pvetalos provision` makes it".to_owned()],
        (_, Verdict::Join) => vec!["its VM is only just being made".to_owned()],
        (_, Verdict::Finish) => {
            vec!["its VM was cloned and never configured to its end; `pvetalos provision` goes on with it".to_owned()]
        }
        (_, Verdict::Refuse { reasons }) => reasons,
        (_, Verdict::Adoptable { reason } | Verdict::Unknown { reason } | Verdict::Conflict { reason }) => {
            vec![reason]
        }
        _ => Vec::new(),
    };
    findings.extend(state_findings(vm, sighting, address));
    let talos_findings = sighting.iter().flat_map(|sighting| sighting.findings());
    findings.extend(talos_findings.map(Check::told));
    let mut drift: Vec<String> = Vec::new();
    for difference in differences.iter().chain(&held_back) {
        // The size of a disk stands beside its options.
        let option = difference.option.split(' ').next().unwrap_or(&difference.option);
        if !drift.iter().any(|known| known == option) {
            drift.push(option.to_owned());
        }
    }
    NodeStatus {
        node: node.name.value.clone(),
        role,
        address,
        healthy: findings.is_empty() && drift.is_empty(),
        vmid: if matches!(found, Match::Absent) { None } else { vmid },
        host: if matches!(found, Match::Absent) { None } else { host },
        power: vm.map(|vm| vm.power.to_string()),
        drift,
        // The plan counts those in that it would only write.
        waiting: vm.map(|vm| vm.pending.waiting().into_iter().map(str::to_owned).collect()).unwrap_or_default(),
        talos: sighting.map(|sighting| sighting.state),
        talos_version: sighting.and_then(Sighting::version).map(str::to_owned),
        identity_verified: sighting.is_some_and(|sighting| sighting.identity() == Identity::Verified),
        findings,
        notes,
    }
}

/// What power and network say about each other.
fn state_findings(vm: Option<&ObservedVm>, sighting: Option<&Sighting>, address: IpAddr) -> Option<String> {
    let state = sighting.map(|sighting| sighting.state);
    let evidence = || sighting.map_or("", |sighting| sighting.evidence.as_str());
    match (vm, state) {
        (Some(vm), Some(state)) if !vm.is_running() && state.is_held() => Some(format!(
            "its VM {} is off, and somebody answers at {address} all the same: another machine has its address",
            vm.vmid
        )),
        (Some(vm), _) if !vm.is_running() => Some(format!("its VM {} is off", vm.vmid)),
        (Some(_), Some(NodeState::Unreachable)) => {
            Some(format!("nobody answers at {address}; it may still be booting"))
        }
        (Some(_), Some(NodeState::Closed | NodeState::Starting)) => {
            Some(format!("Talos at {address} is not ready: {}; it may still be booting", evidence()))
        }
        (Some(_), Some(NodeState::NotTalos)) => Some(format!("what answers at {address} is not Talos: {}", evidence())),
        (Some(_), Some(NodeState::WrongHost)) => Some(format!("WRONG HOST at {address}: {}", evidence())),
        (None, Some(state)) if state.is_held() => Some(format!("somebody answers at {address} all the same")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::{Explain, Inputs, load};
    use crate::observe::{Depth, ask_nodes, observe};
    use crate::proxmox::Client;
    use crate::sim::{InProcess, Simulator, World};

    const NODES: &str = "\
name: home
network: {cidr: 192.168.1.0/24}
defaults: {talos_template: talos, worker: {cores: 8}}
nodes:
  - {name: w-1, address: 192.168.1.11, controller: false, mac_addr: 'bc:24:11:00:00:11'}
  - {name: w-2, address: 192.168.1.12, controller: false, mac_addr: 'bc:24:11:00:00:12'}
  - {name: w-3, address: 192.168.1.13, controller: false, mac_addr: 'bc:24:11:00:00:13'}
";

    /// A VM that looks as if we had made it for `w-<index>` of `home`.
    fn ours(index: u32, host: &str) -> Value {
        json!({
            "host": host, "name": format!("w-{index}"), "running": true, "guest": {"boot": 0},
            "disks": {"scsi0": "256G"},
            "config": {
                "cores": 8, "bios": "ovmf", "machine": "q35", "tags": "kubernetes;pvetalos-home;talos;worker",
                "net0": format!("virtio=BC:24:11:00:00:1{index},bridge=vmbr0"),
                "ipconfig0": format!("ip=192.168.1.1{index}/24,gw=192.168.1.1"),
                "description": format!("pvetalos: cluster=home node=w-{index} vmid={}", 200 + index),
            },
        })
    }

    async fn of(world: Value) -> (Status, Simulator) {
        let cluster = load(Inputs::from_texts(NODES, None, None), Explain::No).cluster.expect("it is right");
        let world = World::from_json(&world).expect("it is a world");
        let authorization = world.authorization();
        let simulator = Simulator::new(world);
        let client = Client::new(InProcess::new(simulator.clone(), authorization));
        let mut observed = observe(&client, &cluster, Depth::Ours).await.expect("the simulator answers");
        observed.talos = ask_nodes(simulator.guest_network(), &cluster, &observed).await;
        let token = "root@pam!pvetalos".parse().expect("it is a token");
        (status(&cluster, &observed, &token), simulator)
    }

    fn hosts() -> Value {
        json!({"pve1": {}, "pve2": {}})
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_well_when_every_node_runs_answers_and_is_as_declared() {
        let vms = json!({"201": ours(1, "pve1"), "202": ours(2, "pve2"), "203": ours(3, "pve1")});
        let (status, _) = of(json!({"hosts": hosts(), "vms": vms})).await;
        assert!(status.healthy, "{status:#?}");
        assert!(status.nodes.iter().all(|node| node.healthy && node.talos == Some(NodeState::Maintenance)));
    }

    #[tokio::test(start_paused = true)]
    async fn everything_that_is_not_well_is_named() {
        let (mut drifted, mut off) = (ours(1, "pve1"), ours(2, "pve2"));
        drifted["config"]["cores"] = json!(4);
        off["running"] = json!(false);
        let mut gone = ours(9, "pve2");
        gone["config"]["description"] = json!("pvetalos: cluster=home node=w-9 vmid=209");
        let vms = json!({"201": drifted, "202": off, "209": gone});
        let (status, _) = of(json!({"hosts": hosts(), "vms": vms})).await;
        assert!(!status.healthy);
        let [one, two, three] = status.nodes.as_slice() else { panic!("there are three nodes") };
        assert_eq!((one.drift.as_slice(), one.findings.len(), one.healthy), (&["cores".to_owned()][..], 0, false));
        assert_eq!((two.power.as_deref(), two.findings[0].as_str()), (Some("stopped"), "its VM 202 is off"));
        assert_eq!((three.vmid, three.power.as_deref()), (None, None));
        assert_eq!(three.findings, ["it has no VM yet; `pvetalos provision` makes it"]);
        assert_eq!(status.left_over[0].node.as_str(), "w-9");
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_is_down_hides_no_other() {
        let hosts = json!({"pve1": {}, "pve2": {"online": false}, "pve3": {}});
        let vms = json!({"201": ours(1, "pve1"), "202": ours(2, "pve2"), "203": ours(3, "pve1")});
        let (status, _) = of(json!({"hosts": hosts, "vms": vms})).await;
        let well: Vec<bool> = status.nodes.iter().map(|node| node.healthy).collect();
        assert_eq!(well, [true, false, true], "{status:#?}");
        assert_eq!(status.notes, ["host pve2 cannot be looked at: it is not online"]);
    }

    #[tokio::test(start_paused = true)]
    async fn few_requests_are_enough() {
        let mut vms = json!({"201": ours(1, "pve1"), "202": ours(2, "pve2"), "203": ours(3, "pve1")});
        for foreign in 300..330 {
            vms[foreign.to_string()] = json!({"name": format!("vm-{foreign}"), "host": "pve1"});
        }
        let (_, simulator) = of(json!({"hosts": hosts(), "vms": vms})).await;
        let (nodes, hosts) = (3, 2);
        assert!(simulator.log().total() <= nodes + 2 * hosts + 3, "{:?}", simulator.log().counts());
    }
}
