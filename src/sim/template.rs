//! `POST …/template`: a VM becomes a template, its disks bases for linked clones.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    /// Only this disk.
    disk: Option<String>,
    phase: u8,
}

pub(crate) fn template(world: &mut World, context: &Context) -> Handled {
    let (id, host) = (context.vmid(), context.host.as_str());
    let disk = context.get("disk").map(str::to_owned);
    check(world, host, id, disk.as_deref())?;
    let job = AnyJob::Template(Job { id, disk, phase: 0 });
    Ok(json!(world.fork(host, "qmtemplate", &id.to_string(), &context.user, job)).into())
}

fn check(world: &World, host: &str, id: u32, disk: Option<&str>) -> Result<(), Failure> {
    let vm = world.vm(host, id)?;
    vm.check_lock()?;
    if !vm.snapshots.is_empty() {
        return Err(Failure::new("unable to create template, because VM contains snapshots"));
    }
    if vm.is_template() && disk.is_none() {
        return Err(Failure::new("you can't convert a template to a template"));
    }
    if vm.is_running() {
        return Err(Failure::new("you can't convert a VM to template if VM is running"));
    }
    Ok(())
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        let host = place.host.as_str();
        self.phase += 1;
        match self.phase {
            1 => Step::Lock(World::vm_lock(host, self.id), Mode::Exclusive, 10_000),
            2 => {
                if let Err(failure) = check(world, host, self.id, self.disk.as_deref()) {
                    return Step::Done(Err(failure.into_task_error()));
                }
                // The flag comes first: a failure half-way leaves a template with plain disks.
                if let Some(vm) = world.vms.get_mut(&self.id) {
                    vm.config.insert("template".to_owned(), "1".to_owned());
                }
                Step::Sleep(world.timing.allocate)
            }
            _ => {
                self.convert(world, host);
                Step::Done(Ok(()))
            }
        }
    }

    fn convert(&self, world: &mut World, host: &str) {
        let Some(config) = world.vms.get(&self.id).map(|vm| vm.config.clone()) else {
            return;
        };
        for (key, mut drive) in drive::all(&config) {
            let wanted = self.disk.as_ref().is_none_or(|disk| *disk == key);
            if !wanted || drive::is_cdrom(&drive) {
                continue;
            }
            let base = world.make_base(host, drive::file(&drive));
            drive.insert("file".to_owned(), base);
            if let (Some(grammar), Some(vm)) = (drive::grammar(&key), world.vms.get_mut(&self.id)) {
                vm.config.insert(key, grammar.print(&drive));
            }
        }
    }
}
