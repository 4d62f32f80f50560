use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Workdir;
use crate::simulate::Running;

/// Three nodes that boot at once: one as it should be, one of another size, and a stranger.
const WORLD: &str = "
guest: {boot: 0}
vms:
  101:
    name: cp-1
    running: true
    guest: {boot: 0, talos: {version: 1.13.9}}
    disks: {scsi0: 32G, efidisk0: 528K, ide2: cloudinit}
    config: {net0: 'virtio=BC:24:11:00:00:11,bridge=vmbr0', ipconfig0: 'ip=192.168.1.11/24', cpu: host, bios: ovmf}
  102:
    name: w-1
    running: true
    guest: {boot: 0, talos: {version: 1.13.9}}
    disks: {scsi0: 16G, efidisk0: 528K, ide2: cloudinit}
    config: {net0: 'virtio=BC:24:11:00:00:12,bridge=vmbr0', ipconfig0: 'ip=192.168.1.12/24', cpu: host, bios: ovmf}
  103:
    name: w-2
    running: true
    disks: {scsi0: 32G, efidisk0: 528K, ide2: cloudinit}
    config: {net0: 'virtio=BC:24:11:00:00:13,bridge=vmbr0', ipconfig0: 'ip=192.168.1.13/24', cpu: host, bios: ovmf}
# By name, also for VMs that are not made yet.
talos:
  w-2: {profile: another_machine}
";

const NODES: &str = "
name: home
network: {cidr: 192.168.1.0/24}
defaults: {talos_template: talos, disk_size: 32G}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
  - {name: w-1, address: 192.168.1.12, controller: false, mac_addr: 'bc:24:11:00:00:12'}
  - {name: w-2, address: 192.168.1.13, controller: false, mac_addr: 'bc:24:11:00:00:13'}
";

fn simulated() -> (Running, Workdir) {
    let world = Workdir::new().file("world.yaml", WORLD);
    let running = Running::start(&world, &["--world", "world.yaml"]);
    let proxy = running.introduction["talos_proxy"].as_str().expect("it names its proxy").to_owned();
    (running, Workdir::with_nodes(NODES).env("PVETALOS_TALOS_PROXY", &proxy))
}

#[test]
fn nodes_in_maintenance_are_found_and_what_differs_is_told() {
    let (running, workdir) = simulated();
    let run = workdir.run(["wait", "--only", "cp-1,w-1", "--timeout", "1m"]);
    assert_eq!(run.exit, 0, "{run}");
    // How long it took is for people and changes from run to run.
    let table: Vec<&str> = run.stdout.lines().map(|line| line.split("verified").next().unwrap_or(line)).collect();
    insta::assert_snapshot!(table.join("\n"));
    assert!(run.stderr.contains("cp-1: maintenance, Talos 1.13.9, identity verified"), "{run}");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn another_machine_is_exit_3_at_once() {
    let (running, workdir) = simulated();
    let run = workdir.run(["wait", "--timeout", "1h", "-o", "json"]);
    assert_eq!(run.exit, 3, "{run}");
    let document: Value = serde_json::from_str(&run.stdout).expect("it is JSON");
    assert_eq!(document["reached"], false);
    let states: Vec<&Value> = document["nodes"].as_array().expect("nodes").iter().map(|node| &node["state"]).collect();
    assert_eq!(states, ["maintenance", "maintenance", "wrong_host"]);
    assert_eq!(document["nodes"][2]["identity"], "another machine");
    assert_eq!(document["nodes"][2]["causes"][0]["certainty"], "certain");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn nothing_there_ends_at_the_time_out_with_a_diagnosis() {
    let (running, workdir) = simulated();
    let nodes = NODES.replace("192.168.1.11", "192.168.1.99");
    let run = workdir.file("nodes.yaml", nodes).run(["wait", "--only", "cp-1", "--timeout", "500ms"]);
    assert_eq!(run.exit, 3, "{run}");
    for line in [
        "cp-1: timed out after 0 s: unreachable",
        "possible: there is no way from this machine to the address",
        "    check: `ping 192.168.1.99` and `ip route get 192.168.1.99`; nodes behind a jump host: `--talos-proxy socks5://…`",
        "possible: the image is a metal one",
    ] {
        assert!(run.stdout.contains(line), "{run}");
    }
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn ctrl_c_ends_it_at_once() {
    let (running, workdir) = simulated();
    let proxy = running.introduction["talos_proxy"].as_str().expect("it names its proxy");
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .args(["wait", "--for", "configured", "--only", "cp-1", "--timeout", "1h", "--talos-proxy", proxy])
        .current_dir(workdir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    // It has begun to wait when it says what it saw.
    let mut line = String::new();
    let talk = waiting.stderr.take().expect("its talk is ours");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(talk), &mut line).expect("it talks");
    assert!(line.starts_with("cp-1: maintenance"), "{line}");
    let pressed = Instant::now();
    let interrupted = Command::new("kill").args(["-INT", &waiting.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    assert_eq!(waiting.wait().expect("it ends").code(), Some(130));
    assert!(pressed.elapsed() < Duration::from_secs(10));
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn wrong_input_is_exit_2_and_nobody_is_asked() {
    #[track_caller]
    fn case(workdir: &Workdir, args: &[&str], expected: &str) {
        let run = workdir.run(["wait"].iter().chain(args));
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
        assert!(run.stderr.contains(expected) && !run.stderr.contains("hunter2"), "{run}");
    }
    let workdir = Workdir::with_nodes(NODES);
    case(&workdir, &["--only", "cp-1,cp-9"], "no node has the name `cp-9`");
    case(&workdir, &["--timeout", "soon"], "`soon` is not a duration");
    case(&workdir, &["--for", "tea"], "invalid value 'tea'");
    case(&workdir, &["--talos-proxy", "http://me:hunter2@127.0.0.1:1"], "--talos-proxy: this is not a proxy like");
    let workdir = workdir.env("PVETALOS_TALOS_PROXY", "socks5://me:hunter2@host");
    case(&workdir, &[], "PVETALOS_TALOS_PROXY: this is not a proxy like");
    case(&Workdir::with_nodes("nodes: 3"), &[], "error");
}
