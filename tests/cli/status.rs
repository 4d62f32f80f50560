use crate::harness::{Run, Workdir};
use crate::plan::{nodes, world};

fn status(nodes: &str, world: &str, args: &[&str]) -> Run {
    let workdir = Workdir::with_nodes(nodes).file("world.yaml", world);
    workdir.run(["status", "--simulate=world.yaml", "-q"].iter().chain(args))
}

/// The cluster without the node that is not there.
fn two_nodes() -> String {
    let third = "  - {name: worker-2, address: 192.168.1.22, controller: false, mac_addr: 'bc:24:11:00:00:22'}\n";
    nodes(&[(third, "")])
}

#[test]
fn a_healthy_cluster_is_called_healthy() {
    let run = status(&two_nodes(), &world(&[]), &["--exit-code"]);
    assert_eq!(run.exit, 0, "{run}");
    insta::assert_snapshot!(run);
}

#[test]
fn what_is_wrong_is_in_the_table_and_explained_below_it() {
    let ill = world(&[("cores: 8", "cores: 6"), ("name: nas", "name: nas, config: {tags: pvetalos-home}")]);
    let run = status(&nodes(&[]), &ill, &["--exit-code"]);
    assert_eq!(run.exit, 5);
    insta::assert_snapshot!(run);
    assert_eq!(status(&nodes(&[]), &ill, &[]).exit, 0, "nobody asked for another code");
}

#[test]
fn programs_get_everything() {
    let run = status(&nodes(&[]), &world(&[]), &["-o", "yaml"]);
    insta::assert_snapshot!(run);
    let run = status(&nodes(&[]), &world(&[]), &["-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!((&document["format_version"], &document["healthy"]), (&1.into(), &false.into()));
}

#[test]
fn a_host_that_is_down_is_named() {
    let hosts = ("hosts: {pve: {memory: 68719476736}}", "hosts: {pve: {}, pve2: {online: false}, pve3: {}}");
    let run = status(&two_nodes(), &world(&[hosts]), &["--exit-code"]);
    assert_eq!(run.exit, 0, "{run}");
    assert!(run.stdout.contains("note: host pve2 cannot be looked at: it is not online"), "{run}");
}

#[cfg(unix)]
#[test]
fn a_watch_ends_with_ctrl_c_and_keeps_the_world() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let workdir = Workdir::with_nodes(two_nodes()).file("world.yaml", world(&[]));
    let mut process = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .args(["status", "--simulate=world.yaml", "--watch=1", "-o", "json"])
        .current_dir(workdir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    for _ in 0..2 {
        let line = lines.next().expect("it looks again and again").expect("it is text");
        let document: serde_json::Value = serde_json::from_str(&line).expect("a line is a document");
        assert_eq!(document["healthy"], true);
    }
    let interrupted = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    assert_eq!(process.wait().expect("it ends").code(), Some(0));
    assert!(workdir.path().join(".pvetalos/world.json").exists());
}
