use serde_json::Value;

use crate::harness::{Run, Workdir};

/// One of every kind: ready for its configuration, configured, another machine, off, and without a VM.
const NODES: &str = "\
name: home
proxmox: {node: pve}
network: {cidr: 192.168.1.0/24, vip: 192.168.1.10}
defaults:
  talos_version: 1.12.0
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
  worker: {disk_size: 32G}
  controller: {disk_size: 32G}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
  - {name: w-1, address: 192.168.1.12, controller: false, mac_addr: 'bc:24:11:00:00:12'}
  - {name: w-2, address: 192.168.1.13, controller: false, mac_addr: 'bc:24:11:00:00:13'}
  - {name: w-3, address: 192.168.1.14, controller: false, mac_addr: 'bc:24:11:00:00:14'}
  - {name: w-4, address: 192.168.1.15, controller: false, mac_addr: 'bc:24:11:00:00:15'}
";

fn world(profiles: &str) -> String {
    let vm = |index: u32, name: &str, running: bool| {
        format!(
            "  20{index}:
    name: {name}
    running: {running}
    guest: {{boot: 0, talos: {{version: 1.12.0}}}}
    disks: {{scsi0: 32G, efidisk0: 528K, ide2: cloudinit}}
    config:
      {{net0: 'virtio=BC:24:11:00:00:1{index},bridge=vmbr0', ipconfig0: 'ip=192.168.1.1{index}/24', cpu: host, bios: ovmf,
        machine: q35, description: 'pvetalos: cluster=home node={name} vmid=20{index}'}}
"
        )
    };
    let vms = [vm(1, "cp-1", true), vm(2, "w-1", true), vm(3, "w-2", true), vm(4, "w-3", false)];
    format!("guest: {{boot: 0}}\nhosts: {{pve: {{}}}}\nvms:\n{}{profiles}", vms.concat())
}

fn output(workdir: &Workdir, args: &[&str]) -> Run {
    let run = workdir.run(["output", "--simulate=world.yaml", "-q"].iter().chain(args));
    assert_eq!(run.exit, 0, "{run}");
    run
}

#[test]
fn programs_get_everything_that_is_known_of_every_node() {
    let profiles = "talos: {w-1: {profile: configured}, w-2: {profile: another_machine}}\n";
    let workdir = Workdir::with_nodes(NODES).file("world.yaml", world(profiles));
    let json = output(&workdir, &[]);
    insta::assert_snapshot!("json", json.stdout);
    let yaml = output(&workdir, &["-o", "yaml"]);
    insta::assert_snapshot!("yaml", yaml.stdout.lines().take(10).collect::<Vec<_>>().join("\n"));
    let document: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    let states: Vec<&Value> = document["nodes"].as_array().expect("a list").iter().map(|node| &node["talos"]).collect();
    assert_eq!(states, ["maintenance", "configured", "wrong_host", "unreachable", "unreachable"]);
}

#[test]
fn only_a_node_that_waits_and_is_proven_gets_a_configuration() {
    let profiles = "talos: {w-1: {profile: configured}, w-2: {profile: another_machine}}\n";
    let workdir = Workdir::with_nodes(NODES).file("world.yaml", world(profiles));
    let script = output(&workdir, &["--talosctl"]).stdout;
    insta::assert_snapshot!("talosctl_for_a_cluster_that_has_begun", script);
    let sent: Vec<&str> = script.lines().filter(|line| line.starts_with("talosctl apply-config")).collect();
    assert!(sent.len() == 1 && sent[0].contains("--nodes 192.168.1.11 "), "{script}");
    assert!(!script.lines().any(|line| line.starts_with("talosctl gen")), "its secrets would be others: {script}");
}

#[test]
fn a_cluster_is_not_begun_twice() {
    let workdir = Workdir::with_nodes(NODES).file("world.yaml", world("talos: {cp-1: {profile: configured}}\n"));
    let script = output(&workdir, &["--talosctl"]).stdout;
    assert!(!script.lines().any(|line| line == "talosctl bootstrap"), "a second cluster would begin: {script}");
    assert!(script.contains("# Only if this cluster was never begun: talosctl bootstrap"), "{script}");
}

#[test]
fn nodes_that_differ_are_configured_each_in_its_own_way() {
    let secure = "mac_addr: 'bc:24:11:00:00:12', secureboot: true, disk: system-1";
    let other = "mac_addr: 'bc:24:11:00:00:13', disk: /dev/vda, mtu: 9000";
    let nodes = NODES.replace("mac_addr: 'bc:24:11:00:00:12'", secure).replace("mac_addr: 'bc:24:11:00:00:13'", other);
    let workdir = Workdir::with_nodes(nodes).file("world.yaml", world(""));
    insta::assert_snapshot!("talosctl_for_new_nodes", output(&workdir, &["--talosctl"]).stdout);
    insta::assert_snapshot!("talhelper", output(&workdir, &["--talhelper"]).stdout);
}

#[test]
fn a_cluster_cannot_begin_without_a_control_plane() {
    let workdir = Workdir::with_nodes(NODES.replace("controller: true", "controller: false"));
    let script = output(&workdir.file("world.yaml", world("")), &["--talosctl"]).stdout;
    assert!(script.contains("There is no control plane among the nodes"), "{script}");
    assert!(script.lines().all(|line| line.is_empty() || line.starts_with('#')), "{script}");
}

#[test]
fn the_two_hand_overs_exclude_each_other() {
    let run = Workdir::with_nodes(NODES).run(["output", "--talosctl", "--talhelper"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
}
