//! `PUT …/resize`: every mistake is found inside the task.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled};
use super::drive;
use super::flock::Mode;
use super::format::{parse_size, print_size};
use super::storage::{Kind, file_name};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::World;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    id: u32,
    disk: String,
    size: String,
    digest: Option<String>,
    phase: u8,
}

pub(crate) fn resize(world: &mut World, context: &Context) -> Handled {
    if context.get("skiplock").is_some() && !context.is_root() {
        return Err(Failure::parameter("skiplock", "Only root may use this option."));
    }
    let id = context.vmid();
    let job = Job {
        id,
        disk: context.text("disk").to_owned(),
        size: context.text("size").to_owned(),
        digest: context.get("digest").map(str::to_owned),
        phase: 0,
    };
    Ok(json!(world.fork(&context.host, "resize", &id.to_string(), &context.user, AnyJob::Resize(job))).into())
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        self.phase += 1;
        match self.phase {
            1 => Step::Lock(World::vm_lock(&place.host, self.id), Mode::Exclusive, 10_000),
            2 => match self.resize(world, place) {
                Ok(()) => Step::Sleep(world.timing.other),
                Err(text) => Step::Done(Err(text)),
            },
            _ => Step::Done(Ok(())),
        }
    }

    fn resize(&self, world: &mut World, place: &Place) -> Result<(), String> {
        let (id, host, disk) = (self.id, place.host.as_str(), self.disk.as_str());
        let vm = world.vm(host, id)?;
        vm.check_digest(self.digest.as_deref())?;
        vm.check_lock()?;
        let running = vm.is_running();
        let grammar = drive::grammar(disk).ok_or_else(|| format!("disk '{disk}' does not exist"))?;
        let text = vm.config.get(disk).ok_or_else(|| format!("disk '{disk}' does not exist"))?;
        let mut parsed = grammar.parse(text)?;
        if drive::is_cdrom(&parsed) {
            return Err("you can't resize a cdrom".to_owned());
        }
        let volid = drive::file(&parsed).to_owned();
        let (storage_id, name) = volid.split_once(':').ok_or_else(|| format!("unable to parse volume ID '{volid}'"))?;
        world
            .require(&place.user, &format!("/storage/{storage_id}"), &["Datastore.AllocateSpace"])
            .map_err(Failure::into_task_error)?;
        let old = world.volume(host, &volid).ok_or_else(|| format!("volume '{volid}' does not exist"))?.size;
        let new = match self.size.strip_prefix('+') {
            Some(more) => parse_size(more).and_then(|more| old.checked_add(more)),
            None => parse_size(&self.size),
        };
        let new = new.ok_or_else(|| format!("unable to parse size '{}'", self.size))?;
        if new < old {
            return Err("shrinking disks is not supported".to_owned());
        }
        if new == old {
            return Ok(());
        }
        let storage = world.storage_on(host, storage_id)?;
        let (kind, path, format) =
            (storage.kind, storage.file_path(name), world.volume(host, &volid).map(|v| v.format.clone()));
        let format = format.unwrap_or_default();
        if kind == Kind::Dir && file_name(name).starts_with("base-") {
            // A base is immutable for everybody, and qemu-img finds that out.
            world.log(
                place.task,
                format!("qemu-img: Could not open '{path}': Could not open '{path}': Operation not permitted"),
            );
            let how = if format == "qcow2" { " '--preallocation=metadata'" } else { "" };
            return Err(format!(
                "command '/usr/bin/qemu-img resize{how} -f {format} {path} {new}' failed: exit code 1"
            ));
        }
        if !running {
            match kind {
                Kind::Dir => world.log(place.task, "Image resized."),
                Kind::LvmThin => {
                    world.log(
                        place.task,
                        format!("  Logical volume {}/{name} successfully resized.", storage.path.clone()),
                    );
                }
                Kind::ZfsPool => {}
            }
        }
        world.change_volume(host, &volid, |volume| volume.size = kind.round(new));
        parsed.insert("size".to_owned(), print_size(new));
        let stored = grammar.print(&parsed);
        let vm = world.vm_mut(host, id)?;
        vm.config.insert(disk.to_owned(), stored);
        Ok(())
    }
}
