//! Changing a configuration: `PUT` and `POST …/config`, `unlink`, and the cloud-init medium
//! (`PVE/API2/Qemu.pm: update_vm_api`).
//!
//! Every key goes to the pending section first, one by one; only then are values applied. A mistake half-way leaves
//! the earlier keys pending, as on the real server.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled, Outcome};
use super::drive::{self, Source};
use super::flock::{LockName, Mode};
use super::format::split_list;
use super::net;
use super::options::{BOOT, NET, VM_OPTIONS};
use super::property::Parsed;
use super::ssh_keys::check_ssh_keys;
use super::vm::{Config, memory};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::{Millis, World, seconds as millis_of};

/// How long a configuration write waits for the VM's lock.
pub(crate) const LOCK_WAIT: Millis = 10_000;

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    Config(Box<ConfigChange>),
    /// Makes the cloud-init medium again.
    CloudInit,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfigChange {
    pub(crate) set: Config,
    pub(crate) delete: Vec<String>,
    pub(crate) revert: Vec<String>,
    /// Whether deleted drives lose their volumes.
    pub(crate) force: bool,
    pub(crate) digest: Option<String>,
}

/// A change that waits for its lock: in a task, or queued on behalf of a call that has its answer already.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    host: String,
    change: Change,
    lock: LockName,
    wait: Millis,
    /// The first line of the log.
    line: Option<String>,
    phase: u8,
    storages: Vec<String>,
    result: Option<Result<(), String>>,
}

impl Job {
    /// A change that a call has been answered for already.
    pub(crate) fn queued(lock: LockName, wait: Millis, context: Context, change: Change) -> Self {
        Self {
            id: context.vmid(),
            host: context.host,
            change,
            lock,
            wait,
            line: None,
            phase: 0,
            storages: Vec::new(),
            result: None,
        }
    }

    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        self.phase += 1;
        match self.phase {
            1 => {
                if let Some(line) = self.line.take() {
                    world.log(place.task, line);
                }
                Step::Lock(self.lock.clone(), Mode::Exclusive, self.wait)
            }
            2 if !self.storages.is_empty() => {
                // One after the other; a storage lock is released with the rest at the end.
                let storage = self.storages.remove(0);
                self.phase = 1;
                Step::Lock(world.storage_lock(&place.host, &storage), Mode::Exclusive, 10_000)
            }
            2 => {
                let applied = match &self.change {
                    Change::Config(change) => world.apply_change(&self.host, self.id, change, place.task),
                    Change::CloudInit => world.regenerate(&self.host, self.id).map(|()| 0),
                };
                match applied {
                    Ok(time) => {
                        self.result = Some(Ok(()));
                        Step::Sleep(time.max(world.timing.other))
                    }
                    Err(failure) => {
                        let time = failure.delay;
                        self.result = Some(Err(failure.into_task_error()));
                        Step::Sleep(time)
                    }
                }
            }
            _ => {
                world.end_copy(place.task);
                Step::Done(self.result.take().unwrap_or(Ok(())))
            }
        }
    }
}

/// `PUT …/config`: the caller waits for the end.
pub(crate) fn update_now(world: &mut World, context: &Context) -> Handled {
    let change = world.prepare(context)?;
    let lock = World::vm_lock(&context.host, context.vmid());
    world.change_locked(context, &lock, LOCK_WAIT, &Change::Config(Box::new(change)))
}

/// `POST …/config`: the same in a task.
pub(crate) fn update_later(world: &mut World, context: &Context) -> Handled {
    let change = world.prepare(context)?;
    let id = context.vmid();
    let hidden = ["node", "vmid", "digest", "background_delay", "import-working-storage", "skiplock"];
    let shown: Vec<String> = context
        .params
        .iter()
        .filter(|(key, _)| !hidden.contains(&key.as_str()))
        .map(|(key, value)| format!("-{key} {}", if key == "cipassword" { "<hidden>" } else { value }))
        .collect();
    let storages = allocated_storages(&change.set);
    let lock = World::vm_lock(&context.host, id);
    let job = Job {
        line: Some(format!("update VM {id}: {}", shown.join(" "))),
        storages,
        ..Job::queued(lock, LOCK_WAIT, context.clone(), Change::Config(Box::new(change)))
    };
    let job = AnyJob::Update(Box::new(job));
    let upid = world.fork(&context.host, "qmconfig", &id.to_string(), &context.user, job);
    match context.number::<u64>("background_delay") {
        Some(seconds) => answer_in_time(world, id, &upid, seconds),
        None => Ok(json!(upid).into()),
    }
}

