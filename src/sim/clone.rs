//! `POST …/clone`: a copy of a VM under another number (`PVE/API2/Qemu.pm: clone_vm`).
//!
//! ```text
//!  POST ─► early checks ─► UPID
//!  task:  source lock (shared, 1 s) ─► target lock (1 s) ─► checks again ─► stub ─┐
//!         ┌────────────────────────────────────────────────────────────────────────┘
//!         └► per drive: storage lock (10 s) ─► allocate ─► copy ─► configuration written ─► … ─► lock line removed ─► pool
//! ```

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::disk::FOUR_MIB;
use super::drive;
use super::flock::Mode;
use super::format::print_size;
use super::net;
use super::options::{NET, SMBIOS};
use super::property::Parsed;
use super::storage::{Kind, Wanted, file_name};
use super::vm::{Config, Vm};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    source: u32,
    target: u32,
    target_host: String,
    name: Option<String>,
    description: Option<String>,
    pool: Option<String>,
    pub(crate) full: bool,
    /// The snapshot that is cloned instead of the present state.
    snapshot: Option<String>,
    storage: Option<String>,
    format: Option<String>,
    /// KiB per second; 0 means no limit.
    limit: u64,
    phase: Phase,
    /// Drives still to be copied.
    drives: Vec<(String, Parsed)>,
    /// The configuration so far.
    config: Config,
    made: Vec<String>,
    /// Bytes that the next copy has.
    to_copy: u64,
    /// The command that copies right now, for the error text.
    command: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    LockSource,
    LockTarget,
    Check,
    Next,
    LockStorage,
    Allocate,
    Allocated,
    Copied,
    Finish,
}

pub(crate) fn clone(world: &mut World, context: &Context) -> Handled {
    let (source, host) = (context.vmid(), context.host.clone());
    let target: u32 = context.number("newid").unwrap_or_default();
    if let Some(pool) = context.get("pool").filter(|pool| !world.access.pools.contains_key(*pool)) {
        return Err(Failure::forbidden(&format!("pool '{pool}' does not exist")));
    }
    let target_host = context.get("target").unwrap_or(&host).to_owned();
    if !world.hosts.contains_key(&target_host) {
        return Err(Failure::new(format!("no such cluster node '{target_host}'")));
    }
    let storage = context.get("storage").map(str::to_owned);
    if let Some(storage) = &storage {
        let found = world.storage_on(&host, storage)?;
        if target_host != host && !found.shared {
            return Err(Failure::new(format!("can't clone to non-shared storage '{storage}'")));
        }
    }
    world.check_quorum()?;
    let template = world.vm_process(&host, source)?.is_template();
    let mut job = Job {
        source,
        target,
        target_host,
        name: context.get("name").map(str::to_owned),
        description: context.get("description").filter(|text| !text.is_empty()).map(str::to_owned),
        pool: context.get("pool").map(str::to_owned),
        full: context.get("full").map_or(!template, |full| full == "1"),
        snapshot: context.get("snapname").map(str::to_owned),
        storage,
        format: context.get("format").map(str::to_owned),
        limit: context.number("bwlimit").unwrap_or(0),
        phase: Phase::LockSource,
        drives: Vec::new(),
        config: Config::new(),
        made: Vec::new(),
        to_copy: 0,
        command: None,
    };
    job.check(world, &context.user, &host)?;
    let job = AnyJob::Clone(Box::new(job));
    Ok(json!(world.fork(&host, "qmclone", &source.to_string(), &context.user, job)).into())
}

impl Job {
    /// The checks that are made before the task begins and again inside it.
    fn check(&mut self, world: &World, user: &str, host: &str) -> Result<(), Failure> {
        let vm = world.vm(host, self.source)?;
        vm.check_lock()?;
        let config = match &self.snapshot {
            Some(name) => &vm.snapshots.get(name).ok_or_else(|| format!("snapshot '{name}' does not exist"))?.config,
            None => &vm.config,
        };
        for (name, given) in [("storage", self.storage.is_some()), ("format", self.format.is_some())] {
            if given && !self.full {
                return Err(Failure::new(format!("parameter '{name}' not allowed for linked clones")));
            }
        }
        let drives = drive::all(config);
        for (_, drive) in &drives {
            self.check_storage(world, user, host, drive)?;
        }
        for (_, card) in net::cards(config) {
            world.check_bridge(user, &net::print(&card))?;
        }
        if world.vms.get(&self.target).is_some_and(|taken| taken.host == host) {
            return Err(Failure::new(format!("unable to create VM {}: config file already exists", self.target)));
        }
        for (key, drive) in drives.iter().filter(|(_, drive)| !drive::is_cdrom(drive)) {
            let volid = drive::file(drive);
            if !self.full && key != "tpmstate0" && !is_base(volid) {
                return Err(Failure::new(format!("Linked clone feature is not supported for '{volid}' ({key})")));
            }
        }
        self.drives = drives;
        Ok(())
    }

