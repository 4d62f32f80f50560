//! What provisioning costs: time against its critical path, requests, processor time and memory.
//!
//! Run with `cargo run --release --example budget`. Time is paused, so that the minutes of a simulated cluster take
//! seconds; the figures are those of the world's own clock. Processor time and memory are those of this process, which is
//! client and simulator in one. `-- planning` measures only how long the pure planning of 5,000 nodes takes.
//!
//! # The critical path
//!
//! Three hosts with local storage share the nodes evenly, so that one of them has `n = ⌈N / 3⌉`. What a clone, a growth
//! and a start take by themselves is measured first, without anybody who waits for them. No client can be faster than
//! each of these, under the limits of three clones per storage, four starts per host and four requests at once:
//!
//! ```text
//! clones    look + ⌈n / 3⌉ · clone + grow + start + boot + 8 · latency      the last clone still has to boot
//! starts    look + clone + grow + ⌈n / 4⌉ · start + boot + 8 · latency      the last start does
//! requests  look + N · 8 · latency / 4 + boot                               the endpoint takes four at once
//! ```
//! The bound is the largest of the three. `look` is what observing takes, which comes before the first clone.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use pvetalos::apply::{self, Event, Settings, Stopped};
use pvetalos::config::{Explain, Inputs, load};
use pvetalos::model::{Cluster, Node};
use pvetalos::observe::{Depth, observe};
use pvetalos::plan::{self, NodePlan, Observed, ObservedVm, Options};
use pvetalos::proxmox::answers::Power;
use pvetalos::proxmox::request::{Method, Request};
use pvetalos::proxmox::{Client, Transport};
use pvetalos::sim::{Clock, InProcess, Simulator, Waits, WorldFile};
use serde_json::{Value, json};

const LATENCY: Duration = Duration::from_millis(5);
const BOOT: Duration = Duration::from_secs(20);
const HOSTS: u32 = 3;
const CLONES: u32 = 3;
const STARTS: u32 = 4;
const AT_ONCE: u32 = 4;
const REQUESTS: u32 = 8;

fn world() -> Value {
    let template = |host: u32| json!({ "host": format!("pve{host}"), "name": "talos", "storage": "local-lvm", "config": { "cpu": "host" } });
    json!({
        "timing": { "copy_rate": 100, "start": 1500 },
        "guest": { "boot": u64::try_from(BOOT.as_millis()).expect("a small number") },
        "hosts": { "pve1": { "memory": "16T" }, "pve2": { "memory": "16T" }, "pve3": { "memory": "16T" } },
        "storages": { "local-lvm": { "type": "lvmthin", "capacity": "100T" } },
        "templates": { "9001": template(1), "9002": template(2), "9003": template(3) },
    })
}

/// As many nodes as asked for, evenly over the hosts.
fn cluster(count: u32, numbered: bool) -> Cluster {
    let mut text = String::from(
        "name: many\nproxmox: {vm_id_base: 10000}\nnetwork: {cidr: 10.0.0.0/8}\n\
         defaults: {talos_template: talos, memory: 2048}\nnodes:\n",
    );
    for at in 0..count {
        let (high, low) = (at / 250, at % 250 + 1);
        let vm_id = if numbered { format!(", vm_id: {}", 10_000 + at) } else { String::new() };
        writeln!(
            text,
            "  - {{name: node-{at}, address: 10.1.{high}.{low}, controller: {}, mac_addr: 'bc:24:11:20:{high:02x}:{low:02x}', \
             proxmox_node: pve{}{vm_id}}}",
            at < 3,
            at % HOSTS + 1
        )
        .expect("writing to a string never fails");
    }
    load(Inputs::from_texts(&text, None, None), Explain::No).cluster.expect("the file is right")
}

fn simulator() -> (Simulator, Client<InProcess>) {
    let file = WorldFile::from_json(world()).expect("the world makes sense");
    let authorization = file.world.authorization();
    let waits = Waits { latency: LATENCY, ..Waits::default() };
    let simulator = Simulator::with(file.world, Clock::default(), waits);
    let client = Client::new(InProcess::new(simulator.clone(), authorization));
    (simulator, client)
}

