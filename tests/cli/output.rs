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
    let expected: [Value; 5] =
        ["maintenance".into(), "configured".into(), "wrong_host".into(), "unreachable".into(), Value::Null];
    assert_eq!(states, expected.iter().collect::<Vec<_>>());
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
    assert!(script.contains("etcd members") && script.contains("[ \"$begun\" ] || talosctl bootstrap"), "{script}");
    // One that is new beside one that is not.
    let nodes = NODES.replace(
        "name: w-1, address: 192.168.1.12, controller: false",
        "name: w-1, address: 192.168.1.12, controller: true",
    );
    let workdir = Workdir::with_nodes(nodes).file("world.yaml", world("talos: {cp-1: {profile: configured}}\n"));
    let script = output(&workdir, &["--talosctl"]).stdout;
    assert!(!script.contains("|| talosctl bootstrap"), "a second cluster would begin: {script}");
    assert!(script.contains("# Some control planes are new and others are not."), "{script}");
    // One that is new beside one that is off, and may know a cluster.
    let nodes = NODES.replace(
        "name: w-3, address: 192.168.1.14, controller: false",
        "name: w-3, address: 192.168.1.14, controller: true",
    );
    let script = output(&Workdir::with_nodes(nodes).file("world.yaml", world("")), &["--talosctl"]).stdout;
    assert!(!script.contains("|| talosctl bootstrap"), "a second cluster would begin: {script}");
    assert!(script.contains("# Not every control plane answers."), "{script}");
}

#[test]
fn what_was_made_from_a_simulation_does_nothing() {
    let workdir = Workdir::with_nodes(NODES).file("world.yaml", world(""));
    std::fs::write(workdir.path().join("script"), output(&workdir, &["--talosctl"]).stdout).expect("it can be written");
    let ran = std::process::Command::new("sh").args(["-eu", "script"]).current_dir(workdir.path()).output();
    let ran = Run::from(ran.expect("there is a shell"));
    assert_eq!((ran.exit, ran.stderr.as_str()), (1, "this was made from a simulation: there are no such nodes\n"));
    assert!(!workdir.path().join("talos-home").exists());
}

#[test]
fn the_script_goes_on_with_the_cluster_that_it_is_about() {
    let workdir = Workdir::new().file("other nodes.yaml", NODES).file("world.yaml", world(""));
    let script = output(&workdir, &["--talosctl", "--nodes", "other nodes.yaml", "--cluster-name", "home"]).stdout;
    let wait = "pvetalos wait --for configured --only cp-1,w-1,w-2 --nodes 'other nodes.yaml' --cluster-name home";
    assert!(script.lines().any(|line| line == wait), "{script}");
}

#[test]
fn nothing_is_begun_without_a_control_plane_that_is_there() {
    let nodes = NODES.replace("192.168.1.11", "192.168.1.99");
    let workdir = Workdir::with_nodes(nodes).file("world.yaml", world(""));
    let script = output(&workdir, &["--talosctl"]).stdout;
    assert!(script.ends_with("# 3. No control plane is there yet, with which the cluster could begin.\n"), "{script}");
}

#[test]
fn what_cloud_init_cannot_say_is_handed_over() {
    let trunk = NODES
        .replace("vip: 192.168.1.10}", "vlan_tag: 20}")
        .replace("disk_size: 32G}\n  controller", "disk_size: 32G, encrypt_disk: true}\n  controller");
    let workdir = Workdir::with_nodes(trunk.replace("  talos_version: 1.12.0\n", "  talos_template: mine\n"))
        .file("world.yaml", world(""));
    insta::assert_snapshot!("talosctl_on_a_trunk", output(&workdir, &["--talosctl"]).stdout);
    let talhelper = output(&workdir, &["--talhelper"]).stdout;
    insta::assert_snapshot!("talhelper_on_a_trunk", talhelper.split("  - hostname: w-2").next().unwrap_or_default());
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
    let commands: Vec<&str> = script.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(commands.len() == 1 && commands[0].ends_with("exit 1"), "only the end of a simulated one: {script}");
}

#[test]
fn the_two_hand_overs_exclude_each_other() {
    let run = Workdir::with_nodes(NODES).run(["output", "--talosctl", "--talhelper"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
}
