use crate::harness::{Simulated, Workdir};

const AGENT: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

const NODES: &str = "\
name: home
network: {cidr: 192.168.1.0/24}
proxmox: {node: pve, storage: local-lvm}
defaults: {talos_version: 1.12.0, schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
";

/// A host on its first day on which everything is done at once.
fn fresh(folder: &Workdir) -> Simulated {
    let world = include_str!("../../examples/worlds/fresh-host.yaml");
    let quick = "timing: {fork: 1, allocate: 1, copy_rate: 10000000, download_rate: 10000000, other: 1}\n";
    let path = folder.path().join("world.yaml");
    std::fs::write(&path, format!("{world}\n{quick}")).expect("a file can be written");
    Simulated::start(&["--world", path.to_str().expect("a plain path")])
}

#[test]
fn a_fresh_host_gets_its_template_which_is_shown_and_deleted_again() {
    let folder = Workdir::new();
    let simulated = fresh(&folder);
    let workdir = simulated.workdir(NODES);
    let refused = workdir.run(["template", "create"]);
    assert_eq!(refused.exit, 1);
    insta::assert_snapshot!("without_enable_import", simulated.plain(&refused));
    let made = workdir.run(["template", "create", "--enable-import"]);
    assert_eq!(made.exit, 0, "{made}");
    insta::assert_snapshot!("made", simulated.plain(&made));
    let again = workdir.run(["template", "create", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&again.stdout).expect("-o json prints JSON");
    assert_eq!((&document["templates"][0]["vmid"], &document["templates"][0]["made"]), (&9000.into(), &false.into()));

    insta::assert_snapshot!("list", simulated.plain(&workdir.run(["template", "list"])));
    insta::assert_snapshot!("show", simulated.plain(&workdir.run(["template", "show", "talos-1.12.0-ce4c9805"])));
    let unasked = workdir.run(["template", "delete", "9000"]);
    assert_eq!(unasked.exit, 1);
    assert!(unasked.stderr.contains("nobody is there to be asked"), "{unasked}");
    let typo = workdir.run(["template", "delete", "9000", "talos-1.12.O", "--yes"]);
    assert_eq!(typo.exit, 2, "{typo}");
    assert!(typo.stderr.contains("there is no template talos-1.12.O"), "{typo}");
    assert!(typo.stderr.ends_with("nothing is deleted\n"), "{typo}");
    let deleted = workdir.run(["template", "delete", "9000", "--yes"]);
    assert_eq!(deleted.exit, 0, "{deleted}");
    assert_eq!(workdir.run(["template", "list"]).stdout, "no templates\n");
}

#[test]
fn from_a_fresh_host_to_nodes_it_takes_two_commands() {
    let workdir = Workdir::new();
    let world = concat!("--simulate=", env!("CARGO_MANIFEST_DIR"), "/examples/worlds/fresh-host.yaml");
    let made = workdir.run(["template", "create", world, "--enable-import"]);
    assert_eq!(made.exit, 0, "{made}");
    let nodes = workdir.run(["provision", world]);
    assert_eq!(nodes.exit, 0, "{nodes}");
    let listed = workdir.run(["template", "list", world, "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&listed.stdout).expect("-o json prints JSON");
    assert_eq!(document["templates"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[test]
fn from_a_fresh_host_to_nodes_it_takes_one_command_too() {
    let workdir = Workdir::new();
    let world = concat!("--simulate=", env!("CARGO_MANIFEST_DIR"), "/examples/worlds/fresh-host.yaml");
    let planned = workdir.run(["plan", world]);
    assert!(planned.exit == 3 && planned.stdout.contains("provision --create-template"), "{planned}");
    let nodes = workdir.run(["provision", world, "--create-template", "--enable-import"]);
    assert_eq!(nodes.exit, 0, "{nodes}");
    let again = workdir.run(["provision", world, "--create-template"]);
    assert!(again.exit == 0 && again.stdout.contains("nothing to do"), "{again}");
}

#[test]
fn a_schematic_is_registered_before_the_factory_builds_it() {
    let folder = Workdir::new();
    let world = include_str!("../../examples/worlds/fresh-host.yaml");
    let more = "timing: {fork: 1, allocate: 1, copy_rate: 10000000, download_rate: 10000000, other: 1}\nfactory: {schematics: []}\n";
    let path = folder.path().join("world.yaml");
    std::fs::write(&path, format!("{world}\n{more}")).expect("a file can be written");
    let simulated = Simulated::start(&["--world", path.to_str().expect("a plain path"), "--factory", "127.0.0.1:0"]);
    let schematic = include_str!("../../examples/schematics/qemu-guest-agent.yaml");
    let workdir =
        simulated.workdir(NODES).file("schematic.yaml", schematic).file("bad.yaml", "customization: {x: 1}\n");
    let factory = simulated.says("factory");
    let create = ["template", "create", "--enable-import", "--factory", factory];
    let early = workdir.run(create);
    assert!(early.exit == 1 && early.stderr.contains("pvetalos schematic push"), "{early}");
    let pushed = workdir.run(["schematic", "push", "schematic.yaml", "--factory", factory]);
    assert_eq!((pushed.exit, pushed.stdout.trim()), (0, AGENT), "{pushed}");
    let made = workdir.run(create);
    assert_eq!(made.exit, 0, "{made}");
    assert!(
        workdir.run(["template", "show", "9000"]).stdout.contains(&format!("made from      {factory}/image/{AGENT}"))
    );
}

#[test]
fn what_cannot_become_a_template_is_refused_before_anything_is_asked_of_proxmox() {
    let folder = Workdir::new();
    let simulated = fresh(&folder);
    let workdir = simulated
        .workdir(NODES)
        .file("metal-amd64.qcow2", "x")
        .file("nocloud-amd64.qcow2", b"\xfd7zXZ\0 and so on")
        .file("wrong.yaml", "customization: {systemExtension: {}}\n");
    let flags = ["--talos-version", "1.12.0", "--schematic-id", AGENT];
    for (args, reason, right) in [
        (vec!["--talos-version", "1.7.0", "--schematic-id", AGENT], "overlooks cloud-init's drive", "1.7.1"),
        (vec!["--talos-version", "1.12.0"], "names no image", "--schematic FILE"),
        (
            [&flags[..], &["--url", "https://mirror.example.com/nocloud-amd64.raw.xz"]].concat(),
            "does not decompress",
            "nocloud-amd64.qcow2",
        ),
        (
            [&flags[..], &["--url", "https://mirror.example.com/metal-amd64.qcow2"]].concat(),
            "metal image",
            "nocloud-amd64.qcow2",
        ),
        (
            [&flags[..], &["--url", "https://mirror.example.com/nocloud-amd64.iso"]].concat(),
            "an ISO",
            "nocloud-amd64.qcow2",
        ),
        ([&flags[..], &["--image", "metal-amd64.qcow2"]].concat(), "metal image", "nocloud-amd64.qcow2"),
        (
            [&flags[..], &["--image", "nocloud-amd64.qcow2"]].concat(),
            "compressed, whatever its name says",
            "uncompressed",
        ),
        ([&flags[..], &["--image", "absent.qcow2"]].concat(), "absent.qcow2 cannot be read", "--image"),
        (
            vec!["--talos-version", "1.12.0", "--schematic", "wrong.yaml"],
            "has no key `systemExtension`",
            "systemExtensions",
        ),
        ([&flags[..], &["--checksum", "md5:abc"]].concat(), "sha256:", "sha512:"),
    ] {
        let run = workdir.run([&["template", "create"], &args[..]].concat());
        assert_eq!(run.exit, 2, "{run}");
        assert!(run.stderr.contains(reason) && run.stderr.contains(right), "{args:?} {run}");
    }
    let missing =
        workdir.run(["template", "create", "--enable-import", "--talos-version", "1.12.99", "--schematic-id", AGENT]);
    assert_eq!(missing.exit, 1);
    assert!(missing.stderr.contains("there is no image at") && missing.stderr.contains("404 Not Found"), "{missing}");
}

#[test]
fn nodes_that_name_a_template_say_nothing_about_its_image() {
    let folder = Workdir::new();
    let simulated = fresh(&folder);
    let nodes = NODES
        .replace("talos_version: 1.12.0, schematic_id: ", "talos_template: talos, x_")
        .replace(&format!(", x_{AGENT}"), "");
    let run = simulated.workdir(&nodes).run(["template", "create"]);
    assert_eq!(run.exit, 2, "{run}");
    assert!(run.stderr.contains("no node says which image its template is made from"), "{run}");
}
