//! Worlds as JSON: a short form that people write, and a complete one that is saved between runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::access::{AccessControl, Pool, Rule, Token, User};
use super::cluster;
use super::drive;
use super::factory::Factory;
use super::flock::Flocks;
use super::format::{is_content, parse_size, print_size};
use super::random::Random;
use super::storage::{Kind, Storage, Volume, Wanted};
use super::talos::TalosGuest;
use super::task::Tasks;
use super::vm::{Config, Container, Guest, Power, Vm};
use super::worker::Workers;
use super::world::{Download, Host, Release, Timing, World, size};

/// A description of a world that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidWorld(String);

/// The form that people write; everything may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Initial {
    version: Option<String>,
    cluster: Option<String>,
    epoch: Option<u64>,
    seed: u64,
    mac_prefix: Option<String>,
    timing: Timing,
    guest: Guest,
    /// By the name of the VM, which may have to be made yet.
    talos: BTreeMap<String, TalosGuest>,
    downloads: Option<BTreeMap<String, Download>>,
    /// An Image Factory; there is one unless `downloads` says all that there is.
    factory: Option<Factory>,
    hosts: BTreeMap<String, Host>,
    storages: BTreeMap<String, InitialStorage>,
    templates: BTreeMap<String, InitialVm>,
    vms: BTreeMap<String, InitialVm>,
    containers: BTreeMap<String, Container>,
    /// By `user@realm!name`.
    tokens: BTreeMap<String, InitialToken>,
    /// A role's privileges, separated by blanks.
    roles: BTreeMap<String, String>,
    acl: Vec<Rule>,
    pools: BTreeMap<String, Pool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InitialStorage {
    #[serde(rename = "type")]
    kind: Kind,
    path: Option<String>,
    content: Option<BTreeSet<String>>,
    #[serde(default)]
    shared: bool,
    hosts: Option<BTreeSet<String>>,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(default = "capacity")]
    capacity: Bytes,
    #[serde(default)]
    occupied: Bytes,
    /// Images to import and the like: the name after the colon, and its size.
    #[serde(default)]
    files: BTreeMap<String, InitialFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InitialFile {
    size: Bytes,
    virtual_size: Option<Bytes>,
    ctime: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct InitialVm {
    /// The first host if it is left out.
    host: Option<String>,
    name: Option<String>,
    /// Where its disks are; the first storage for images if it is left out.
    storage: Option<String>,
    /// Sizes by key; a template has a system disk, a firmware disk and a cloud-init drive if it says nothing.
    disks: Option<BTreeMap<String, String>>,
    config: BTreeMap<String, Value>,
    running: bool,
    ha_managed: bool,
    guest: Option<Guest>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct InitialToken {
    secret: String,
    privsep: bool,
    expire: u64,
    /// Given to the user on `/`, and to the token too if it is separated. Left out, it is `Administrator`, unless `acl`
    /// says who may do what.
    role: Option<String>,
}

/// Bytes as a number, or with a unit as in `64G`.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes(u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        size(deserializer).map(Self)
    }
}

fn yes() -> bool {
    true
}

fn capacity() -> Bytes {
    Bytes(1 << 40)
}

/// The host of a world that names none.
const USUAL_HOST: &str = "pve1";

/// The token of a world that names none.
const USUAL_TOKEN: &str = "root@pam!pvetalos";
const USUAL_SECRET: &str = "00000000-0000-4000-8000-000000000000";

impl World {
    /// Reads a world: the form that [`World::to_json`] writes, or the short one, in which everything may be left out:
    ///
    /// ```json
    /// {
    ///   "version": "9.2.11",
    ///   "hosts": { "pve1": { "cpus": 16, "memory": "64G", "bridges": ["vmbr0"] }, "pve2": {} },
    ///   "storages": {
    ///     "local": { "type": "dir", "content": ["iso", "import"] },
    ///     "local-lvm": { "type": "lvmthin", "capacity": "500G" }
    ///   },
    ///   "templates": { "9000": { "name": "talos-1.12", "host": "pve1", "storage": "local-lvm" } },
    ///   "vms": { "100": { "name": "nas", "host": "pve2", "disks": { "scsi0": "32G" }, "running": true } },
    ///   "containers": { "101": { "name": "dns", "host": "pve2" } },
    ///   "tokens": { "root@pam!pvetalos": { "secret": "00000000-0000-4000-8000-000000000000" } }
    /// }
    /// ```
    pub fn from_json(value: &Value) -> Result<Self, InvalidWorld> {
        if let Some(saved) = value.get("saved") {
            let mut world: Self =
                serde_json::from_value(saved.clone()).map_err(|error| InvalidWorld(error.to_string()))?;
            world.tasks.index_again();
            return Ok(world);
        }
        let initial: Initial =
            serde_json::from_value(value.clone()).map_err(|error| InvalidWorld(error.to_string()))?;
        initial.build()
    }

