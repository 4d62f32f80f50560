//! A VM: its configuration as a file of keys, what is pending, and whether it runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::drive;
use super::options::{MEMORY, VM_OPTIONS};
use super::param::Kind;
use super::property::parse_boolean;
use super::sha1;
use super::talos::TalosGuest;
use super::world::{Millis, World};

/// The keys of a configuration, sorted as in the file.
pub(crate) type Config = BTreeMap<String, String>;

/// One VM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Vm {
    pub(crate) host: String,
    pub(crate) config: Config,
    #[serde(default, skip_serializing_if = "Config::is_empty")]
    pub(crate) pending: Config,
    /// Keys that go when the VM stops; the value tells whether their volumes go too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) pending_delete: BTreeMap<String, bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) snapshots: BTreeMap<String, Snapshot>,
    pub(crate) power: Power,
    #[serde(default)]
    pub(crate) ha_managed: bool,
    pub(crate) guest: Guest,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) config: Config,
    pub(crate) time: u64,
    pub(crate) description: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Power {
    Stopped,
    Running { pid: u32, since: Millis, paused: bool },
}

/// How the system inside behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Guest {
    /// Milliseconds from the start until it listens to power button, agent and hot-plug.
    pub(crate) boot: Millis,
    /// Whether a guest agent runs in it.
    pub(crate) agent: bool,
    /// Whether it takes the address that cloud-init offers.
    pub(crate) address: bool,
    /// Whether it shuts down when asked.
    pub(crate) obeys: bool,
    /// The Talos in it.
    pub(crate) talos: TalosGuest,
}

impl Default for Guest {
    fn default() -> Self {
        Self { boot: 20_000, agent: true, address: true, obeys: true, talos: TalosGuest::default() }
    }
}

/// A container: it holds a number, and is never touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Container {
    pub(crate) host: String,
    pub(crate) name: String,
    pub(crate) running: bool,
    pub(crate) tags: Option<String>,
}

impl Default for Container {
    fn default() -> Self {
        Self { host: String::new(), name: "container".to_owned(), running: false, tags: None }
    }
}

impl Vm {
    pub(crate) fn new(host: &str, config: Config, guest: Guest) -> Self {
        Self {
            host: host.to_owned(),
            config,
            pending: Config::new(),
            pending_delete: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            power: Power::Stopped,
            ha_managed: false,
            guest,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.power, Power::Running { .. })
    }

    /// Whether the guest has booted and listens.
    pub(crate) fn listens(&self, now: Millis) -> bool {
        matches!(self.power, Power::Running { since, paused: false, .. } if now >= since.saturating_add(self.guest.boot))
    }

    pub(crate) fn lock(&self) -> Option<&str> {
        self.config.get("lock").map(String::as_str)
    }

    pub(crate) fn is_template(&self) -> bool {
        self.config.get("template").is_some_and(|value| value == "1")
    }

    pub(crate) fn check_lock(&self) -> Result<(), String> {
        match self.lock() {
            Some(lock) => Err(format!("VM is locked ({lock})")),
            None => Ok(()),
        }
    }

    /// The file as Proxmox writes it: the description as comments in front, then keys, then pending, then snapshots.
    fn text(&self) -> String {
        let mut lines = section(&self.config);
        if !self.pending.is_empty() || !self.pending_delete.is_empty() {
            lines.extend([String::new(), "[PENDING]".to_owned()]);
            let deleted =
                self.pending_delete.iter().map(|(key, force)| if *force { format!("!{key}") } else { key.clone() });
            let deleted: Vec<String> = deleted.collect();
            if !deleted.is_empty() {
                lines.push(format!("delete: {}", deleted.join(",")));
            }
            lines.extend(section(&self.pending));
        }
        for (name, snapshot) in &self.snapshots {
            lines.extend([String::new(), format!("[{name}]")]);
            lines.extend(section(&snapshot.config));
            lines.push(format!("snaptime: {}", snapshot.time));
        }
        lines.join("\n") + "\n"
    }

    pub(crate) fn digest(&self) -> String {
        sha1::hex(&self.text())
    }