fn options() -> Options {
    let token = "root@pam!pvetalos".parse().expect("a token's name");
    Options { adopt: false, disruptive: false, start: true, only: None, token }
}

/// What the server takes for one clone, one growth and one start, if nobody else is there.
#[derive(Clone, Copy, Debug)]
struct Parts {
    clone: Duration,
    grow: Duration,
    start: Duration,
}

async fn parts() -> Parts {
    let (simulator, client) = simulator();
    let send = async |method, path: &str, params: &[(&str, &str)]| {
        let params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = Request { method, path: path.to_owned(), params };
        let answer = client.transport().send(&request).await.expect("the simulator answers");
        assert_eq!(answer.status, 200, "{path}: {}", answer.reason);
        simulator.world(|world| {
            let began = world.now();
            while !world.running_tasks().is_empty() {
                let next = world.next_event().expect("a running task goes on");
                world.advance(next);
            }
            world.now().saturating_sub(began)
        })
    };
    let clone = send(Method::Post, "/nodes/pve1/qemu/9001/clone", &[("newid", "500"), ("full", "1")]).await;
    let disk = [("disk", "scsi0"), ("size", "64G")];
    // The world is ahead of the clock now; what is asked for next begins where it stands.
    let grow = send(Method::Put, "/nodes/pve1/qemu/500/resize", &disk).await;
    let start = send(Method::Post, "/nodes/pve1/qemu/500/status/start", &[]).await;
    Parts { clone, grow, start }
}

struct Measured {
    took: Duration,
    bound: Duration,
    requests: usize,
    polls: usize,
    lists: usize,
    no_op: usize,
    real: Duration,
}

async fn provision(count: u32, numbered: bool, parts: Parts) -> Measured {
    let cluster = cluster(count, numbered);
    let (simulator, client) = simulator();
    let real = Instant::now();
    let began = tokio::time::Instant::now();
    let observed = observe(&client, &cluster, Depth::ForCreation).await.expect("Proxmox answers");
    let looked = began.elapsed();
    let plan = plan::plan(&cluster, &observed, &options());
    let (settings, network) = (Settings { parallel: 1000, ..Settings::default() }, simulator.guest_network());
    let never = Stopped::never();
    let outcomes = apply::apply(&client, &network, &cluster, &plan, &settings, &never, &|_: Event| ()).await;
    let took = began.elapsed();
    let failed = outcomes.iter().find(|outcome: &&apply::Outcome| !outcome.is_done());
    assert!(failed.is_none() && outcomes.len() == count as usize, "{failed:#?}");
    let log = simulator.log();
    let polls: usize = ["/nodes/*/tasks", "/nodes/*/tasks/*/status", "/nodes/*/tasks/*/log"]
        .iter()
        .map(|path| log.count(Method::Get, path))
        .sum();
    simulator.clear_log();
    let observed = observe(&client, &cluster, Depth::ForCreation).await.expect("Proxmox answers");
    assert!(!plan::plan(&cluster, &observed, &options()).acts(), "a second run has nothing to do");
    Measured {
        took,
        bound: looked + bound(count, parts),
        requests: log.total(),
        polls,
        lists: log.count(Method::Get, "/cluster/resources"),
        no_op: simulator.log().total(),
        real: real.elapsed(),
    }
}

fn bound(count: u32, parts: Parts) -> Duration {
    let on_host = count.div_ceil(HOSTS);
    let tail = parts.grow + BOOT + LATENCY * REQUESTS;
    let clones = parts.clone * on_host.div_ceil(CLONES) + parts.start + tail;
    let starts = parts.clone + parts.start * on_host.div_ceil(STARTS) + tail;
    let requests = LATENCY * (count * REQUESTS) / AT_ONCE + BOOT;
    clones.max(starts).max(requests)
}

/// How long planning takes, at best.
struct Planning {
    all_to_be_made: Duration,
    half_to_be_made: Duration,
    nothing_to_do: Duration,
}