    /// The whole world with running tasks and virtual time.
    pub fn to_json(&self) -> Value {
        json!({ "saved": serde_json::to_value(self).unwrap_or(Value::Null) })
    }
}

impl Initial {
    fn build(mut self) -> Result<World, InvalidWorld> {
        self.check()?;
        if self.hosts.is_empty() {
            self.hosts.insert(USUAL_HOST.to_owned(), Host::default());
        }
        for (name, host) in &mut self.hosts {
            if host.fingerprint.is_empty() {
                host.fingerprint = cluster::fingerprint(name);
            }
        }
        let entry = self.hosts.keys().next().cloned().unwrap_or_default();
        let several = self.hosts.len() > 1;
        let usual = Release::default();
        let release = Release { version: self.version.take().unwrap_or(usual.version), repoid: usual.repoid };
        let usual_factory = self.downloads.is_none().then(Factory::default);
        let mut world = World {
            release,
            cluster: self.cluster.take().or_else(|| several.then(|| "pve".to_owned())),
            epoch: self.epoch.unwrap_or(1_794_788_234),
            now: 0,
            timing: self.timing.clone(),
            mac_prefix: self.mac_prefix.take().unwrap_or_else(|| "BC:24:11".to_owned()),
            guest: self.guest.clone(),
            talos: std::mem::take(&mut self.talos),
            downloads: self.downloads.take().unwrap_or_default(),
            factory: self.factory.take().or(usual_factory).map(Box::new),
            entry,
            hosts: std::mem::take(&mut self.hosts),
            storages: BTreeMap::new(),
            vms: BTreeMap::new(),
            containers: BTreeMap::new(),
            access: AccessControl::default(),
            tasks: Tasks::default(),
            workers: Workers { next: 1, all: BTreeMap::new() },
            flocks: Flocks::default(),
            records: BTreeMap::new(),
            next_tick: 0,
            silent_until: 0,
            unreported: true,
            random: Random::new(self.seed),
            faults: Vec::new(),
            uploads: BTreeMap::new(),
            cluster_fs_down: false,
            changes_without_mark: Vec::new(),
        };
        self.build_storages(&mut world)?;
        self.build_access(&mut world)?;
        for (id, container) in std::mem::take(&mut self.containers) {
            let host = if container.host.is_empty() { world.entry.clone() } else { container.host.clone() };
            world.containers.insert(number(&id)?, Container { host, ..container });
        }
        for (id, template) in std::mem::take(&mut self.templates) {
            build_vm(&mut world, number(&id)?, template, true)?;
        }
        for (id, vm) in std::mem::take(&mut self.vms) {
            build_vm(&mut world, number(&id)?, vm, false)?;
        }
        world.run_until(0);
        Ok(world)
    }

    /// What the types do not say, each mistake with where it stands.
    fn check(&self) -> Result<(), InvalidWorld> {
        if let Some(version) = self.version.as_deref().filter(|version| !is_version(version)) {
            return Err(wrong("version", format!("`{version}` is not a Proxmox VE like `8.4.21` or `9.2.11`")));
        }
        // A UPID has eight hexadecimal digits for the time.
        if let Some(epoch) = self.epoch.filter(|epoch| *epoch > u64::from(u32::MAX)) {
            return Err(wrong("epoch", format!("{epoch} is too late for a Unix time of 32 bits")));
        }
        for (id, token) in &self.tokens {
            let place = format!("tokens.{id}");
            if !id.split_once('!').is_some_and(|(user, name)| user.contains('@') && !name.is_empty()) {
                return Err(wrong(&place, "this is not the name of a token like `user@pve!name`"));
            }
            if token.secret.is_empty() {
                return Err(wrong(&place, "a token needs a `secret`"));
            }
        }
        for (id, storage) in &self.storages {
            if let Some(content) = storage.content.iter().flatten().find(|content| !is_content(content)) {
                return Err(wrong(&format!("storages.{id}.content"), format!("there is no content type `{content}`")));
            }
            for host in storage.hosts.iter().flatten() {
                self.check_host(&format!("storages.{id}.hosts"), host)?;
            }
        }
        for (group, vms) in [("templates", &self.templates), ("vms", &self.vms)] {
            for (id, host) in vms.iter().filter_map(|(id, vm)| Some((id, vm.host.as_ref()?))) {
                self.check_host(&format!("{group}.{id}.host"), host)?;
            }
        }
        for (id, container) in self.containers.iter().filter(|(_, container)| !container.host.is_empty()) {
            self.check_host(&format!("containers.{id}.host"), &container.host)?;
        }
        Ok(())
    }

