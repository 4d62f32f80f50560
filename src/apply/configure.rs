use std::sync::atomic::Ordering;
use std::time::Duration;

use super::context::{Context, Patience, Run};
use super::event::Step;
use super::trouble::{Done, Trouble};
use crate::model::{DiskSize, HostName, Mark, Node};
use crate::plan::{Difference, Edit, Effect, Identity, Scope, cluster_tag, compare, is_unfinished};
use crate::proxmox::answers::{Power, VmConfig, VmPending};
use crate::proxmox::calls::{ConfigChange, PlainKey};
use crate::proxmox::types::{DiskSlot, Reading};
use crate::proxmox::{Effect as Sent, RefusalKind, Transport};

/// How long to wait for a lock of somebody else, such as that of a backup.
const LOCKED: Duration = Duration::from_mins(5);
/// How often to write before it is clear that it does not help.
const ROUNDS: u32 = 12;
/// How often the same error may come back.
const SAME_ERROR: u32 = 3;

/// A VM that is known to be the node's, and by what it is known again.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) mark: Mark,
    pub(super) host: HostName,
    pub(super) running: bool,
    /// Whether its number was chosen freely in this run, so that another run may have chosen another one.
    pub(super) may_have_twin: bool,
    uuid: Option<String>,
    /// The options when they were read last.
    pub(super) config: VmConfig,
}

impl Held {
    pub(super) fn new(mark: Mark, host: HostName, running: bool) -> Self {
        Self { mark, host, running, may_have_twin: false, uuid: None, config: VmConfig::default() }
    }

    /// One whose UUID was seen when the plan was made.
    pub(super) fn planned(identity: Identity, host: HostName, running: bool) -> Self {
        Self { uuid: identity.uuid, ..Self::new(identity.mark, host, running) }
    }