    pub(crate) fn check_digest(&self, digest: Option<&str>) -> Result<(), String> {
        match digest {
            Some(digest) if !digest.is_empty() && digest != self.digest() => {
                Err("checksum mismatch (file change by other user?)".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The configuration with everything pending done.
    pub(crate) fn planned(&self) -> Config {
        let mut config = self.config.clone();
        for key in self.pending_delete.keys() {
            config.remove(key);
        }
        config.extend(self.pending.clone());
        config
    }
}

/// The lines of one section of the file.
fn section(config: &Config) -> Vec<String> {
    let description = config.get("description").into_iter().flat_map(|description| description.split('\n'));
    let comments = description.map(|line| format!("#{}", line.replace('%', "%25").replace(':', "%3A")));
    let keys = config.iter().filter(|(key, _)| *key != "description").map(|(key, value)| format!("{key}: {value}"));
    comments.chain(keys).collect()
}

/// One value as the API gives it: numbers for whole numbers and booleans, text for the rest.
pub(crate) fn value_of(key: &str, value: &str) -> Value {
    let kind = VM_OPTIONS.iter().find(|param| param.is(key)).map(|param| param.kind);
    match kind {
        _ if key == "cipassword" => json!("**********"),
        Some(Kind::Integer | Kind::Boolean) => {
            value.parse::<i64>().map_or_else(|_| json!(value), |number| json!(number))
        }
        _ => json!(value),
    }
}

pub(crate) fn number(config: &Config, key: &str, default: u64) -> u64 {
    config.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Memory in MiB.
pub(crate) fn memory(config: &Config) -> u64 {
    let memory = config.get("memory").and_then(|value| MEMORY.parse(value).ok());
    memory.and_then(|memory| memory.get("current")?.parse().ok()).unwrap_or(512)
}

pub(crate) fn memory_bytes(config: &Config) -> u64 {
    memory(config).saturating_mul(1 << 20)
}

pub(crate) fn cpus(config: &Config) -> u64 {
    number(config, "cores", 1).saturating_mul(number(config, "sockets", 1))
}

/// Whether the configuration says that there is a guest agent.
pub(crate) fn has_agent(config: &Config) -> bool {
    let Some(agent) = config.get("agent") else {
        return false;
    };
    let enabled = agent.split(',').find_map(|part| match part.split_once('=') {
        None => Some(part),
        Some(("enabled", value)) => Some(value),
        Some(_) => None,
    });
    enabled.and_then(parse_boolean) == Some("1")
}

/// Numbered keys of a configuration by their prefix.
pub(crate) fn family<'c>(config: &'c Config, prefix: &str) -> BTreeMap<u16, &'c String> {
    config.iter().filter_map(|(key, value)| Some((key.strip_prefix(prefix)?.parse().ok()?, value))).collect()
}

pub(crate) fn name(id: u32, config: &Config) -> String {
    config.get("name").cloned().unwrap_or_else(|| format!("VM {id}"))
}

impl World {
    /// The VM if its configuration is on that host.
    pub(crate) fn vm(&self, host: &str, id: u32) -> Result<&Vm, String> {
        self.vms.get(&id).filter(|vm| vm.host == host).ok_or_else(|| missing_file(host, id))
    }

    pub(crate) fn vm_mut(&mut self, host: &str, id: u32) -> Result<&mut Vm, String> {
        self.vms.get_mut(&id).filter(|vm| vm.host == host).ok_or_else(|| missing_file(host, id))
    }

    /// The same, for calls that look at the process first and so say it differently.
    pub(crate) fn vm_process(&self, host: &str, id: u32) -> Result<&Vm, String> {
        self.vm(host, id).map_err(|_| format!("unable to find configuration file for VM {id} on node '{host}'"))
    }

    /// One row of the list of VMs, as the host itself sees it.
    pub(crate) fn vm_row(&self, id: u32, vm: &Vm, full: bool) -> serde_json::Map<String, Value> {
        let config = &vm.config;
        let mut row = serde_json::Map::new();
        let mut set = |key: &str, value: Value| {
            row.insert(key.to_owned(), value);
        };
        set("vmid", json!(id));
        set("name", json!(name(id, config)));
        set("status", json!(if vm.is_running() { "running" } else { "stopped" }));
        set("cpus", json!(cpus(config)));
        set("maxmem", json!(memory_bytes(config)));
        set("maxdisk", json!(drive::boot_disk_size(config)));
        for zero in ["cpu", "mem", "memhost", "disk", "netin", "netout"] {
            set(zero, json!(0));
        }
        set("uptime", json!(0));
        if config.keys().any(|key| key.starts_with("serial")) {
            set("serial", json!(1));
        }
        if vm.is_template() {
            set("template", json!(1));
        }
        for key in ["lock", "tags"] {
            if let Some(value) = config.get(key) {
                set(key, json!(value));
            }
        }
        let balloon = number(config, "balloon", 0);
        if balloon > 0 {
            set("balloon_min", json!(balloon.saturating_mul(1 << 20)));
            set("shares", json!(number(config, "shares", 1000)));
        }
        if let Power::Running { pid, since, .. } = vm.power {
            set("pid", json!(pid));
            set("uptime", json!((self.now - since.min(self.now)) / 1000));
            set("netin", json!(110));
            let pressures = ["cpufull", "cpusome", "iofull", "iosome", "memoryfull", "memorysome"];
            for pressure in pressures.iter().filter(|_| self.release.major() >= 9) {
                set(&format!("pressure{pressure}"), json!(0));
            }
        }
        if full {
            let state = match vm.power {
                Power::Stopped => "stopped",
                Power::Running { paused: true, .. } => "paused",
                Power::Running { .. } => "running",
            };
            set("qmpstatus", json!(state));
        }
        if self.release.major() < 9 {
            row.remove("memhost");
        }
        row
    }
}

fn missing_file(host: &str, id: u32) -> String {
    format!("Configuration file 'nodes/{host}/qemu-server/{id}.conf' does not exist")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_configurations_have_equal_digests() {
        let config = |cores: &str| Config::from([("cores".to_owned(), cores.to_owned())]);
        let mut vm = Vm::new("pve", config("2"), Guest::default());
        let before = vm.digest();
        vm.pending.insert("cores".to_owned(), "4".to_owned());
        assert_ne!(vm.digest(), before, "what is pending counts too");
        vm.pending.clear();
        assert_eq!(vm.digest(), before);
        assert_eq!(vm.check_digest(Some("0")), Err("checksum mismatch (file change by other user?)".to_owned()));
    }

    #[test]
    fn an_agent_is_enabled_in_any_spelling() {
        for (agent, expected) in
            [("1", true), ("enabled=1", true), ("fstrim_cloned_disks=1,enabled=true", true), ("0", false)]
        {
            assert_eq!(has_agent(&Config::from([("agent".to_owned(), agent.to_owned())])), expected, "{agent}");
        }
    }
}
