//! Start, stop, shutdown, reboot, reset, suspend, resume. Each holds the VM's lock for its whole duration.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::net;
use super::options::{CICUSTOM, MACHINE};
use super::vm::{Config, Power, Vm, cpus, family, has_agent, memory_bytes};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::{Millis, World, seconds};

/// The QEMU that the hosts have.
pub(crate) const QEMU: &str = "11.1.2";

/// How long the server waits for a guest agent's answer.
const AGENT_WAIT: Millis = 3000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Stop,
    Shutdown,
    Reboot,
    Reset,
    Suspend,
    Resume,
    /// Only asks the HA manager, which starts or stops later.
    HaStart,
    HaStop,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    action: Action,
    phase: u8,
    /// Milliseconds that the guest has for shutting down.
    timeout: Millis,
    force_stop: bool,
    /// Whether running shutdown tasks of the VM are ended first.
    overrule: bool,
    fatal: Option<String>,
}

impl Job {
    fn new(id: u32, action: Action) -> Self {
        Self { id, action, phase: 0, timeout: 60_000, force_stop: false, overrule: false, fatal: None }
    }

    pub(crate) fn start(id: u32) -> Self {
        Self::new(id, Action::Start)
    }
}

fn root_only(context: &Context, names: &[&str]) -> Result<(), Failure> {
    match names.iter().find(|name| context.get(name).is_some() && !context.is_root()) {
        Some(name) => Err(Failure::parameter(name, "Only root may use this option.")),
        None => Ok(()),
    }
}

fn begin(world: &mut World, context: &Context, kind: &str, job: Job) -> Handled {
    let id = job.id.to_string();
    Ok(json!(world.fork(&context.host, kind, &id, &context.user, AnyJob::Power(job))).into())
}

fn is_ha_managed(world: &World, context: &Context) -> bool {
    world.vms.get(&context.vmid()).is_some_and(|vm| vm.ha_managed)
}

pub(crate) fn start(world: &mut World, context: &Context) -> Handled {
    let names =
        ["skiplock", "stateuri", "migratedfrom", "migration_type", "migration_network", "targetstorage", "force-cpu"];
    root_only(context, &names)?;
    world.check_quorum()?;
    if is_ha_managed(world, context) {
        return begin(world, context, "hastart", Job::new(context.vmid(), Action::HaStart));
    }
    begin(world, context, "qmstart", Job::new(context.vmid(), Action::Start))
}

pub(crate) fn stop(world: &mut World, context: &Context) -> Handled {
    root_only(context, &["skiplock", "keepActive", "migratedfrom"])?;
    let overrule = context.flag("overrule-shutdown");
    if is_ha_managed(world, context) {
        if overrule {
            return Err(Failure::parameter("overrule-shutdown", "can't overrule shutdown of HA resource"));
        }
        return begin(world, context, "hastop", Job::new(context.vmid(), Action::HaStop));
    }
    begin(world, context, "qmstop", Job { overrule, ..Job::new(context.vmid(), Action::Stop) })
}

pub(crate) fn shutdown(world: &mut World, context: &Context) -> Handled {
    root_only(context, &["skiplock", "keepActive"])?;
    let id = context.vmid();
    if let Some(vm) = world.vms.get(&id)
        && matches!(vm.power, Power::Running { paused: true, .. })
        && !context.flag("forceStop")
    {
        return Err(Failure::new("VM is paused - cannot shutdown"));
    }
    if is_ha_managed(world, context) {
        return begin(world, context, "hastop", Job::new(id, Action::HaStop));
    }
    let job = Job {
        timeout: seconds(context.number("timeout").unwrap_or_else(|| down_time(world, id))),
        force_stop: context.flag("forceStop"),
        ..Job::new(id, Action::Shutdown)
    };
    begin(world, context, "qmshutdown", job)
}

/// Seconds that `startup: down=` grants.
fn down_time(world: &World, id: u32) -> u64 {
    let startup = world.vms.get(&id).and_then(|vm| vm.config.get("startup"));
    startup
        .and_then(|startup| startup.split(',').find_map(|part| part.strip_prefix("down=")?.parse().ok()))
        .unwrap_or(60)
}