/// A caller may ask to hear the result itself if it comes within some seconds, and the UPID only else.
fn answer_in_time(world: &World, id: u32, upid: &str, seconds: u64) -> Handled {
    let (mut future, deadline) = (world.clone(), world.later(millis_of(seconds)));
    while let Some(wake) = future.workers.next_wake().filter(|wake| *wake <= deadline) {
        future.run_until(wake);
        let exit = future.tasks.find(upid).and_then(|(_, task)| task.exit.clone());
        let delay = future.now - world.now;
        match exit.as_deref() {
            None => {}
            Some("OK") => return Ok(Outcome { delay, ..Outcome::null() }),
            Some(exit) => return Err(Failure::new(format!("failed to update VM {id}: {exit}")).after(delay)),
        }
    }
    Ok(Outcome { delay: millis_of(seconds), ..json!(upid).into() })
}

/// `PUT …/unlink`: deleting disks by another name.
pub(crate) fn unlink(world: &mut World, context: &Context) -> Handled {
    let mut context = context.clone();
    if let Some(list) = context.params.remove("idlist") {
        context.params.insert("delete".to_owned(), list);
    }
    update_now(world, &context)
}

fn allocated_storages(set: &Config) -> Vec<String> {
    let storages: BTreeSet<String> = set
        .iter()
        .filter_map(|(key, value)| {
            let drive = drive::grammar(key)?.parse(value).ok()?;
            match drive::source(drive::file(&drive)) {
                Source::New { storage, .. } | Source::CloudInit { storage } => Some(storage.to_owned()),
                _ => None,
            }
        })
        .collect();
    storages.into_iter().collect()
}

impl World {
    /// The checks that come before the lock: they are answered at once, whether a task is wanted or not.
    fn prepare(&mut self, context: &Context) -> Result<ConfigChange, Failure> {
        let (id, host) = (context.vmid(), context.host.as_str());
        if context.get("skiplock").is_some() && !context.is_root() {
            return Err(Failure::parameter("skiplock", "Only root may use this option."));
        }
        let set: Config = context
            .params
            .iter()
            .filter(|(key, _)| VM_OPTIONS.iter().any(|param| param.is(key)))
            .map(|(key, value)| (if key == "cdrom" { "ide2".to_owned() } else { key.clone() }, value.clone()))
            .collect();
        let list = |name: &str| -> Vec<String> {
            split_list(context.text(name)).map(|key| if key == "cdrom" { "ide2" } else { key }.to_owned()).collect()
        };
        let change = ConfigChange {
            set,
            delete: list("delete"),
            revert: list("revert"),
            force: context.flag("force"),
            digest: context.get("digest").map(str::to_owned),
        };
        if change.set.is_empty() && change.delete.is_empty() && change.revert.is_empty() {
            return Err(Failure::new("no options specified"));
        }
        if let Some(keys) = change.set.get("sshkeys") {
            check_ssh_keys(keys)?;
        }
        for key in &change.revert {
            if change.set.contains_key(key) {
                let text = format!("you can't use '-{key}' and '-revert {key}' at the same time");
                return Err(Failure::parameter("revert", text));
            }
        }
        for key in &change.delete {
            if change.set.contains_key(key) {
                let text = format!("you can't use '-{key}' and -delete {key}' at the same time");
                return Err(Failure::parameter("delete", text));
            }
            let known = VM_OPTIONS.iter().any(|param| param.is(key)) || drive::is_unused(key);
            if !known {
                return Err(Failure::parameter("delete", format!("unknown option '{key}'")));
            }
        }
        if let Some(script) = change.set.get("hookscript")
            && self.volume(host, script).is_none()
        {
            return Err(Failure::parameter("hookscript", format!("script '{script}' does not exist\n")));
        }
        self.check_keys(context, id, &change)?;
        let vm = self.vm(host, id)?;
        vm.check_digest(change.digest.as_deref())?;
        vm.check_lock()?;
        check_balloon(&vm.planned(), &change.set)?;
        Ok(change)
    }

