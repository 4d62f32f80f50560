//! `POST …/move_disk` to another storage.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::format::print_size;
use super::storage::{Kind, Wanted};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    disk: String,
    storage: String,
    format: Option<String>,
    delete: bool,
    limit: u64,
    phase: u8,
    /// The volume that was there, and the one that is made.
    old: String,
    new: String,
}

pub(crate) fn move_disk(world: &mut World, context: &Context) -> Handled {
    let (id, host) = (context.vmid(), context.host.as_str());
    let Some(storage) = context.get("storage").map(str::to_owned) else {
        return Err(Failure::parameter("storage", "a storage is needed: the simulator moves no disk to another VM"));
    };
    world.require(&context.user, &format!("/storage/{storage}"), &["Datastore.AllocateSpace"])?;
    world.storage_on(host, &storage)?;
    let vm = world.vm(host, id)?;
    if let Some(digest) = context.get("digest")
        && digest != vm.digest()
    {
        return Err(Failure::new("detected modified configuration - file changed by other user? Try again."));
    }
    vm.check_lock()?;
    let disk = context.text("disk").to_owned();
    let missing = || format!("disk '{disk}' does not exist");
    let text = vm.config.get(&disk).ok_or_else(missing)?;
    let parsed = drive::grammar(&disk).and_then(|grammar| grammar.parse(text).ok()).ok_or_else(missing)?;
    if drive::is_cdrom(&parsed) {
        return Err(Failure::new("you can't move a cdrom"));
    }
    let old = drive::file(&parsed).to_owned();
    let own_format = world.volume(host, &old).map(|volume| volume.format.clone());
    let format = context.get("format").map(str::to_owned);
    if old.split_once(':').is_some_and(|(own, _)| own == storage) && (format.is_none() || format == own_format) {
        return Err(Failure::new("you can't move to the same storage with same format"));
    }
    let job = Job {
        id,
        disk,
        storage,
        format,
        delete: context.flag("delete"),
        limit: context.number("bwlimit").unwrap_or(0),
        phase: 0,
        old,
        new: String::new(),
    };
    Ok(json!(world.fork(host, "qmmove", &id.to_string(), &context.user, AnyJob::Move(job))).into())
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        let host = place.host.as_str();
        if let Err(text) = failed(event) {
            if !self.new.is_empty() {
                world.end_copy(place.task);
                world.free_volume(host, &self.new);
                return Step::Done(Err(format!("storage migration failed: {text}")));
            }
            return Step::Done(Err(text));
        }
        self.phase += 1;
        match self.phase {
            1 => Step::Lock(World::vm_lock(host, self.id), Mode::Exclusive, 10_000),
            2 => Step::Lock(world.storage_lock(host, &self.storage), Mode::Exclusive, 10_000),
            3 => match self.begin(world, place) {
                Ok(time) => Step::Sleep(time),
                Err(text) => Step::Done(Err(format!("storage migration failed: {text}"))),
            },
            _ => {
                world.end_copy(place.task);
                self.finish(world, place);
                Step::Done(Ok(()))
            }
        }
    }

    fn begin(&mut self, world: &mut World, place: &Place) -> Result<u64, String> {
        let host = place.host.as_str();
        let from = self.old.split_once(':').map_or("", |(storage, _)| storage).to_owned();
        let source =
            world.volume(host, &self.old).ok_or_else(|| format!("volume '{}' does not exist", self.old))?.clone();
        world.log(
            place.task,
            format!("copying volume '{}' from current storage '{from}' to target storage '{}'", self.old, self.storage),
        );
        world.log(place.task, format!("create full clone of drive {} ({})", self.disk, self.old));
        let kind = world.storages.get(&self.storage).map(|storage| storage.kind);
        let format = self.format.clone().or_else(|| (kind == Some(Kind::Dir)).then(|| source.format.clone()));
        let wanted = Wanted {
            storage: &self.storage,
            id: self.id,
            format: format.as_deref(),
            bytes: source.size,
            name: None,
            written: source.used,
        };
        let made = world.allocate(host, wanted)?;
        world.log_made(place.task, &made);
        world.log(place.task, format!("allocated target volume '{}'", made.volid));
        self.new = made.volid;
        Ok(world.begin_copy(place.task, source.size, self.limit))
    }

    fn finish(&self, world: &mut World, place: &Place) {
        let host = place.host.as_str();
        let size = world.volume(host, &self.new).map_or(0, |volume| volume.size);
        if let (Some(grammar), Some(vm)) = (drive::grammar(&self.disk), world.vms.get_mut(&self.id))
            && let Some(text) = vm.config.get(&self.disk)
        {
            let mut parsed = grammar.parse(text).unwrap_or_default();
            parsed.insert("file".to_owned(), self.new.clone());
            parsed.insert("size".to_owned(), print_size(size));
            vm.config.insert(self.disk.clone(), grammar.print(&parsed));
            if !self.delete {
                let free = (0..256).map(|number| format!("unused{number}")).find(|key| !vm.config.contains_key(key));
                vm.config.extend(free.map(|key| (key, self.old.clone())));
            }
        }
        if self.delete {
            world.log(place.task, format!("removing source volume '{}' after successful copy", self.old));
            world.free_volume(host, &self.old);
        }
    }
}
