use crate::harness::{Run, Simulated, Workdir};

/// A cluster of one control plane and two workers, two of which are there.
const NODES: &str = "\
name: home
network: {cidr: 192.168.1.0/24, gateway: 192.168.1.1}
proxmox: {node: pve, storage: local-lvm}
defaults: {talos_template: talos-1.12.0, controller: {cores: 4, disk_size: 64}, worker: {cores: 8, disk_size: 64}}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
  - {name: worker-1, address: 192.168.1.21, controller: false, mac_addr: 'bc:24:11:00:00:21'}
  - {name: worker-2, address: 192.168.1.22, controller: false, mac_addr: 'bc:24:11:00:00:22'}
";

const WORLD: &str = "\
hosts: {pve: {memory: 68719476736}}
storages:
  local: {type: dir, content: [iso, import]}
  local-lvm: {type: lvmthin, capacity: 500G}
templates:
  9000: {name: talos-1.12.0, storage: local-lvm, disks: {scsi0: 1246M, efidisk0: 528K, ide2: cloudinit}}
vms:
  200: &ours
    name: cp-1
    storage: local-lvm
    running: true
    guest: {boot: 0}
    disks: {scsi0: 64G, efidisk0: 528K, ide2: cloudinit}
    config: &config
      cores: 4
      bios: ovmf
      machine: q35
      tags: control-plane;kubernetes;pvetalos-home;talos
      net0: virtio=BC:24:11:00:00:11,bridge=vmbr0
      ipconfig0: ip=192.168.1.11/24,gw=192.168.1.1
      description: 'pvetalos: cluster=home node=cp-1 vmid=200'
  201:
    <<: *ours
    name: worker-1
    config:
      <<: *config
      cores: 8
      tags: kubernetes;pvetalos-home;talos;worker
      net0: virtio=BC:24:11:00:00:21,bridge=vmbr0
      ipconfig0: ip=192.168.1.21/24,gw=192.168.1.1
      description: 'pvetalos: cluster=home node=worker-1 vmid=201'
  100: {name: nas, storage: local-lvm, running: true, disks: {scsi0: 32G}}
";

/// The usual world with some text in it exchanged; every text has to be there.
pub(crate) fn world(changes: &[(&str, &str)]) -> String {
    exchanged(WORLD, changes)
}

pub(crate) fn nodes(changes: &[(&str, &str)]) -> String {
    exchanged(NODES, changes)
}

#[track_caller]
fn exchanged(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "there is no {from}");
        text.replace(from, to)
    })
}

/// Plans in a folder with this cluster and this world.
fn planned(nodes: &str, world: &str, args: &[&str]) -> Run {
    let workdir = Workdir::with_nodes(nodes).file("world.yaml", world);
    workdir.run(["plan", "--simulate=world.yaml", "-q"].iter().chain(args))
}

#[track_caller]
fn refused(run: &Run, nodes: &[&str], words: &[&str]) {
    assert_eq!(run.exit, 3, "{run}");
    for node in nodes {
        assert!(run.stdout.contains(&format!("! {node}")), "{run}");
    }
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(text.contains(word), "no `{word}` in {run}");
    }
}

