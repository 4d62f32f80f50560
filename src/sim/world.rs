use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::access::AccessControl;
use super::download::Upload;
use super::factory::Factory;
use super::fault::WorldFault;
use super::flock::Flocks;
use super::format::parse_size;
use super::random::Random;
use super::resources::Record;
use super::storage::Storage;
use super::talos::TalosGuest;
use super::task::Tasks;
use super::vm::{Container, Guest, Vm};
use super::worker::Workers;

/// Milliseconds of virtual time since the world began.
pub(crate) type Millis = u64;

/// How often the status daemon of a host reports (`PVE/Service/pvestatd.pm`).
pub(crate) const TICK: Millis = 10_000;

/// A Proxmox VE cluster: everything that a client can see, and what is going on inside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct World {
    pub(crate) release: Release,
    /// The name of the cluster; a host that stands alone has none.
    pub(crate) cluster: Option<String>,
    /// The Unix time at which virtual time is 0.
    pub(crate) epoch: u64,
    pub(crate) now: Millis,
    pub(crate) timing: Timing,
    /// The first three bytes of generated MACs.
    pub(crate) mac_prefix: String,
    /// What the guests do that say nothing else.
    pub(crate) guest: Guest,
    /// The Talos in the guests of these names, whatever they are cloned from.
    #[serde(default)]
    pub(crate) talos: BTreeMap<String, TalosGuest>,
    /// What can be downloaded: the beginning of a URL, and what is there.
    pub(crate) downloads: BTreeMap<String, Download>,
    /// What has the images that no other URL names.
    #[serde(default)]
    pub(crate) factory: Option<Box<Factory>>,
    /// The host that calls arrive at.
    pub(crate) entry: String,
    pub(crate) hosts: BTreeMap<String, Host>,
    pub(crate) storages: BTreeMap<String, Storage>,
    pub(crate) vms: BTreeMap<u32, Vm>,
    pub(crate) containers: BTreeMap<u32, Container>,
    pub(crate) access: AccessControl,
    pub(crate) tasks: Tasks,
    pub(crate) workers: Workers,
    pub(crate) flocks: Flocks,
    /// What the status daemons said last about each guest.
    pub(crate) records: BTreeMap<u32, Record>,
    pub(crate) next_tick: Millis,
    /// Until when no status daemon reports.
    pub(crate) silent_until: Millis,
    /// Whether something changed that the next report will tell.
    pub(crate) unreported: bool,
    pub(crate) random: Random,
    pub(crate) faults: Vec<WorldFault>,
    pub(crate) uploads: BTreeMap<String, Upload>,
    /// Whether the cluster file system is gone, and with it every permission.
    pub(crate) cluster_fs_down: bool,
    /// The first calls that wanted to change a VM whose description has no mark of ours.
    #[serde(skip)]
    pub(crate) changes_without_mark: Vec<String>,
}

/// Which Proxmox VE this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) repoid: String,
}

impl Default for Release {
    fn default() -> Self {
        Self { version: "9.2.11".to_owned(), repoid: "14a22df35955d97d".to_owned() }
    }
}

impl Release {
    fn numbers(&self) -> (u32, u32) {
        let mut parts = self.version.split('.').map(|part| part.parse().unwrap_or(0));
        (parts.next().unwrap_or(9), parts.next().unwrap_or(0))
    }

    pub(crate) fn major(&self) -> u32 {
        self.numbers().0
    }

    /// The first two numbers, as `GET /version` calls the release.
    pub(crate) fn short(&self) -> String {
        let (major, minor) = self.numbers();
        format!("{major}.{minor}")
    }

    /// Whether errors repeat their text in the body (libpve-http-server 5.2.0, early 2025).
    pub(crate) fn has_message_in_body(&self) -> bool {
        self.numbers() >= (8, 4)
    }

    /// Whether every failed login has the same text.
    pub(crate) fn hides_login_errors(&self) -> bool {
        self.numbers() >= (8, 4)
    }

    /// Whether this release has the privilege, if any has: 9 dropped one and added others.
    pub(crate) fn has_privilege(&self, name: &str) -> bool {
        match name {
            "VM.Monitor" => self.major() < 9,
            "VM.Replicate" => self.major() >= 9,
            "Sys.AccessNetwork" => self.numbers() >= (8, 2),
            name => self.major() >= 9 || !name.starts_with("VM.GuestAgent."),
        }
    }

    /// The largest body of a request, in bytes (libpve-http-server 5.2.1).
    pub(crate) fn body_limit(&self) -> usize {
        if self.numbers() >= (8, 4) { 512 * 1024 } else { 64 * 1024 }
    }

    /// Whether `import` content takes disk images.
    pub(crate) fn imports_disk_images(&self) -> bool {
        self.numbers() >= (8, 4)
    }
}

/// How long things take, in milliseconds of virtual time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timing {
    /// From the answer of a call until its worker does its first step.
    pub(crate) fork: Millis,
    /// Allocating or freeing a volume; the lock of the storage is held meanwhile.
    pub(crate) allocate: Millis,
    /// MiB per second of a copy without a limit.
    pub(crate) copy_rate: u64,
    pub(crate) start: Millis,
    pub(crate) stop: Millis,
    pub(crate) shutdown: Millis,
    /// MiB per second of a download.
    pub(crate) download_rate: u64,
    /// Everything else that a worker does.
    pub(crate) other: Millis,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            fork: 20,
            allocate: 60,
            copy_rate: 1024,
            start: 1500,
            stop: 300,
            shutdown: 400,
            download_rate: 100,
            other: 40,
        }
    }
}