    /// Carries out a change now, for a caller that waits.
    pub(crate) fn change(&mut self, context: &Context, lock: &LockName, change: &Change) -> Handled {
        let id = context.vmid();
        let applied = match change {
            Change::Config(change) => {
                for storage in allocated_storages(&change.set) {
                    let lock = self.storage_lock(&context.host, &storage);
                    if !self.flocks.is_free(&lock, Mode::Exclusive, u64::MAX) && !self.frees_within(&lock, 10_000) {
                        return Err(Failure::new(lock.timeout()).after(10_000));
                    }
                }
                self.apply_change(&context.host, id, change, None)
            }
            Change::CloudInit => self.regenerate(&context.host, id).map(|()| 0),
        };
        self.unreported = true;
        let time = applied.as_ref().map_or_else(|failure| failure.delay, |time| *time);
        if time > 0 {
            self.hold_lock(&context.host, lock, time);
        }
        match applied {
            // The proxy gives up after half a minute, the change goes on.
            _ if time > 30_000 => Err(Failure::bare(596, "Connection timed out", 30_000)),
            Ok(delay) => Ok(Outcome { delay, ..Outcome::null() }),
            Err(failure) => Err(failure),
        }
    }

    /// Whether a lock will be free in time if nobody interferes.
    pub(crate) fn frees_within(&self, lock: &LockName, wait: Millis) -> bool {
        let (mut future, deadline) = (self.clone(), self.later(wait));
        while !future.flocks.is_free(lock, Mode::Exclusive, u64::MAX) {
            match future.workers.next_wake().filter(|wake| *wake <= deadline) {
                Some(wake) => future.run_until(wake),
                None => return false,
            }
        }
        true
    }

    /// The heart of it, under the lock; tells how long it took beyond a moment.
    fn apply_change(
        &mut self,
        host: &str,
        id: u32,
        change: &ConfigChange,
        task: Option<u64>,
    ) -> Result<Millis, Failure> {
        let vm = self.vm(host, id)?;
        vm.check_digest(change.digest.as_deref())?;
        vm.check_lock()?;
        if !self.is_quorate() {
            let pid = self.hosts.get(host).map_or(0, |host| host.next_pid);
            let file = format!("/etc/pve/nodes/{host}/qemu-server/{id}.conf.tmp.{pid}");
            return Err(Failure::new(format!("unable to open file '{file}' - Permission denied")));
        }
        for key in &change.revert {
            self.forget_pending(host, id, key);
            self.vm_mut(host, id)?.pending_delete.remove(key);
        }
        for key in &change.delete {
            self.mark_deleted(host, id, key, change.force, task)?;
        }
        let mut time = 0;
        for (key, value) in &change.set {
            time += self.mark_set(host, id, key, value, task)?;
        }
        let vm = self.vm_mut(host, id)?;
        vm.pending.retain(|key, value| vm.config.get(key) != Some(value));
        vm.pending_delete.retain(|key, _| vm.config.contains_key(key));
        if vm.is_running() {
            let touched = change.set.keys().chain(&change.delete).cloned().chain(["boot".to_owned()]).collect();
            self.hotplug(host, id, &touched)?;
        } else {
            self.apply_pending(host, id);
        }
        Ok(time)
    }

    fn mark_deleted(&mut self, host: &str, id: u32, key: &str, force: bool, task: Option<u64>) -> Result<(), Failure> {
        let vm = self.vm_mut(host, id)?;
        if !vm.config.contains_key(key) && !vm.pending.contains_key(key) {
            let line = format!("cannot delete '{key}' - not set in current configuration!");
            self.log(task, line);
            return Ok(());
        }
        let protected = vm.config.get("protection").is_some_and(|value| value == "1");
        if protected && (drive::is_drive(key) || drive::is_unused(key)) {
            return Err(Failure::new(format!("can't remove drive '{key}' - protection mode enabled")));
        }
        if drive::is_unused(key) {
            if let Some(volid) = vm.config.remove(key) {
                self.free_volume(host, &volid);
            }
            return Ok(());
        }
        self.forget_pending(host, id, key);
        self.vm_mut(host, id)?.pending_delete.insert(key.to_owned(), force);
        Ok(())
    }