    fn check_host(&self, place: &str, name: &str) -> Result<(), InvalidWorld> {
        let known = if self.hosts.is_empty() { name == USUAL_HOST } else { self.hosts.contains_key(name) };
        if known { Ok(()) } else { Err(wrong(place, format!("there is no host `{name}`"))) }
    }

    fn build_storages(&mut self, world: &mut World) -> Result<(), InvalidWorld> {
        let mut storages = std::mem::take(&mut self.storages);
        if storages.is_empty() {
            let usual = json!({
                "local": { "type": "dir", "content": ["iso", "vztmpl", "backup", "import", "snippets"] },
                "local-lvm": { "type": "lvmthin", "content": ["images", "rootdir"] },
            });
            storages = serde_json::from_value(usual).map_err(|error| InvalidWorld(error.to_string()))?;
        }
        for (id, storage) in storages {
            let (path, content): (String, &[&str]) = match storage.kind {
                Kind::Dir if id == "local" => {
                    ("/var/lib/vz".to_owned(), &["images", "iso", "vztmpl", "backup", "import", "snippets"])
                }
                Kind::Dir => (format!("/var/lib/{id}"), &["images"]),
                Kind::LvmThin => ("pve".to_owned(), &["images", "rootdir"]),
                Kind::ZfsPool => ("rpool/data".to_owned(), &["images", "rootdir"]),
            };
            let content =
                storage.content.unwrap_or_else(|| content.iter().map(|content| (*content).to_owned()).collect());
            let built = Storage {
                kind: storage.kind,
                path: storage.path.unwrap_or(path),
                content,
                shared: storage.shared,
                hosts: storage.hosts,
                enabled: storage.enabled,
                capacity: storage.capacity.0,
                occupied: storage.occupied.0,
                volumes: BTreeMap::new(),
            };
            world.storages.insert(id.clone(), built);
            let hosts: Vec<String> = world.hosts.keys().cloned().collect();
            for (name, file) in storage.files {
                let content = name.split('/').next().unwrap_or("images").to_owned();
                let volume = Volume {
                    size: file.virtual_size.unwrap_or(file.size).0,
                    used: file.size.0,
                    format: name.rsplit('.').next().unwrap_or("raw").to_owned(),
                    ctime: file.ctime.unwrap_or(world.epoch),
                    content,
                    owner: None,
                    parent: None,
                    origin: None,
                };
                for host in &hosts {
                    if world.storages[&id].is_on(host) {
                        world.insert_volume(host, &id, name.clone(), volume.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn build_access(&mut self, world: &mut World) -> Result<(), InvalidWorld> {
        let roles = std::mem::take(&mut self.roles);
        if let Some(name) = roles.keys().find(|name| AccessControl::keeps(name)) {
            return Err(wrong(&format!("roles.{name}"), "Proxmox keeps names that begin with `PVE` to itself"));
        }
        world.access.roles = roles
            .into_iter()
            .map(|(name, privileges)| (name, privileges.split_whitespace().map(str::to_owned).collect()))
            .collect();
        world.access.rules = std::mem::take(&mut self.acl);
        world.access.pools = std::mem::take(&mut self.pools);
        world.access.users.insert("root@pam".to_owned(), User::default());
        let mut tokens = std::mem::take(&mut self.tokens);
        if tokens.is_empty() {
            let usual = InitialToken { secret: USUAL_SECRET.to_owned(), ..InitialToken::default() };
            tokens.insert(USUAL_TOKEN.to_owned(), usual);
        }
        for (id, token) in tokens {
            let (user, name) = id
                .split_once('!')
                .ok_or_else(|| InvalidWorld(format!("`{id}` is not a token like `user@pve!name`")))?;
            let built = Token { secret: token.secret, privsep: token.privsep, expire: token.expire, comment: None };
            world.access.users.entry(user.to_owned()).or_default().tokens.insert(name.to_owned(), built);
            let silent = token.role.is_none() && (user == "root@pam" || !world.access.rules.is_empty());
            if silent {
                continue;
            }
            let role = token.role.unwrap_or_else(|| "Administrator".to_owned());
            let both = [Some(user.to_owned()), token.privsep.then(|| id.clone())];
            for who in both.into_iter().flatten() {
                let entry = Rule { path: "/".to_owned(), who, role: role.clone(), propagate: true };
                if !world.access.rules.contains(&entry) {
                    world.access.rules.push(entry);
                }
            }
        }
        for rule in &world.access.rules {
            if world.access.role(&rule.role).is_none() {
                return Err(InvalidWorld(format!("there is no role `{}`", rule.role)));
            }
        }
        Ok(())
    }
}

fn wrong(place: &str, what: impl std::fmt::Display) -> InvalidWorld {
    InvalidWorld(format!("{place}: {what}"))
}

/// Two or three numbers, of a release that is simulated.
fn is_version(text: &str) -> bool {
    let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers.is_some_and(|numbers| (2..=3).contains(&numbers.len()) && numbers[0] >= 8)
}

fn number(text: &str) -> Result<u32, InvalidWorld> {
    let number = text.parse().ok().filter(|number| (100..=999_999_999).contains(number));
    number.ok_or_else(|| InvalidWorld(format!("`{text}` is not the number of a VM")))
}

/// A value of the configuration, which may be written as a number.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        other => other.to_string(),
    }
}

fn build_vm(world: &mut World, id: u32, vm: InitialVm, template: bool) -> Result<(), InvalidWorld> {
    let host = vm.host.unwrap_or_else(|| world.entry.clone());
    if world.is_taken(id) {
        return Err(InvalidWorld(format!("the number {id} is used twice")));
    }
    let usual = world.storages.iter().find(|(_, storage)| storage.content.contains("images") && storage.is_on(&host));
    let storage = vm.storage.or_else(|| usual.map(|(id, _)| id.clone()));
    let storage = storage.ok_or_else(|| InvalidWorld("no storage has images".to_owned()))?;
    let mut config: Config = vm.config.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
    let mut usual = vec![
        ("name", vm.name.unwrap_or_else(|| format!("vm-{id}"))),
        ("smbios1", format!("uuid={}", world.random.uuid())),
        ("vmgenid", world.random.uuid()),
        ("meta", format!("creation-qemu={},ctime={}", super::power::QEMU, world.epoch)),
        ("net0", format!("virtio={},bridge=vmbr0", world.random.mac(&world.mac_prefix))),
        ("scsihw", "virtio-scsi-single".to_owned()),
        ("ostype", "l26".to_owned()),
        ("boot", "order=scsi0".to_owned()),
    ];
    if template {
        let more =
            [("bios", "ovmf"), ("machine", "q35"), ("cpu", "x86-64-v2-AES"), ("serial0", "socket"), ("vga", "serial0")];
        usual.extend(more.map(|(key, value)| (key, value.to_owned())));
    }
    for (key, value) in usual {
        config.entry(key.to_owned()).or_insert(value);
    }
    let disks = vm.disks.unwrap_or_else(|| {
        let usual: &[(&str, &str)] = if template {
            &[("efidisk0", "528K"), ("ide2", "cloudinit"), ("scsi0", "1246M")]
        } else {
            &[("scsi0", "32G")]
        };
        usual.iter().map(|(key, size)| ((*key).to_owned(), (*size).to_owned())).collect()
    });
    for (key, size) in disks {
        let stored = build_disk(world, &host, &storage, id, &key, &size, template)?;
        config.insert(key, stored);
    }
    if template {
        config.insert("template".to_owned(), "1".to_owned());
    }
    let guest = vm.guest.unwrap_or_else(|| world.guest.clone());
    let mut built = Vm::new(&host, config, guest);
    built.ha_managed = vm.ha_managed;
    if vm.running {
        built.power = Power::Running { pid: world.fork_pid(&host), since: 0, paused: false };
    }
    world.vms.insert(id, built);
    Ok(())
}

fn build_disk(
    world: &mut World,
    host: &str,
    storage: &str,
    id: u32,
    key: &str,
    size: &str,
    template: bool,
) -> Result<String, InvalidWorld> {
    let grammar = drive::grammar(key).ok_or_else(|| InvalidWorld(format!("`{key}` is not a disk")))?;
    let cloudinit = size == "cloudinit";
    let bytes = if cloudinit { Some(super::disk::FOUR_MIB) } else { parse_size(size) };
    let bytes = bytes.ok_or_else(|| InvalidWorld(format!("`{size}` is not a size like `32G`")))?;
    let name = cloudinit.then(|| format!("vm-{id}-cloudinit"));
    let wanted = Wanted {
        storage,
        id,
        format: Some("qcow2"),
        bytes,
        name: name.as_deref(),
        written: if template { bytes.min(206_708_736) } else { 0 },
    };
    let made = world.allocate(host, wanted).map_err(InvalidWorld)?;
    let volid = if template && !cloudinit { world.make_base(host, &made.volid) } else { made.volid };
    let mut drive = BTreeMap::from([("file".to_owned(), volid)]);
    if cloudinit {
        drive.insert("media".to_owned(), "cdrom".to_owned());
    } else {
        drive.insert("size".to_owned(), print_size(made.bytes));
    }
    match key {
        "efidisk0" => {
            drive.insert("efitype".to_owned(), "4m".to_owned());
        }
        "scsi0" if template => {
            for (option, value) in [("discard", "on"), ("iothread", "1"), ("ssd", "1")] {
                drive.insert(option.to_owned(), value.to_owned());
            }
        }
        _ => {}
    }
    Ok(grammar.print(&drive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_at_all_is_a_small_world() {
        let world = World::from_json(&json!({})).unwrap();
        assert_eq!(world.authorization().unwrap(), format!("PVEAPIToken={USUAL_TOKEN}={USUAL_SECRET}"));
        assert_eq!(world.check(), Vec::<String>::new());
    }

    #[test]
    fn a_saved_world_is_the_same_world() {
        let initial = json!({
            "hosts": { "pve1": {}, "pve2": { "online": false } },
            "templates": { "9000": { "name": "talos" } },
            "vms": { "100": { "running": true, "config": { "cores": 4 } } },
            "containers": { "101": { "name": "dns" } },
        });
        let world = World::from_json(&initial).unwrap();
        let saved = world.to_json();
        assert_eq!(World::from_json(&saved).unwrap().to_json(), saved);
        assert_eq!(world.check(), Vec::<String>::new());
    }

    #[test]
    fn mistakes_in_a_world_are_named() {
        #[track_caller]
        fn case(value: &Value, expected: &str) {
            let error = World::from_json(value).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        case(&json!({ "vms": { "100": { "host": "x" } } }), "vms.100.host: there is no host `x`");
        case(&json!({ "templates": { "9000": { "host": "x" } } }), "templates.9000.host: there is no host `x`");
        case(&json!({ "containers": { "101": { "host": "x" } } }), "containers.101.host: there is no host `x`");
        case(&json!({ "storages": { "a": { "type": "dir", "hosts": ["x"] } } }), "storages.a.hosts: there is no host");
        case(
            &json!({ "storages": { "a": { "type": "dir", "content": ["images", "discs"] } } }),
            "storages.a.content: there is no content type `discs`",
        );
        for version in ["7.4.1", "nine", "", "9", "9.", "9.x", "-8.4", "9.2.11.4"] {
            case(&json!({ "version": version }), &format!("version: `{version}` is not a Proxmox VE like"));
        }
        case(&json!({ "epoch": u64::MAX }), "epoch: 18446744073709551615 is too late");
        case(&json!({ "tokens": { "x@pve!y": {} } }), "tokens.x@pve!y: a token needs a `secret`");
        case(&json!({ "tokens": { "x@pve": { "secret": "s" } } }), "tokens.x@pve: this is not the name of a token");
        case(&json!({ "roles": { "Pvetalos": "VM.Audit" } }), "roles.Pvetalos: Proxmox keeps names that begin with");
        case(&json!({ "vms": { "99": {} } }), "`99` is not the number of a VM");
        case(&json!({ "wms": {} }), "unknown field `wms`");
        case(&json!({ "vms": { "100": {} }, "containers": { "100": {} } }), "used twice");
    }
}
