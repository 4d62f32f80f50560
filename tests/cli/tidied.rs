//! A cluster repository in which `task template:tidy` has moved nodes.yaml and cluster.yaml away.

use std::path::Path;

use serde_json::Value;

use crate::harness::{GOOD, Run, Workdir};

const NOTE: &str = "there is no nodes.yaml here: the nodes are read from talos/talconfig.yaml\n";

/// The example as it is before.
fn untidied() -> Workdir {
    Workdir::from_example("cluster-template").file("talos/talconfig.yaml", talconfig())
}

/// The example as it is afterwards.
pub(crate) fn tidied() -> Workdir {
    let workdir = untidied();
    tidy(workdir.path());
    workdir
}

fn tidy(folder: &Path) {
    let away = folder.join(".private/1700000000");
    std::fs::create_dir_all(&away).expect("a folder can be made");
    for file in ["nodes.yaml", "cluster.yaml"] {
        std::fs::rename(folder.join(file), away.join(file)).expect("a file can be moved");
    }
}

/// What the repository makes of the example's files for talhelper.
fn talconfig() -> String {
    let node = |number: usize| {
        format!(
            r#"  - hostname: "k8s-{number}"
    ipAddress: "192.168.1.1{number}"
    installDisk: "/dev/sda"
    machineSpec:
      secureboot: false
    talosImageURL: factory.talos.dev/installer/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
    controlPlane: true
    networkInterfaces:
      - deviceSelector:
          hardwareAddr: "bc:24:11:01:00:1{number}"
        dhcp: false
        addresses:
          - "192.168.1.1{number}/24"
        routes:
          - network: "0.0.0.0/0"
            gateway: "192.168.1.1"
        mtu: 1500
        vip:
          ip: "192.168.1.100"
"#
        )
    };
    let nodes: String = (1..=3).map(node).collect();
    format!(
        r#"---
clusterName: kubernetes
talosVersion: "${{talosVersion}}"
kubernetesVersion: "${{kubernetesVersion}}"
endpoint: https://192.168.1.100:6443
clusterPodNets: ["10.42.0.0/16"]
clusterSvcNets: ["10.43.0.0/16"]
nodes:
{nodes}
patches:
  - "@./patches/global/machine-kubelet.yaml"
"#
    )
}

fn document(run: &Run) -> Value {
    assert_eq!(run.exit, 0, "{run}");
    serde_json::from_str(&run.stdout).expect("-o json prints JSON")
}

#[test]
fn it_is_the_same_cluster_as_before() {
    let workdir = untidied();
    let before = workdir.run(["validate", "-o", "json"]);
    assert_eq!(before.stderr, "", "as long as nodes.yaml is there, it counts");
    tidy(workdir.path());
    let after = workdir.run(["validate", "-o", "json"]);
    assert_eq!(document(&after), document(&before));
    assert_eq!(after.stderr, NOTE);
    assert_eq!(workdir.run(["validate", "-o", "json", "-q"]).stderr, "");
}

#[test]
fn nothing_is_to_be_done_for_nodes_that_were_made_before() {
    let workdir = untidied();
    let provision = workdir.run(["provision", "--simulate", "-q"]);
    assert_eq!(provision.exit, 0, "{provision}");
    tidy(workdir.path());
    let plan = workdir.run(["plan", "--simulate", "--exit-code"]);
    assert_eq!(plan.exit, 0, "{plan}");
    assert!(plan.stdout.ends_with("Plan: nothing to do, 3 unchanged, 0 refused\n"), "{plan}");
    assert_eq!(plan.stderr.matches(NOTE).count(), 1, "{plan}");
}

/// The name went away with cluster.yaml, and talconfig.yaml has another one.
#[test]
fn vms_of_another_name_are_left_alone_and_not_made_again() {
    let nameless = include_str!("../../examples/cluster-template/pvetalos.yaml").replace("name: home-ops\n", "");
    let named = include_str!("../../examples/cluster-template/cluster.yaml").to_owned() + "cluster_name: home-ops\n";
    let workdir = untidied().file("pvetalos.yaml", nameless).file("cluster.yaml", named);
    assert_eq!(workdir.run(["provision", "--simulate", "-q"]).exit, 0);
    tidy(workdir.path());
    let plan = workdir.run(["plan", "--simulate"]);
    assert!(plan.stdout.ends_with("Plan: nothing to do, 0 unchanged, 3 refused\n"), "{plan}");
    assert!(plan.stderr.contains("warning: the cluster has the name `kubernetes`"), "{plan}");
    let named = workdir.run(["plan", "--simulate", "--exit-code", "--cluster-name", "home-ops"]);
    assert_eq!((named.exit, named.stderr.contains("warning")), (0, false), "{named}");
}

#[test]
fn every_command_that_needs_the_nodes_tells_where_they_come_from() {
    let workdir = tidied();
    for (command, exit) in [("validate", 0), ("access", 0), ("plan", 2), ("status", 2), ("doctor", 2), ("wait", 2)] {
        // Those that talk to somebody are stopped by what they lack.
        let proxy = ["--talos-proxy", "nonsense"];
        let run = workdir.run([command].iter().chain(if command == "wait" { &proxy[..] } else { &[] }));
        assert_eq!((run.exit, run.stderr.matches(NOTE).count()), (exit, 1), "{command}: {run}");
    }
}

