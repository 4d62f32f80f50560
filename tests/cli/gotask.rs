//! The go-task include, run by go-task itself in copies of the example repositories.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ground::{on_path, skipped};
use crate::harness::{Run, Simulated, Workdir};
use crate::tidied::tidied;

/// go-task, as `.ci/run` installs it or as it is on the PATH. Another program of that name does not count.
fn go_task() -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/go-task/bin/task");
    let found = std::iter::once(ours).chain(on_path("task")).find(|task| {
        let version = Command::new(task).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).trim_start_matches("Task version: v").contains("3.")
        })
    });
    if found.is_none() {
        skipped("there is no go-task here (`pip install go-task-bin` has it)");
    }
    found
}

/// Runs a task with our program, and whatever else is in `bin` of the folder, on the PATH.
fn task(workdir: &Workdir, go_task: &Path, args: &[&str]) -> Run {
    let program = Path::new(env!("CARGO_BIN_EXE_pvetalos")).parent().expect("it is in a folder").to_owned();
    let path = std::env::join_paths([workdir.path().join("bin"), program, "/usr/bin".into(), "/bin".into()]);
    let mut command = Command::new(go_task);
    command.args(args).current_dir(workdir.path()).env_clear().stdin(Stdio::null());
    command.env("PATH", path.expect("no folder has a colon in its name")).env("HOME", workdir.path());
    command.envs(workdir.variables().iter().map(|(name, value)| (name, value)));
    command.output().expect("go-task can be started").into()
}

#[track_caller]
fn done(run: &Run) {
    assert_eq!(run.exit, 0, "{run}");
}

/// The tasks that the README names, in a copy of an example and in its own world.
fn lives_and_dies(example: &str, make: &[&str]) {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = Workdir::from_example(example);
    done(&workdir.run(["init"]));
    let world = if workdir.path().join("world.yaml").exists() { "--simulate=world.yaml" } else { "--simulate" };
    let run = |args: &[&str], more: &[&str]| task(&workdir, &go_task, &[args, &["--", world], more].concat());
    done(&run(&["infrastructure:validate"], &[]));
    done(&run(&["infrastructure:provision"], make));
    let plan = run(&["--exit-code", "infrastructure:plan"], &["--exit-code"]);
    done(&plan);
    let status = run(&["infrastructure:status"], &["--exit-code"]);
    done(&status);
    done(&run(&["infrastructure:wait"], &[]));
    done(&run(&["infrastructure:verify-nodes"], &[]));
    let output = run(&["infrastructure:output"], &[]);
    done(&output);
    let document: serde_json::Value = serde_json::from_str(&output.stdout).expect("only JSON is on standard output");
    let nodes = document["nodes"].as_array().expect("a list");
    assert!(nodes.iter().all(|node| node["vmid"].is_u64() && node["talos"] == "maintenance"), "{output}");
    let destroy = run(&["--yes", "infrastructure:destroy"], &[]);
    done(&destroy);
    assert!(destroy.stdout.contains(&format!("{} done", nodes.len())), "{destroy}");
}

#[test]
fn self_contained() {
    lives_and_dies("self-contained", &[]);
}

#[test]
fn talos_cluster() {
    lives_and_dies("talos-cluster", &[]);
}

#[test]
fn cluster_template() {
    lives_and_dies("cluster-template", &[]);
}

#[test]
fn multi_host() {
    lives_and_dies("multi-host", &["--create-template"]);
}

#[test]
fn secure_boot() {
    lives_and_dies("secure-boot", &["--create-template", "--enable-import"]);
}

