//! What holds for every input, tried on many.

use proptest::prelude::*;
use pvetalos::config::{Connection, Explain, Inputs, Loaded, Locations, SAMPLE, load};
use pvetalos::ui::{cluster_json, draw_problem};

/// Everything that the program would do with the result, so that none of it can panic either.
fn use_up(loaded: &Loaded) {
    loaded.problems.iter().for_each(|problem| drop(draw_problem(problem)));
    drop(cluster_json(loaded, true));
    assert_eq!(loaded.cluster.is_none(), loaded.has_errors(), "a cluster or an error, never both and never neither");
}

const CLUSTER: &str = "\
cluster_name: home
node_cidr: 192.168.20.0/24
node_vlan_tag: \"20\"
proxmox_api_url: https://pve:8006/api2/json
proxmox_api_token_id: root@pam!ci
proxmox_api_token_secret: 11111111-2222-3333-4444-555555555555
proxmox_vm_defaults: {cores: 2}
proxmox_vm_advanced:
  tags: [a, b]
  network_bridge: vmbr1
";

const SETTINGS: &str = "\
name: home
proxmox: {node: pve, pool: talos, fingerprints: []}
nodes:
  cp-1: {vm_id: 101, data_disks: [{size: 10}]}
  worker-1:
    nics:
      - {bridge: vmbr1, mac_addr: \"bc:24:11:00:00:01\", address: dhcp}
";

const TALCONFIG: &str = "\
clusterName: home
talosVersion: ${talosVersion}
endpoint: https://[fd00:20::10]:6443
nodes:
  - &first
    hostname: cp-1
    ipAddress: fd00:20::11,192.168.20.11
    controlPlane: true
    installDiskSelector: {serial: \"system-1\"}
    talosImageURL: factory.talos.dev/installer-secureboot/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515:v1
    networkInterfaces:
      - deviceSelector: {hardwareAddr: \"bc:24:11:20:00:11\"}
        vlans: [{vlanId: 20, addresses: [\"fd00:20::11/64\"], mtu: 1500, routes: [{network: ::/0, gateway: \"fd00:20::1\"}]}]
  - <<: *first
    hostname: worker-1
    schematic: {customization: {extraKernelArgs: [a=b]}}
";

const SECRETS: &str = include_str!("fixtures/sops/secrets.sops.yaml");

/// A text with a few bytes taken out, put in or changed.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0_usize..4, "[ -~\\n\\t\u{e9}\u{feff}\u{0}:#&*!|>{}\\[\\]'\"]{0,3}");
    prop::collection::vec(edit, 1..6).prop_map(move |edits| {
        let mut characters: Vec<char> = text.chars().collect();
        for (at, removed, added) in edits {
            let at = at.index(characters.len() + 1);
            let end = (at + removed).min(characters.len());
            characters.splice(at..end, added.chars());
        }
        characters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_makes_the_loader_panic(nodes in any::<String>(), cluster in any::<String>(), settings in any::<String>()) {
        use_up(&load(Inputs::from_texts(&nodes, Some(&cluster), Some(&settings)), Explain::Yes));
    }

    #[test]
    fn no_damage_to_right_files_makes_the_loader_panic(
        nodes in damaged(SAMPLE), cluster in damaged(CLUSTER), settings in damaged(SETTINGS), talconfig in damaged(TALCONFIG),
    ) {
        use_up(&load(Inputs::from_texts(&talconfig, None, Some(&settings)), Explain::Yes));
        use_up(&load(Inputs::from_texts(&nodes, None, None), Explain::Yes));
        use_up(&load(Inputs::from_texts(SAMPLE, Some(&cluster), Some(&settings)), Explain::Yes));
    }

    #[test]
    fn loading_is_deterministic(nodes in damaged(SAMPLE), cluster in damaged(CLUSTER)) {
        let run = || cluster_json(&load(Inputs::from_texts(&nodes, Some(&cluster), Some(SETTINGS)), Explain::Yes), true);
        prop_assert_eq!(run(), run());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_of_files_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let nodes = folder.path().join("nodes.yaml");
        std::fs::write(&nodes, bytes).expect("a file can be written");
        let locations = Locations { nodes: Some(nodes), ..Locations::default() };
        use_up(&load(Inputs::gather(&locations, &|_| None), Explain::Yes));
    }

    #[test]
    fn no_damage_to_a_sops_file_makes_the_loader_panic(text in damaged(SECRETS), named in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (nodes, secrets) = (folder.path().join("nodes.yaml"), folder.path().join("secrets.sops.yaml"));
        std::fs::write(&nodes, SAMPLE).expect("a file can be written");
        std::fs::write(&secrets, text).expect("a file can be written");
        let locations = Locations { nodes: Some(nodes), secrets: named.then_some(secrets), ..Locations::default() };
        let loaded = load(Inputs::gather(&locations, &|_| None), Explain::Yes);
        use_up(&loaded);
        for problem in Connection::lacking(&loaded) {
            drop(draw_problem(&problem));
        }
    }
}

/// The places that can give a worker's cores, the highest first, each with the line that gives `cores`.
const PLACES: [(&str, usize); 8] = [
    ("settings", 0), // nodes: {w: …}
    ("nodes", 0),    // the entry itself
    ("settings", 1), // role defaults
    ("cluster", 1),
    ("nodes", 1),
    ("settings", 2), // global defaults
    ("cluster", 2),
    ("nodes", 2),
];

proptest! {
    #[test]
    fn the_highest_place_that_gives_a_value_wins(given in prop::collection::vec(any::<bool>(), 8)) {
        // Each place gives its own number, so that the result names the winner.
        let cores = |file: &str, rank: usize| {
            let at = PLACES.iter().position(|place| *place == (file, rank)).expect("a place of the table");
            if given[at] { format!("{{cores: {}}}", at + 10) } else { "{}".to_owned() }
        };
        let entry = if given[1] { ", cores: 11" } else { "" };
        let nodes = format!(
            "name: home\nnetwork: {{cidr: 10.0.0.0/24}}\ntalos_template: t\nproxmox_vm_worker_defaults: {}\nproxmox_vm_defaults: {}\n\
             nodes:\n  - {{name: w, address: 10.0.0.2, controller: false, mac_addr: 'bc:24:11:00:00:01'{entry}}}\n",
            cores("nodes", 1),
            cores("nodes", 2),
        );
        let cluster =
            format!("proxmox_vm_worker_defaults: {}\nproxmox_vm_defaults: {}\n", cores("cluster", 1), cores("cluster", 2));
        let settings = format!(
            "proxmox_vm_worker_defaults: {}\nproxmox_vm_defaults: {}\nnodes: {{w: {}}}\n",
            cores("settings", 1),
            cores("settings", 2),
            cores("settings", 0),
        );
        let loaded = load(Inputs::from_texts(&nodes, Some(&cluster), Some(&settings)), Explain::No);
        let winner = given.iter().position(|given| *given).map_or(8, |at| at + 10);
        let cluster = loaded.cluster.expect("the files are right");
        prop_assert_eq!(cluster.nodes[0].vm.cores.value.get() as usize, winner);
    }

    #[test]
    fn the_order_of_keys_changes_nothing(order in Just([0, 1, 2, 3]).prop_shuffle()) {
        let parts = [
            "name: home\n",
            "network: {cidr: 10.0.0.0/24}\n",
            "defaults: {worker: {cores: 3}, talos_template: t, cores: 2}\n",
            "nodes: [{mac_addr: 'bc:24:11:00:00:01', controller: false, name: w, address: 10.0.0.2}]\n",
        ];
        let json = |order: [usize; 4]| {
            let text: String = order.iter().map(|part| parts[*part]).collect();
            let cluster = load(Inputs::from_texts(&text, None, None), Explain::No).cluster;
            serde_json::to_value(cluster.expect("the files are right")).expect("a cluster is JSON")
        };
        prop_assert_eq!(json(order), json([0, 1, 2, 3]));
    }
}

#[test]
fn every_configuration_type_hides_the_token_in_its_debug_text() {
    let loaded = load(Inputs::from_texts(SAMPLE, Some(CLUSTER), Some(SETTINGS)), Explain::Yes);
    let inputs = Inputs::from_texts(SAMPLE, Some(CLUSTER), Some(SETTINGS));
    let text = format!("{loaded:?} {loaded:#?} {inputs:?} {}", cluster_json(&loaded, true));
    assert!(loaded.cluster.is_some(), "{:?}", loaded.problems);
    assert!(text.contains("root@pam!ci"));
    assert!(!text.contains("11111111-2222"), "the secret shows");
}
