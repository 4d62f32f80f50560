//! `DELETE …/qemu/{vmid}`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::vm::Config;
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    purge: bool,
    unreferenced: bool,
    phase: u8,
    volumes: Vec<String>,
}

pub(crate) fn destroy(world: &mut World, context: &Context) -> Handled {
    let (id, host) = (context.vmid(), context.host.as_str());
    if context.get("skiplock").is_some() && !context.is_root() {
        return Err(Failure::parameter("skiplock", "Only root may use this option."));
    }
    let purge = context.flag("purge");
    let vm = world.vm(host, id)?;
    if vm.config.get("protection").is_some_and(|value| value == "1") {
        return Err(Failure::new(format!("can't remove VM {id} - protection mode enabled")));
    }
    if vm.ha_managed && !purge {
        let text = format!("unable to remove VM {id} - used in HA resources and purge parameter not set.");
        return Err(Failure::new(text));
    }
    if vm.is_running() {
        return Err(Failure::new(format!("VM {id} is running - destroy failed")));
    }
    let unreferenced = context.flag("destroy-unreferenced-disks");
    let job = AnyJob::Destroy(Job { id, purge, unreferenced, phase: 0, volumes: Vec::new() });
    Ok(json!(world.fork(host, "qmdestroy", &id.to_string(), &context.user, job)).into())
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        let (id, host) = (self.id, place.host.as_str());
        if let Event::LockTimeout(text) = &event
            && self.phase > 2
        {
            // A volume that cannot be freed stays behind; the VM goes all the same.
            let volid = self.volumes.remove(0);
            world.warn(place.task, &format!("Could not remove disk '{volid}', check manually: {text}"));
        } else if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        match self.phase {
            0 => {
                self.phase = 1;
                Step::Lock(World::vm_lock(host, id), Mode::Exclusive, 10_000)
            }
            1 => {
                self.phase = 2;
                match self.check(world, host) {
                    Ok(()) => Step::Sleep(world.timing.other),
                    Err(text) => Step::Done(Err(text)),
                }
            }
            2 => {
                self.phase = 3;
                self.next_volume(world, place)
            }
            3 => {
                if !self.volumes.is_empty() {
                    let volid = self.volumes.remove(0);
                    free(world, place, &volid);
                }
                self.next_volume(world, place)
            }
            _ => {
                self.remove(world, place);
                Step::Done(Ok(()))
            }
        }
    }

    fn check(&mut self, world: &World, host: &str) -> Result<(), String> {
        let vm = world.vm(host, self.id)?;
        vm.check_lock()?;
        if vm.is_running() {
            return Err(format!("VM {} is running - destroy failed", self.id));
        }
        let mut volumes: BTreeSet<String> = BTreeSet::new();
        let configs = std::iter::once(&vm.config)
            .chain(std::iter::once(&vm.pending))
            .chain(vm.snapshots.values().map(|snapshot| &snapshot.config));
        for config in configs {
            volumes.extend(owned_volumes(world, host, self.id, config));
        }
        // Disks are looked at from the last key to the first, so the system disk is named before the firmware's.
        for volid in volumes.iter().rev() {
            if world.is_base_of_another(host, volid) {
                return Err(format!("base volume '{volid}' is still in use by linked cloned"));
            }
        }
        if self.unreferenced {
            volumes.extend(world.volumes_of(host, self.id));
        }
        self.volumes = volumes.into_iter().collect();
        Ok(())
    }

    fn next_volume(&mut self, world: &mut World, place: &Place) -> Step {
        let Some(volid) = self.volumes.first() else {
            self.phase = 4;
            // Nothing is left of it but its number.
            if let Some(vm) = world.vms.get_mut(&self.id) {
                vm.config = Config::from([("lock".to_owned(), "destroyed".to_owned())]);
            }
            return Step::Sleep(world.timing.allocate);
        };
        let storage = volid.split_once(':').map_or("", |(storage, _)| storage);
        Step::Lock(world.storage_lock(&place.host, storage), Mode::Exclusive, 10_000)
    }

    fn remove(&self, world: &mut World, place: &Place) {
        let id = self.id;
        let path = format!("/vms/{id}");
        world.access.rules.retain(|rule| rule.path != path);
        for pool in world.access.pools.values_mut() {
            pool.vms.remove(&id);
        }
        if self.purge {
            world.log(place.task, format!("purging VM {id} from related configurations.."));
        }
        world.vms.remove(&id);
    }
}

/// Frees a volume, or warns that it stays.
fn free(world: &mut World, place: &Place, volid: &str) {
    let storage = volid.split_once(':').map_or("", |(storage, _)| storage);
    match world.storage_on(&place.host, storage).map(|_| ()) {
        Ok(()) => {
            world.free_volume(&place.host, volid);
        }
        Err(text) => world.warn(place.task, &format!("Could not remove disk '{volid}', check manually: {text}")),
    }
    let lock = world.storage_lock(&place.host, storage);
    world.flocks.release(&lock, place.worker);
}

fn owned_volumes(world: &World, host: &str, id: u32, config: &Config) -> Vec<String> {
    let attached = drive::all(config).into_iter().map(|(_, drive)| drive::file(&drive).to_owned());
    let unused = config.iter().filter(|(key, _)| drive::is_unused(key)).map(|(_, volid)| volid.clone());
    attached
        .chain(unused)
        .filter(|volid| {
            let owner = world.volume(host, volid).map(|volume| volume.owner == Some(id));
            // A storage that is gone is still named, so that the log can tell what stays behind.
            owner.unwrap_or_else(|| volid.contains(&format!("-{id}-")))
        })
        .collect()
}