async fn planning(count: u32) -> Planning {
    let cluster = cluster(count, true);
    let (_, client) = simulator();
    let nothing = observe(&client, &cluster, Depth::ForCreation).await.expect("Proxmox answers");
    let (mut half, mut everything) = (nothing.clone(), nothing.clone());
    for (at, node) in cluster.nodes.iter().enumerate() {
        add_vm(&mut everything, &cluster, node);
        if at % 2 == 0 {
            add_vm(&mut half, &cluster, node);
        }
    }
    let plan = |observed: &Observed| plan::plan(&cluster, observed, &options());
    Planning {
        all_to_be_made: best(|| assert!(plan(&nothing).nodes.iter().all(NodePlan::acts))),
        half_to_be_made: best(|| assert!(plan(&half).acts())),
        nothing_to_do: best(|| assert!(!plan(&everything).acts())),
    }
}

/// Lets a node have its VM, as it is after provisioning.
fn add_vm(observed: &mut Observed, cluster: &Cluster, node: &Node) {
    let vmid = node.vm_id.as_ref().expect("every node has its number").value;
    let host = node.vm.host.as_ref().expect("every node has its host").value.clone();
    let name = &node.name.value;
    let rows = json!([
        { "key": "name", "value": name.to_string() },
        { "key": "description", "value": format!("pvetalos: cluster=many node={name} vmid={vmid}") },
        { "key": "tags", "value": plan::node_tags(cluster, node).to_string() },
        { "key": "memory", "value": "2048" },
        { "key": "net0", "value": format!("virtio={},bridge=vmbr0,queues=4", node.mac_address.value) },
        { "key": "ipconfig0", "value": format!("ip={}/8,gw=10.0.0.1", node.address.value) },
        { "key": "scsi0", "value": format!("local-lvm:vm-{vmid}-disk-0,discard=on,size=64G,ssd=1") },
    ]);
    let guest = json!({ "vmid": vmid.get(), "node": host.as_str(), "type": "qemu", "name": name.as_str() });
    let pending = serde_json::from_value(rows).expect("options as Proxmox tells them");
    observed.guests.insert(vmid, serde_json::from_value(guest).expect("a row of the list"));
    observed.vms.insert(ObservedVm::new(vmid, host, Power::Running, pending));
}

/// The shortest of several times.
fn best(work: impl Fn()) -> Duration {
    let time = |()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    [(); 10].map(time).into_iter().min().expect("there are ten")
}

/// Processor time of this process so far. Linux tells it in hundredths of a second.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The most memory that this process has had, in MiB.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

fn on_paused_time<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime can be made").block_on(run)
}

fn main() {
    if std::env::args().nth(1).as_deref() != Some("planning") {
        tell_provisioning();
    }
    tell_planning();
}

fn tell_provisioning() {
    let parts = on_paused_time(parts());
    println!("one clone {:?}, one growth {:?}, one start {:?}, boot {BOOT:?}", parts.clone, parts.grow, parts.start);
    println!(
        "nodes  VMIDs      took      bound     ratio  requests/node  lists  polls  no-op  real      CPU       peak"
    );
    for (count, numbered) in [(3, true), (3, false), (50, true), (50, false), (500, true), (500, false)] {
        let before = processor_time().unwrap_or_default();
        let measured = on_paused_time(provision(count, numbered, parts));
        let used = processor_time().unwrap_or_default().saturating_sub(before);
        let Measured { took, bound, requests, polls, lists, no_op, real } = measured;
        let own = requests - polls - lists;
        println!(
            "{count:<5}  {:<9}  {:>7.1}s  {:>7.1}s  {:>5.2}  {:>13.1}  {lists:>5}  {polls:>5}  {no_op:>5}  {:>7.2}s  {:>7.2}s  {} MiB",
            if numbered { "declared" } else { "automatic" },
            took.as_secs_f64(),
            bound.as_secs_f64(),
            took.as_secs_f64() / bound.as_secs_f64(),
            f64::from(u32::try_from(own).expect("a small number")) / f64::from(count),
            real.as_secs_f64(),
            used.as_secs_f64(),
            peak_memory().unwrap_or_default(),
        );
    }
}

fn tell_planning() {
    let Planning { all_to_be_made, half_to_be_made, nothing_to_do } = on_paused_time(planning(5_000));
    println!(
        "planning 5000 nodes: {all_to_be_made:.1?} when all are to be made, {half_to_be_made:.1?} when half of them are, \
         {nothing_to_do:.1?} when all are there"
    );
}
