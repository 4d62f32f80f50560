//! The four commands, one after the other, as somebody would try them out.

use serde_json::Value;

use crate::harness::{Run, Simulated, Workdir};
use crate::plan::{nodes, world};

/// What came, without what differs from run to run.
fn timeless(run: &Run) -> String {
    let patterns = [
        (r"\b(\d+\.\d|\d+) s\b", "N s"),
        (r"UPID:[^\s:]+:\w+:\w+:\w+:", "UPID:…:"),
        // Whoever comes first finds it out for all.
        (r"warning: [a-z]+-\d: the start order", "warning: NODE: the start order"),
    ];
    patterns.iter().fold(run.to_string(), |text, (pattern, plain)| {
        regex::Regex::new(pattern).expect("it is a pattern").replace_all(&text, *plain).into_owned()
    })
}

#[test]
fn the_sample_comes_changes_and_goes_without_any_set_up() {
    let sample = include_str!("../../nodes.sample.yaml");
    let workdir = Workdir::new();
    let run = workdir.run(["provision", "--simulate", "-q"]);
    assert_eq!(run.exit, 0, "{run}");
    insta::assert_snapshot!("provision", timeless(&run));

    let again = workdir.run(["provision", "--simulate", "-q"]);
    assert_eq!(again.exit, 0, "{again}");
    insta::assert_snapshot!("provision_again", timeless(&again));

    let changed = sample.replacen("vm_memory: 32768", "vm_cores: 12\n    vm_memory: 32768", 1);
    let workdir = workdir.file("nodes.yaml", changed);
    let plan = workdir.run(["plan", "--simulate", "-q", "--exit-code"]);
    assert_eq!(plan.exit, 4, "{plan}");
    insta::assert_snapshot!("plan_of_a_change", timeless(&plan));

    let update = workdir.run(["provision", "--simulate", "-o", "json", "-q"]);
    assert_eq!(update.exit, 0, "{update}");
    let events: Vec<Value> =
        update.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let touched: Vec<&str> = events.iter().filter_map(|event| event["node"].as_str()).collect();
    assert!(!touched.is_empty() && touched.iter().all(|node| *node == "worker-2"), "{update}");
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!((first["event"].as_str(), first["format_version"].as_u64()), (Some("plan"), Some(1)));
    assert_eq!((last["event"].as_str(), last["exit_code"].as_u64()), (Some("result"), Some(0)));
    assert_eq!(last["outcomes"][0]["result"], "done");

    let status = workdir.run(["status", "--simulate", "-q", "--exit-code"]);
    assert_eq!(status.exit, 0, "{status}");
    insta::assert_snapshot!("status", timeless(&status));

    let declined = workdir.run(["destroy", "--simulate", "-q"]);
    assert_eq!(declined.exit, 1, "{declined}");
    assert!(declined.stderr.contains("add --yes if it is meant"), "{declined}");

    let destroy = workdir.run(["destroy", "--simulate", "-q", "--yes"]);
    assert_eq!(destroy.exit, 0, "{destroy}");
    insta::assert_snapshot!("destroy", timeless(&destroy));
    let nothing = workdir.run(["destroy", "--simulate", "-q", "--yes"]);
    assert_eq!(nothing.exit, 0, "{nothing}");
    assert!(nothing.stdout.contains("nothing to destroy"), "{nothing}");
}

/// Runs in a folder with this cluster and this world, which hurries.
fn hurried(nodes: &str, world: &str) -> Workdir {
    let hurry = "timing: {fork: 1, allocate: 1, copy_rate: 1000000, start: 10, stop: 10, shutdown: 10, other: 1}\n";
    Workdir::with_nodes(nodes).file("world.yaml", format!("{world}{hurry}guest: {{boot: 0}}\n"))
}

fn on(workdir: &Workdir, args: &[&str]) -> Run {
    workdir.run(args.iter().chain(&["--simulate=world.yaml", "-q"]))
}

#[test]
fn one_failure_concerns_no_other_node_and_is_told_with_its_log_and_a_hint() {
    let fault = "\
faults:
  - do: {in_world: {task_fails: {kind: qmclone, percent: 50, text: no space left on device}}}
    of: POST /nodes/*/qemu/*/clone
";
    let third = "worker-2, address: 192.168.1.22, controller: false, mac_addr: 'bc:24:11:00:00:22'}\n";
    let fourth = "  - {name: worker-3, address: 192.168.1.23, controller: false, mac_addr: 'bc:24:11:00:00:23'}\n";
    let workdir = hurried(&nodes(&[(third, &format!("{third}{fourth}"))]), &format!("{}{fault}", world(&[])));
    let run = on(&workdir, &["provision", "--parallel", "1"]);
    assert_eq!(run.exit, 3, "{run}");
    insta::assert_snapshot!(timeless(&run));
    let again = on(&workdir, &["provision"]);
    assert_eq!(again.exit, 0, "{again}");
}

