use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use tokio::time::sleep;

use super::choose::choose_places;
use super::decide::{Known, Verdict, decide, file, judge_disk, no_room};
use super::definition::definition;
use super::event::Tell;
use super::look::{PlaceSeen, look, look_at_hosts};
use super::{Event, Place, Settings, Source, Step, Trouble, Want, rights};
use crate::model::{HostName, StorageId, TemplateRecord, VmId};
use crate::proxmox::answers::Storage;
use crate::proxmox::calls::{CreateVm, Download, TaskSource, TasksQuery, upload};
use crate::proxmox::task::{TaskProgress, TaskState, TaskWatcher, Upid};
use crate::proxmox::types::VolumeId;
use crate::proxmox::{Client, Effect, ProxmoxError, RefusalKind, Transport, Upload};

/// What became of everything that was wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ensured {
    pub outcomes: Vec<Outcome>,
    /// What is wanted where it cannot be.
    pub troubles: Vec<Trouble>,
}

/// What became of one template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub place: Place,
    pub result: Result<Ready, Vec<Trouble>>,
}

/// A template that can be cloned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    pub host: HostName,
    pub vmid: VmId,
    /// Whether something had to be done for it.
    pub made: bool,
}

/// Makes every template that is wanted and not there, all of them at once: one per host on local storage, one for all on
/// shared storage. Run again, also after it was killed, it goes on where it was.
///
/// Only what makes all else pointless is an error: no connection, no trust, a token that is not accepted.
pub async fn ensure<T: Transport + Clone>(
    client: &Client<T>,
    wants: &[Want],
    settings: &Settings,
    tell: &(dyn Fn(&Place, &Event) + Sync),
) -> Result<Ensured, Trouble> {
    let hosts = look_at_hosts(client).await?;
    let chosen = choose_places(wants, &hosts);
    let maker = Maker {
        client,
        watcher: TaskWatcher::new(client.clone(), settings.pace),
        settings,
        tell,
        numbers: tokio::sync::Mutex::default(),
        storages: tokio::sync::Mutex::default(),
        images: Mutex::default(),
    };
    let outcomes = join_all(chosen.places.into_iter().map(async |place| {
        let result = maker.make(&place).await;
        Outcome { place, result }
    }));
    Ok(Ensured { outcomes: outcomes.await, troubles: chosen.troubles })
}

/// What all places of a run share.
struct Maker<'a, T> {
    client: &'a Client<T>,
    watcher: TaskWatcher<T>,
    settings: &'a Settings,
    tell: Tell<'a>,
    /// The VMIDs that this run has tried.
    numbers: tokio::sync::Mutex<BTreeSet<VmId>>,
    /// Held while the definition of a storage is changed, which is one for all hosts.
    storages: tokio::sync::Mutex<()>,
    /// Held while an image is brought to a place, so that a shared storage gets it once.
    images: Mutex<BTreeMap<ImagePlace, Arc<tokio::sync::Mutex<()>>>>,
}

/// A file on a storage, of one host or of all.
type ImagePlace = (Option<HostName>, StorageId, String);

/// What is known about one place because this run did it.
#[derive(Default)]
struct Progress {
    known: Known,
    /// The number that a VM was, or may have been, begun with.
    number: Option<VmId>,
    /// How often nobody could tell what a request had done.
    unclear: u32,
}

/// More than any way to a template has, with every answer lost once.
const MOST_STEPS: usize = 24;
/// How often an unclear end is looked into before it is told.
const MOST_UNCLEAR: u32 = 3;
/// A worker that was begun shows after this time at the latest.
const SHOWS_AFTER: Duration = Duration::from_secs(10);

/// What tells that a request did its work, did nothing, or nobody knows.
type Begun = Result<Option<Upid>, Trouble>;

