//! What is not ours is never touched, however much it looks like it.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;

use pvetalos::apply::{End, Outcome};
use pvetalos::model::NodeName;
use pvetalos::plan::{DestroyOptions, DestroyPlan, NodePlan, Options, Verdict};
use pvetalos::proxmox::request::Method;
use pvetalos::talos::{Dial, NoWay};
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::lab::{Lab, ONE_HOST, THREE_HOSTS, cluster, options, world};

/// `cp-1` is the one that others look like; `worker-1` has nothing to do with them and is done all the same.
const FILE: &str = "\
name: home
proxmox: {storage: local-lvm, node: pve, vm_id_base: 4000}
network: {cidr: 192.168.20.0/24}
defaults:
  talos_version: 1.12.0
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
nodes:
  - {name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11', vm_id: 5001}
  - {name: worker-1, address: 192.168.20.21, controller: false, mac_addr: 'bc:24:11:20:00:21', vm_id: 5002}
";

const MARK: &str = "pvetalos: cluster=home node=cp-1 vmid=5001";

fn automatic() -> String {
    FILE.replace(", vm_id: 5001", "").replace(", vm_id: 5002", "")
}

/// A lab with guests that look like `cp-1`, given as a world file has them.
fn lab_with(file: &str, kind: &str, guests: &Value) -> Lab {
    let mut world = world(ONE_HOST);
    for (vmid, guest) in guests.as_object().expect("a mapping") {
        world[kind][vmid] = guest.clone();
    }
    Lab::new(world, file)
}

/// No request but GETs ever named a guest that was there before, except for the template that was cloned.
#[track_caller]
fn check_requests(lab: &Lab, foreign: &BTreeSet<String>) {
    for logged in lab.simulator.log().requests() {
        let request = &logged.request;
        let mut parts = request.path.split('/').skip_while(|part| !["qemu", "lxc"].contains(part)).skip(1);
        let (vmid, what) = (parts.next().unwrap_or_default(), parts.next());
        let clones = request.method == Method::Post && what == Some("clone");
        let touches = request.method != Method::Get && foreign.contains(vmid) && !clones;
        assert!(!touches, "{} {}", request.method, request.path);
    }
}

fn found<'p>(nodes: &'p [NodePlan], name: &str) -> &'p NodePlan {
    nodes.iter().find(|node| node.node.as_str() == name).expect("the node is in the file")
}

/// Why nothing is done with a node.
fn reason(node: &NodePlan) -> &str {
    match &node.verdict {
        Verdict::Conflict { reason } | Verdict::Adoptable { reason } | Verdict::Unknown { reason } => reason,
        other => panic!("something is done: {other:?}"),
    }
}

fn just(name: &str) -> BTreeSet<NodeName> {
    [name.parse().expect("a node's name")].into()
}

/// Whether the look-alike says that it belongs to `cp-1` itself, so that `destroy` cannot pass it over.
#[derive(Clone, Copy, PartialEq)]
enum Claims {
    Nothing,
    ToBeIt,
}