    /// Makes sure that it is still the same VM: a number may be given to another one within seconds.
    pub(super) fn recognise(&mut self, pending: &VmPending) -> Done<()> {
        self.config = pending.wanted();
        let config = &self.config;
        let vmid = self.mark.vmid;
        let changed = |what: String| {
            Trouble::seen(
                format!("VM {vmid} on {} is not the same any more: {what}; it was not touched", self.host),
                "look at what happened to it, then run this again",
            )
        };
        if Mark::find(config.description()).as_ref() != Some(&self.mark) {
            return Err(changed(format!("its notes do not end with `{}`", self.mark)));
        }
        if config.is_template() {
            return Err(changed("it is a template now".to_owned()));
        }
        let uuid = config.smbios().known().and_then(crate::proxmox::types::Smbios::uuid);
        match (&self.uuid, uuid) {
            (Some(known), Some(uuid)) if *known != uuid => Err(changed(format!("its UUID was {known} and is {uuid}"))),
            (None, Some(uuid)) => {
                self.uuid = Some(uuid);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// What came of one write.
enum Written {
    /// Look again at what is there.
    Look,
    /// Look again after a moment.
    LookLater,
}

impl<T: Transport, W> Context<'_, T, W> {
    /// Reads the options of a VM, wherever it is by now, and makes sure that it is the same one.
    pub(super) async fn read(&self, run: &mut Run<'_>, held: &mut Held) -> Done<VmPending> {
        let vmid = held.mark.vmid;
        let pending = match self.ask(|| self.client.vm_pending(&held.host, vmid)).await {
            Err(Trouble::Call(error)) if error.kind() == Some(&RefusalKind::NotFound) => {
                let guests = self.guests().await?;
                let Some(guest) = guests.get(&vmid).filter(|guest| guest.host != held.host) else {
                    return Err(error.into());
                };
                held.host = guest.host.clone();
                self.ask(|| self.client.vm_pending(&held.host, vmid)).await?
            }
            pending => pending?,
        };
        run.host = Some(held.host.clone());
        held.recognise(&pending)?;
        Ok(pending)
    }

    /// Makes the options of a VM what they should be: looks, mends the first thing that differs, and looks again, until
    /// nothing differs any more.
    ///
    /// The order is that of safety: new volumes, then sizes, then everything else in one write. The cluster's tag is in
    /// that last one, so that a VM without it is known to be unfinished.
    pub(super) async fn converge(&self, run: &mut Run<'_>, node: &Node, held: &mut Held) -> Done<()> {
        let tag = cluster_tag(self.cluster);
        let mut errors = Errors::default();
        let mut grown = None;
        for _ in 0..ROUNDS {
            self.go_on()?;
            let pending = self.unlocked(run, held).await?;
            let config = pending.wanted();
            let scope = if is_unfinished(&pending, held.running, node, &tag) { Scope::Whole } else { Scope::Declared };
            let comparison = compare(self.cluster, node, held.mark.vmid, &config, scope);
            if let Some(refusal) = comparison.refusals.first() {
                let hint = "change the file, or the VM, so that the two agree";
                return Err(Trouble::seen(refusal.clone(), hint));
            }
            let mut open = comparison.differences;
            open.retain(|difference| self.may_mend(difference, held));
            if open.is_empty() {
                return Ok(());
            }
            let written = if open.iter().any(|difference| difference.edit.makes_volume()) {
                run.begin(Step::AddDisks);
                self.add_volumes(run, node, held, &config, &open).await
            } else if let Some((slot, size)) = open.iter().find_map(|difference| difference.edit.growth()) {
                run.begin(Step::Grow);
                let again = grown == Some((slot, size));
                let done = self.grow(held, &config, (slot, size), again).await;
                grown = (done.is_ok() && !again).then_some((slot, size));
                done
            } else {
                run.begin(Step::Configure);
                let change = change(&config, open.iter().map(|difference| &difference.edit));
                self.client.configure(&held.host, held.mark.vmid, &change).await.map_err(Into::into)
            };
            if let Err(trouble) = written {
                match self.judge(run, &open, trouble, &mut errors)? {
                    Written::Look => {}
                    Written::LookLater => self.pause(errors.pause()).await?,
                }
            }
        }
        Err(Trouble::seen(
            format!("the options of VM {} still differ after {ROUNDS} attempts to set them", held.mark.vmid),
            "somebody else may be changing it at the same time; `pvetalos plan` shows what differs",
        ))
    }

    fn may_mend(&self, difference: &Difference, held: &Held) -> bool {
        let refused = match difference.edit {
            Edit::Set(PlainKey::Startup, _) => self.no_startup.load(Ordering::Relaxed),
            Edit::Set(PlainKey::Tags, _) => self.no_tags.load(Ordering::Relaxed),
            _ => false,
        };
        !refused && (!held.running || difference.effect != Effect::Disruptive)
    }

    /// Makes a disk larger. Where other options of the same disk wait for a power cycle, they wait together with the size
    /// that it had, and growing it does not change that: writing them again does.
    async fn grow(&self, held: &Held, config: &VmConfig, to: (DiskSlot, DiskSize), again: bool) -> Done<()> {
        let ((slot, size), vmid) = (to, held.mark.vmid);
        if let Some(drive) = config.drive(slot).filter(|_| again).and_then(Reading::into_known) {
            let change = change(config, [&Edit::Drive(slot, drive)]);
            return Ok(self.client.configure(&held.host, vmid, &change).await?);
        }
        let upid = self.client.resize(&held.host, vmid, slot, size, config.digest()).await?;
        self.finish(&upid).await.map(|_| ())
    }

    async fn add_volumes(
        &self,
        run: &mut Run<'_>,
        node: &Node,
        held: &Held,
        config: &VmConfig,
        open: &[Difference],
    ) -> Done<()> {
        let place = (Some(held.host.clone()), node.vm.storage.value.clone());
        let _turn = self.turn(&self.volumes, &place).await?;
        let edits = open.iter().map(|difference| &difference.edit).filter(|edit| edit.makes_volume());
        let change = change(config, edits);
        let upid = self.client.configure_in_background(&held.host, held.mark.vmid, &change).await?;
        let ended = self.finish(&upid).await?;
        self.warnings(&ended, run).await;
        Ok(())
    }

    /// What to do after a write that did not go well: every write carries the digest of what it started from, so that
    /// looking again and writing again cannot do anything twice.
    fn judge(&self, run: &mut Run<'_>, open: &[Difference], trouble: Trouble, errors: &mut Errors) -> Done<Written> {
        let (kind, text, maybe_done) = match &trouble {
            Trouble::Call(error) => (error.kind().cloned(), error.with_causes(), error.effect() == Sent::MaybeDone),
            Trouble::Task(error) => (error.kind(), error.to_string(), error.may_be_done()),
            Trouble::Seen { .. } | Trouble::Interrupted(_) => return Err(trouble),
        };
        if let Some(left_out) = self.leave_out(&trouble, open) {
            run.warn(left_out);
            return Ok(Written::Look);
        }
        match kind {
            // A value that could not be hot-plugged is stored and waits for the next power cycle, which is all that was
            // wanted.
            Some(RefusalKind::Changed | RefusalKind::Hotplug) => Ok(Written::Look),
            Some(RefusalKind::Busy | RefusalKind::Locked(_)) => Ok(Written::LookLater),
            _ if maybe_done && errors.again(&text) < SAME_ERROR => Ok(Written::LookLater),
            _ => Err(trouble),
        }
    }

    /// Some options need rights on the whole cluster. Without them the rest is done all the same.
    fn leave_out(&self, trouble: &Trouble, open: &[Difference]) -> Option<String> {
        let Trouble::Call(error) = trouble else {
            return None;
        };
        let Some(RefusalKind::Forbidden { path, .. }) = error.kind() else {
            return None;
        };
        let message = error.refusal().map_or("", |refusal| refusal.message.as_str());
        let sets = |key| open.iter().any(|difference| matches!(&difference.edit, Edit::Set(set, _) if *set == key));
        if path.as_deref() != Some("/") && !message.contains("(/,") {
            return None;
        }
        if message.contains("tag") && sets(PlainKey::Tags) {
            self.no_tags.store(true, Ordering::Relaxed);
            return Some(format!("the tags are left out: {message}"));
        }
        if sets(PlainKey::Startup) {
            self.no_startup.store(true, Ordering::Relaxed);
            return Some("the start order is left out: the token lacks Sys.Modify on /".to_owned());
        }
        None
    }

    /// The options of a VM that is not locked; waits while it is.
    pub(super) async fn unlocked(&self, run: &mut Run<'_>, held: &mut Held) -> Done<VmPending> {
        let mut patience = Patience::new(LOCKED);
        loop {
            let pending = self.read(run, held).await?;
            let Some(lock) = pending.wanted().lock().map(str::to_owned) else {
                return Ok(pending);
            };
            let Some(pause) = patience.next() else {
                let vmid = held.mark.vmid;
                return Err(Trouble::seen(
                    format!("VM {vmid} on {} is locked ({lock})", held.host),
                    format!(
                        "wait for the `{lock}` task to end; if none is running, `qm unlock {vmid}` on {}, because no API \
                         token can",
                        held.host
                    ),
                ));
            };
            self.pause(pause).await?;
        }
    }

    /// Gives a VM that is not ours yet our mark and tags, and nothing else.
    pub(super) async fn adopt(&self, run: &mut Run<'_>, node: &Node, mark: &Mark, host: &HostName) -> Done<()> {
        run.begin(Step::Adopt);
        let mut errors = Errors::default();
        for _ in 0..ROUNDS {
            self.go_on()?;
            let config = self.ask(|| self.client.vm_pending(host, mark.vmid)).await?.wanted();
            let same = config.name() == Some(node.name.value.as_str()) && config.has_mac(node.mac_address.value);
            if !same || config.is_template() || Mark::find(config.description()).is_some_and(|found| found != *mark) {
                return Err(Trouble::seen(
                    format!("VM {} is not what it was when the plan was made; it was not touched", mark.vmid),
                    "look at it, then run this again",
                ));
            }
            let mut edits = Vec::new();
            if Mark::find(config.description()).is_none() {
                edits.push(Edit::Set(PlainKey::Description, mark.appended_to(config.description())));
            }
            let comparison = compare(self.cluster, node, mark.vmid, &config, Scope::Declared);
            let tags = comparison.differences.into_iter().filter(|difference| difference.option == "tags");
            let tags: Vec<Difference> = tags.collect();
            if !self.no_tags.load(Ordering::Relaxed) {
                edits.extend(tags.iter().map(|difference| difference.edit.clone()));
            }
            if edits.is_empty() {
                return Ok(());
            }
            let change = change(&config, &edits);
            if let Err(error) = self.client.configure(host, mark.vmid, &change).await {
                match self.judge(run, &tags, error.into(), &mut errors)? {
                    Written::Look => {}
                    Written::LookLater => self.pause(errors.pause()).await?,
                }
            }
        }
        Err(Trouble::seen(format!("VM {} could not be given its mark", mark.vmid), "try again later"))
    }

    /// Deletes a clone that this run has made and never started.
    pub(super) async fn remove_never_started(&self, held: &Held) -> Done<()> {
        let mut held = held.clone();
        let vmid = held.mark.vmid;
        let status = self.ask(|| self.client.vm_status(&held.host, vmid)).await?;
        let pending = self.ask(|| self.client.vm_pending(&held.host, vmid)).await?;
        held.recognise(&pending)?;
        if status.power != Power::Stopped {
            return Err(Trouble::seen(
                format!("VM {vmid} was started by somebody else, and there are two VMs of this node now"),
                "keep one of them, and delete the other yourself",
            ));
        }
        let upid = self.client.delete_vm(&held.host, vmid, false, false).await?;
        self.finish(&upid).await?;
        Ok(())
    }
}

/// One write of several edits, which Proxmox refuses if the VM has changed meanwhile.
fn change<'e>(config: &VmConfig, edits: impl IntoIterator<Item = &'e Edit>) -> ConfigChange {
    let mut change = ConfigChange::conditional_on(config.digest());
    for edit in edits {
        edit.add_to(&mut change);
    }
    change
}

/// Errors that came back.
#[derive(Default)]
struct Errors {
    last: String,
    times: u32,
    pauses: u32,
}

impl Errors {
    /// How often this error came in a row.
    fn again(&mut self, text: &str) -> u32 {
        if self.last == text {
            self.times += 1;
        } else {
            (self.last, self.times) = (text.to_owned(), 1);
        }
        self.times
    }

    fn pause(&mut self) -> Duration {
        self.pauses += 1;
        Duration::from_secs(u64::from(self.pauses).min(5)).mul_f64(0.8 + 0.4 * fastrand::f64())
    }
}