#[test]
fn the_same_tasks_reach_a_proxmox_over_the_network() {
    let Some(go_task) = go_task() else {
        return;
    };
    let world = "hosts: {pve: {}}\nguest: {boot: 0}\ntemplates:\n  9000:\n    name: talos\n    storage: local-lvm\n    \
                 disks: {scsi0: 1246M, efidisk0: 528K, ide2: cloudinit}\n";
    let folder = Workdir::new().file("world.yaml", world);
    let world = folder.path().join("world.yaml");
    let simulated = Simulated::start(&["--clone-time", "100ms", "--world", world.to_str().expect("it is UTF-8")]);
    let workdir = simulated.workdir(crate::harness::GOOD).env("PVETALOS_TALOS_PROXY", simulated.says("talos_proxy"));
    done(&workdir.run(["init"]));
    for name in ["validate", "doctor", "provision", "plan", "status", "wait"] {
        done(&task(&workdir, &go_task, &[&format!("infrastructure:{name}")]));
    }
    done(&task(&workdir, &go_task, &["--yes", "infrastructure:destroy"]));
}

/// The repository keeps the tasks that it had under that name, and has ours beside them.
#[test]
fn what_is_in_the_place_of_the_include_stays_and_ours_can_be_used_all_the_same() {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = Workdir::from_example("talos-cluster");
    let theirs = "version: '3'\ntasks: {apply: {desc: theirs, cmd: 'true'}}\n";
    let workdir = workdir.file(".taskfiles/infrastructure/Taskfile.yaml", theirs);
    let init = workdir.run(["init"]);
    assert!(init.stdout.contains(".taskfiles/pvetalos/Taskfile.yaml"), "{init}");
    assert!(init.stdout.contains("pvetalos: .taskfiles/pvetalos"), "{init}");
    let root = "version: '3'\nincludes:\n  infra: .taskfiles/infrastructure\n  pvetalos: .taskfiles/pvetalos\n";
    let workdir = workdir.file("Taskfile.yaml", root);
    done(&task(&workdir, &go_task, &["pvetalos:validate"]));
    done(&task(&workdir, &go_task, &["infra:apply"]));
}

#[test]
fn what_is_missing_is_said_before_anything_is_run() {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = Workdir::new();
    done(&workdir.run(["init"]));
    let run = task(&workdir, &go_task, &["infrastructure:destroy"]);
    assert!(run.exit != 0 && run.stderr.contains("has a prompt"), "{run}");
    std::fs::remove_file(workdir.path().join("nodes.yaml")).expect("it was written");
    let run = task(&workdir, &go_task, &["infrastructure:plan"]);
    let missing = "there is no nodes.yaml and no talos/talconfig.yaml; `pvetalos init` makes a nodes.yaml";
    assert!(run.exit != 0 && run.stderr.contains(missing), "{run}");
    let run = task(&workdir, &go_task, &["infrastructure:plan", "NODES_FILE=other.yaml"]);
    assert!(run.exit != 0 && run.stderr.contains("there is no other.yaml; "), "{run}");
    let run = task(&workdir, &go_task, &["infrastructure:plan", "PVETALOS=nonesuch"]);
    assert!(run.exit != 0 && run.stderr.contains("there is no `nonesuch` on the PATH"), "{run}");
}

#[test]
fn a_repository_that_was_tidied_has_its_tasks_all_the_same() {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = tidied();
    done(&workdir.run(["init"]));
    done(&task(&workdir, &go_task, &["infrastructure:validate"]));
    let provision = task(&workdir, &go_task, &["infrastructure:provision", "--", "--simulate"]);
    done(&provision);
    assert!(provision.stderr.contains("the nodes are read from talos/talconfig.yaml"), "{provision}");
}

#[test]
fn variables_of_the_taskfile_reach_every_call() {
    let Some(go_task) = go_task() else {
        return;
    };
    let root = "version: '3'\nvars: {WAIT_TIMEOUT: 3s, NODES_FILE: other.yaml}\nincludes:\n  infra:\n    \
                taskfile: .taskfiles/infrastructure\n    vars: {PVETALOS_FLAGS: --cluster-name rack}\n";
    let workdir = Workdir::new().file("Taskfile.yaml", root).file("other.yaml", crate::harness::GOOD);
    done(&workdir.run(["init"]));
    let shown = |args: &[&str]| task(&workdir, &go_task, args).stderr;
    let wait = shown(&["--dry", "infra:wait"]);
    assert!(wait.contains("pvetalos --nodes \"other.yaml\" --cluster-name rack wait --for any --timeout 3s"), "{wait}");
    let wait = shown(&["--dry", "infra:wait", "WAIT_FOR=configured"]);
    assert!(wait.contains("wait --for configured --timeout 3s"), "{wait}");
    let validate = task(&workdir, &go_task, &["infra:validate"]);
    assert!(validate.stdout.starts_with("cluster  rack\n"), "{validate}");
}

