//! `POST /nodes/{node}/qemu`: a new VM, its disks made by a task.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive::{self, Source};
use super::flock::Mode;
use super::net;
use super::options::{MACHINE, VM_OPTIONS};
use super::power;
use super::ssh_keys::check_ssh_keys;
use super::update::check_balloon;
use super::vm::{Config, Vm};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    config: Config,
    pool: Option<String>,
    start: bool,
    /// Drives still to be made.
    drives: Vec<String>,
    made: Vec<String>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Lock,
    Next,
    Make,
    Copied,
    Finish,
}

pub(crate) fn create(world: &mut World, context: &Context) -> Handled {
    let (id, host) = (context.vmid(), context.host.clone());
    let pool = context.get("pool").map(str::to_owned);
    if let Some(pool) = &pool
        && !world.access.pools.contains_key(pool)
    {
        return Err(Failure::forbidden(&format!("pool '{pool}' does not exist")));
    }
    if context.get("archive").is_some() {
        return Err(Failure::new("unable to restore: the simulator has no backups"));
    }
    let allowed = world.may(&context.user, &format!("/vms/{id}"), "VM.Allocate")
        || pool.as_ref().is_some_and(|pool| world.may(&context.user, &format!("/pool/{pool}"), "VM.Allocate"));
    if !allowed {
        return Err(Failure::forbidden(""));
    }
    let start = context.flag("start");
    if start && world.release.major() >= 9 {
        let through_pool = pool.as_ref().map(|pool| world.may(&context.user, &format!("/pool/{pool}"), "VM.PowerMgmt"));
        if through_pool != Some(true) {
            world.require(&context.user, &format!("/vms/{id}"), &["VM.PowerMgmt"])?;
        }
    }
    let given: Config = context
        .params
        .iter()
        .filter(|(key, _)| VM_OPTIONS.iter().any(|param| param.is(key)))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    check_given(world, context, id, pool.as_deref(), &given)?;
    world.check_quorum()?;
    if let Some(taken) = world.vms.get(&id) {
        return Err(Failure::new(format!(
            "unable to create VM {id} - VM {id} already exists on node '{}'",
            taken.host
        )));
    }
    if let Some(taken) = world.containers.get(&id) {
        return Err(Failure::new(format!(
            "unable to create VM {id} - CT {id} already exists on node '{}'",
            taken.host
        )));
    }
    let lock = World::vm_lock(&host, id);
    if !world.flocks.is_free(&lock, Mode::Exclusive, u64::MAX) && !world.frees_within(&lock, 5000) {
        return Err(Failure::new(format!("unable to create VM {id} - {}", lock.timeout())).after(5000));
    }
    // Only the lock is written before the task begins.
    let stub = Config::from([("lock".to_owned(), "create".to_owned())]);
    let mut vm = Vm::new(&host, stub, world.guest.clone());
    vm.ha_managed = context.flag("ha-managed");
    world.vms.insert(id, vm);
    let drives = given.keys().filter(|key| drive::is_drive(key)).cloned().collect();
    let job = Job { id, config: given, pool, start, drives, made: Vec::new(), phase: Phase::Lock };
    let job = AnyJob::Create(Box::new(job));
    Ok(json!(world.fork(&host, "qmcreate", &id.to_string(), &context.user, job)).into())
}

