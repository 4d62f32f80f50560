use std::path::Path;

use crate::harness::{GOOD, Workdir, run_in};

/// The repository itself.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_wrong_file_gets_its_own_clear_message() {
    let mut count = 0;
    insta::glob!("fixtures/invalid/*", |path| {
        let workdir = Workdir::from_fixture(path);
        let run = workdir.run(["validate"]);
        assert_eq!(run.exit, 2, "{}: {run}", path.display());
        assert!(run.stdout.is_empty(), "{}: nothing of it may look like a result", path.display());
        insta::assert_snapshot!(run);
        count += 1;
    });
    assert!(count >= 60, "the corpus has only {count} files");
}

#[test]
fn every_right_file_is_understood() {
    insta::glob!("fixtures/valid/*", |path| {
        let workdir = Workdir::from_fixture(path);
        let run = workdir.run(["validate", "--explain"]);
        assert_eq!(run.exit, 0, "{}: {run}", path.display());
        insta::assert_snapshot!(run);
    });
}

#[test]
fn eight_mistakes_give_eight_located_messages_in_one_run() {
    let workdir = Workdir::with_nodes(
        "\
name: Home_Lab
network:
  cidr: 192.168.1.0/24
  gatway: 192.168.1.1
defaults:
  talos_version: \"1.12\"
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
nodes:
  - name: cp-1
    address: 192.168.1.1
    controller: yes
    mac_addr: bc:24:11:00:00:11
  - name: cp-2
    address: 192.168.2.12
    controller: true
    mac_addr: BC:24:11:00:00:11
    vm_memory: 16G
",
    );
    let run = workdir.run(["validate"]);
    assert_eq!(run.stderr.matches("error:").count(), 8);
    assert_eq!(run.stderr.matches("--> nodes.yaml:").count(), 8);
    insta::assert_snapshot!(run);
}

#[test]
fn the_sample_is_valid_as_it_stands() {
    let run = run_in(repository(), &[], ["validate", "--nodes", "nodes.sample.yaml"]);
    insta::assert_snapshot!(run);
}

#[test]
fn every_example_is_valid_in_every_format() {
    let mut folders = 0;
    for entry in std::fs::read_dir(repository().join("examples")).expect("there are examples") {
        let folder = entry.expect("an example can be looked at").path();
        if !folder.join("nodes.yaml").exists() {
            continue;
        }
        folders += 1;
        for format in ["table", "json", "yaml"] {
            let run = run_in(&folder, &[], ["validate", "-o", format]);
            assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{}: {run}", folder.display());
        }
        let run = run_in(&folder, &[], ["validate", "-o", "json", "--explain"]);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
        assert_eq!(document["format_version"], 1);
        assert!(!document["nodes"].as_array().expect("there are nodes").is_empty());
        assert!(!document["explain"].as_array().expect("it is explained").is_empty());
    }
    assert_eq!(folders, 5, "examples/ has one folder for each style of repository");
}

#[test]
fn explain_names_the_line_and_the_section() {
    let workdir = Workdir::with_nodes(GOOD.replace("controller: true", "controller: false"))
        .file("cluster.yaml", "cluster_name: other\nproxmox_vm_worker_defaults:\n  cores: 6\n")
        .env("PROXMOX_HOST", "pve1");
    let run = workdir.run(["validate", "--explain"]);
    let lines: Vec<&str> = run.stdout.lines().map(str::trim).collect();
    let line = |start: &str| {
        let line = lines.iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} is explained"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("cores"), "cores 6 ← cluster.yaml:3 proxmox_vm_worker_defaults");
    assert_eq!(line("name"), "name other ← cluster.yaml:1 cluster_name");
    assert_eq!(line("endpoint"), "endpoint https://pve1:8006 ← environment PROXMOX_HOST");
    assert_eq!(line("memory"), "memory 16384 MiB ← built-in for a worker");
}

#[test]
fn a_flag_stands_above_the_environment_and_both_above_the_files() {
    let workdir = Workdir::with_nodes(GOOD).env("PVETALOS_CLUSTER", "from-env");
    let name = |args: &[&str]| {
        let run = workdir.run([&["validate", "-o", "json"], args].concat());
        let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
        document["name"].as_str().expect("a name").to_owned()
    };
    assert_eq!(name(&[]), "from-env");
    assert_eq!(name(&["--cluster-name", "from-flag"]), "from-flag");
}

