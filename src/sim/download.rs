//! Files that come onto a storage, and go: downloads, uploads, deletions.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Context, Failure, Handled, Outcome};
use super::factory::{Behind, checksum};
use super::storage::{Kind, Volume};
use super::task::{Copy, Style};
use super::worker::{Event, Job as AnyJob, Place, Step, failed};
use super::world::{Millis, World};

/// A file that the HTTP server has received and put into `/var/tmp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Upload {
    size: u64,
    virtual_size: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    storage: String,
    /// The volume's name: `import/x.qcow2`.
    name: String,
    content: String,
    source: Source,
    compression: Option<String>,
    /// The algorithm, and what has to come out.
    checksum: Option<(String, String)>,
    phase: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Source {
    Url(String),
    File { path: String, upload: Upload },
}

/// Checks storage, content and file name; tells the name of the volume.
fn volume_name(world: &World, context: &Context, wrong: &str) -> Result<String, Failure> {
    let (storage, kind) = (context.text("storage"), context.text("content"));
    let found = world.storage_on(&context.host, storage)?;
    if found.kind != Kind::Dir {
        let plugin = found.kind.name();
        return Err(Failure::new(format!("can't upload to storage type '{plugin}', not a file based storage!")));
    }
    let file = context.text("filename").rsplit(['/', '\\']).next().unwrap_or_default();
    let file: String =
        file.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect();
    let extensions: &[&str] = match kind {
        "iso" => &[".iso", ".img"],
        "vztmpl" => &[".tar.gz", ".tar.xz", ".tar.zst"],
        _ if !world.release.imports_disk_images() => &[".ova"],
        _ => &[".qcow2", ".raw", ".vmdk", ".ova"],
    };
    let good = |extension: &&&str| file.len() > extension.len() && file.ends_with(**extension);
    if !extensions.iter().any(|extension| good(&extension)) {
        return Err(Failure::parameter("filename", wrong));
    }
    if !found.content.contains(kind) {
        return Err(Failure::new(format!("storage '{storage}' is not configured for content-type '{kind}'")));
    }
    Ok(format!("{kind}/{file}"))
}

pub(crate) fn download(world: &mut World, context: &Context) -> Handled {
    let name = volume_name(world, context, "invalid filename or wrong extension")?;
    let file = name.rsplit('/').next().unwrap_or_default().to_owned();
    let job = Job {
        storage: context.text("storage").to_owned(),
        name,
        content: context.text("content").to_owned(),
        source: Source::Url(context.text("url").to_owned()),
        compression: context.get("compression").map(str::to_owned),
        checksum: context
            .get("checksum")
            .map(|wanted| (context.text("checksum-algorithm").to_owned(), wanted.to_owned())),
        phase: 0,
    };
    Ok(json!(world.fork(&context.host, "download", &file, &context.user, AnyJob::Download(job))).into())
}

pub(crate) fn upload(world: &mut World, context: &Context) -> Handled {
    let name = volume_name(world, context, "wrong file extension")?;
    let path = context.text("tmpfilename").to_owned();
    let Some(upload) = world.uploads.remove(&path) else {
        return Err(Failure::new("missing temporary file name"));
    };
    let job = Job {
        storage: context.text("storage").to_owned(),
        name,
        content: context.text("content").to_owned(),
        source: Source::File { path, upload },
        compression: None,
        checksum: None,
        phase: 0,
    };
    Ok(json!(world.fork(&context.host, "imgcopy", "", &context.user, AnyJob::Download(job))).into())
}

impl World {
    /// Takes a file that was uploaded; the name is what the call `…/upload` then has as `tmpfilename`.
    ///
    /// `virtual_size` is the size of the disk inside, if the file is an image of one.
    pub fn receive_upload(&mut self, size: u64, virtual_size: Option<u64>) -> String {
        let path = format!("/var/tmp/pveupload-{:016x}{:016x}", self.random.next(), self.random.next());
        self.uploads.insert(path.clone(), Upload { size, virtual_size: virtual_size.unwrap_or(size) });
        path
    }
}

/// The host and port of a URL.
fn authority(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    authority.split_once(':').unwrap_or((authority, ""))
}