fn check_given(world: &World, context: &Context, id: u32, pool: Option<&str>, given: &Config) -> Result<(), Failure> {
    if let Some(keys) = given.get("sshkeys") {
        check_ssh_keys(keys)?;
    }
    let path = format!("/vms/{id}");
    for (key, value) in given {
        if let Some(grammar) = drive::grammar(key) {
            let drive = grammar.parse(value).map_err(|_| Failure::parameter(key, "unable to parse drive options"))?;
            world.check_drive(context, id, key, &drive)?;
            continue;
        }
        let check = |path: &str| world.check_key(context, path, key, Some(value), &Config::new());
        // Rights on the pool count already, although the VM is not in it yet.
        if pool.is_none_or(|pool| check(&format!("/pool/{pool}")).is_err()) {
            check(&path)?;
        }
    }
    check_balloon(given, given)
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        let (id, host) = (self.id, place.host.as_str());
        if let Err(text) = failed(event) {
            return self.give_up(world, place, &text);
        }
        match self.phase {
            Phase::Lock => {
                self.phase = Phase::Next;
                Step::Lock(World::vm_lock(host, id), Mode::Exclusive, 1000)
            }
            Phase::Next => {
                let Some(key) = self.drives.first() else {
                    self.phase = Phase::Finish;
                    return Step::Sleep(world.timing.other);
                };
                self.phase = Phase::Make;
                match self.storage_of(key) {
                    Some(storage) => Step::Lock(world.storage_lock(host, &storage), Mode::Exclusive, 10_000),
                    None => Step::Sleep(0),
                }
            }
            Phase::Make => self.make(world, place),
            Phase::Copied => {
                world.end_copy(place.task);
                self.created(world, place);
                self.phase = Phase::Next;
                Step::Sleep(0)
            }
            Phase::Finish => match self.finish(world, place) {
                Ok(()) => Step::Done(Ok(())),
                Err(text) => self.give_up(world, place, &text),
            },
        }
    }

    fn storage_of(&self, key: &str) -> Option<String> {
        let drive = drive::grammar(key)?.parse(self.config.get(key)?).ok()?;
        match drive::source(drive::file(&drive)) {
            Source::New { storage, .. } | Source::CloudInit { storage } => Some(storage.to_owned()),
            _ => None,
        }
    }

    fn make(&mut self, world: &mut World, place: &Place) -> Step {
        let key = self.drives[0].clone();
        let drive = drive::grammar(&key).and_then(|grammar| grammar.parse(&self.config[&key]).ok()).unwrap_or_default();
        let storage = self.storage_of(&key);
        match world.make_disk(&place.host, place.task, self.id, &key, &drive) {
            Err(text) => self.give_up(world, place, &text),
            Ok(disk) => {
                self.made.extend(disk.made);
                self.config.insert(key, disk.stored);
                self.phase = Phase::Copied;
                if let Some(storage) = storage {
                    let lock = world.storage_lock(&place.host, &storage);
                    world.flocks.release(&lock, place.worker);
                }
                let copying = disk.copy.map_or(0, |bytes| world.begin_copy(place.task, bytes, 0));
                Step::Sleep(copying.saturating_add(world.timing.allocate))
            }
        }
    }

    fn created(&mut self, world: &mut World, place: &Place) {
        let key = self.drives.remove(0);
        let stored = &self.config[&key];
        if drive::grammar(&key).is_some() && self.made.iter().any(|volid| stored.starts_with(volid.as_str())) {
            world.log(place.task, format!("{key}: successfully created disk '{stored}'"));
        }
    }

    fn finish(&mut self, world: &mut World, place: &Place) -> Result<(), String> {
        let (id, host) = (self.id, place.host.as_str());
        let mut config = std::mem::take(&mut self.config);
        for (key, value) in config.clone() {
            if !drive::is_drive(&key) && key != "boot" {
                let value = world.canonical(&key, &value, &config).map_err(Failure::into_task_error)?;
                config.insert(key, value);
            }
        }
        let boot = match config.get("boot").cloned() {
            Some(boot) => world.canonical("boot", &boot, &config).map_err(Failure::into_task_error)?,
            None => default_boot(&config),
        };
        config.insert("boot".to_owned(), boot);
        if let Some(machine) = config.get("machine").and_then(|machine| MACHINE.parse(machine).ok()) {
            config.insert("machine".to_owned(), MACHINE.print(&machine));
        }
        if !config.contains_key("smbios1") {
            config.insert("smbios1".to_owned(), format!("uuid={}", world.random.uuid()));
        }
        if !config.contains_key("vmgenid") {
            config.insert("vmgenid".to_owned(), world.random.uuid());
        }
        config.insert("meta".to_owned(), format!("creation-qemu={},ctime={}", power::QEMU, world.unix_time()));
        let vm = world.vm_mut(host, id)?;
        vm.config = config;
        if let Some(pool) = self.pool.take().and_then(|pool| world.access.pools.get_mut(&pool)) {
            pool.vms.insert(id);
        }
        if self.start {
            world.log(place.task, "Execute autostart");
            let job = AnyJob::Power(power::Job::start(id));
            world.fork(host, "qmstart", &id.to_string(), &place.user, job);
        }
        Ok(())
    }

    fn give_up(&mut self, world: &mut World, place: &Place, text: &str) -> Step {
        world.end_copy(place.task);
        for volid in std::mem::take(&mut self.made) {
            world.free_volume(&place.host, &volid);
        }
        let ours = world.vms.get(&self.id).is_some_and(|vm| vm.lock() == Some("create"));
        if ours {
            world.vms.remove(&self.id);
        }
        Step::Done(Err(format!("unable to create VM {} - {text}", self.id)))
    }
}

/// The first disk, the first drive for media, the first card (`PVE/QemuServer/Drive.pm: get_default_bootdevices`).
fn default_boot(config: &Config) -> String {
    let drives = drive::all(config);
    let bus_order = ["scsi", "sata", "virtio", "ide"];
    let bootable = |key: &str| bus_order.iter().position(|bus| key.starts_with(bus));
    let mut candidates: Vec<_> = drives.iter().filter(|(key, _)| bootable(key).is_some()).collect();
    candidates.sort_by_key(|(key, _)| (bootable(key), key.clone()));
    let disk = candidates.iter().find(|(_, drive)| !drive::is_cdrom(drive)).map(|(key, _)| key.clone());
    let medium = candidates
        .iter()
        .find(|(_, drive)| drive::is_cdrom(drive) && !drive::is_cloudinit(drive))
        .map(|(key, _)| key.clone());
    let card = net::cards(config).first().map(|(index, _)| format!("net{index}"));
    let devices: Vec<String> = disk.into_iter().chain(medium).chain(card).collect();
    if devices.is_empty() { " ".to_owned() } else { format!("order={}", devices.join(";")) }
}