#[test]
fn the_sample_can_be_planned_without_any_set_up() {
    let workdir = Workdir::new();
    let run = workdir.run(["plan", "--simulate", "--exit-code"]);
    assert_eq!(run.exit, 4);
    insta::assert_snapshot!(run);
    assert_eq!(std::fs::read_to_string(workdir.path().join(".pvetalos/.gitignore")).expect("it is there"), "*\n");
    let again = workdir.run(["plan", "--simulate", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&again.stdout).expect("-o json prints JSON");
    assert_eq!((again.exit, &document["format_version"], &document["counts"]["create"]), (0, &1.into(), &5.into()));
    assert!(again.stderr.contains("the world goes on in .pvetalos/world.json"), "{again}");
}

#[test]
fn what_is_there_is_left_alone_and_what_is_missing_is_made() {
    insta::assert_snapshot!(planned(NODES, WORLD, &[]));
}

#[test]
fn a_changed_value_is_shown_with_its_place_in_the_file() {
    let nodes = nodes(&[("'bc:24:11:00:00:21'", "'bc:24:11:00:00:21', vm_cores: 12, disk_size: 80, bridge: vmbr1")]);
    insta::assert_snapshot!(planned(&nodes, WORLD, &["--only", "worker-1", "--exit-code"]));
    insta::assert_snapshot!(planned(&nodes, WORLD, &["--only", "worker-1", "--disruptive"]));
}

#[test]
fn every_wrong_name_is_told_at_once() {
    let run = planned(NODES, WORLD, &["--only", "cp-1,worker1,nobody"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(run);
}

#[test]
fn a_broken_world_is_wrong_input_with_its_place() {
    let broken = Workdir::with_nodes(NODES).file("world.json", "{\"hosts\": {\"pve\": {\"cpus\": \"many\"}}}");
    let run = broken.run(["plan", "--simulate=world.json"]);
    assert_eq!(run.exit, 2, "{run}");
    assert!(run.stderr.contains("--> world.json") && run.stderr.contains("many"), "{run}");
    let torn = Workdir::with_nodes(NODES).file("world.json", "{\"hosts\": {").run(["plan", "--simulate=world.json"]);
    assert_eq!(torn.exit, 2, "{torn}");
    assert!(torn.stderr.contains("world.json:1:"), "{torn}");
}

#[test]
fn a_world_that_is_not_there_or_cannot_be_kept_is_wrong_input_with_its_name() {
    let workdir = Workdir::with_nodes(NODES).file("flat", "");
    let typo = workdir.run(["plan", "--simulate=typo.yaml"]);
    assert_eq!((typo.exit, typo.stdout.as_str()), (2, ""), "{typo}");
    assert!(typo.stderr.contains("there is no such file\n--> --simulate=typo.yaml"), "{typo}");
    assert!(typo.stderr.contains("examples/worlds") && !workdir.path().join("typo.yaml").exists(), "{typo}");
    // A file where a folder should be is in the way of everybody, root included.
    let unkept = workdir.run(["plan", "--simulate=flat/world.json"]);
    assert_eq!(unkept.exit, 2, "{unkept}");
    assert!(unkept.stderr.contains("the world cannot be kept: not a directory\n--> flat/world.json"), "{unkept}");
}

#[test]
fn a_simulation_asks_for_no_credentials_and_heeds_none() {
    let workdir = Workdir::new().env("PROXMOX_TOKEN_ID", "nonsense").env("PROXMOX_ENDPOINT", "http://nonsense");
    let run = workdir.run(["plan", "--simulate", "-q"]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run}");
}

#[test]
fn a_missing_privilege_is_named_with_the_command_that_grants_it() {
    let rights = "\
tokens: {pvetalos@pve!ci: {secret: 11111111-1111-4111-8111-111111111111}}
roles: {Little: VM.Audit VM.Allocate Datastore.Audit SDN.Use}
acl: [{path: /, who: pvetalos@pve, role: Little}]
";
    let run = planned(NODES, &format!("{WORLD}{rights}"), &[]);
    refused(&run, &["worker-2"], &["VM.Clone", "Datastore.AllocateSpace", "pveum"]);
    insta::assert_snapshot!(run);
}

#[test]
fn a_missing_template_storage_or_host_is_named_with_what_is_there() {
    let run = planned(&nodes(&[("talos_template: talos-1.12.0", "talos_template: talos-2")]), WORLD, &[]);
    refused(&run, &["worker-2"], &["there is no template talos-2 on pve", "talos-1.12.0", "talos_template"]);
    let run = planned(&nodes(&[("storage: local-lvm", "storage: fast")]), WORLD, &[]);
    refused(&run, &["worker-2"], &["there is no storage fast on pve", "local, local-lvm"]);
    let run = planned(&nodes(&[("node: pve", "node: pve9")]), WORLD, &[]);
    refused(&run, &["worker-2"], &["there is no host pve9", "use one of pve"]);
    let elsewhere = nodes(&[("network: {", "network: {bridge: vmbr9, ")]);
    let run = planned(&elsewhere, WORLD, &[]);
    assert!(run.stdout.contains("there is no bridge vmbr9 on pve: use one of vmbr0 as `bridge`"), "{run}");
    assert_eq!(run.exit, 3, "{run}");
}

#[test]
fn a_storage_without_space_is_told_before_anything_is_cloned() {
    let run = planned(NODES, &world(&[("capacity: 500G", "capacity: 150G, occupied: 149G")]), &[]);
    refused(&run, &["worker-2"], &["storage local-lvm on pve is full", "free some space"]);
}

#[test]
fn a_disk_never_shrinks() {
    let large = world(&[("scsi0: 1246M", "scsi0: 80G"), ("<<: *ours\n", "<<: *ours\n    disks: {scsi0: 90G}\n")]);
    let run = planned(NODES, &large, &[]);
    refused(&run, &["worker-2"], &["the image has 80G already and a disk cannot shrink to 64G"]);
    assert!(run.stdout.contains("= worker-1") && run.stdout.contains("· scsi0 has 90G, more than the 64G"), "{run}");
}

#[test]
fn a_number_a_name_or_an_address_that_somebody_else_has_is_a_conflict() {
    let run = planned(&nodes(&[("'bc:24:11:00:00:22'", "'bc:24:11:00:00:22', vm_id: 100")]), WORLD, &[]);
    refused(&run, &["worker-2"], &["VM 100 on pve (nas) has the number of this node", "BC:24:11:00:00:22"]);
    let run = planned(NODES, &world(&[("name: nas", "name: worker-2")]), &[]);
    refused(&run, &["worker-2"], &["VM 100 on pve (worker-2) has the name of this node but is not it"]);
    let taken = "name: nas, config: {net0: 'virtio=BC:24:11:00:00:22,bridge=vmbr0'}";
    let run = planned(NODES, &world(&[("name: nas", taken)]), &[]);
    refused(&run, &["worker-2"], &["VM 100 (nas) on pve has the MAC address BC:24:11:00:00:22 already"]);
}

#[test]
fn what_looks_like_ours_is_adopted_only_when_asked_for() {
    let lost = world(&[(
        "      description: 'pvetalos: cluster=home node=worker-1 vmid=201'\n",
        "      description: by hand\n",
    )]);
    let run = planned(NODES, &lost, &["--only", "worker-1"]);
    assert_eq!(run.exit, 3, "{run}");
    assert!(run.stdout.contains("? worker-1") && run.stdout.contains("--adopt"), "{run}");
    let run = planned(NODES, &lost, &["--only", "worker-1", "--adopt"]);
    assert_eq!(run.exit, 0, "{run}");
    assert!(run.stdout.contains("~ worker-1  adopt VM 201 on pve"), "{run}");
}

#[test]
fn hosts_that_are_down_are_named_and_the_rest_goes_on() {
    let dead = world(&[("hosts: {pve: {memory: 68719476736}}", "hosts: {pve: {}, pve2: {online: false}, pve3: {}}")]);
    let run = planned(NODES, &dead, &[]);
    assert_eq!(run.exit, 0, "{run}");
    assert!(run.stdout.contains("note: host pve2 cannot be looked at: it is not online"), "{run}");
    let no_quorum = dead.replace("pve3: {}", "pve3: {online: false}");
    let run = planned(NODES, &no_quorum, &[]);
    refused(&run, &["worker-2"], &["quorum"]);
}

#[test]
fn nobody_at_the_other_end_ends_it_with_one_message() {
    let nobody = Workdir::with_nodes(NODES)
        .env("PROXMOX_ENDPOINT", "127.0.0.1:1")
        .env("PROXMOX_TOKEN_ID", "root@pam!ci")
        .env("PROXMOX_TOKEN_SECRET", "x");
    let run = nobody.run(["plan", "-q"]);
    assert_eq!(run.exit, 1);
    insta::assert_snapshot!(run);
    let missing = Workdir::with_nodes(NODES).run(["plan"]);
    assert_eq!(missing.exit, 2, "{missing}");
}

#[test]
fn a_wrong_token_and_a_strange_certificate_end_it_before_anything_is_said_twice() {
    let simulated = Simulated::three_hosts();
    let wrong = simulated.workdir(NODES).env("PROXMOX_TOKEN_SECRET", "44444444-4444-4444-8444-444444444444");
    for command in ["plan", "provision", "status", "destroy"] {
        let run = wrong.run([command, "-q"]);
        assert_eq!((run.exit, run.stdout.as_str()), (1, ""), "{command}: {run}");
        assert_eq!(run.stderr.matches("error:").count(), 1, "{run}");
        assert!(run.stderr.contains("pveum user token list") && !run.stderr.contains("4444"), "{run}");
        let places = "comes from environment PROXMOX_TOKEN_ID, and its secret from environment PROXMOX_TOKEN_SECRET";
        assert!(run.stderr.contains(&format!("the token {} {places}", simulated.says("token_id"))), "{run}");
    }
    let run = simulated.unpinned(NODES).run(["plan", "-q"]);
    assert_eq!(run.exit, 1);
    assert!(run.stderr.contains("is not trusted") && run.stderr.contains("fingerprint"), "{run}");
}

#[test]
fn an_empty_list_for_want_of_rights_is_not_taken_for_an_empty_proxmox() {
    let simulated = Simulated::three_hosts();
    let stranger = simulated
        .workdir(&nodes(&[("node: pve", "node: pve1")]))
        .env("PROXMOX_TOKEN_ID", "pvetalos@pve!stranger")
        .env("PROXMOX_TOKEN_SECRET", "33333333-3333-4333-8333-333333333333");
    let run = stranger.run(["plan", "-q"]);
    refused(&run, &["cp-1", "worker-1", "worker-2"], &["the token pvetalos@pve!stranger may do nothing at all"]);
    let run = stranger.run(["destroy", "-q", "--yes"]);
    refused(&run, &["cp-1"], &["its VM may be there all the same", "VM.Audit", "pveum acl modify /vms"]);
    let run = stranger.run(["status", "-q"]);
    assert!(run.stdout.contains("note: the token pvetalos@pve!stranger may not see the VMs below /vms"), "{run}");
}