#[test]
fn the_other_files_are_those_of_the_repository_and_not_of_its_folder_talos() {
    let repository = tidied().file("talos/pvetalos.yaml", "name: wrong\n");
    let elsewhere = Workdir::new().file("pvetalos.yaml", "name: another\n");
    let talconfig = repository.path().join("talos/talconfig.yaml");
    let named = ["validate", "-o", "json", "--nodes", talconfig.to_str().expect("a plain path")];
    let run = elsewhere.run(named);
    assert_eq!(document(&run)["name"], "home-ops");
    assert_eq!(run.stderr, "", "who names a file knows where the nodes come from");
    let run = repository.run(["validate", "-o", "json", "--nodes", "talos/talconfig.yaml"]);
    assert_eq!(document(&run), document(&repository.run(["validate", "-o", "json"])));
}

#[test]
fn a_file_of_that_shape_may_have_any_name() {
    let settings = "name: rack\ndefaults: {talos_version: 1.12.0}\n";
    let workdir = Workdir::with_nodes(GOOD).file("rack/hosts.yaml", talconfig()).file("rack/pvetalos.yaml", settings);
    let run = workdir.run(["validate", "-o", "json", "--nodes", "rack/hosts.yaml"]);
    let document = document(&run);
    assert_eq!((&document["name"], &document["nodes"][2]["name"]), (&"rack".into(), &"k8s-3".into()));
}

#[test]
fn what_talhelper_fills_in_is_filled_in_here() {
    let settings = "name: lab\ndefaults: {cores: 2}\n";
    let encrypted = "talosVersion: ENC[AES256_GCM,data:xxxx,iv:xxxx,tag:xxxx,type:str]\nsops: {mac: x}\n";
    let version = |talenv: &str| {
        let workdir = Workdir::new().file("talos/talconfig.yaml", talconfig()).file("pvetalos.yaml", settings);
        let run = workdir.file("talos/talenv.yaml", talenv).run(["validate", "-o", "json"]);
        let document: Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
        document["nodes"][0]["talos_version"].as_str().map(str::to_owned).ok_or(run.stderr)
    };
    assert_eq!(version("talosVersion: v1.12.4\nkubernetesVersion: v1.35.0\n").as_deref(), Ok("1.12.4"));
    for talenv in
        ["kubernetesVersion: v1.35.0\n", encrypted, "talosVersion=v1.12.4\n", "talosVersion: [v1.12.4]\n", ": ["]
    {
        let message = version(talenv).expect_err("there is no version");
        assert!(message.contains("`talos_version` is not given") && !message.contains("talenv"), "{talenv}: {message}");
    }
}

#[test]
fn what_output_prints_for_talhelper_is_understood_again() {
    let workdir = Workdir::from_example("multi-host");
    let before = document(&workdir.run(["validate", "-o", "json"]));
    assert_eq!(workdir.run(["provision", "--simulate=world.yaml", "-q", "--create-template"]).exit, 0);
    let printed = workdir.run(["output", "--talhelper", "--simulate=world.yaml", "-q"]);
    let again = Workdir::new().file("talos/talconfig.yaml", printed.stdout);
    let after = document(&again.run(["validate", "-o", "json"]));
    assert_eq!(after["name"], before["name"]);
    for key in ["cidr", "gateway", "dns_servers", "vip"] {
        assert_eq!(after["network"][key], before["network"][key], "{key}");
    }
    for (after, before) in nodes(&after).iter().zip(nodes(&before)) {
        for key in ["name", "role", "address", "mac_addr", "disk", "talos_version", "schematic_id", "secureboot"] {
            assert!(before.get(key).is_some(), "a node has a {key}");
            assert_eq!(after[key], before[key], "{key} of {}", before["name"]);
        }
    }
    assert_eq!(nodes(&after).len(), nodes(&before).len());
}

fn nodes(document: &Value) -> &[Value] {
    document["nodes"].as_array().expect("a list")
}

#[test]
fn what_was_moved_away_can_still_be_named() {
    let workdir = tidied();
    std::fs::remove_file(workdir.path().join("talos/talconfig.yaml")).expect("it was written");
    let run = workdir.run(["validate"]);
    let flags = "--nodes .private/1700000000/nodes.yaml --settings pvetalos.yaml";
    assert!(run.exit == 2 && run.stderr.contains(flags), "{run}");
    let run = workdir.run(["validate", "-o", "json"].into_iter().chain(flags.split(' ')));
    assert_eq!(document(&run)["name"], "home-ops");
    std::fs::remove_file(workdir.path().join("pvetalos.yaml")).expect("it was there");
    let run = workdir.run(["validate"]);
    assert!(run.stderr.contains("add `--nodes .private/1700000000/nodes.yaml`\n"), "{run}");
}

#[test]
fn the_sample_is_only_for_folders_without_nodes() {
    let run = tidied().run(["status", "--simulate"]);
    assert!(run.stdout.contains("k8s-1") && run.stderr.starts_with(NOTE), "{run}");
}

#[test]
fn init_leaves_the_nodes_to_talhelper() {
    let workdir = tidied();
    let init = workdir.run(["init"]);
    assert_eq!(init.exit, 0, "{init}");
    assert!(!init.stdout.contains("nodes.yaml"), "{init}");
    assert!(!workdir.path().join("nodes.yaml").exists(), "it would stand above talos/talconfig.yaml");
}

/// A folder in the place of the file, or a pipe, is nobody's nodes.
#[test]
fn a_talconfig_that_cannot_be_read_is_not_passed_over() {
    let workdir = Workdir::new().file("talos/talconfig.yaml/x", "");
    let run = workdir.run(["validate"]);
    assert_eq!(run.exit, 2);
    assert!(run.stderr.contains("the file cannot be read: it is a directory\n--> talos/talconfig.yaml"), "{run}");
}