impl Job {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        self.phase += 1;
        let source = self.source.clone();
        match (&source, self.phase) {
            (Source::Url(url), 1) => self.fetch(world, place, url),
            (Source::Url(url), _) => self.fetched(world, place, url),
            (Source::File { path, upload }, 1) => {
                let target = self.path(world);
                for line in [
                    format!("starting file import from: {path}"),
                    format!("target node: {}", place.host),
                    format!("target file: {target}"),
                    format!("file size is: {}", upload.size),
                    format!("command: cp -- {path} {target}"),
                ] {
                    world.log(place.task, line);
                }
                Step::Sleep(world.timing.other)
            }
            (Source::File { upload, .. }, _) => {
                self.store(world, place, upload.size, upload.virtual_size, None);
                world.log(place.task, "finished file import successfully");
                Step::Done(Ok(()))
            }
        }
    }

    fn path(&self, world: &World) -> String {
        world.storages.get(&self.storage).map(|storage| storage.file_path(&self.name)).unwrap_or_default()
    }

    fn fetch(&mut self, world: &mut World, place: &Place, url: &str) -> Step {
        let target = self.path(world);
        let there = world.volume(&place.host, &format!("{}:{}", self.storage, self.name)).cloned();
        world.log(place.task, format!("downloading {url} to {target}"));
        if let Some(there) = there {
            if self.checksum.is_none() {
                return Step::Done(Err(format!("refusing to override existing file '{target}'")));
            }
            let checked = self.check(there.origin.as_deref().unwrap_or_default());
            if checked.is_ok() {
                world.log(place.task, "OK, got correct file already, no need to download");
            }
            return Step::Done(checked);
        }
        match self.compression.as_deref() {
            Some("gz" | "lzo" | "zst" | "bz2") if self.content == "iso" => {}
            Some(_) if self.content != "iso" => {
                return Step::Done(Err(format!("decompression not supported for {}", self.content)));
            }
            Some(_) => return Step::Done(Err("no decompression method found".to_owned())),
            None => {}
        }
        world.log(place.task, format!("--{}--  {url}", date(world.unix_time())));
        let (host, port) = authority(url);
        match world.behind(url) {
            Behind::File { size, .. } => {
                let time = (size / 1024).saturating_mul(1000) / world.timing.download_rate.max(1).saturating_mul(1024);
                if self.is_full(world, place, size) {
                    return Step::Done(Err(format!(
                        "download failed: Cannot write to '{target}.tmp_dwnl.{}' (No space left on device).",
                        place.worker
                    )));
                }
                return self.begin(world, place, host, size, time.max(1));
            }
            Behind::Refusal(status) => {
                let (code, text) = status.split_once(' ').unwrap_or((status, ""));
                return Step::Done(Err(format!("download failed: ERROR {code}: {text}.")));
            }
            Behind::Nobody => {}
        }
        if world.downloads.keys().any(|prefix| authority(prefix) == (host, port)) {
            return Step::Done(Err("download failed: ERROR 404: Not Found.".to_owned()));
        }
        if host.parse::<std::net::IpAddr>().is_ok() {
            let port = if !port.is_empty() {
                port
            } else if url.starts_with("https") {
                "443"
            } else {
                "80"
            };
            return Step::Done(Err(format!(
                "download failed: Connecting to {host}:{port}... failed: Connection refused."
            )));
        }
        world.log(place.task, format!("Resolving {host} ({host})... failed: Name or service not known."));
        Step::Done(Err(format!("download failed: wget: unable to resolve host address '{host}'")))
    }

    /// The file is here: as a whole, or as much of it as came.
    fn fetched(&self, world: &mut World, place: &Place, url: &str) -> Step {
        let Behind::File { size, virtual_size } = world.behind(url) else {
            return Step::Done(Err("download failed: ERROR 404: Not Found.".to_owned()));
        };
        let arrived = world.take_truncation();
        world.end_copy(place.task);
        let origin = arrived.map_or_else(|| url.to_owned(), |percent| format!("{percent} percent of {url}"));
        if let Err(text) = self.check(&origin) {
            return Step::Done(Err(text));
        }
        let size = size / 100 * u64::from(arrived.unwrap_or(100)) + arrived.map_or(size % 100, |_| 0);
        let is_raw = self.name.rsplit('.').next() == Some("raw");
        self.store(world, place, size, if is_raw { size } else { virtual_size }, Some(origin));
        world.log(place.task, format!("download of '{url}' to '{}' finished", self.path(world)));
        Step::Done(Ok(()))
    }

    /// Whether what came from there is what was asked for.
    fn check(&self, origin: &str) -> Result<(), String> {
        let Some((algorithm, wanted)) = &self.checksum else {
            return Ok(());
        };
        match checksum(algorithm, origin) {
            Some(found) if found != wanted.to_ascii_lowercase() => {
                Err(format!("checksum mismatch: got '{found}' != expect '{wanted}', aborting"))
            }
            _ => Ok(()),
        }
    }

    /// What wget says before and while it loads.
    fn begin(&self, world: &mut World, place: &Place, host: &str, size: u64, time: Millis) -> Step {
        let temporary = format!("{}.tmp_dwnl.{}", self.path(world), place.worker);
        for line in [
            format!("Resolving {host} ({host})... 198.51.100.7"),
            format!("Connecting to {host} ({host})|198.51.100.7|:443... connected."),
            "HTTP request sent, awaiting response... 200 OK".to_owned(),
            format!("Length: {size} ({}M) [application/octet-stream]", size >> 20),
            format!("Saving to: '{temporary}'"),
        ] {
            world.log(place.task, line);
        }
        let (from, until) = (world.now, world.later(time));
        if let Some(task) = place.task.and_then(|task| world.tasks.all.get_mut(&task)) {
            task.copy = Some(Copy { from, until, bytes: size, style: Style::Dots });
        }
        Step::Sleep(time)
    }

    fn is_full(&self, world: &World, place: &Place, size: u64) -> bool {
        world
            .storages
            .get(&self.storage)
            .is_some_and(|storage| storage.used(&place.host).saturating_add(size) > storage.capacity)
    }

    fn store(&self, world: &mut World, place: &Place, size: u64, virtual_size: u64, origin: Option<String>) {
        let format = match self.content.as_str() {
            "import" => self.name.rsplit('.').next().unwrap_or("raw").to_owned(),
            "iso" => "iso".to_owned(),
            _ => "tgz".to_owned(),
        };
        let volume = Volume {
            size: if self.content == "import" { virtual_size } else { size },
            used: size,
            format,
            ctime: world.unix_time(),
            content: self.content.clone(),
            owner: None,
            parent: None,
            origin,
        };
        world.insert_volume(&place.host, &self.storage, self.name.clone(), volume);
    }
}