impl Timing {
    /// How long a copy of so many bytes takes; `limit` is in KiB per second, 0 means none.
    pub(crate) fn copy(&self, bytes: u64, limit: u64) -> Millis {
        let fastest = self.copy_rate.max(1).saturating_mul(1024);
        let rate = if limit == 0 { fastest } else { limit.min(fastest) };
        (bytes / 1024).saturating_mul(1000) / rate
    }
}

/// What is behind a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Download {
    /// Bytes of the file; may be written as in `100M`.
    #[serde(deserialize_with = "size")]
    pub(crate) size: u64,
    /// Bytes of the disk in it.
    #[serde(deserialize_with = "size")]
    pub(crate) virtual_size: u64,
}

impl Default for Download {
    fn default() -> Self {
        Self { size: 206_766_080, virtual_size: 1246 << 20 }
    }
}

/// One Proxmox host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Host {
    pub(crate) online: bool,
    pub(crate) address: String,
    pub(crate) cpus: u32,
    /// Bytes; may be written as in `64G`.
    #[serde(deserialize_with = "size")]
    pub(crate) memory: u64,
    pub(crate) bridges: Vec<String>,
    /// The domain that cloud-init falls back to.
    pub(crate) search_domain: Option<String>,
    pub(crate) nameservers: Vec<String>,
    /// Whether the privileged daemon runs.
    pub(crate) daemon: bool,
    /// How long the host was up when the world began, in seconds.
    pub(crate) uptime: u64,
    pub(crate) fingerprint: String,
    pub(crate) next_pid: u32,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            online: true,
            address: "192.0.2.2".to_owned(),
            cpus: 16,
            memory: 64 << 30,
            bridges: vec!["vmbr0".to_owned()],
            search_domain: None,
            nameservers: vec!["192.0.2.1".to_owned()],
            daemon: true,
            uptime: 1746,
            fingerprint: String::new(),
            next_pid: 3600,
        }
    }
}

impl World {
    /// Moves tasks and caches forward to `now`; time never runs backwards.
    pub fn advance(&mut self, now: Duration) {
        self.run_until(millis(now));
    }

    /// When something will happen next without a call: a task goes on, or a status daemon has news to tell.
    pub fn next_event(&self) -> Option<Duration> {
        let report = self.unreported.then_some(self.next_tick.max(self.silent_until));
        self.workers.next_wake().into_iter().chain(report).min().map(Duration::from_millis)
    }

    /// The virtual time that the world has reached.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.now)
    }

    /// The token of the first user that has one, as an `Authorization` header: enough to talk to a fresh world.
    pub fn authorization(&self) -> Option<String> {
        self.access.users.iter().find_map(|(user, account)| {
            let (name, token) = account.tokens.first_key_value()?;
            Some(format!("PVEAPIToken={user}!{name}={}", token.secret))
        })
    }

    /// The calls that wanted to change a VM whose description does not name us, as `PUT /nodes/…`: for tests, which
    /// expect none. Cloning is no change of the source. Only the first thousand of a run are remembered.
    pub fn changes_without_mark(&self) -> &[String] {
        &self.changes_without_mark
    }

    /// The UPIDs of the tasks that are going on.
    pub fn running_tasks(&self) -> Vec<String> {
        self.tasks.all.values().filter(|task| task.exit.is_none()).map(super::task::Task::upid).collect()
    }

    /// The Unix time in seconds.
    pub(crate) fn unix_time(&self) -> u64 {
        self.epoch.saturating_add(self.now / 1000)
    }

    /// The moment after so much time, but never one that does not come.
    pub(crate) fn later(&self, time: Millis) -> Millis {
        self.now.saturating_add(time).min(LATEST)
    }

    /// The next process id of a host.
    pub(crate) fn fork_pid(&mut self, host: &str) -> u32 {
        let Some(host) = self.hosts.get_mut(host) else {
            return 1;
        };
        // Other processes come and go in between.
        let step = u32::try_from(self.random.next() % 7).unwrap_or(0) + 1;
        host.next_pid = host.next_pid.wrapping_add(step).max(2);
        host.next_pid
    }

    /// Whether more than half of the hosts are there; a host that stands alone always is.
    pub(crate) fn is_quorate(&self) -> bool {
        let online = self.hosts.values().filter(|host| host.online).count();
        self.cluster.is_none() || online * 2 > self.hosts.len()
    }

    /// Without a quorum nothing can be written.
    pub(crate) fn check_quorum(&self) -> Result<(), String> {
        if self.is_quorate() { Ok(()) } else { Err("cluster not ready - no quorum?".to_owned()) }
    }

    /// Whether the number is taken by a VM or a container, anywhere in the cluster.
    pub(crate) fn is_taken(&self, id: u32) -> bool {
        self.vms.contains_key(&id) || self.containers.contains_key(&id)
    }
}

/// Bytes as a number, or with a unit as in `64G`.
pub(crate) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let bytes = value.as_u64().or_else(|| value.as_str().and_then(parse_size));
    bytes.ok_or_else(|| serde::de::Error::custom(format!("{value} is not a size like \"64G\"")))
}

/// The end of time, far from where sums would overflow.
const LATEST: Millis = Millis::MAX / 4;

/// Whole seconds, as requests and worlds have them; how many there are is anybody's choice.
pub(crate) fn seconds(seconds: u64) -> Millis {
    seconds.saturating_mul(1000).min(LATEST)
}

pub(crate) fn millis(time: Duration) -> Millis {
    u64::try_from(time.as_millis()).unwrap_or(LATEST).min(LATEST)
}