/// Calls that are refused at once when the VM is off.
fn of_running(world: &mut World, context: &Context, kind: &str, action: Action) -> Handled {
    root_only(context, &["skiplock", "nocheck"])?;
    let id = context.vmid();
    if !world.vm_process(&context.host, id)?.is_running() {
        return Err(Failure::new(format!("VM {id} not running")));
    }
    let timeout = seconds(context.number("timeout").unwrap_or(60));
    begin(world, context, kind, Job { timeout, ..Job::new(id, action) })
}

pub(crate) fn reboot(world: &mut World, context: &Context) -> Handled {
    of_running(world, context, "qmreboot", Action::Reboot)
}

pub(crate) fn reset(world: &mut World, context: &Context) -> Handled {
    of_running(world, context, "qmreset", Action::Reset)
}

pub(crate) fn suspend(world: &mut World, context: &Context) -> Handled {
    of_running(world, context, "qmpause", Action::Suspend)
}

pub(crate) fn resume(world: &mut World, context: &Context) -> Handled {
    of_running(world, context, "qmresume", Action::Resume)
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        if self.phase == 0 {
            self.phase = 1;
            if self.overrule {
                self.end_shutdowns(world, place);
            }
            if matches!(self.action, Action::HaStart | Action::HaStop) {
                return self.ask_ha_manager(world, place);
            }
            return Step::Lock(World::vm_lock(&place.host, self.id), Mode::Exclusive, 10_000);
        }
        match self.action {
            Action::Start => self.step_start(world, place),
            Action::Stop => self.step_stop(world, place),
            Action::Shutdown | Action::Reboot => self.step_shutdown(world, place),
            Action::Reset | Action::Suspend | Action::Resume => self.step_small(world, place),
            Action::HaStart | Action::HaStop => Step::Done(Ok(())),
        }
    }

    /// The task is done when the request is written; the manager acts at its next round.
    fn ask_ha_manager(&mut self, world: &mut World, place: &Place) -> Step {
        let (verb, kind, action) = match self.action {
            Action::HaStart => ("start", "qmstart", Action::Start),
            _ => ("stop", "qmstop", Action::Stop),
        };
        world.log(place.task, format!("Requesting HA {verb} for VM {}", self.id));
        let task = world.new_task(&place.host, kind, &self.id.to_string(), "root@pam");
        let job = AnyJob::Power(Self::new(self.id, action));
        world.spawn(&place.host, Some(task), "root@pam", job, 5000);
        Step::Done(Ok(()))
    }

    fn end_shutdowns(&self, world: &mut World, place: &Place) {
        let about = self.id.to_string();
        let running: Vec<(u64, String)> = world
            .tasks
            .all
            .values()
            .filter(|task| task.exit.is_none() && task.kind == "qmshutdown" && task.about == about)
            .map(|task| (task.worker, task.upid()))
            .collect();
        if running.is_empty() {
            return;
        }
        let upids: Vec<&str> = running.iter().map(|(_, upid)| upid.as_str()).collect();
        world.log(place.task, format!("overruled qmshutdown tasks: {}", upids.join(", ")));
        for (worker, _) in running {
            world.resume(worker, Some(Event::Interrupted));
        }
    }

    fn step_start(&mut self, world: &mut World, place: &Place) -> Step {
        let (id, host) = (self.id, place.host.as_str());
        if self.phase == 1 {
            self.phase = 2;
            return match self.prepare_start(world, place) {
                Ok(()) => Step::Sleep(world.timing.start),
                Err(text) => Step::Done(Err(text)),
            };
        }
        if let Some(text) = self.fatal.take() {
            return Step::Done(Err(text));
        }
        let (pid, since) = (world.fork_pid(host), world.now);
        match world.vm_mut(host, id) {
            Ok(vm) => {
                vm.power = Power::Running { pid, since, paused: false };
                Step::Done(Ok(()))
            }
            Err(text) => Step::Done(Err(text)),
        }
    }

    fn prepare_start(&mut self, world: &mut World, place: &Place) -> Result<(), String> {
        let (id, host) = (self.id, place.host.as_str());
        let vm = world.vm(host, id)?;
        if vm.is_template() {
            return Err("you can't start a vm if it's a template".to_owned());
        }
        vm.check_lock()?;
        if vm.is_running() {
            return Err(format!("VM {id} already running"));
        }
        world.apply_pending(host, id);
        let config = world.vm(host, id)?.config.clone();
        let medium = drive::all(&config).into_iter().find(|(_, drive)| drive::is_cloudinit(drive));
        if let Some((_, drive)) = medium {
            check_snippets(world, host, &config)?;
            check_addresses(&config)?;
            world.log(place.task, "generating cloud-init ISO");
            let now = world.unix_time();
            world.change_volume(host, drive::file(&drive), |volume| {
                volume.ctime = now;
                volume.used = volume.used.max(462_848);
            });
        }
        warn(world, place, &config);
        check_hardware(world, host, &config)?;
        if memory_bytes(&config) > world.hosts.get(host).map_or(u64::MAX, |host| host.memory) {
            world.log(place.task, "kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory");
            self.fatal = Some("start failed: QEMU exited with code 1".to_owned());
        }
        Ok(())
    }

    fn step_stop(&mut self, world: &mut World, place: &Place) -> Step {
        let (id, host) = (self.id, place.host.as_str());
        let vm = match world.vm_process(host, id) {
            Ok(vm) => vm,
            Err(text) => return Step::Done(Err(text)),
        };
        if !vm.is_running() {
            return Step::Done(Ok(()));
        }
        if self.phase == 1 {
            if let Err(text) = vm.check_lock() {
                return Step::Done(Err(text));
            }
            self.phase = 2;
            return Step::Sleep(world.timing.stop);
        }
        world.power_off(host, id);
        Step::Done(Ok(()))
    }

    fn step_shutdown(&mut self, world: &mut World, place: &Place) -> Step {
        let (id, host, now) = (self.id, place.host.as_str(), world.now);
        let vm = match world.vm_process(host, id) {
            Ok(vm) => vm,
            Err(text) => return Step::Done(Err(text)),
        };
        if !vm.is_running() {
            return Step::Done(Ok(()));
        }
        let (agent, answers) = (has_agent(&vm.config), vm.guest.agent && vm.listens(now));
        let obeys = vm.guest.obeys && vm.listens(now);
        match self.phase {
            1 if agent && !answers => {
                self.phase = 2;
                Step::Sleep(AGENT_WAIT)
            }
            1 | 2 => {
                if self.phase == 2 {
                    let text = format!("VM {id} qga command 'guest-ping' failed - got timeout");
                    world.log(place.task, format!("QEMU Guest Agent is not running - {text}"));
                }
                self.phase = if obeys { 3 } else { 4 };
                Step::Sleep(if obeys { world.timing.shutdown } else { self.timeout })
            }
            4 if !self.force_stop => Step::Done(Err("VM quit/powerdown failed - got timeout".to_owned())),
            phase => {
                if phase == 4 {
                    world.log(place.task, "VM quit/powerdown failed - terminating now with SIGTERM");
                }
                world.power_off(host, id);
                if self.action == Action::Reboot {
                    // Another daemon notices the end of the process and starts it again; this task is over by then.
                    world.spawn(host, None, "root@pam", AnyJob::Power(Self::start(id)), 1000);
                }
                Step::Done(Ok(()))
            }
        }
    }

    fn step_small(&mut self, world: &mut World, place: &Place) -> Step {
        let now = world.now;
        let vm = match world.vm_mut(&place.host, self.id) {
            Ok(vm) => vm,
            Err(text) => return Step::Done(Err(text)),
        };
        if let Err(text) = vm.check_lock() {
            return Step::Done(Err(text));
        }
        let Power::Running { since, paused, .. } = &mut vm.power else {
            return Step::Done(Err(format!("VM {} not running", self.id)));
        };
        match self.action {
            Action::Suspend => *paused = true,
            Action::Resume => *paused = false,
            _ => *since = now,
        }
        Step::Done(Ok(()))
    }
}