#[test]
fn what_interrupts_a_node_is_asked_for_and_refused_without_anybody_to_ask() {
    let changed = nodes(&[("'bc:24:11:00:00:21'", "'bc:24:11:00:00:21', vm_cores: 12")]);
    let workdir = hurried(&changed, &world(&[]));
    let asked = on(&workdir, &["provision", "--only", "worker-1", "--disruptive"]);
    assert_eq!(asked.exit, 1, "{asked}");
    assert!(asked.stderr.contains("this has to be confirmed, and nobody is there to be asked"), "{asked}");
    let asked = on(&workdir, &["provision", "--only", "worker-1", "--disruptive", "-o", "json"]);
    let last = asked.stdout.lines().last().expect("there are documents");
    assert!(last.starts_with(r#"{"event":"result""#) && last.contains(r#""exit_code":1"#), "{asked}");
    let done = on(&workdir, &["provision", "--only", "worker-1", "--disruptive", "--yes"]);
    assert_eq!(done.exit, 0, "{done}");
    let after = on(&workdir, &["plan", "--only", "worker-1", "--exit-code"]);
    assert_eq!(after.exit, 0, "{after}");
}

#[test]
fn whoever_reads_documents_gets_a_result_in_any_case() {
    #[track_caller]
    fn case(run: &Run, exit: i32) {
        assert_eq!(run.exit, exit, "{run}");
        let last: Value = serde_json::from_str(run.stdout.lines().last().expect("there is one")).expect("it is JSON");
        assert_eq!((last["event"].as_str(), last["exit_code"].as_i64()), (Some("result"), Some(exit.into())), "{run}");
    }
    let wrong = hurried("nodes: []\n", &world(&[]));
    case(&on(&wrong, &["provision", "-o", "json"]), 2);
    case(&on(&wrong, &["destroy", "-o", "json"]), 2);
    let right = hurried(&nodes(&[]), &world(&[]));
    case(&on(&right, &["provision", "-o", "json", "--only", "nobody"]), 2);
    case(&on(&right, &["destroy", "-o", "json"]), 1);
    let nowhere = Workdir::with_nodes(nodes(&[]))
        .env("PROXMOX_ENDPOINT", "https://127.0.0.1:9")
        .env("PROXMOX_VE_API_TOKEN", "root@pam!ci=11111111-1111-4111-8111-111111111111");
    case(&nowhere.run(["provision", "-o", "json"]), 1);
}

#[test]
fn what_is_held_back_is_a_code_of_its_own() {
    let changed = nodes(&[("'bc:24:11:00:00:21'", "'bc:24:11:00:00:21', bridge: vmbr1")]);
    let run = on(&hurried(&changed, &world(&[])), &["provision", "--only", "cp-1,worker-1"]);
    assert_eq!(run.exit, 3, "{run}");
    assert!(run.stdout.contains("held back, because it interrupts the node"), "{run}");
}

#[test]
fn nothing_that_succeeds_is_a_failure() {
    let nowhere = nodes(&[("node: pve", "node: pve9")]);
    let run = on(&hurried(&nowhere, &world(&[])), &["provision", "--only", "worker-2"]);
    assert_eq!(run.exit, 1, "{run}");
    let run = on(&hurried(&nowhere, &world(&[])), &["provision"]);
    assert_eq!(run.exit, 3, "the others are as they should be: {run}");
}

#[test]
fn steps_are_lines_where_nobody_watches() {
    let workdir = hurried(&nodes(&[]), &world(&[]));
    let run = workdir.run(["provision", "--simulate=world.yaml", "--no-start"]);
    assert_eq!(run.exit, 0, "{run}");
    insta::assert_snapshot!(timeless(&run));
}

#[test]
fn what_must_not_go_keeps_everything_where_it_is() {
    let foreign = world(&[
        (
            "      description: 'pvetalos: cluster=home node=cp-1 vmid=200'",
            "      protection: 1\n      description: 'pvetalos: cluster=home node=cp-1 vmid=200'",
        ),
        ("    name: worker-1\n", "    name: worker-1\n    ha_managed: true\n"),
        ("      cores: 8\n", "      cores: 8\n      protection: 0\n"),
    ]);
    let workdir = hurried(&nodes(&[]), &foreign);
    let run = on(&workdir, &["destroy", "--yes"]);
    assert_eq!(run.exit, 3, "{run}");
    insta::assert_snapshot!(timeless(&run));
    let status = on(&workdir, &["status", "-o", "json"]);
    let status: Value = serde_json::from_str(&status.stdout).expect("-o json prints JSON");
    assert_eq!(
        (status["nodes"][0]["power"].as_str(), status["nodes"][1]["power"].as_str()),
        (Some("running"), Some("running"))
    );
    let purged = on(&workdir, &["destroy", "--yes", "--only", "worker-1", "--purge"]);
    assert_eq!(purged.exit, 0, "{purged}");
}

#[test]
fn a_lock_and_a_quorum_stand_in_the_way_of_destroying() {
    let locked = world(&[("      cores: 8\n", "      cores: 8\n      lock: backup\n")]);
    let run = on(&hurried(&nodes(&[]), &locked), &["destroy", "--yes", "--only", "worker-1"]);
    assert_eq!(run.exit, 3, "{run}");
    assert!(run.stdout.contains("VM 201 is locked (backup)") && run.stdout.contains("qm unlock 201"), "{run}");

    let two = nodes(&[(
        "worker-1, address: 192.168.1.21, controller: false",
        "worker-1, address: 192.168.1.21, controller: true",
    )]);
    let configured = world(&[("guest: {boot: 0}", "guest: {boot: 0, talos: {profile: configured}}")]);
    let workdir = hurried(&two, &configured);
    let run = on(&workdir, &["destroy", "--yes", "--only", "worker-1"]);
    assert_eq!(run.exit, 3, "{run}");
    assert!(run.stdout.contains("etcd may lose its quorum") && run.stdout.contains("--break-quorum"), "{run}");
    let run = on(&workdir, &["destroy", "--yes", "--only", "worker-1", "--break-quorum"]);
    assert_eq!(run.exit, 0, "{run}");
}

#[test]
fn what_is_left_over_goes_by_its_name_alone() {
    let fewer = nodes(&[(
        "  - {name: worker-1, address: 192.168.1.21, controller: false, mac_addr: 'bc:24:11:00:00:21'}\n",
        "",
    )]);
    let workdir = hurried(&fewer, &world(&[]));
    let plan = on(&workdir, &["plan"]);
    assert!(plan.stdout.contains("`pvetalos destroy --left-over worker-1`"), "{plan}");
    let wrong = on(&workdir, &["destroy", "--yes", "--left-over", "cp-1"]);
    assert_eq!(wrong.exit, 3, "{wrong}");
    assert!(wrong.stdout.contains("it is in the files, so that its VM is not left over"), "{wrong}");
    let gone = on(&workdir, &["destroy", "--yes", "--only", "worker-1"]);
    assert_eq!((gone.exit, gone.stdout.as_str()), (2, ""), "{gone}");
    assert!(gone.stderr.contains("`--left-over worker-1`") && !gone.stderr.contains("did you mean"), "{gone}");
    let typo = on(&workdir, &["destroy", "--yes", "--left-over", "worker-11"]);
    assert_eq!(typo.exit, 0, "absence is success: {typo}");
    insta::assert_snapshot!("left_over_under_another_name", typo);
    let run = on(&workdir, &["destroy", "--yes", "--left-over", "worker-1,worker-9", "-o", "json"]);
    assert_eq!(run.exit, 0, "{run}");
    let last: Value = serde_json::from_str(run.stdout.lines().last().expect("there are lines")).expect("it is JSON");
    assert_eq!((last["event"].as_str(), last["outcomes"][0]["node"].as_str()), (Some("result"), Some("worker-1")));
    let run = on(&workdir, &["destroy", "--left-over", "Worker 1"]);
    assert_eq!(run.exit, 2, "{run}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_names_what_goes_on_and_the_next_run_goes_on_with_it() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let slow = world(&[("storages:\n", "timing: {copy_rate: 10}\nguest: {boot: 0}\nstorages:\n")]);
    let workdir = Workdir::with_nodes(nodes(&[])).file("world.yaml", slow);
    let mut process = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .args(["provision", "--simulate=world.yaml", "-o", "json"])
        .current_dir(workdir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    let mut next = || lines.next().map(|line| serde_json::from_str::<Value>(&line.expect("it is text")).expect("JSON"));
    while let Some(event) = next() {
        if event["event"] == "progress" {
            break;
        }
    }
    let interrupted = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let last = std::iter::from_fn(next).last().expect("it says how it ended");
    assert_eq!(process.wait().expect("it ends").code(), Some(130));
    assert_eq!((last["event"].as_str(), last["exit_code"].as_u64()), (Some("result"), Some(130)));
    let running = last["outcomes"][0]["running"].as_str().expect("the task has a name");
    assert!(running.starts_with("UPID:pve:") && running.contains(":qmclone:"), "{running}");

    let joined = workdir.run(["plan", "--simulate=world.yaml", "-q", "--only", "worker-2"]);
    assert!(joined.stdout.contains("+ worker-2  join VM"), "{joined}");
}

#[test]
fn a_proxy_that_does_not_answer_is_noticed_before_anything_is_changed() {
    let simulated = Simulated::three_hosts();
    let dead = simulated.workdir(RACK).env("PVETALOS_TALOS_PROXY", "socks5://127.0.0.1:1");
    let run = dead.run(["provision", "-q"]);
    assert_eq!(run.exit, 1, "{run}");
    insta::assert_snapshot!("provision_through_a_dead_proxy", timeless(&run));
    let missing = RACK.replace(
        "talos_template: talos-1.12.0",
        "talos_version: 1.13.9, schematic_id: 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
    );
    let dead = dead.file("nodes.yaml", missing);
    let run = dead.run(["provision", "-q", "--create-template"]);
    assert_eq!((run.exit, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("no template is made: the proxy socks5://127.0.0.1:1 does not answer"), "{run}");
    for (command, exit) in [("plan", 3), ("status", 0), ("output", 0), ("destroy", 0)] {
        let run = dead.run([command, "-q"]);
        assert_eq!((run.exit, run.stderr.matches("127.0.0.1:1 does not answer").count()), (exit, 1), "{run}");
    }
    let alive = simulated.workdir(RACK).env("PVETALOS_TALOS_PROXY", simulated.says("talos_proxy"));
    let run = alive.run(["plan", "-q", "--exit-code"]);
    assert_eq!((run.exit, run.stderr.as_str()), (4, ""), "nothing was made: {run}");
    assert!(run.stdout.contains("3 to create"), "{run}");
}

/// Nobody is at these addresses, anywhere, so that nothing is waited for.
const RACK: &str = "\
name: rack
network: {cidr: 192.0.2.0/24}
proxmox: {storage: local-lvm}
defaults: {talos_template: talos-1.12.0}
nodes:
  - {name: cp-1, address: 192.0.2.31, controller: true, mac_addr: 'bc:24:11:00:00:31'}
  - {name: cp-2, address: 192.0.2.32, controller: true, mac_addr: 'bc:24:11:00:00:32', clone: linked}
  - {name: cp-3, address: 192.0.2.33, controller: true, mac_addr: 'bc:24:11:00:00:33', storage: shared}
";

#[test]
fn the_same_story_is_told_over_the_network() {
    let simulated = Simulated::start(&[
        "--world",
        concat!(env!("CARGO_MANIFEST_DIR"), "/examples/worlds/three-hosts.yaml"),
        "--clone-time",
        "100ms",
    ]);
    let workdir = simulated.workdir(RACK);
    let plan = workdir.run(["plan", "-q", "--exit-code"]);
    assert_eq!(plan.exit, 4, "{plan}");
    insta::assert_snapshot!("plan_over_the_network", timeless(&plan));
    let run = workdir.run(["provision", "-q", "--no-wait"]);
    assert_eq!(run.exit, 0, "{run}");
    let again = workdir.run(["provision", "-q", "--no-wait"]);
    assert_eq!(again.exit, 0, "{again}");
    assert!(again.stdout.contains("nothing to do, 3 unchanged"), "{again}");
    let status = workdir.run(["status", "-q", "--exit-code"]);
    assert_eq!(status.exit, 5, "nobody answers at their addresses: {status}");
    assert_eq!(status.stdout.matches("running").count(), 3, "{status}");
    let destroy = workdir.run(["destroy", "-q", "--yes"]);
    assert_eq!(destroy.exit, 0, "{destroy}");
    let place = format!("cluster rack at {}\n", simulated.says("endpoint"));
    assert!(destroy.stdout.starts_with(&place), "{destroy}");
    assert!(workdir.run(["destroy", "-q"]).stdout.contains("nothing to destroy"));
}
