use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::harness::Workdir;

/// A running simulator, and how it introduced itself.
pub(crate) struct Running {
    process: Child,
    pub(crate) introduction: Value,
}

/// A test that fails leaves nothing behind.
impl Drop for Running {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Running {
    pub(crate) fn start(workdir: &Workdir, args: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
            .args(["simulate", "--listen", "127.0.0.1:0", "-o", "json"])
            .args(args)
            .current_dir(workdir.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("its output is ours");
        BufReader::new(stdout).read_line(&mut line).expect("it introduces itself");
        Self { process, introduction: serde_json::from_str(&line).expect("the introduction is JSON") }
    }

    /// Presses Ctrl-C, and returns the exit code.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        let interrupted = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        assert!(interrupted.is_ok_and(|status| status.success()));
        self.process.wait().expect("it ends").code()
    }
}

#[test]
fn it_listens_on_this_machine_only() {
    for address in ["0.0.0.0:8006", "192.0.2.1:8006", "[::]:8006", "8006", "localhost"] {
        let run = Workdir::new().run(["simulate", "--listen", address]);
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
    }
}

#[test]
fn a_wrong_world_is_exit_2_and_says_what_is_wrong() {
    for (text, reason) in [
        ("hots: {}", "unknown field `hots`"),
        ("hosts: {pve: {cpus: many}}", "invalid type: string \"many\""),
        ("faults: [{do: explode}]", "unknown variant `explode`"),
        ("a: [", "this is not YAML"),
    ] {
        let run = Workdir::new().file("world.yaml", text).run(["simulate", "--world", "world.yaml"]);
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
        assert!(run.stderr.contains(reason) && run.stderr.contains("world.yaml"), "{run}");
    }
}

#[test]
fn a_port_that_is_taken_is_exit_1() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let run = Workdir::new().run(["simulate", "--listen", &address]);
    assert_eq!(run.exit, 1, "{run}");
    assert!(run.stderr.contains(&format!("cannot listen on {address}")), "{run}");
}

#[test]
fn it_says_how_to_reach_it_and_ends_with_ctrl_c() {
    let running = Running::start(&Workdir::new(), &["--pve", "8", "--latency", "1ms", "--clone-time", "1s"]);
    assert_eq!(running.introduction["token_id"], "pvetalos@pve!simulator");
    let endpoint = running.introduction["endpoint"].as_str().expect("an endpoint");
    let address = endpoint.strip_prefix("https://").expect("TLS");
    assert!(std::net::TcpStream::connect(address).is_ok());
    assert_eq!(running.interrupt(), Some(0));
}

/// What the README promises: the sample as it is, against the simulator as it is.
#[test]
fn the_built_in_world_is_ready_for_the_sample() {
    let running = Running::start(&Workdir::new(), &[]);
    let said = |key: &str| running.introduction[key].as_str().expect("a text").to_owned();
    let workdir = Workdir::with_nodes(include_str!("../../nodes.sample.yaml"))
        .file("pvetalos.yaml", format!("proxmox: {{fingerprint: \"{}\"}}", said("fingerprint")))
        .env("PROXMOX_ENDPOINT", &said("endpoint"))
        .env("PROXMOX_TOKEN_ID", &said("token_id"))
        .env("PROXMOX_TOKEN_SECRET", &said("token_secret"));
    let run = workdir.run(["doctor"]);
    assert_eq!(run.exit, 0, "{run}");
    assert!(run.stdout.contains("template 1.12.0 ce4c9805 is there on pve"), "{run}");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn a_kept_world_is_the_same_one_the_next_time() {
    let workdir = Workdir::new();
    let first = Running::start(&workdir, &["--keep", "world.json"]);
    let fingerprint = first.introduction["fingerprint"].clone();
    assert!(workdir.path().join("world.json").exists(), "it is written at once");
    assert_eq!(first.interrupt(), Some(0));
    let second = Running::start(&workdir, &["--keep", "world.json"]);
    assert_eq!(second.introduction["fingerprint"], fingerprint);
    assert_eq!(second.interrupt(), Some(0));
}

#[test]
fn only_so_many_faults_are_drawn_as_fit_the_requests() {
    for number in ["1001", "99999999999", "-1", "many"] {
        let run = Workdir::new().run(["simulate", "--draw-faults", number]);
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
    }
}

#[test]
fn a_world_that_cannot_be_kept_is_exit_1_at_once() {
    let run = Workdir::new().run(["simulate", "--listen", "127.0.0.1:0", "--keep", "no/such/folder/world.json"]);
    assert_eq!((run.exit, run.stdout.as_str()), (1, ""), "{run}");
    assert!(
        run.stderr.contains("the world cannot be kept: no such file or directory\n--> no/such/folder/world.json"),
        "{run}"
    );
}

#[test]
fn what_a_kept_world_makes_needless_is_said() {
    let workdir = Workdir::new();
    assert_eq!(Running::start(&workdir, &["--keep", "world.json"]).interrupt(), Some(0));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let args = ["--listen", &address, "--keep", "world.json", "--world", "other.yaml", "--seed", "7"];
    let run = workdir.run(["simulate"].into_iter().chain(args));
    for option in ["--world", "--seed"] {
        assert!(run.stderr.contains(&format!("{option} is ignored: world.json holds a world that goes on")), "{run}");
    }
}