/// What makes a start succeed with warnings.
fn warn(world: &mut World, place: &Place, config: &Config) {
    let single = config.get("scsihw").is_some_and(|controller| controller == "virtio-scsi-single");
    for (key, drive) in drive::all(config) {
        let useless = key.starts_with("scsi") && !single && drive.get("iothread").is_some_and(|value| value == "1");
        if useless {
            let text = "iothread is only valid with virtio disk or virtio-scsi-single controller, ignoring";
            world.warn(place.task, text);
        }
        let keys = drive.get("pre-enrolled-keys").is_some_and(|value| value == "1");
        if key == "efidisk0" && keys && drive.get("ms-cert").is_none_or(|cert| cert != "2023k") {
            world.warn(place.task, "EFI disk without 'ms-cert=2023k' option, suggesting that the Microsoft UEFI 2023 certificate is not enrolled yet.");
        }
    }
    if config.get("bios").is_some_and(|bios| bios == "ovmf") && !config.contains_key("efidisk0") {
        world.warn(place.task, "no efidisk configured! Using temporary efivars disk.");
    }
}

fn check_snippets(world: &World, host: &str, config: &Config) -> Result<(), String> {
    let custom = config.get("cicustom").and_then(|custom| CICUSTOM.parse(custom).ok()).unwrap_or_default();
    for volid in custom.values() {
        let storage = volid.split_once(':').map_or("", |(storage, _)| storage);
        if !world.storages.contains_key(storage) {
            return Err(format!("storage '{storage}' does not exist"));
        }
        if world.volume(host, volid).is_none() {
            return Err(format!("volume '{volid}' does not exist"));
        }
    }
    Ok(())
}