    fn check_storage(&self, world: &World, user: &str, host: &str, drive: &Parsed) -> Result<(), Failure> {
        let volid = drive::file(drive);
        let Some((own, _)) = volid.split_once(':') else {
            return Ok(());
        };
        let own_storage = world.storages.get(own);
        if self.target_host != host && !own_storage.is_some_and(|storage| storage.shared) {
            let text = format!("can't clone VM to node '{}' (VM uses local storage)", self.target_host);
            return Err(Failure::new(text));
        }
        if drive::is_cdrom(drive) && !drive::is_cloudinit(drive) {
            return Ok(());
        }
        let storage = self.storage.as_deref().unwrap_or(own);
        world.require(user, &format!("/storage/{storage}"), &["Datastore.AllocateSpace"])?;
        let found = world.storages.get(storage).ok_or_else(|| format!("storage '{storage}' does not exist"))?;
        if !found.content.contains("images") {
            return Err(Failure::parameter("storage", format!("storage '{storage}' does not support vm images")));
        }
        Ok(())
    }

    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = self.interrupted(event) {
            return self.give_up(world, place, text);
        }
        let host = place.host.as_str();
        match self.phase {
            Phase::LockSource => {
                self.phase = Phase::LockTarget;
                let running = world.vms.get(&self.source).is_some_and(Vm::is_running);
                let mode = if running { Mode::Exclusive } else { Mode::Shared };
                Step::Lock(World::vm_lock(host, self.source), mode, 1000)
            }
            Phase::LockTarget => {
                self.phase = Phase::Check;
                Step::Lock(World::vm_lock(host, self.target), Mode::Exclusive, 1000)
            }
            Phase::Check => {
                if let Err(failure) = self.check(world, &place.user, host) {
                    return Step::Done(Err(failure.into_task_error()));
                }
                if let Err(text) = self.write_stub(world, host) {
                    return Step::Done(Err(text));
                }
                world.log(place.task, format!("creating a clone of VM {} with ID {}", self.source, self.target));
                self.phase = Phase::Next;
                Step::Sleep(world.timing.other)
            }
            Phase::Next => self.next_drive(world, place),
            Phase::LockStorage => self.lock_storage(world, place),
            Phase::Allocate => self.allocate(world, place),
            Phase::Allocated => {
                // The copy does not need the storage's lock any more.
                for storage in world.storages.keys().cloned().collect::<Vec<_>>() {
                    let lock = world.storage_lock(host, &storage);
                    world.flocks.release(&lock, place.worker);
                }
                self.phase = Phase::Copied;
                let bytes = std::mem::take(&mut self.to_copy);
                Step::Sleep(if bytes > 0 { world.begin_copy(place.task, bytes, self.limit) } else { 0 })
            }
            Phase::Copied => {
                world.end_copy(place.task);
                self.command = None;
                let (key, drive) = self.drives.remove(0);
                if let Some(grammar) = drive::grammar(&key) {
                    self.config.insert(key, grammar.print(&drive));
                }
                self.write(world);
                self.phase = Phase::Next;
                Step::Sleep(0)
            }
            Phase::Finish => {
                self.config.remove("lock");
                self.write(world);
                if let Some(vm) = world.vms.get_mut(&self.target) {
                    vm.host.clone_from(&self.target_host);
                }
                if let Some(pool) = self.pool.take().and_then(|pool| world.access.pools.get_mut(&pool)) {
                    pool.vms.insert(self.target);
                }
                Step::Done(Ok(()))
            }
        }
    }

    /// What ends the task early, in the words of the part that is hit.
    fn interrupted(&self, event: Event) -> Result<(), String> {
        let stopped = event == Event::Interrupted;
        match (failed(event), &self.command) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(command)) if stopped => {
                Err(format!("copy failed: command '{command}' failed: interrupted by signal"))
            }
            (Err(_), None) if stopped => Err("interrupted by signal".to_owned()),
            (Err(text), _) => Err(text),
        }
    }

    fn write_stub(&mut self, world: &mut World, host: &str) -> Result<(), String> {
        if world.is_taken(self.target) {
            // The cluster file system refuses a second file with this number, on whichever host.
            return Err(format!(
                "close (rename) atomic file '/etc/pve/nodes/{host}/qemu-server/{}.conf' failed: File exists",
                self.target
            ));
        }
        let source = world.vm(host, self.source)?.clone();
        let stub = Config::from([
            ("lock".to_owned(), "clone".to_owned()),
            ("description".to_owned(), " qmclone temporary file".to_owned()),
        ]);
        let mut guest = source.guest.clone();
        guest.talos.learn(source.config.get("description"));
        world.vms.insert(self.target, Vm::new(host, stub, guest));
        self.config = self.copied_settings(world, &source);
        Ok(())
    }

    /// The settings that a clone takes over, with its own MACs and ids.
    fn copied_settings(&self, world: &mut World, source: &Vm) -> Config {
        let dropped = ["template", "lock", "parent", "vmstate", "snaptime", "runningmachine", "runningcpu"];
        let mut config = Config::new();
        let snapshot = self.snapshot.as_ref().and_then(|name| source.snapshots.get(name));
        for (key, value) in snapshot.map_or(&source.config, |snapshot| &snapshot.config) {
            if dropped.contains(&key.as_str()) || drive::is_unused(key) || drive::is_drive(key) {
                continue;
            }
            let value = match key.as_str() {
                "smbios1" => {
                    let mut smbios = SMBIOS.parse(value).unwrap_or_default();
                    smbios.insert("uuid".to_owned(), world.random.uuid());
                    print_smbios(&smbios)
                }
                "vmgenid" if value != "0" => world.random.uuid(),
                _ if net::index(key).is_some() => {
                    let mut card = NET.parse(value).unwrap_or_default();
                    card.insert("macaddr".to_owned(), world.random.mac(&world.mac_prefix));
                    net::print(&card)
                }
                _ => value.clone(),
            };
            config.insert(key.clone(), value);
        }
        if !config.contains_key("smbios1") {
            config.insert("smbios1".to_owned(), format!("uuid={}", world.random.uuid()));
        }
        let old = source.config.get("name").cloned().unwrap_or_else(|| self.source.to_string());
        let name = self.name.clone().unwrap_or_else(|| format!("Copy-of-VM-{old}"));
        config.insert("name".to_owned(), name);
        if let Some(description) = &self.description {
            config.insert("description".to_owned(), description.trim_end().to_owned());
        }
        config.insert("lock".to_owned(), "clone".to_owned());
        config
    }

    fn next_drive(&mut self, world: &mut World, place: &Place) -> Step {
        let Some((key, drive)) = self.drives.first() else {
            self.phase = Phase::Finish;
            return Step::Sleep(world.timing.other);
        };
        let volid = drive::file(drive).to_owned();
        if drive::is_cdrom(drive) && !drive::is_cloudinit(drive) {
            // A medium is not copied, only named.
            self.phase = Phase::Copied;
            return Step::Sleep(0);
        }
        let linked = !self.full && key != "tpmstate0" && !drive::is_cloudinit(drive);
        let how = if linked { "linked" } else { "full" };
        world.log(place.task, format!("create {how} clone of drive {key} ({volid})"));
        self.phase = Phase::LockStorage;
        Step::Sleep(2)
    }

    fn lock_storage(&mut self, world: &World, place: &Place) -> Step {
        let (key, drive) = &self.drives[0];
        let own = drive::file(drive).split_once(':').map_or("", |(storage, _)| storage);
        let linked = !self.full && key != "tpmstate0" && !drive::is_cloudinit(drive);
        let storage = if linked { own } else { self.storage.as_deref().unwrap_or(own) };
        self.phase = Phase::Allocate;
        Step::Lock(world.storage_lock(&place.host, storage), Mode::Exclusive, 10_000)
    }

    fn allocate(&mut self, world: &mut World, place: &Place) -> Step {
        let (key, drive) = self.drives[0].clone();
        match self.make(world, place, &key, &drive) {
            Ok(drive) => {
                self.drives[0].1 = drive;
                self.phase = Phase::Allocated;
                Step::Sleep(world.timing.allocate)
            }
            Err(text) => self.give_up(world, place, text),
        }
    }

    fn make(&mut self, world: &mut World, place: &Place, key: &str, drive: &Parsed) -> Result<Parsed, String> {
        let host = place.host.as_str();
        let volid = drive::file(drive).to_owned();
        let own = volid.split_once(':').map_or("", |(storage, _)| storage).to_owned();
        let mut copy = drive.clone();
        let cloudinit = drive::is_cloudinit(drive);
        if !self.full && key != "tpmstate0" && !cloudinit {
            let made = world.link(host, &volid, self.target)?;
            world.log_made(place.task, &made);
            self.made.push(made.volid.clone());
            copy.insert("file".to_owned(), made.volid);
            copy.insert("size".to_owned(), print_size(made.bytes));
            return Ok(copy);
        }
        let source = world.volume(host, &volid).ok_or_else(|| format!("volume '{volid}' does not exist"))?.clone();
        let storage = self.storage.clone().unwrap_or_else(|| own.clone());
        let kind = world.storages.get(&storage).map(|storage| storage.kind);
        let format = self.format.clone().or_else(|| (kind == Some(Kind::Dir)).then(|| source.format.clone()));
        let name = cloudinit.then(|| format!("vm-{}-cloudinit", self.target));
        let wanted = Wanted {
            storage: &storage,
            id: self.target,
            format: format.as_deref(),
            bytes: if cloudinit { FOUR_MIB } else { source.size },
            name: name.as_deref(),
            written: if cloudinit { 0 } else { source.used },
        };
        let made = world.allocate(host, wanted)?;
        world.log_made(place.task, &made);
        world.log(place.task, format!("allocated target volume '{}'", made.volid));
        self.made.push(made.volid.clone());
        copy.insert("file".to_owned(), made.volid.clone());
        copy.insert("size".to_owned(), print_size(made.bytes));
        if !cloudinit && key != "efidisk0" {
            self.to_copy = source.size;
            self.command = Some(self.copy_command(world, &volid, &source.format, &made.volid));
        }
        Ok(copy)
    }

    fn copy_command(&self, world: &World, from: &str, format: &str, to: &str) -> String {
        let path = |volid: &str| {
            let (storage, name) = volid.split_once(':').unwrap_or((volid, ""));
            world.storages.get(storage).map(|storage| storage.file_path(name)).unwrap_or_default()
        };
        let limit = if self.limit > 0 { format!(" -r {}K", self.limit) } else { String::new() };
        let target = to.rsplit('.').next().filter(|format| matches!(*format, "qcow2" | "vmdk")).unwrap_or("raw");
        format!("/usr/bin/qemu-img convert -p -n{limit} -f {format} -O {target} {} zeroinit:{}", path(from), path(to))
    }

    fn write(&self, world: &mut World) {
        if let Some(vm) = world.vms.get_mut(&self.target) {
            vm.config.clone_from(&self.config);
        }
    }

    /// Removes what was made; an error before the stub has nothing to remove.
    fn give_up(&mut self, world: &mut World, place: &Place, text: String) -> Step {
        if matches!(self.phase, Phase::LockSource | Phase::LockTarget | Phase::Check) {
            return Step::Done(Err(text));
        }
        world.end_copy(place.task);
        for volid in std::mem::take(&mut self.made) {
            world.free_volume(&place.host, &volid);
        }
        world.vms.remove(&self.target);
        Step::Done(Err(format!("clone failed: {text}")))
    }
}

/// The uuid first, as the server prints it.
fn print_smbios(values: &Parsed) -> String {
    let uuid = values.get("uuid").map(|uuid| format!("uuid={uuid}"));
    let rest = values.iter().filter(|(key, _)| *key != "uuid").map(|(key, value)| format!("{key}={value}"));
    uuid.into_iter().chain(rest).collect::<Vec<_>>().join(",")
}

fn is_base(volid: &str) -> bool {
    file_name(volid.split_once(':').map_or(volid, |(_, name)| name)).starts_with("base-")
}
