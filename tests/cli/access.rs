use std::path::Path;

use crate::harness::{GOOD, Run, Workdir, run_in};

/// Two hosts, VLANs, a second card, a second storage.
const NODES: &str = "\
name: home
network: {cidr: 192.168.1.0/24, bridge: vmbr0, vlan_tag: 20, vlan_mode: true}
proxmox: {storage: local-lvm}
defaults: {talos_version: 1.12.0, schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11', host: pve1}
  - name: worker-1
    address: 192.168.1.21
    controller: false
    mac_addr: 'bc:24:11:00:00:21'
    host: pve2
    nics: [{bridge: vmbr1, mac_addr: 'bc:24:11:00:01:21', vlan_tag: 30, address: 10.0.30.21/24}]
    data_disks: [{size: 8G, storage: fast}]
";

#[test]
fn nodes_get_the_paths_that_they_use() {
    insta::assert_snapshot!(Workdir::with_nodes(NODES).run(["access"]));
}

#[test]
fn without_nodes_it_is_for_any_cluster() {
    insta::assert_snapshot!(Workdir::new().run(["access"]));
}

#[test]
fn a_pool_is_taken_from_the_nodes_or_named() {
    let pooled = NODES.replace("{storage: local-lvm}", "{storage: local-lvm, pool: lab/talos}");
    insta::assert_snapshot!(Workdir::with_nodes(&pooled).run(["access"]));
    let named = Workdir::with_nodes(&pooled).run(["access", "--pool", "lab/talos", "--clone-from", "9001,9000"]);
    assert!(named.exit == 0 && named.stderr.is_empty(), "{named}");
    for vmid in [9000, 9001] {
        let rule = format!("pveum acl modify /vms/{vmid} --roles TalosCloning --users pvetalos@pve --tokens '");
        assert!(named.stdout.contains(&rule), "{named}");
    }
    assert!(!named.stdout.contains("--clone-from VMID"), "{named}");
    let elsewhere = Workdir::with_nodes(&pooled).run(["access", "--pool", "other"]);
    assert!(elsewhere.exit == 0 && elsewhere.stderr.contains("cp-1, worker-1; give them `pool: other`"), "{elsewhere}");
}

#[test]
fn an_older_release_and_everything_that_can_be_asked_for() {
    let flags = ["--templates", "--enable-import", "--start-order", "--free-memory", "--guest-agent"];
    let all = |release| Workdir::with_nodes(NODES).run(["access", "--pve", release].iter().chain(&flags));
    let (eight, nine) = (all("8"), all("9"));
    insta::assert_snapshot!(eight);
    let commands = |run: &Run| run.stdout.lines().filter(|line| line.starts_with("pveum")).map(str::to_owned).collect();
    let (eight, nine): (Vec<String>, Vec<String>) = (commands(&eight), commands(&nine));
    let differing: Vec<_> = eight.iter().zip(&nine).filter(|(eight, nine)| eight != nine).collect();
    let agent = |privilege: &str| format!("pveum role add TalosAgent --privs {privilege}");
    assert_eq!(differing, [(&agent("VM.Monitor"), &agent("VM.GuestAgent.Audit"))]);
}

#[test]
fn programs_get_it_in_parts() {
    let run = Workdir::with_nodes(GOOD).run(["access", "-o", "json", "--start-order"]);
    insta::assert_snapshot!(run);
    let yaml = Workdir::with_nodes(GOOD).run(["access", "-o", "yaml", "--start-order"]);
    assert!(yaml.exit == 0 && yaml.stdout.starts_with("format_version: 1\npve: 9\ncluster: home\n"), "{yaml}");
}

#[test]
fn the_token_in_use_is_the_one_that_is_meant() {
    #[track_caller]
    fn case(workdir: &Workdir, args: &[&str], expected: &str) {
        let run = workdir.run(["access"].iter().chain(args));
        assert_eq!(run.exit, 0, "{run}");
        assert!(run.stdout.contains(&format!("\npveum user token add {expected} --privsep 1\n")), "{run}");
    }
    let token = |workdir: Workdir| workdir.env("PROXMOX_TOKEN_ID", "robot@ldap!ci");
    for workdir in [token(Workdir::new()), token(Workdir::with_nodes(GOOD))] {
        case(&workdir, &[], "robot@ldap ci");
        case(&workdir, &["--token", "other"], "robot@ldap other");
        case(&workdir, &["--user", "me@pve"], "me@pve ci");
    }
    case(&Workdir::new(), &[], "pvetalos@pve pvetalos");
    case(&Workdir::new(), &["--user", "o'neil@pve"], r"'o'\''neil@pve' pvetalos");
    let whole = Workdir::new().file("token", "robot@ldap!file=11111111-1111-4111-8111-111111111111\n");
    case(&whole, &["--token-file", "token"], "robot@ldap file");
    let run = whole.run(["access", "--token-file", "token"]);
    assert!(!run.to_string().contains("11111111"), "{run}");

    let root = Workdir::new().run(["access", "--user", "root@pam", "--token", "ci"]).stdout;
    assert!(!root.contains("pveum user add") && !root.contains("--users") && !root.contains("user delete"), "{root}");
}

#[test]
fn wrong_input_is_told_and_nothing_is_printed() {
    #[track_caller]
    fn case(workdir: &Workdir, args: &[&str], expected: &str) {
        let run = workdir.run(["access"].iter().chain(args));
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
    let nothing = Workdir::new();
    case(&nothing, &["--pve", "7"], "[possible values: 8, 9]");
    case(&nothing, &["--pool", "a b"], "is not a pool name");
    case(&nothing, &["--pool", "p", "--clone-from", "9"], "`9` is not a whole number from 100 to 999999999");
    case(&nothing, &["--clone-from", "9000"], "--clone-from is for tokens that are allowed VMs in a pool only");
    case(&nothing, &["--enable-import"], "--templates");
    case(&nothing, &["--user", "pvetalos"], "--user and --token make no token id: the `@` and the realm are missing");
    case(&nothing, &["--token", "x"], "the token's name after `!` is not one that Proxmox takes");
    case(&nothing, &["--nodes", "nodes.yaml"], "there is no such file");
    case(&nothing, &["--settings", "pvetalos.yaml"], "there is no such file");
    case(&Workdir::with_nodes(GOOD.replace("address: 192", "address: 193")), &[], "error:");
    case(&Workdir::new().env("PROXMOX_TOKEN_ID", "nobody"), &[], "environment PROXMOX_TOKEN_ID");
    for (flag, secret) in [("--user", "u@pve!t=a1111111-1111-4111-8111-111111111111"), ("--token", SECRET)] {
        let run = nothing.run(["access", flag, secret]);
        assert!(run.exit == 2 && !run.to_string().contains("11111111"), "{run}");
        assert!(run.stderr.contains("this looks like a secret, which no flag takes"), "{run}");
    }
}

/// Proxmox would take it for the name of a token.
const SECRET: &str = "a1111111-1111-4111-8111-111111111111";

/// What docs/access.md shows is run with the other pages; this is about what it explains.
#[test]
fn the_page_about_it_tells_what_each_privilege_is_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/access.md")).expect("there is a page");
    let everything = ["--templates", "--enable-import", "--start-order", "--free-memory", "--guest-agent"];
    for release in ["8", "9"] {
        let args = ["access", "-q", "-o", "json", "--pve", release].into_iter().chain(everything);
        let run = run_in(root, &[], args);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
        for role in document["roles"].as_array().expect("roles") {
            for privilege in role["privileges"].as_array().expect("privileges") {
                let row = format!("| {} |", privilege.as_str().expect("a name"));
                assert!(page.contains(&row), "the page does not tell what {privilege} is for");
            }
        }
    }
}