/// Runs everything that could touch a look-alike of `cp-1`: it stays as it was, and `worker-1` comes and goes.
async fn left_alone(file: &str, kind: &str, guests: Value, expected: &str, claims: Claims) {
    let lab = lab_with(file, kind, &guests);
    let foreign: BTreeSet<String> = lab.guests().into_keys().collect();
    for options in [options(), Options { adopt: true, disruptive: true, ..options() }] {
        let plan = lab.plan(&options).await.expect("Proxmox answers");
        let told = reason(found(&plan.nodes, "cp-1"));
        assert!(told.contains(expected), "{told}\n{guests:#}");
        let outcomes = lab.apply(&plan).await;
        assert!(
            outcomes.iter().all(|outcome| outcome.node.as_str() == "worker-1" && outcome.is_done()),
            "{outcomes:#?}"
        );
        lab.check_promises();
    }
    assert_eq!(lab.made().len(), 1, "worker-1 is there: {:?}", lab.made().keys());

    let plan = lab.plan_destroy(&DestroyOptions::default()).await.expect("Proxmox answers");
    assert_eq!(goes(&plan), ["worker-1"], "{guests:#}");
    let stopped: Vec<&str> = plan.obstacles.iter().map(|obstacle| obstacle.node.as_str()).collect();
    assert_eq!(stopped, if claims == Claims::ToBeIt { vec!["cp-1"] } else { Vec::new() }, "{:#?}", plan.obstacles);
    let plan = lab
        .plan_destroy(&DestroyOptions { only: Some(just("worker-1")), purge: true, ..DestroyOptions::default() })
        .await
        .expect("Proxmox answers");
    let outcomes = lab.carry_out(&plan).await;
    assert!(outcomes.len() == 1 && outcomes[0].is_done(), "{outcomes:#?}");
    for name in ["cp-1", "old-1"] {
        let left_over = DestroyOptions { left_over: Some(just(name)), purge: true, ..DestroyOptions::default() };
        let plan = lab.plan_destroy(&left_over).await.expect("Proxmox answers");
        assert_eq!(goes(&plan), Vec::<&str>::new(), "{guests:#}");
        assert!(lab.carry_out(&plan).await.is_empty());
    }
    assert_eq!(lab.made().len(), 0);
    lab.check_promises();
    check_requests(&lab, &foreign);
}

