//! Making a disk out of what a drive's parameter asks for (`PVE/API2/Qemu.pm: create_disks`).

use super::call::{Context, Failure};
use super::drive::{self, Source};
use super::format::print_size;
use super::property::Parsed;
use super::storage::{Kind, Made, Wanted};
use super::task::{Copy, Style};
use super::world::{Millis, World};

/// Bytes of the firmware's variables.
fn firmware_size(drive: &Parsed) -> u64 {
    if drive.get("efitype").is_some_and(|kind| kind == "4m") { 540_672 } else { 131_072 }
}

/// What the server takes for a TPM's state, and for a cloud-init medium.
pub(crate) const FOUR_MIB: u64 = 4 << 20;

/// A disk that was made, or only looked up.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// The drive as it stands in the configuration.
    pub(crate) stored: String,
    /// The volume that was made for it.
    pub(crate) made: Option<String>,
    /// Bytes that have to be copied into it, with progress lines.
    pub(crate) copy: Option<u64>,
}

impl World {
    /// Whether the caller may have such a drive; looks, but changes nothing.
    pub(crate) fn check_drive(&self, context: &Context, id: u32, key: &str, drive: &Parsed) -> Result<(), Failure> {
        let (user, host) = (&context.user, &context.host);
        let allocates = |storage: &str| -> Result<(), Failure> {
            self.require(user, &format!("/storage/{storage}"), &["Datastore.AllocateSpace"])?;
            let found = self.storages.get(storage).ok_or_else(|| format!("storage '{storage}' does not exist"))?;
            if !found.content.contains("images") {
                return Err(Failure::parameter("storage", format!("storage '{storage}' does not support vm images")));
            }
            Ok(())
        };
        if let Some(from) = drive.get("import-from") {
            self.check_import(context, from)?;
            if !matches!(drive::source(drive::file(drive)), Source::New { bytes: 0, .. }) {
                let text = "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>";
                return Err(Failure::parameter(key, text));
            }
        }
        match drive::source(drive::file(drive)) {
            Source::New { storage, .. } | Source::CloudInit { storage } => allocates(storage),
            Source::Volume { storage, name } => {
                let found = self.storages.get(storage).ok_or_else(|| format!("storage '{storage}' does not exist"))?;
                let owner = found.volume(host, name).and_then(|volume| volume.owner);
                let path = format!("/storage/{storage}");
                if name.starts_with("iso/") && !drive::is_cdrom(drive) {
                    return Err(Failure::parameter(key, "explicit 'media=cdrom' is required for iso images"));
                }
                if owner.is_some_and(|owner| owner != id) {
                    self.require(user, &path, &["Datastore.Allocate"])?;
                } else if name.starts_with("iso/") {
                    self.require_any(user, &path, &["Datastore.AllocateSpace", "Datastore.Audit"])?;
                }
                Ok(())
            }
            Source::Other if drive::file(drive).starts_with('/') => Err(only_root_paths()),
            Source::Other => Ok(()),
        }
    }

    fn check_import(&self, context: &Context, from: &str) -> Result<(), Failure> {
        if from.starts_with('/') {
            return Err(only_root_paths());
        }
        let (storage, name) = from.split_once(':').unwrap_or((from, ""));
        if !self.storages.contains_key(storage) {
            return Err(Failure::new(format!("storage '{storage}' does not exist")));
        }
        let kind = match name.split_once('/') {
            Some((kind @ ("import" | "iso" | "vztmpl" | "snippets"), _)) => kind,
            _ => "images",
        };
        let appliance = name.rsplit('.').next() == Some("ova");
        match kind {
            "import" if !self.release.imports_disk_images() && !appliance => {
                Err(Failure::parameter("import-from", format!("unable to parse volume filename '{name}'")))
            }
            "import" => self.require_any(
                &context.user,
                &format!("/storage/{storage}"),
                &["Datastore.AllocateSpace", "Datastore.Audit"],
            ),
            "images" => {
                let owner = self.volume(&context.host, from).and_then(|volume| volume.owner);
                owner.map_or(Ok(()), |owner| self.require(&context.user, &format!("/vms/{owner}"), &["VM.Clone"]))
            }
            other => Err(Failure::parameter(
                "import-from",
                format!("{from} has wrong type '{other}' - needs to be 'images' or 'import'"),
            )),
        }
    }

