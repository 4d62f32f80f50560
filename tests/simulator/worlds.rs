//! The example worlds: they can be read, they are sound, and what their comments say is true.

use pvetalos::config::read_document;
use pvetalos::proxmox::{Client, Method};
use pvetalos::sim::{Adjustments, Fault, InProcess, Simulator, WorldFile};

use crate::harness::{authorization, example};

#[test]
fn every_example_is_a_sound_world() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/worlds");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let file = example(&name);
        assert_eq!(file.world.check(), Vec::<String>::new(), "{name}");
        assert_eq!(file.faults, [], "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["adopt.yaml", "fresh-host.yaml", "one-host.yaml", "three-hosts.yaml"]);
}

/// The commented faults are examples too.
#[test]
fn the_faults_in_the_comments_can_be_used() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/worlds/three-hosts.yaml");
    let text = std::fs::read_to_string(path).expect("the example");
    let comments = text.split_once("# faults:\n").expect("commented faults").1;
    let faults: Vec<&str> = comments.lines().map(|line| line.trim_start_matches('#')).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let world = folder.path().join("world.yaml");
    std::fs::write(&world, format!("faults:\n{}\n", faults.join("\n"))).expect("a file");
    let file = WorldFile::from_json(read_document(&world).expect("YAML")).expect("a world");
    assert_eq!(file.faults.len(), 4);
    assert_eq!(file.faults[0], Fault::lose_answer().of(Method::Post, "/nodes/*/qemu/*/clone"));
}

fn client(file: WorldFile) -> (Simulator, Client<InProcess>) {
    let authorization = authorization(&file.world);
    let simulator = Simulator::new(file.world);
    (simulator.clone(), Client::new(InProcess::new(simulator, authorization)))
}

#[tokio::test(start_paused = true)]
async fn three_hosts_have_a_template_each() {
    let (_, client) = client(example("three-hosts.yaml"));
    let hosts = client.hosts().await.expect("the hosts");
    assert_eq!(hosts.len(), 3);
    for host in hosts {
        let vms = client.vms(&host.name).await.expect("its VMs");
        assert_eq!(vms.iter().filter(|vm| vm.template).count(), 1, "{:?}", host.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_world_can_be_another_release() {
    for (version, release) in [("8.4.21", (8, 4)), ("9.2.11", (9, 2))] {
        let mut file = example("one-host.yaml");
        file.adjust(&Adjustments { version: Some(version.to_owned()), ..Adjustments::default() });
        let (_, client) = client(file);
        assert_eq!(client.version().await.expect("the version").numbers(), release);
    }
}