/// `manual` passes the API, but nothing can be made of it.
fn check_addresses(config: &Config) -> Result<(), String> {
    let manual = family(config, "ipconfig")
        .into_values()
        .any(|value| value.split(',').any(|part| matches!(part, "ip=manual" | "ip6=manual")));
    if manual { Err("not a CIDR: manual".to_owned()) } else { Ok(()) }
}

fn check_hardware(world: &World, host: &str, config: &Config) -> Result<(), String> {
    let machine = config.get("machine").and_then(|machine| MACHINE.parse(machine).ok()).unwrap_or_default();
    if let Some(kind) = machine.get("type")
        && let Some(version) =
            kind.rsplit('-').next().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    {
        let numbers =
            |text: &str| -> Vec<u32> { text.split(['.', '+']).take(2).map(|part| part.parse().unwrap_or(0)).collect() };
        if numbers(version) > numbers(QEMU) {
            return Err(format!(
                "Installed QEMU version '{QEMU}' is too old to run machine type '{kind}+pve0', please upgrade node '{host}'"
            ));
        }
    }
    for (_, drive) in drive::all(config) {
        let volid = drive::file(&drive);
        if volid.contains(':') && world.volume(host, volid).is_none() {
            return Err(format!("volume '{volid}' does not exist"));
        }
    }
    let most = world.hosts.get(host).map_or(0, |host| host.cpus);
    if cpus(config) > u64::from(most) {
        return Err(format!("MAX {most} vcpus allowed per VM on this node"));
    }
    let bridges = world.hosts.get(host).map(|host| host.bridges.clone()).unwrap_or_default();
    for (_, card) in net::cards(config) {
        if let Some(bridge) = card.get("bridge").filter(|bridge| !bridges.contains(bridge)) {
            return Err(format!("bridge '{bridge}' does not exist"));
        }
    }
    Ok(())
}

/// What the server does after a VM's process is gone: it takes the VM's lock, and when the VM runs again by then it
/// waits for its end, up to half a minute, with the lock in hand (`qm cleanup`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cleanup {
    id: u32,
    phase: u8,
}

impl Cleanup {
    pub(crate) fn step(&mut self, world: &World, place: &Place, event: &Event) -> Step {
        if *event != Event::Go {
            return Step::Done(Ok(()));
        }
        self.phase += 1;
        match self.phase {
            1 => Step::Lock(World::vm_lock(&place.host, self.id), Mode::Exclusive, 60_000),
            // It looks once a second.
            2..=31 if world.vms.get(&self.id).is_some_and(Vm::is_running) => Step::Sleep(1000),
            _ => Step::Done(Ok(())),
        }
    }
}

impl World {
    /// The process ends: what was pending becomes true, and the server tidies up a moment later.
    pub(crate) fn power_off(&mut self, host: &str, id: u32) {
        if let Ok(vm) = self.vm_mut(host, id) {
            vm.power = Power::Stopped;
        }
        self.apply_pending(host, id);
        self.spawn(host, None, "root@pam", AnyJob::Cleanup(Cleanup { id, phase: 0 }), 1000);
    }
}