#[test]
fn mistakes_are_given_to_programs_too() {
    let workdir = Workdir::with_nodes(GOOD.replace("'bc:24:11:00:00:11'", "x"));
    let run = workdir.run(["validate", "-o", "json", "-q"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!((run.exit, &document["valid"]), (2, &serde_json::json!(false)));
    let place = &document["problems"][0]["places"][0];
    assert_eq!((place["file"].as_str(), place["line"].as_u64()), (Some("nodes.yaml"), Some(6)));
    assert!(document.get("nodes").is_none(), "no part of a cluster that is wrong");
}

#[test]
fn files_that_cannot_be_read_are_named_with_the_reason() {
    let empty = Workdir::new();
    insta::assert_snapshot!(empty.run(["validate"]));
    let folder = Workdir::with_nodes(GOOD);
    std::fs::create_dir(folder.path().join("dir.yaml")).expect("a folder can be made");
    insta::assert_snapshot!(folder.run([
        "validate",
        "--nodes",
        "dir.yaml",
        "--cluster",
        "none.yaml",
        "--settings",
        "dir.yaml"
    ]));
    let huge = Workdir::with_nodes("x".repeat(50_000_000));
    insta::assert_snapshot!(huge.run(["validate"]));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named_with_the_reason() {
    use std::os::unix::fs::PermissionsExt;

    let workdir = Workdir::with_nodes(GOOD);
    let path = workdir.path().join("nodes.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("permissions can be changed");
    if std::fs::read(&path).is_ok() {
        // The administrator reads everything; then there is no such case.
        return;
    }
    let run = workdir.run(["validate"]);
    assert_eq!(run.exit, 2);
    assert!(run.stderr.contains("the file cannot be read: permission denied"), "{run}");
}

#[test]
fn cluster_yaml_is_looked_for_beside_nodes_yaml() {
    let workdir = Workdir::new().file("cluster.yaml", "cluster_name: wrong\n");
    let elsewhere = Workdir::with_nodes(GOOD);
    let nodes = elsewhere.path().join("nodes.yaml");
    let run = workdir.run(["validate", "-o", "json", "--nodes", nodes.to_str().expect("a plain path")]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!(document["name"], "home", "settings of two clusters must not mix");
}

#[test]
fn a_ca_file_is_named_as_seen_from_the_file_that_names_it() {
    let workdir = Workdir::new();
    let elsewhere = Workdir::with_nodes(GOOD).file("pvetalos.yaml", "proxmox: {ca_file: certs/ca.pem}\n");
    let nodes = elsewhere.path().join("nodes.yaml");
    let run = workdir.run(["validate", "-o", "json", "--nodes", nodes.to_str().expect("a plain path")]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!(document["proxmox"]["ca_file"], elsewhere.path().join("certs/ca.pem").to_str().expect("a plain path"));
}

#[test]
fn a_very_long_line_does_not_flood_the_screen() {
    let run = Workdir::with_nodes(format!("{GOOD}{}: x\n", "long".repeat(250_000))).run(["validate"]);
    assert_eq!(run.exit, 2);
    assert!(run.stderr.len() < 2000, "{} bytes", run.stderr.len());
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_named_is_not_waited_for() {
    let workdir = Workdir::with_nodes(GOOD);
    let pipe = workdir.path().join("cluster.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let run = workdir.run(["validate"]);
    assert_eq!(run.exit, 2);
    assert!(run.stderr.contains("the file cannot be read: it is not a regular file"), "{run}");
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_not_passed_over() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let workdir = Workdir::with_nodes(GOOD);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .arg("validate")
        .current_dir(workdir.path())
        .env("PVETALOS_CLUSTER", OsStr::from_bytes(b"pr\xf6d"))
        .output()
        .expect("the binary can be started");
    assert_eq!(output.status.code(), Some(2), "the name in the file is another cluster's");
}

#[test]
fn variables_name_the_files_and_empty_ones_do_not_count() {
    let workdir = Workdir::new()
        .file("n.yaml", GOOD)
        .file("c.yaml", "node_dns_servers: [9.9.9.9]\n")
        .file("s.yaml", "proxmox: {pool: talos}\n")
        .env("PVETALOS_NODES_FILE", "n.yaml")
        .env("PVETALOS_CLUSTER_FILE", "c.yaml")
        .env("PVETALOS_SETTINGS_FILE", "s.yaml")
        .env("PROXMOX_HOST", "");
    let run = workdir.run(["validate", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!(document["network"]["dns_servers"][0], "9.9.9.9", "{run}");
    assert_eq!(
        (&document["nodes"][0]["pool"], &document["proxmox"]["endpoint"]),
        (&"talos".into(), &serde_json::Value::Null)
    );
    let empty = Workdir::with_nodes(GOOD).env("PVETALOS_NODES_FILE", "").run(["validate"]);
    assert_eq!(empty.exit, 0, "{empty}");
}

#[test]
fn what_stands_above_hides_what_belongs_to_others() {
    let cluster = "cluster_name: Not_Ours\nproxmox_endpoint: http://pve/csi\nproxmox_api_url: pve\n";
    let workdir = Workdir::with_nodes(GOOD).file("cluster.yaml", cluster).file("pvetalos.yaml", "name: ours\n");
    let run = workdir.run(["validate"]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run}");
}

#[test]
fn a_file_on_one_line_with_many_mistakes_is_no_trouble() {
    let node = |index: usize| format!("{{\"name\":\"n{index}\",\"address\":\"10.0.0.1\",\"vm_cores\":99}}");
    let nodes: Vec<String> = (0..2000).map(node).collect();
    let run = Workdir::with_nodes(format!("{{\"name\":\"x\",\"nodes\":[{}]}}", nodes.join(","))).run(["validate"]);
    assert_eq!(run.exit, 2);
    assert!(run.stderr.contains("more problems are not shown"), "{} bytes", run.stderr.len());
}