fn goes(plan: &DestroyPlan) -> Vec<&str> {
    plan.targets.iter().map(|target| target.node.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_vm_with_the_name_of_a_node_is_left_alone() {
    let stranger = json!({ "700": { "name": "cp-1", "running": true } });
    left_alone(FILE, "vms", stranger.clone(), "VM 700 on pve (cp-1) has the name of this node", Claims::Nothing).await;
    left_alone(&automatic(), "vms", stranger, "but is not it", Claims::Nothing).await;
}

#[tokio::test(start_paused = true)]
async fn a_number_that_a_stranger_has_is_left_to_him() {
    let stranger = json!({ "5001": { "name": "nas", "running": true } });
    left_alone(FILE, "vms", stranger, "VM 5001 on pve (nas) has the number of this node", Claims::Nothing).await;
    let container = json!({ "5001": { "name": "cp-1", "running": true } });
    left_alone(FILE, "containers", container, "5001 is the number of a container on pve", Claims::Nothing).await;
}

/// A proxy that is there in the beginning and gone when the first node is looked at.
struct Vanished;

impl Dial for Vanished {
    type Stream = DuplexStream;

    async fn dial(&self, _: SocketAddr) -> io::Result<DuplexStream> {
        Err(NoWay::new("the proxy socks5://127.0.0.1:1080 hung up").into())
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_that_could_not_be_checked_is_not_taken_for_free() {
    let lab = Lab::new(world(ONE_HOST), FILE);
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    for outcome in lab.apply_over(&Vanished, &plan).await {
        let End::Failed { failure } = outcome.end else {
            panic!("{} has failed", outcome.node);
        };
        assert!(failure.message.ends_with("is free: the proxy socks5://127.0.0.1:1080 hung up"), "{}", failure.message);
    }
    assert!(lab.made().is_empty());
    lab.check_promises();
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_an_address_that_another_vm_has() {
    let mac = json!({ "700": { "name": "nas", "config": { "net1": "virtio=BC:24:11:20:00:11,bridge=vmbr0" } } });
    left_alone(FILE, "vms", mac.clone(), "has the MAC address BC:24:11:20:00:11 already", Claims::Nothing).await;
    left_alone(&automatic(), "vms", mac, "VM 700 (nas) on pve", Claims::Nothing).await;
    let address = json!({ "700": { "name": "nas", "config": { "ipconfig0": "ip=192.168.20.11/24" } } });
    left_alone(FILE, "vms", address, "has the address 192.168.20.11 already", Claims::Nothing).await;
}

#[tokio::test(start_paused = true)]
async fn a_copied_mark_makes_nobody_ours() {
    let copy = json!({ "700": { "name": "cp-1", "running": true, "config": {
        "description": MARK, "tags": "pvetalos-home;talos", "net0": "virtio=BC:24:11:20:00:11,bridge=vmbr0",
        "ipconfig0": "ip=192.168.20.11/24",
    } } });
    left_alone(FILE, "vms", copy.clone(), "copied from another VM", Claims::Nothing).await;
    left_alone(&automatic(), "vms", copy, "copied from another VM", Claims::Nothing).await;
    let renamed = json!({ "700": { "name": "old", "config": {
        "description": format!("a copy\n\n{MARK}"), "tags": "pvetalos-home", "ipconfig0": "ip=192.168.20.11/24",
    } } });
    left_alone(FILE, "vms", renamed, "has the address 192.168.20.11 already", Claims::Nothing).await;
    // Somebody else's mark in our number is no less a copy.
    let swapped = json!({ "5001": { "name": "cp-1", "config": {
        "description": "pvetalos: cluster=home node=cp-1 vmid=5009", "net0": "virtio=BC:24:11:20:00:11,bridge=vmbr0",
    } } });
    left_alone(FILE, "vms", swapped, "copied from another VM", Claims::Nothing).await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_with_our_names_is_left_alone() {
    let other = json!({ "700": { "name": "cp-1", "running": true, "config": {
        "description": "pvetalos: cluster=lab node=cp-1 vmid=700", "tags": "pvetalos-lab;talos",
        "net0": "virtio=BC:24:11:20:00:11,bridge=vmbr0", "ipconfig0": "ip=192.168.20.11/24",
    } } });
    left_alone(FILE, "vms", other.clone(), "the mark of node cp-1 of cluster lab", Claims::Nothing).await;
    left_alone(&automatic(), "vms", other, "the mark of node cp-1 of cluster lab", Claims::Nothing).await;
}

#[tokio::test(start_paused = true)]
async fn another_cluster_with_our_name_is_left_alone() {
    for running in [true, false] {
        let other = json!({ "5001": { "name": "cp-1", "running": running, "config": {
            "description": MARK, "tags": "pvetalos-home;talos", "net0": "virtio=BC:24:11:66:00:11,bridge=vmbr0",
            "ipconfig0": "ip=10.66.0.11/24",
        } } });
        left_alone(FILE, "vms", other.clone(), "another cluster with the name `home`?", Claims::ToBeIt).await;
        left_alone(&automatic(), "vms", other, "another cluster with the name `home`?", Claims::ToBeIt).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_template_is_never_a_node() {
    let config = json!({ "tags": "pvetalos-home", "net0": "virtio=BC:24:11:20:00:11,bridge=vmbr0" });
    let named = json!({ "9100": { "name": "cp-1", "config": config } });
    left_alone(FILE, "templates", named, "has the name of this node and is a template", Claims::Nothing).await;
    let numbered = json!({ "5001": { "name": "image", "config": config } });
    left_alone(FILE, "templates", numbered, "has the number of this node and is a template", Claims::Nothing).await;
    let mut marked = json!({ "5001": { "name": "cp-1", "config": config } });
    marked["5001"]["config"]["description"] = json!(MARK);
    left_alone(FILE, "templates", marked, "carries the mark of this node and is a template", Claims::ToBeIt).await;
}

#[tokio::test(start_paused = true)]
async fn of_two_vms_with_the_mark_of_one_node_none_is_touched() {
    let twin = |vmid: u32| {
        json!({ "name": "cp-1", "running": vmid == 700, "config": {
            "description": format!("pvetalos: cluster=home node=cp-1 vmid={vmid}"), "tags": "pvetalos-home",
            "net0": format!("virtio=BC:24:11:20:{:02X}:11,bridge=vmbr0", vmid - 700), "ipconfig0": "ip=192.168.20.11/24",
        } })
    };
    let twins = json!({ "700": twin(700), "701": twin(701) });
    left_alone(FILE, "vms", twins.clone(), "VM 700 on pve and VM 701 on pve carry the mark", Claims::ToBeIt).await;
    left_alone(&automatic(), "vms", twins, "VM 700 on pve and VM 701 on pve carry the mark", Claims::ToBeIt).await;
}

#[tokio::test(start_paused = true)]
async fn adopting_writes_the_mark_and_the_tags_and_nothing_else() {
    let guest = json!({ "700": { "name": "cp-1", "running": true, "config": {
        "cores": 3, "memory": 3072, "net0": "virtio=bc:24:11:20:00:11,bridge=vmbr1", "tags": "mine", "description": "by hand",
    } } });
    let lab = lab_with(&automatic(), "vms", &guest);
    let before = lab.guests()["700"].clone();
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    let told = reason(found(&plan.nodes, "cp-1"));
    assert!(told.contains("`--adopt` makes it ours"), "{told}");
    lab.apply(&plan).await;
    lab.check_promises();

    let adopt = Options { adopt: true, ..options() };
    let outcomes = lab.provision_with(&adopt).await.expect("Proxmox answers");
    assert!(outcomes.len() == 1 && outcomes[0].is_done(), "{outcomes:#?}");
    let mut expected = before;
    expected["config"]["description"] = json!("by hand\n\npvetalos: cluster=home node=cp-1 vmid=700");
    expected["config"]["tags"] = json!("control-plane;kubernetes;mine;pvetalos-home;talos");
    assert_eq!(lab.guests()["700"], expected);
    let log = lab.simulator.log();
    let writes = log.requests().iter().filter(|logged| logged.request.path.contains("/qemu/700/"));
    assert_eq!(writes.filter(|logged| logged.request.method != Method::Get).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_adopted_vm_keeps_what_nobody_declared_even_when_it_is_off() {
    let guest = json!({ "700": { "name": "cp-1", "config": {
        "cores": 3, "net0": "virtio=bc:24:11:20:00:11,bridge=vmbr1", "boot": "order=scsi0;net0", "protection": 1,
    } } });
    let lab = lab_with(&automatic().replace("controller: true", "controller: true, vm_memory: 4096"), "vms", &guest);
    lab.provision_with(&Options { adopt: true, ..options() }).await.expect("Proxmox answers");
    let outcomes = lab.provision().await.expect("Proxmox answers");
    assert_eq!(outcomes.len(), 1, "{outcomes:#?}");
    let config = &lab.guests()["700"]["config"];
    for (key, value) in [("cores", "3"), ("boot", "order=scsi0;net0"), ("protection", "1"), ("memory", "4096")] {
        assert_eq!(config[key], value, "{config:#}");
    }
    assert!(!lab.plan(&options()).await.expect("Proxmox answers").acts());
}

/// Three hosts with one storage for all, so that VMs can move.
const MOVABLE: &str = "\
name: home
proxmox: {storage: shared, node: pve1, vm_id_base: 4000}
network: {cidr: 192.168.20.0/24}
defaults: {talos_template: talos}
nodes:
  - {name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11'}
  - {name: worker-1, address: 192.168.20.21, controller: false, mac_addr: 'bc:24:11:20:00:21'}
";

fn movable() -> Lab {
    let mut world = world(THREE_HOSTS);
    world["templates"] = json!({ "9000": { "host": "pve1", "name": "talos", "storage": "shared" } });
    Lab::new(world, MOVABLE)
}

#[track_caller]
fn all_done(outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert!(outcome.is_done(), "{outcome:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_vm_that_was_renamed_and_moved_is_still_ours() {
    let mut lab = movable();
    all_done(&lab.provision().await.expect("Proxmox answers"));
    lab.change_world(|world| {
        world["vms"]["4000"]["host"] = json!("pve2");
        world["vms"]["4000"]["config"]["name"] = json!("renamed");
    });
    lab.cluster = cluster(&MOVABLE.replace("controller: true", "controller: true, onboot: false"));
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    let node = found(&plan.nodes, "cp-1");
    assert_eq!((node.vmid.map(pvetalos::model::VmId::get), &node.verdict), (Some(4000), &Verdict::Update));
    assert_eq!(node.notes, ["it is on pve2, not on pve1 (nodes.yaml:2 proxmox): it is not moved"]);
    assert_eq!(node.held_back.iter().map(|held| held.option.as_str()).collect::<Vec<_>>(), ["name"]);
    all_done(&lab.apply(&plan).await);
    assert_eq!(lab.made()["4000"]["config"]["onboot"], "0");
    assert_eq!(lab.made().len(), 2);
    lab.check_promises();
    all_done(&lab.destroy().await.expect("Proxmox answers"));
    assert_eq!(lab.made().len(), 0);
    lab.check_promises();
}

/// What becomes of `cp-1` after the plan was made.
type Swap = fn(&mut Value);

const SWAPS: [(&str, Swap, &str); 5] = [
    ("a stranger has its number", |vm| vm["config"]["description"] = json!("mine"), "its notes do not end with"),
    (
        "another node of ours has its number",
        |vm| vm["config"]["description"] = json!("pvetalos: cluster=home node=worker-1 vmid=4000"),
        "its notes do not end with",
    ),
    (
        "a copy from before has its number",
        |vm| vm["config"]["smbios1"] = json!("uuid=11111111-2222-4333-8444-555555555555"),
        "its UUID was",
    ),
    ("it is a template now", |vm| vm["config"]["template"] = json!("1"), "it is a template now"),
    (
        "a copy of another VM has its number",
        |vm| vm["config"]["description"] = json!("pvetalos: cluster=home node=cp-1 vmid=4009"),
        "its notes do not end with",
    ),
];

/// A lab whose VMs are there, off if asked for, and whose file says something else now.
async fn about_to_change(off: bool, then: &str) -> Lab {
    let mut lab = movable();
    all_done(&lab.provision().await.expect("Proxmox answers"));
    if off {
        lab.change_made(|_, vm| vm["power"] = json!("stopped"));
    }
    lab.cluster = cluster(then);
    lab
}

/// `cp-1` failed for this reason and was left as it is now; `worker-1` was done.
#[track_caller]
fn stopped_in_time(lab: &Lab, outcomes: &[Outcome], expected: &str, story: &str) {
    let [cp, worker] = outcomes else { panic!("{story}: {outcomes:#?}") };
    assert!(worker.is_done(), "{story}: {worker:#?}");
    let End::Failed { failure } = &cp.end else { panic!("{story}: {cp:#?}") };
    assert!(failure.message.contains(expected) && failure.message.contains("it was not touched"), "{failure:#?}");
    lab.check_promises();
    check_requests(lab, &["4000".to_owned()].into());
}

#[tokio::test(start_paused = true)]
async fn a_vm_that_was_swapped_after_the_plan_is_neither_changed_nor_started() {
    let cores = MOVABLE.replace("{talos_template: talos}", "{talos_template: talos, cores: 6, disk_size: 300}");
    for (story, swap, expected) in SWAPS {
        for (off, then) in [(false, cores.as_str()), (true, cores.as_str()), (true, MOVABLE)] {
            let mut lab = about_to_change(off, then).await;
            let plan = lab.plan(&options()).await.expect("Proxmox answers");
            lab.change_world(|world| swap(&mut world["vms"]["4000"]));
            lab.disown(&["4000"]);
            lab.simulator.clear_log();
            stopped_in_time(&lab, &lab.apply(&plan).await, expected, story);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_vm_that_was_swapped_after_the_plan_is_not_switched_off() {
    let memory = MOVABLE.replace("{talos_template: talos}", "{talos_template: talos, memory: 4096}");
    // A control plane that answers is refused before it comes to this.
    let memory = memory.replace("controller: true", "controller: false");
    for (story, swap, expected) in SWAPS {
        let mut lab = about_to_change(false, &memory).await;
        let plan = lab.plan(&Options { disruptive: true, ..options() }).await.expect("Proxmox answers");
        assert!(plan.nodes.iter().all(|node| node.power_cycle), "{plan:#?}");
        lab.change_world(|world| swap(&mut world["vms"]["4000"]));
        lab.disown(&["4000"]);
        lab.simulator.clear_log();
        let outcomes = lab.apply(&plan).await;
        let End::Failed { failure } = &outcomes[0].end else { panic!("{story}: {outcomes:#?}") };
        assert!(failure.message.contains(expected), "{story}: {failure:#?}");
        // They are cycled one after the other, and none after one that did not come back.
        assert!(!outcomes[1].is_done(), "{story}: {outcomes:#?}");
        lab.check_promises();
        check_requests(&lab, &["4000".to_owned()].into());
    }
}

#[tokio::test(start_paused = true)]
async fn a_vm_that_was_swapped_after_the_plan_is_not_destroyed() {
    for (story, swap, expected) in SWAPS {
        for off in [false, true] {
            let mut lab = about_to_change(off, MOVABLE).await;
            let plan = lab.plan_destroy(&DestroyOptions::default()).await.expect("Proxmox answers");
            assert_eq!(goes(&plan), ["cp-1", "worker-1"], "{story}");
            lab.change_world(|world| swap(&mut world["vms"]["4000"]));
            lab.disown(&["4000"]);
            lab.simulator.clear_log();
            stopped_in_time(&lab, &lab.carry_out(&plan).await, expected, story);
            assert_eq!(lab.made().len(), 0, "{story}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_vm_that_moved_after_the_plan_is_followed() {
    let lab =
        about_to_change(false, &MOVABLE.replace("{talos_template: talos}", "{talos_template: talos, cores: 6}")).await;
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    lab.change_world(|world| world["vms"]["4000"]["host"] = json!("pve3"));
    all_done(&lab.apply(&plan).await);
    assert_eq!(lab.made()["4000"]["pending"]["cores"], "6");
    let plan = lab.plan_destroy(&DestroyOptions::default()).await.expect("Proxmox answers");
    lab.change_world(|world| world["vms"]["4000"]["host"] = json!("pve2"));
    all_done(&lab.carry_out(&plan).await);
    assert_eq!(lab.made().len(), 0);
    lab.check_promises();
}

#[tokio::test(start_paused = true)]
async fn only_what_our_cluster_left_over_goes_with_its_name() {
    let mut lab = movable();
    let with_old = format!(
        "{MOVABLE}  - {{name: old-1, address: 192.168.20.31, controller: false, mac_addr: 'bc:24:11:20:00:31'}}\n"
    );
    lab.cluster = cluster(&with_old);
    all_done(&lab.provision().await.expect("Proxmox answers"));
    lab.cluster = cluster(MOVABLE);
    let old = lab.guests()["4004"].clone();
    assert_eq!(old["config"]["name"], "old-1");
    let look_alikes = [
        ("700", "old-1", "pvetalos: cluster=home node=old-1 vmid=4004"),
        ("701", "old-1", "pvetalos: cluster=lab node=old-1 vmid=701"),
        ("702", "old-1", "somebody's"),
        ("703", "old-2", "pvetalos: cluster=home node=old-2 vmid=703"),
    ];
    lab.change_world(|world| {
        for (vmid, name, description) in look_alikes {
            let mut copy = old.clone();
            let config = copy["config"].as_object_mut().expect("a mapping");
            config.retain(|key, _| !key.starts_with("scsi0") && !key.starts_with("ide") && !key.starts_with("efidisk"));
            config.insert("name".to_owned(), json!(name));
            config.insert("description".to_owned(), json!(description));
            config.insert("net0".to_owned(), json!(format!("virtio=BC:24:11:77:00:{},bridge=vmbr0", &vmid[1..])));
            world["vms"][vmid] = copy;
        }
    });
    lab.disown(&["700", "701", "702", "703"]);
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    let left: Vec<String> = plan.left_over.iter().map(|left| format!("{} {}", left.vmid, left.node)).collect();
    assert_eq!(left, ["703 old-2", "4004 old-1"]);
    assert!(!plan.acts(), "{plan:#?}");

    let left_over = DestroyOptions { left_over: Some(just("old-1")), purge: true, ..DestroyOptions::default() };
    let plan = lab.plan_destroy(&left_over).await.expect("Proxmox answers");
    let targets: Vec<u32> = plan.targets.iter().map(|target| target.vmid.get()).collect();
    assert_eq!((targets, plan.obstacles.len()), (vec![4004], 0));
    all_done(&lab.carry_out(&plan).await);
    assert_eq!(lab.made().keys().collect::<Vec<_>>(), ["4000", "4002"]);
    lab.check_promises();
    check_requests(&lab, &["700", "701", "702", "703"].map(str::to_owned).into());

    let in_the_file = DestroyOptions { left_over: Some(just("cp-1")), ..DestroyOptions::default() };
    let plan = lab.plan_destroy(&in_the_file).await.expect("Proxmox answers");
    assert_eq!((goes(&plan), plan.obstacles.len()), (Vec::new(), 1));
}