/// `2026-11-16 00:30:31`, as wget writes it.
fn date(unix_time: u64) -> String {
    let (days, seconds) = (unix_time / 86_400, unix_time % 86_400);
    // Days since 0000-03-01, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Removes a volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemoveVolume {
    volid: String,
    phase: u8,
}

/// `DELETE …/content/{volume}`.
pub(crate) fn remove(world: &mut World, context: &Context, volid: String, owner: Option<u32>) -> Handled {
    let storage = volid.split_once(':').map_or("", |(storage, _)| storage).to_owned();
    let about = owner.map_or_else(|| storage.clone(), |owner| format!("{owner}@{storage}"));
    let job = AnyJob::RemoveVolume(RemoveVolume { volid, phase: 0 });
    let upid = world.fork(&context.host, "imgdel", &about, &context.user, job);
    if context.get("delay").is_some() {
        world.run_until(world.later(world.timing.fork.saturating_add(world.timing.allocate)));
        return Ok(Outcome::null());
    }
    Ok(json!(upid).into())
}

impl RemoveVolume {
    pub(crate) fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        if let Err(text) = failed(event) {
            return Step::Done(Err(text));
        }
        self.phase += 1;
        let (storage, name) = self.volid.split_once(':').unwrap_or((&self.volid, ""));
        match self.phase {
            1 => Step::Lock(world.storage_lock(&place.host, storage), super::flock::Mode::Exclusive, 10_000),
            2 => Step::Sleep(world.timing.allocate.min(40)),
            _ => {
                if world.is_base_of_another(&place.host, &self.volid) {
                    return Step::Done(Err(format!("base volume '{}' is still in use by linked cloned", self.volid)));
                }
                let path = world.storages.get(storage).map(|storage| storage.file_path(name)).unwrap_or_default();
                if !world.free_volume(&place.host, &self.volid) {
                    world.log(place.task, format!("disk image '{path}' does not exist"));
                }
                world.log(place.task, format!("Removed volume '{}'", self.volid));
                Step::Done(Ok(()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(1_794_789_031), "2026-11-16 00:30:31");
        assert_eq!(date(0), "1970-01-01 00:00:00");
        assert_eq!(date(951_782_400), "2000-02-29 00:00:00");
    }
}
