//! Hundreds of nodes waited for at once: what it costs in processor time, memory and connections.
//!
//! The nodes are simulated by another process, behind its proxy, so that only the client is measured here:
//!
//! ```sh
//! cargo bench --bench probes          # 500 nodes
//! cargo bench --bench probes -- 2000
//! ```

#![expect(clippy::print_stdout, reason = "the figures are the result")]

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pvetalos::talos::{Dial, End, Expected, Goal, Identity, Socks5, Target, Watch};
use tokio::net::TcpStream;

/// From the start of the simulator until the nodes are in maintenance.
const BOOT: Duration = Duration::from_secs(15);

/// Counts the connections.
#[derive(Clone)]
struct Counting {
    way: Socks5,
    dials: Arc<AtomicUsize>,
}

impl Dial for Counting {
    type Stream = TcpStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<TcpStream> {
        self.dials.fetch_add(1, Ordering::Relaxed);
        self.way.dial(to).await
    }
}

fn address(number: usize) -> String {
    format!("10.{}.{}.{}", number / 40_000, number / 200 % 200, number % 200 + 10)
}

fn mac(number: usize) -> String {
    format!("BC:24:11:00:{:02X}:{:02X}", number / 256, number % 256)
}

fn world(nodes: usize) -> String {
    let mut world = String::from("storages: {local-lvm: {type: lvmthin, capacity: 900T}}\nvms:\n");
    for number in 0..nodes {
        let (id, address, mac, boot) = (1000 + number, address(number), mac(number), BOOT.as_millis());
        write!(
            world,
            "  {id}:\n    name: w-{number}\n    running: true\n    guest: {{boot: {boot}, talos: {{version: 1.13.9}}}}\n    \
             disks: {{scsi0: 20G, ide2: cloudinit}}\n    \
             config: {{net0: 'virtio={mac},bridge=vmbr0', ipconfig0: 'ip={address}/8', cpu: host}}\n"
        )
        .expect("writing to a string never fails");
    }
    world
}

/// A simulator that ends with the benchmark.
struct Simulated(Child);

impl Drop for Simulated {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn simulate(nodes: usize) -> (Simulated, Socks5) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world.yaml");
    std::fs::write(&path, world(nodes)).expect("the folder can be written");
    let mut process = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .args(["simulate", "--listen", "127.0.0.1:0", "-o", "json", "--world"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut line = String::new();
    let stdout = process.stdout.take().expect("its output is ours");
    BufReader::new(stdout).read_line(&mut line).expect("it introduces itself");
    let introduction: serde_json::Value = serde_json::from_str(&line).expect("the introduction is JSON");
    let proxy = introduction["talos_proxy"].as_str().expect("it names its proxy").parse().expect("a proxy");
    (Simulated(process), proxy)
}

/// Seconds of processor time, and the largest memory in MB, of this process; only Linux tells.
fn usage() -> Option<(f64, f64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.split_whitespace().next()?.parse().ok()?;
    Some((ticks / 100.0, kib / 1000.0))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let nodes = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(500);
    let (simulated, way) = simulate(nodes);
    let began = Instant::now();
    let targets: Vec<Target> = (0..nodes)
        .map(|number| Target {
            name: format!("w-{number}"),
            address: address(number).parse().expect("an address"),
            expected: Expected { mac: mac(number).parse().ok(), ..Expected::default() },
        })
        .collect();
    let counting = Counting { way, dials: Arc::default() };
    let watch = Watch::new(counting.clone());
    let before = usage();
    let waited = watch.wait_for_all(&targets, Goal::Maintenance, Duration::from_mins(5), |_, _| {}).await;
    let took = began.elapsed();
    let verified =
        waited.iter().filter(|waited| waited.end == End::Reached && waited.sighting.identity() == Identity::Verified);
    println!("nodes in maintenance, identity verified  {} of {nodes}", verified.count());
    println!("last one ready after the boot            {:?}", took.saturating_sub(BOOT));
    println!("connections                              {}", counting.dials.load(Ordering::Relaxed));
    if let (Some((before, _)), Some((after, peak))) = (before, usage()) {
        println!("processor time                           {:.2} s", after - before);
        println!("largest memory                           {peak:.1} MB");
    }
    drop(simulated);
}
