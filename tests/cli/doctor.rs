use crate::harness::{GOOD, READY, Simulated, Workdir};

#[test]
fn a_ready_proxmox_is_called_ready() {
    let simulated = Simulated::three_hosts();
    let run = simulated.workdir(READY).run(["doctor"]);
    insta::assert_snapshot!(simulated.plain(&run));
}

#[test]
fn the_sample_fits_the_world_that_is_simulated_without_being_asked_for_of_either_release() {
    let simulated = Simulated::start(&["--pve", "8"]);
    let sample = include_str!("../../nodes.sample.yaml");
    let run = simulated.workdir(sample).run(["doctor", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!((run.exit, &document["healthy"]), (0, &true.into()), "{run}");
}

#[test]
fn everything_that_is_missing_is_found_at_once_with_its_fix() {
    let simulated = Simulated::three_hosts();
    let nodes = "\
name: home
network: {cidr: 192.168.1.0/24, bridge: vmbr7, vlan_tag: 20, vlan_mode: true}
proxmox: {storage: fast, pool: talos}
defaults: {talos_version: 1.13.0, schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11', host: pve1}
  - {name: cp-2, address: 192.168.1.12, controller: false, mac_addr: 'bc:24:11:00:00:12', host: pve9}
  - {name: cp-3, address: 192.168.1.13, controller: false, mac_addr: 'bc:24:11:00:00:13', host: pve3, storage: local, talos_template: nope}
";
    let run = simulated.workdir(nodes).run(["doctor"]);
    assert_eq!(run.exit, 5);
    insta::assert_snapshot!(simulated.plain(&run));
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_explained() {
    let simulated = Simulated::three_hosts();
    let run = simulated.unpinned(READY).run(["doctor"]);
    assert_eq!(run.exit, 5);
    insta::assert_snapshot!(simulated.plain(&run));
}

#[test]
fn insecure_works_and_warns_each_time_even_when_quiet() {
    let simulated = Simulated::three_hosts();
    let run = simulated.unpinned(READY).run(["doctor", "--insecure", "-q"]);
    assert_eq!(run.exit, 0, "{run}");
    assert!(run.stderr.contains("warning: the server's certificate is not verified"), "{run}");
}

#[test]
fn a_wrong_token_and_one_without_rights_are_told_apart() {
    let simulated = Simulated::three_hosts();
    let wrong =
        simulated.workdir(READY).env("PROXMOX_TOKEN_SECRET", "44444444-4444-4444-8444-444444444444").run(["doctor"]);
    assert_eq!(wrong.exit, 5);
    assert!(!wrong.to_string().contains("44444444"), "{wrong}");
    insta::assert_snapshot!(simulated.plain(&wrong));
    let stranger = simulated
        .workdir(READY)
        .env("PROXMOX_TOKEN_ID", "pvetalos@pve!stranger")
        .env("PROXMOX_TOKEN_SECRET", "33333333-3333-4333-8333-333333333333")
        .run(["doctor"]);
    assert_eq!(stranger.exit, 5);
    insta::assert_snapshot!(simulated.plain(&stranger));
}

#[test]
fn without_an_address_and_a_token_nothing_is_tried() {
    let run = Workdir::with_nodes(GOOD).run(["doctor"]);
    assert_eq!(run.exit, 2);
    insta::assert_snapshot!(run);
}

#[test]
fn nobody_at_the_other_end_is_said_as_it_is() {
    let nobody = Workdir::with_nodes(READY)
        .env("PROXMOX_ENDPOINT", "127.0.0.1:1")
        .env("PROXMOX_TOKEN_ID", "root@pam!ci")
        .env("PROXMOX_TOKEN_SECRET", "x");
    let run = nobody.run(["doctor", "-q"]);
    assert_eq!(run.exit, 5);
    insta::assert_snapshot!(run);
}