    fn mark_set(&mut self, host: &str, id: u32, key: &str, value: &str, task: Option<u64>) -> Result<Millis, Failure> {
        let mut time = 0;
        let value = if let Some(grammar) = drive::grammar(key) {
            let drive = grammar.parse(value)?;
            self.check_second_cloudinit(host, id, key, &drive)?;
            let disk = self.make_disk(host, task, id, key, &drive)?;
            if let Some(bytes) = disk.copy {
                time = self.begin_copy(task, bytes, 0);
                if key == "efidisk0" {
                    self.end_copy(task);
                }
            }
            if disk.made.is_some() {
                self.log(task, format!("{key}: successfully created disk '{}'", disk.stored));
            }
            if drive::is_cdrom(&drive) && !drive::is_cloudinit(&drive) {
                self.append_to_boot(host, id, key)?;
            }
            disk.stored
        } else {
            let planned = self.vm(host, id)?.planned();
            self.canonical(key, value, &planned)?
        };
        if self.vm(host, id)?.pending.get(key) != Some(&value) {
            self.forget_pending(host, id, key);
        }
        let vm = self.vm_mut(host, id)?;
        vm.pending_delete.remove(key);
        vm.pending.insert(key.to_owned(), value);
        Ok(time)
    }

    fn check_second_cloudinit(&self, host: &str, id: u32, key: &str, drive: &Parsed) -> Result<(), Failure> {
        if !drive::is_cloudinit(drive) {
            return Ok(());
        }
        let planned = self.vm(host, id)?.planned();
        let other = drive::all(&planned).into_iter().find(|(place, drive)| place != key && drive::is_cloudinit(drive));
        match other {
            Some((place, _)) => Err(Failure::new(format!("{key} - cloud-init drive is already attached at '{place}'"))),
            None => Ok(()),
        }
    }

    fn append_to_boot(&mut self, host: &str, id: u32, key: &str) -> Result<(), Failure> {
        let vm = self.vm_mut(host, id)?;
        let planned = vm.planned();
        let mut order = drive::boot_order(&planned);
        if !order.is_empty() && !order.iter().any(|device| device == key) {
            order.push(key.to_owned());
            vm.pending.insert("boot".to_owned(), format!("order={}", order.join(";")));
        }
        Ok(())
    }

    /// The form in which a plain key is stored.
    pub(crate) fn canonical(&mut self, key: &str, value: &str, planned: &Config) -> Result<String, Failure> {
        Ok(match key {
            "tags" => normal_tags(value),
            "description" => value.trim_end().to_owned(),
            "boot" => {
                let boot = BOOT.parse(value)?;
                if let Some(order) = boot.get("order") {
                    for device in order.split(';').filter(|device| !device.is_empty()) {
                        if !planned.contains_key(device) {
                            return Err(Failure::new(format!("invalid bootorder: device '{device}' does not exist'")));
                        }
                    }
                }
                BOOT.print(&boot)
            }
            _ if net::index(key).is_some() => {
                let mut card = NET.parse(value)?;
                if !card.contains_key("macaddr") {
                    card.insert("macaddr".to_owned(), self.random.mac(&self.mac_prefix));
                }
                net::print(&card)
            }
            _ => value.to_owned(),
        })
    }

    /// Writes the cloud-init medium again; without one nothing happens.
    fn regenerate(&mut self, host: &str, id: u32) -> Result<(), Failure> {
        let now = self.unix_time();
        let vm = self.vm(host, id)?;
        vm.check_lock()?;
        let medium = drive::all(&vm.config).into_iter().find(|(_, drive)| drive::is_cloudinit(drive));
        if let Some((_, drive)) = medium {
            self.change_volume(host, drive::file(&drive), |volume| {
                volume.ctime = now;
                volume.used = volume.used.max(462_848);
            });
        }
        Ok(())
    }
}

/// Lower case, each once, sorted, joined by semicolons; nothing at all reads back as a blank.
fn normal_tags(text: &str) -> String {
    let tags: BTreeSet<String> = split_list(text).map(str::to_lowercase).collect();
    if tags.is_empty() { " ".to_owned() } else { tags.into_iter().collect::<Vec<_>>().join(";") }
}

pub(crate) fn check_balloon(current: &Config, set: &Config) -> Result<(), Failure> {
    let Some(balloon) = set.get("balloon").and_then(|value| value.parse::<u64>().ok()) else {
        return Ok(());
    };
    let limit = if set.contains_key("memory") { memory(set) } else { memory(current) };
    if balloon > limit {
        return Err(Failure::new("balloon value too large (must be smaller than assigned memory)"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_sorted_and_each_stands_once() {
        assert_eq!(normal_tags("Talos,k8s;Worker  k8s"), "k8s;talos;worker");
        assert_eq!(normal_tags(""), " ");
    }
}
