//! Snapshots, as far as their configuration goes: a template must not have any.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::vm::Snapshot;
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    name: String,
    description: String,
    delete: bool,
    phase: u8,
}

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm(&context.host, context.vmid())?;
    let mut rows: Vec<Value> = vm
        .snapshots
        .iter()
        .map(|(name, snapshot)| {
            let mut row =
                json!({ "name": name, "description": snapshot.description, "snaptime": snapshot.time, "vmstate": 0 });
            if let (Some(parent), Some(row)) = (snapshot.config.get("parent"), row.as_object_mut()) {
                row.insert("parent".to_owned(), json!(parent));
            }
            row
        })
        .collect();
    let mut current = json!({
        "name": "current",
        "description": "You are here!",
        "digest": vm.digest(),
        "running": u8::from(vm.is_running()),
    });
    if let (Some(parent), Some(row)) = (vm.config.get("parent"), current.as_object_mut()) {
        row.insert("parent".to_owned(), json!(parent));
    }
    rows.push(current);
    Ok(Value::Array(rows).into())
}

pub(crate) fn create(world: &mut World, context: &Context) -> Handled {
    let name = context.text("snapname").to_owned();
    if matches!(name.as_str(), "current" | "pending") {
        return Err(Failure::new(format!("unable to use snapshot name '{name}' (reserved name)")));
    }
    begin(world, context, "qmsnapshot", name, false)
}

pub(crate) fn delete(world: &mut World, context: &Context) -> Handled {
    let name = context.text("snapname").to_owned();
    begin(world, context, "qmdelsnapshot", name, true)
}

fn begin(world: &mut World, context: &Context, kind: &str, name: String, delete: bool) -> Handled {
    let id = context.vmid();
    let job = Job { id, name, description: context.text("description").to_owned(), delete, phase: 0 };
    Ok(json!(world.fork(&context.host, kind, &id.to_string(), &context.user, AnyJob::Snapshot(job))).into())
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        self.phase += 1;
        match self.phase {
            1 => Step::Lock(World::vm_lock(&place.host, self.id), Mode::Exclusive, 10_000),
            2 => Step::Sleep(world.timing.allocate),
            _ => Step::Done(if self.delete { self.delete(world, place) } else { self.create(world, place) }),
        }
    }

    fn create(&self, world: &mut World, place: &Place) -> Result<(), String> {
        let time = world.unix_time();
        let vm = world.vm_mut(&place.host, self.id)?;
        vm.check_lock()?;
        if vm.is_template() {
            return Err("you can't take a snapshot of a template".to_owned());
        }
        if vm.snapshots.contains_key(&self.name) {
            return Err(format!("snapshot name '{}' already used", self.name));
        }
        let snapshot = Snapshot { config: vm.config.clone(), time, description: self.description.clone() };
        vm.snapshots.insert(self.name.clone(), snapshot);
        vm.config.insert("parent".to_owned(), self.name.clone());
        let drives = drive::all(&vm.config);
        // The system disk's turn comes before the firmware's.
        for (key, drive) in drives.iter().rev().filter(|(_, drive)| !drive::is_cdrom(drive)) {
            world.log(place.task, format!("snapshotting 'drive-{key}' ({})", drive::file(drive)));
        }
        Ok(())
    }

    fn delete(&self, world: &mut World, place: &Place) -> Result<(), String> {
        let vm = world.vm_mut(&place.host, self.id)?;
        vm.check_lock()?;
        let gone = vm.snapshots.remove(&self.name).ok_or_else(|| format!("snapshot '{}' does not exist", self.name))?;
        let parent = gone.config.get("parent").cloned();
        let configs = std::iter::once(&mut vm.config).chain(vm.snapshots.values_mut().map(|other| &mut other.config));
        for config in configs.filter(|config| config.get("parent") == Some(&self.name)) {
            match &parent {
                Some(parent) => config.insert("parent".to_owned(), parent.clone()),
                None => config.remove("parent"),
            };
        }
        Ok(())
    }
}
