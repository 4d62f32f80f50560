use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::ground::copy_folder;

/// A folder of its own for one test, with an environment that holds nothing of the machine's.
pub(crate) struct Workdir {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// What a run printed and how it ended.
pub(crate) struct Run {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workdir {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder can be made"), variables: Vec::new() }
    }

    /// A folder with one nodes.yaml.
    pub(crate) fn with_nodes(text: impl AsRef<[u8]>) -> Self {
        Self::new().file("nodes.yaml", text)
    }

    /// A copy of an example repository.
    pub(crate) fn from_example(name: &str) -> Self {
        let workdir = Self::new();
        copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name), workdir.path());
        workdir
    }

    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
        self
    }

    /// A shell script in the folder `bin`.
    pub(crate) fn program(self, name: &str, script: &str) -> Self {
        let file = format!("bin/{name}");
        let workdir = self.file(&file, format!("#!/bin/sh\n{script}"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(workdir.path().join(file), mode).expect("a file of ours can be changed");
        }
        workdir
    }

    /// Reads `-- name --` lines as the beginnings of files; `env` holds variables, a line each.
    pub(crate) fn from_case(text: &str) -> Self {
        let mut workdir = Self::new();
        for part in format!("\n{text}").split("\n-- ").skip(1) {
            let (name, body) = part.split_once(" --\n").expect("a file begins with `-- name --`");
            workdir = match name {
                "env" => body.lines().filter_map(|line| line.split_once('=')).fold(workdir, |w, (k, v)| w.env(k, v)),
                name => workdir.file(name, body),
            };
        }
        workdir
    }

    /// A fixture: several files in one, or a nodes.yaml as it is.
    pub(crate) fn from_fixture(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("a fixture can be read");
        match path.extension().and_then(OsStr::to_str) {
            Some("case") => Self::from_case(&String::from_utf8(bytes).expect("a case is UTF-8")),
            _ => Self::with_nodes(bytes),
        }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The binary with these arguments, ready to be started here.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        command_in(self.path(), &self.variables, args)
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        run_in(self.path(), &self.variables, args)
    }
}

/// Runs the binary in a folder that is not ours to change.
pub(crate) fn run_in<S: AsRef<OsStr>>(
    folder: &Path,
    variables: &[(String, String)],
    args: impl IntoIterator<Item = S>,
) -> Run {
    command_in(folder, variables, args).output().expect("the binary can be started").into()
}

fn command_in<S: AsRef<OsStr>>(
    folder: &Path,
    variables: &[(String, String)],
    args: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pvetalos"));
    command.args(args).current_dir(folder).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("all output is UTF-8");
        Self {
            exit: output.status.code().expect("no signal ended it"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit: {}", self.exit)?;
        let streams = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        streams
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .try_for_each(|(name, text)| write!(f, "\n--- {name}\n{text}"))
    }
}

/// A simulated Proxmox in a process of its own.
pub(crate) struct Simulated {
    process: Child,
    introduction: serde_json::Value,
}

impl Simulated {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
            .args(["simulate", "--listen", "127.0.0.1:0", "-o", "json"])
            .args(args)
            .env_clear()
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line).expect("it introduces itself");
        Self { process, introduction: serde_json::from_str(&line).expect("-o json prints JSON") }
    }

    /// The world of three hosts among the examples.
    pub(crate) fn three_hosts() -> Self {
        Self::start(&["--world", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/worlds/three-hosts.yaml")])
    }

    pub(crate) fn says(&self, key: &str) -> &str {
        self.introduction[key].as_str().expect("it says so")
    }

    /// A folder whose cluster is to be made there, pinned to its certificate.
    pub(crate) fn workdir(&self, nodes: &str) -> Workdir {
        self.unpinned(nodes).file("pvetalos.yaml", self.pin())
    }

    /// The same without a token.
    pub(crate) fn without_token(&self, nodes: &str) -> Workdir {
        Workdir::with_nodes(nodes).env("PROXMOX_ENDPOINT", self.says("endpoint")).file("pvetalos.yaml", self.pin())
    }

    fn pin(&self) -> String {
        format!("proxmox: {{fingerprints: [\"{}\"]}}\n", self.says("fingerprint"))
    }

    pub(crate) fn unpinned(&self, nodes: &str) -> Workdir {
        Workdir::with_nodes(nodes)
            .env("PROXMOX_ENDPOINT", self.says("endpoint"))
            .env("PROXMOX_TOKEN_ID", self.says("token_id"))
            .env("PROXMOX_TOKEN_SECRET", self.says("token_secret"))
    }

    /// What came, without what differs from run to run.
    pub(crate) fn plain(&self, run: &Run) -> String {
        run.to_string()
            .replace(self.says("endpoint"), "https://SIMULATED")
            .replace(self.says("fingerprint"), "FINGERPRINT")
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A nodes.yaml in which nothing is wrong, for tests that add one thing.
pub(crate) const GOOD: &str = "\
name: home
network: {cidr: 192.168.1.0/24}
defaults:
  talos_template: talos
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
";

/// A nodes.yaml that fits the world of three hosts.
pub(crate) const READY: &str = "\
name: home
network: {cidr: 192.168.1.0/24}
proxmox: {node: pve1, storage: local-lvm}
defaults: {talos_template: talos-1.12.0}
nodes:
  - {name: cp-1, address: 192.168.1.11, controller: true, mac_addr: 'bc:24:11:00:00:11'}
";