impl<T: Transport> Maker<'_, T> {
    async fn make(&self, place: &Place) -> Result<Ready, Vec<Trouble>> {
        let mut progress = Progress::default();
        let mut made = false;
        self.settle(&place.hosts).await.map_err(one)?;
        for _ in 0..MOST_STEPS {
            let seen = look(self.client, place, self.settings).await.map_err(|error| one(error.into()))?;
            let verdict = decide(place, &seen, self.settings, &progress.known);
            if !made && !matches!(verdict, Verdict::Exists { .. }) {
                // Before the first change everything that stands in the way is told at once.
                let mut troubles = self.missing_rights(place, &seen).await.map_err(one)?;
                if let Verdict::Refuse(others) = &verdict {
                    troubles.splice(0..0, others.iter().cloned());
                }
                if !troubles.is_empty() {
                    return Err(troubles);
                }
            }
            let step = match verdict {
                Verdict::Exists { host, vmid } => return Ok(Ready { host, vmid, made }),
                Verdict::Refuse(troubles) => return Err(troubles),
                Verdict::EnableImport => self.enable_import(place).await,
                Verdict::Fetch { room } => self.fetch(place, &seen, room, &mut progress).await,
                Verdict::Create { image, bytes } => self.create(place, &seen.host, &image, bytes, &mut progress).await,
                Verdict::Convert { vmid, disk_bytes, made_from } => {
                    match judge_disk(&place.image, &self.settings.source, &made_from, disk_bytes) {
                        Ok(warning) => {
                            if let Some(warning) = warning {
                                self.tell(place, &Event::Note(warning));
                            }
                            self.convert(place, &seen.host, vmid, &mut progress).await
                        }
                        Err(trouble) => Err(self.given_up(place, &seen.host, vmid, trouble, &progress).await),
                    }
                }
                Verdict::RemoveTwin { vmid } => self.remove_twin(place, &seen, vmid, &mut progress).await,
            };
            made = true;
            step.map_err(one)?;
        }
        let fix = "look at the tasks of the host; somebody seems to undo what is done here";
        Err(one(Trouble::new(format!("{place} does not get done"), fix)))
    }

    async fn missing_rights(&self, place: &Place, seen: &PlaceSeen) -> Result<Vec<Trouble>, Trouble> {
        let paths = rights::paths(place, &seen.host, self.settings);
        let answers = try_join_all(paths.iter().map(|path| self.client.permissions(Some(path)))).await?;
        let takes_import =
            |storage: &Storage| storage.name == self.settings.image_storage && storage.content.contains("import");
        let enables_import = self.settings.enable_import && !seen.storages.iter().any(takes_import);
        let permissions = answers.into_iter().collect();
        Ok(rights::missing(place, &seen.host, self.settings, enables_import, &permissions))
    }

    /// Waits for what an earlier run of ours began: until then nobody can tell what it will leave.
    async fn settle(&self, hosts: &[HostName]) -> Result<(), Trouble> {
        let query = TasksQuery { source: TaskSource::Active, limit: 500, since: None, kind: None };
        for host in hosts {
            let rows = self.client.tasks(host, &query).await?;
            let ours = rows.into_iter().filter(|row| {
                row.state == TaskState::Running
                    && row.upid.user() == self.settings.token.as_str()
                    && ["download", "imgcopy", "qmcreate", "qmtemplate", "qmdestroy"].contains(&row.upid.kind())
            });
            for row in ours {
                // How it ended shows in what is there then.
                drop(self.watcher.finish(&row.upid).await);
            }
        }
        Ok(())
    }

    /// A request whose end is not clear is looked into: what it began is waited for.
    async fn begun(&self, answer: Result<Upid, ProxmoxError>, hosts: &[HostName], progress: &mut Progress) -> Begun {
        let error = match answer {
            Ok(upid) => return Ok(Some(upid)),
            Err(error) => error,
        };
        if error.effect() != Effect::MaybeDone || progress.unclear >= MOST_UNCLEAR {
            return Err(error.into());
        }
        progress.unclear += 1;
        sleep(SHOWS_AFTER).await;
        self.settle(hosts).await?;
        Ok(None)
    }

    fn tell(&self, place: &Place, event: &Event) {
        (self.tell)(place, event);
    }

    /// Waits for a task and tells how far it is.
    async fn follow(&self, place: &Place, step: &Step, upid: &Upid) -> Result<(), Trouble> {
        let mut last = 0;
        let told = |progress: &TaskProgress| {
            if let Some(percent) = progress.percent(1).filter(|percent| *percent > last) {
                last = percent;
                self.tell(place, &Event::Percent(step.clone(), percent));
            }
        };
        let ended = self.watcher.follow(upid, told).await?;
        if ended.warnings > 0
            && let Ok(log) = self.client.whole_task_log(upid).await
        {
            for warning in log.warnings() {
                self.tell(place, &Event::Note(format!("{step}: {warning}")));
            }
        }
        self.tell(place, &Event::Done(step.clone()));
        Ok(())
    }

    /// Adds to what a storage takes. The list is read anew, because it is replaced as a whole.
    async fn enable_import(&self, place: &Place) -> Result<(), Trouble> {
        let _alone = self.storages.lock().await;
        let storage = &self.settings.image_storage;
        let storages = self.client.storages(&place.hosts[0], None).await?;
        let Some(seen) = storages.iter().find(|seen| seen.name == *storage) else {
            return Ok(());
        };
        if seen.content.contains("import") {
            return Ok(());
        }
        let content: Vec<&str> = seen.content.iter().map(String::as_str).chain(["import"]).collect();
        let step = Step::EnableImport { storage: storage.clone(), content: content.join(",") };
        self.tell(place, &Event::Begun(step.clone()));
        match self.client.set_storage_content(storage, content).await {
            Ok(()) => self.tell(place, &Event::Done(step)),
            // Whether it took shows when it is looked at again; the same list again does no harm.
            Err(error) if error.effect() == Effect::MaybeDone => sleep(SHOWS_AFTER).await,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn fetch(
        &self,
        place: &Place,
        seen: &PlaceSeen,
        room: Option<u64>,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let gate = self.gate(place, seen);
        let waited = gate.try_lock().is_err();
        let _alone = gate.lock().await;
        if waited {
            // Somebody else has just brought it, or failed to: what is there now decides.
            return Ok(());
        }
        match &self.settings.source {
            Source::Factory { .. } | Source::Url { .. } => self.download(place, seen, room, progress).await,
            Source::File(local) => {
                if let Some(available) = room.filter(|available| *available < local.bytes) {
                    return Err(no_room(&self.settings.image_storage, &seen.host, local.bytes, available));
                }
                self.upload(place, &seen.host, local, progress).await
            }
        }
    }

    fn gate(&self, place: &Place, seen: &PlaceSeen) -> Arc<tokio::sync::Mutex<()>> {
        let storage = &self.settings.image_storage;
        let shared = seen.storages.iter().any(|seen| seen.name == *storage && seen.shared);
        let host = (!shared).then(|| seen.host.clone());
        let key = (host, storage.clone(), self.settings.source.file_name(&place.image));
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(images.entry(key).or_default())
    }

    async fn download(
        &self,
        place: &Place,
        seen: &PlaceSeen,
        room: Option<u64>,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let (host, storage) = (&seen.host, &self.settings.image_storage);
        let (url, file_name) =
            (self.settings.source.describe(&place.image), self.settings.source.file_name(&place.image));
        let there = file(place, seen, self.settings).is_some();
        let announced = if there { None } else { self.announced(place, host, &url).await? };
        if let (Some(needed), Some(available)) = (announced, room)
            && needed > available
        {
            return Err(no_room(storage, host, needed, available));
        }
        let step = Step::Download { url: url.clone(), storage: storage.clone(), host: host.clone() };
        self.tell(place, &Event::Begun(step.clone()));
        let checksum = self.settings.source.checksum();
        let download = Download { host, storage, url: &url, file_name: &file_name, checksum };
        let answer = self.client.download(&download).await;
        let Some(upid) = self.begun(answer, &place.hosts, progress).await? else {
            return Ok(());
        };
        self.follow(place, &step, &upid).await?;
        progress.known.verified = true;
        self.compare_length(place, host, announced).await
    }

    /// How many bytes the host would get, and whether there is such an image at all.
    async fn announced(&self, place: &Place, host: &HostName, url: &str) -> Result<Option<u64>, Trouble> {
        let error = match self.client.url_metadata(host, url).await {
            Ok(metadata) => return Ok(metadata.size),
            Err(error) => error,
        };
        let text = error.refusal().map(|refusal| refusal.message.clone()).unwrap_or_default();
        if text.contains("'404 ") || text.contains("'400 ") {
            let fix = format!(
                "check that Talos {} was released (https://github.com/siderolabs/talos/releases) and that the schematic \
                 is registered (`pvetalos schematic push`)",
                place.image.talos_version
            );
            return Err(Trouble::new(format!("there is no image at {url}: {text}"), fix));
        }
        if text.contains("Can't connect") || text.contains("not known") || text.contains("resolve") {
            let fix = "let the host reach it (its DNS, its gateway, a proxy in the datacenter's options), or fetch the \
                       image yourself and send it with --image FILE";
            return Err(Trouble::new(format!("{host} cannot reach {url}: {text}"), fix));
        }
        match error.kind() {
            // A factory that still builds the image is silent for minutes; the download waits longer.
            Some(RefusalKind::BackendSilent) => Ok(None),
            Some(RefusalKind::Other) if text.contains("timeout") || text.contains("timed out") => Ok(None),
            _ => Err(error.into()),
        }
    }

    /// A file that is not as long as it was announced is no image. It was brought here by us a moment ago.
    async fn compare_length(&self, place: &Place, host: &HostName, announced: Option<u64>) -> Result<(), Trouble> {
        let Some(announced) = announced else {
            return Ok(());
        };
        let seen = look(self.client, place, self.settings).await?;
        let Some((image, bytes)) = file(place, &seen, self.settings).filter(|(_, bytes)| *bytes != announced) else {
            return Ok(());
        };
        let message = format!("{image} on {host} has {bytes} bytes, and {announced} were announced: it was cut off");
        let deleted = match self.client.delete_volume(host, &image).await {
            Ok(upid) => self.watcher.finish(&upid).await.is_ok(),
            Err(_) => false,
        };
        let fix = if deleted {
            "it was deleted again; run this once more".to_owned()
        } else {
            format!("delete it (`pvesm free {image}` on {host}) and run this once more")
        };
        Err(Trouble::new(message, fix))
    }

    async fn upload(
        &self,
        place: &Place,
        host: &HostName,
        local: &super::LocalImage,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let storage = &self.settings.image_storage;
        let name = self.settings.source.file_name(&place.image);
        let shown = local.path.display().to_string();
        let step = Step::Upload { file: shown.clone(), storage: storage.clone(), host: host.clone() };
        let file = Upload::of(upload(host, storage, None), &name, &local.path)
            .map_err(|error| Trouble::new(format!("{shown} cannot be read: {error}"), "check the file"))?;
        self.tell(place, &Event::Begun(step.clone()));
        let answer = self.client.upload(&file).await;
        match self.begun(answer, &place.hosts, progress).await? {
            Some(upid) => self.follow(place, &step, &upid).await,
            None => Ok(()),
        }
    }

    async fn create(
        &self,
        place: &Place,
        host: &HostName,
        image: &VolumeId,
        bytes: u64,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        // A number that may have been used already is used again: then it is taken, and what has it is looked at.
        let vmid = match progress.number {
            Some(vmid) => vmid,
            None => self.number().await?,
        };
        progress.number = Some(vmid);
        let source = self.settings.source.describe(&place.image);
        let record = TemplateRecord { mark: place.image.mark(), vmid, image: source.into(), bytes };
        let config = definition(place, image, &record);
        let step = Step::Create { vmid, host: host.clone() };
        self.tell(place, &Event::Begun(step.clone()));
        let answer = self.client.create_vm(&CreateVm { host, vmid, pool: place.pool.as_ref(), config: &config }).await;
        if answer.as_ref().err().and_then(ProxmoxError::kind) == Some(&RefusalKind::Exists) {
            progress.number = None;
            return self.settle(&place.hosts).await;
        }
        if let Some(upid) = self.begun(answer, &place.hosts, progress).await? {
            self.follow(place, &step, &upid).await?;
            progress.known.made.insert(vmid);
        }
        Ok(())
    }

    /// The lowest number that nothing in the cluster has, be it visible or not.
    async fn number(&self) -> Result<VmId, Trouble> {
        let mut tried = self.numbers.lock().await;
        let guests: BTreeSet<VmId> = self.client.guests().await?.into_iter().map(|guest| guest.vmid).collect();
        let first = self.settings.first_vmid.get();
        for number in (first..=VmId::MAX).filter_map(VmId::new) {
            if guests.contains(&number) || !tried.insert(number) {
                continue;
            }
            if self.client.is_free(number).await? {
                return Ok(number);
            }
        }
        Err(Trouble::new(format!("no VMID from {first} on is free"), "delete VMs that nobody needs"))
    }

    async fn convert(
        &self,
        place: &Place,
        host: &HostName,
        vmid: VmId,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        self.refuse_if_started(host, vmid).await?;
        let step = Step::Convert { vmid, host: host.clone() };
        self.tell(place, &Event::Begun(step.clone()));
        let answer = self.client.convert_to_template(host, vmid).await;
        if answer.as_ref().err().and_then(ProxmoxError::kind) == Some(&RefusalKind::IsTemplate) {
            return Ok(());
        }
        match self.begun(answer, &place.hosts, progress).await? {
            Some(upid) => self.follow(place, &step, &upid).await,
            None => Ok(()),
        }
    }

    /// An image that was booted once is no longer good for all: Talos deletes the boot loader that it does not need.
    async fn refuse_if_started(&self, host: &HostName, vmid: VmId) -> Result<(), Trouble> {
        let query = TasksQuery { source: TaskSource::All, limit: 500, since: None, kind: Some("qmstart") };
        let tasks = self.client.tasks(host, &query).await?;
        if !tasks.iter().any(|row| row.upid.id() == vmid.to_string()) {
            return Ok(());
        }
        let message = format!("VM {vmid} on {host}, an unfinished template, was started by somebody");
        let fix = format!("if nobody needs it, `pvetalos template delete {vmid}`, and run this again");
        Err(Trouble::new(message, fix))
    }

    /// Removes a VM that this run made and that cannot become a template, and tells what became of it.
    async fn given_up(
        &self,
        place: &Place,
        host: &HostName,
        vmid: VmId,
        trouble: Trouble,
        progress: &Progress,
    ) -> Trouble {
        let gone = progress.known.made.contains(&vmid)
            && match self.client.delete_vm(host, vmid, false, false).await {
                Ok(upid) => self.watcher.finish(&upid).await.is_ok_and(|ended| ended.warnings == 0),
                Err(_) => false,
            };
        let name = self.settings.source.file_name(&place.image);
        let image = format!("{}:import/{name}", self.settings.image_storage);
        let vm = if gone {
            "the VM was deleted again; ".to_owned()
        } else {
            format!("delete the VM (`pvetalos template delete {vmid}`); ")
        };
        let fix = format!("{vm}delete the image too (`pvesm free {image}` on {host}) and run this once more");
        Trouble { fix, ..trouble }
    }

    async fn remove_twin(
        &self,
        place: &Place,
        seen: &PlaceSeen,
        vmid: VmId,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let host = seen.vms.iter().find(|vm| vm.vmid == vmid).map_or(&seen.host, |vm| &vm.host);
        let step = Step::RemoveTwin { vmid, host: host.clone() };
        self.tell(place, &Event::Begun(step.clone()));
        let answer = self.client.delete_vm(host, vmid, false, false).await;
        match self.begun(answer, &place.hosts, progress).await? {
            Some(upid) => self.follow(place, &step, &upid).await,
            None => Ok(()),
        }
    }
}

fn one(trouble: Trouble) -> Vec<Trouble> {
    vec![trouble]
}