    /// Makes the disk, if it is one to be made; the log tells of it.
    pub(crate) fn make_disk(
        &mut self,
        host: &str,
        task: Option<u64>,
        id: u32,
        key: &str,
        drive: &Parsed,
    ) -> Result<Disk, String> {
        let Some(grammar) = drive::grammar(key) else {
            return Err("unable to parse drive options".to_owned());
        };
        let mut stored = drive.clone();
        let wanted_format = stored.remove("format");
        let from = stored.remove("import-from");
        let file = drive::file(drive).to_owned();
        let (made, copy) = match drive::source(&file) {
            Source::CloudInit { storage } => {
                let kind = self.storages.get(storage).map(|storage| storage.kind);
                let usual = (kind == Some(Kind::Dir)).then_some("qcow2");
                let name = format!("vm-{id}-cloudinit");
                let made = self.allocate(
                    host,
                    Wanted {
                        storage,
                        id,
                        format: wanted_format.as_deref().or(usual),
                        bytes: FOUR_MIB,
                        name: Some(&name),
                        written: 0,
                    },
                )?;
                self.log_made(task, &made);
                stored.insert("media".to_owned(), "cdrom".to_owned());
                stored.remove("size");
                stored.insert("file".to_owned(), made.volid.clone());
                (Some(made.volid), None)
            }
            Source::New { storage, bytes } => {
                let (bytes, written) = match (&from, key) {
                    (Some(from), _) => self.import_size(host, from)?,
                    (None, "efidisk0") => (firmware_size(drive), firmware_size(drive)),
                    (None, "tpmstate0") => (FOUR_MIB, 0),
                    (None, _) => (bytes, 0),
                };
                if let Some(from) = &from {
                    self.log(task, format!("create full clone of drive ({from})"));
                }
                let format = wanted_format.as_deref();
                let made = self.allocate(host, Wanted { storage, id, format, bytes, name: None, written })?;
                self.log_made(task, &made);
                if from.is_some() {
                    self.log(task, format!("allocated target volume '{}'", made.volid));
                }
                if key == "efidisk0"
                    && stored.get("pre-enrolled-keys").is_some_and(|keys| keys == "1")
                    && self.release.major() >= 9
                {
                    stored.entry("ms-cert".to_owned()).or_insert_with(|| "2023k".to_owned());
                }
                let copy = (from.is_some() || key == "efidisk0").then_some(bytes);
                stored.insert("size".to_owned(), print_size(made.bytes));
                stored.insert("file".to_owned(), made.volid.clone());
                (Some(made.volid), copy)
            }
            Source::Volume { .. } => {
                let volume = self.volume(host, &file).ok_or_else(|| format!("volume '{file}' does not exist"))?;
                if !drive::is_cloudinit(drive) || stored.contains_key("size") {
                    stored.insert("size".to_owned(), print_size(volume.size));
                }
                (None, None)
            }
            Source::Other => (None, None),
        };
        Ok(Disk { stored: grammar.print(&stored), made, copy })
    }

    fn import_size(&self, host: &str, from: &str) -> Result<(u64, u64), String> {
        if let Some(volume) = self.volume(host, from) {
            return Ok((volume.size, volume.used));
        }
        let (storage, name) = from.split_once(':').unwrap_or((from, ""));
        let path = self.storages.get(storage).map(|storage| storage.file_path(name)).unwrap_or_default();
        Err(format!("failed to stat '{path}'"))
    }

    pub(crate) fn log_made(&mut self, task: Option<u64>, made: &Made) {
        for line in &made.log {
            self.log(task, line.clone());
        }
    }

    /// Begins a copy whose progress shows in the log, and tells how long it takes.
    pub(crate) fn begin_copy(&mut self, task: Option<u64>, bytes: u64, limit: u64) -> Millis {
        let time = self.timing.copy(bytes, limit);
        let (from, until) = (self.now, self.later(time));
        if let Some(task) = task.and_then(|task| self.tasks.all.get_mut(&task)) {
            task.copy = Some(Copy { from, until, bytes, style: Style::Percent });
        }
        time
    }

    /// Puts the lines of a finished copy into the log for good.
    pub(crate) fn end_copy(&mut self, task: Option<u64>) {
        let now = self.now;
        if let Some(task) = task.and_then(|task| self.tasks.all.get_mut(&task))
            && let Some(copy) = task.copy.take()
        {
            task.log.extend(copy.lines(now));
        }
    }
}

fn only_root_paths() -> Failure {
    Failure::new("Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.")
}