/// A talosctl that only writes down what it is told, and knows of no etcd.
const TALOSCTL: &str = "echo \"talosctl $*\" | cut -c-60 >> said\n[ \"$3\" != etcd ]\n";

/// From nothing to a cluster. The nodes are believed to be configured by that talosctl.
#[test]
fn bootstrap_full_goes_the_whole_way_in_order() {
    let Some(go_task) = go_task() else {
        return;
    };
    let world = include_str!("../../examples/worlds/one-host.yaml");
    let folder = Workdir::new().file("world.yaml", format!("{world}guest: {{boot: 0}}\n"));
    let world = folder.path().join("world.yaml");
    let simulated = Simulated::start(&["--clone-time", "100ms", "--world", world.to_str().expect("it is UTF-8")]);
    let program = env!("CARGO_BIN_EXE_pvetalos");
    let pvetalos =
        format!("echo \"pvetalos $*\" >> said\ncase \"$*\" in *configured*) ;; *) exec {program} \"$@\" ;; esac\n");
    let workdir = simulated
        .workdir(include_str!("../../examples/self-contained/nodes.yaml"))
        .file("Taskfile.yaml", include_str!("../../examples/self-contained/Taskfile.yaml"))
        .env("PVETALOS_TALOS_PROXY", simulated.says("talos_proxy"))
        .program("talosctl", TALOSCTL)
        .program("pvetalos", &pvetalos);
    done(&workdir.run(["init"]));
    done(&task(&workdir, &go_task, &["bootstrap:full"]));
    let said = std::fs::read_to_string(workdir.path().join("said")).expect("it was written");
    insta::assert_snapshot!(said);
}

/// Somebody else may have the addresses of nodes that do not exist.
#[test]
fn a_simulation_never_reaches_talosctl() {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = Workdir::from_example("self-contained").program("talosctl", TALOSCTL);
    done(&workdir.run(["init"]));
    let run = task(&workdir, &go_task, &["bootstrap:full", "--", "--simulate"]);
    assert!(run.exit != 0 && run.stderr.contains("this was made from a simulation"), "{run}");
    assert!(!workdir.path().join("said").exists(), "{run}");
}

/// With two clusters in a folder, the other one must not be meant.
#[test]
fn another_nodes_file_behind_the_name_of_any_task_is_the_one_that_counts() {
    let Some(go_task) = go_task() else {
        return;
    };
    let workdir = Workdir::new().file("lab.yaml", crate::harness::GOOD);
    done(&workdir.run(["init", "--cluster-name", "prod"]));
    let include = std::fs::read_to_string(workdir.path().join(".taskfiles/infrastructure/Taskfile.yaml"));
    let include = include.expect("it was written");
    let (_, tasks) = include.split_once("\ntasks:\n").expect("it has tasks");
    let names = tasks.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':'));
    let names: Vec<&str> = names.map(|line| line.trim().trim_end_matches(':')).collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let args = ["--dry", "--yes", "--verbose", &format!("infrastructure:{name}"), "NODES_FILE=lab.yaml"];
        let run = task(&workdir, &go_task, &args);
        assert!(run.stderr.contains("pvetalos --nodes \"lab.yaml\" "), "{name}: {run}");
    }
    let shown = task(&workdir, &go_task, &["infrastructure:validate", "NODES_FILE=lab.yaml"]);
    assert!(shown.stdout.starts_with("cluster  home\n"), "{shown}");
}
