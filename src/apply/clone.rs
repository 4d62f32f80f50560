use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::configure::Held;
use super::context::{Context, Patience, Run};
use super::event::Step;
use super::roster::Marked;
use super::trouble::{Done, Trouble};
use crate::model::{CloneMode, HostName, Mark, Node, VmId};
use crate::plan::{Creation, cluster_tag};
use crate::proxmox::answers::{Guest, GuestKind, Power, VmPending};
use crate::proxmox::calls::{CloneTarget, CloneVm};
use crate::proxmox::task::{TaskError, Upid};
use crate::proxmox::{Effect, ProxmoxError, RefusalKind, Transport};
use crate::talos::{Dial, NoWay, Target, Watch};

/// How long to look for what a lost request may have begun.
const AFTER_SILENCE: Duration = Duration::from_secs(10);
/// How long a lock may stand still, with no task in sight that holds it.
const LOCK_PATIENCE: Duration = Duration::from_mins(3);
/// How long to try again what others are in the way of.
const BUSY_PATIENCE: Duration = Duration::from_mins(5);
/// How often a lost clone is sent again.
const RESENDS: u32 = 2;

/// Who has a number.
pub(super) enum Holder {
    Nobody,
    /// The node itself, complete.
    Node(HostName, VmPending),
    /// Somebody else, in words.
    Stranger(String),
}

/// How an attempt to clone ended, short of a failure.
enum Attempt {
    Cloned,
    /// The number is taken.
    Taken,
    /// Nothing happened, and it may be tried again.
    Again,
}

impl<T: Transport, D: Dial> Context<'_, T, Watch<D>> {
    /// Makes the VM of a node, or joins whoever is making it. Nothing when it has to begin again.
    pub(super) async fn create(&self, run: &mut Run<'_>, node: &Node, creation: &Creation) -> Done<Option<Held>> {
        let mut mark = creation.mark(&self.cluster.name.value, &node.name.value);
        run.begin(Step::CheckAddress);
        let sighting = self.watch.look(&Target::of(node)).await;
        // An address is free only if somebody has looked.
        if sighting.no_way {
            return Err(Trouble::seen(
                format!("nobody can tell whether {} is free: {}", node.address.value, sighting.evidence),
                format!("{}; nothing was made", NoWay::hint()),
            ));
        }
        if sighting.state.is_held() {
            return self.join_or_fail(run, node, &mark, &sighting.evidence).await.map(Some);
        }
        if creation.automatic
            && self.waited_for_others(run, creation).await?
            && let Some(held) = self.join_made(run, &mark).await?
        {
            return Ok(Some(held));
        }
        let mut resent = 0;
        let mut patience = Patience::new(BUSY_PATIENCE);
        loop {
            self.go_on()?;
            let attempt = {
                let _turn = self.turn_to_clone(run, creation).await?;
                run.begin(Step::Clone);
                run.vmid = Some(mark.vmid);
                self.attempt(run, creation, &mark, &mut resent).await?
            };
            match attempt {
                Attempt::Cloned => return self.settle(run, creation, mark).await,
                Attempt::Again => {
                    let Some(pause) = patience.next() else {
                        return Err(Trouble::seen(
                            format!("VM {} could not be cloned: others kept being in the way", mark.vmid),
                            "run it again when Proxmox is less busy, perhaps with `--clones-per-storage 1`",
                        ));
                    };
                    self.pause(pause).await?;
                }
                Attempt::Taken => match self.holder(run, &mark, Some(creation)).await? {
                    Holder::Node(host, pending) => return self.joined(run, mark, host, pending).await.map(Some),
                    Holder::Nobody => {
                        let Some(pause) = patience.next() else {
                            return Err(Trouble::seen(
                                format!("VMID {} is called taken, and nobody has it", mark.vmid),
                                "look for what is left of an earlier VM of this number on the storages",
                            ));
                        };
                        self.pause(pause).await?;
                    }
                    Holder::Stranger(who) if !creation.automatic => {
                        return Err(Trouble::seen(
                            format!("VMID {} is taken: {who}", mark.vmid),
                            "give the node another `vm_id`, or none, so that a free one is chosen",
                        ));
                    }
                    Holder::Stranger(_) => {
                        if let Some(held) = self.join_made(run, &mark).await? {
                            return Ok(Some(held));
                        }
                        let base = self.cluster.proxmox.vm_id_base.value;
                        let next = self.ask(|| self.roster.next_free(self.client, base)).await?;
                        mark.vmid = next.ok_or_else(|| {
                            Trouble::seen(format!("there is no free VMID from {base} on"), "lower `vm_id_base`")
                        })?;
                    }
                },
            }
        }
    }

    async fn turn_to_clone(&self, run: &mut Run<'_>, creation: &Creation) -> Done<OwnedSemaphorePermit> {
        let place = ((!creation.shared_storage).then(|| creation.host.clone()), creation.storage.clone());
        if let Some(turn) = self.volumes.try_turn(&place) {
            return Ok(turn);
        }
        run.begin(Step::Queue);
        self.turn(&self.volumes, &place).await
    }

    /// Somebody answers at the address of a node that has no VM: it may be that somebody made it a moment ago.
    async fn join_or_fail(&self, run: &mut Run<'_>, node: &Node, mark: &Mark, evidence: &str) -> Done<Held> {
        match self.join_made(run, mark).await? {
            Some(held) => Ok(held),
            None => Err(Trouble::seen(
                format!("somebody answers at {} already, and it is not this node: {evidence}", node.address.value),
                "give the node another address, or switch off what holds it; nothing was made",
            )),
        }
    }

    /// Waits for clones of the same template that were going on before this run: they may be another run's, and what
    /// they make is only seen when they are done. Says whether there were any.
    async fn waited_for_others(&self, run: &mut Run<'_>, creation: &Creation) -> Done<bool> {
        let template = (creation.template.host.clone(), creation.template.vmid);
        let mut done = self.others_done.lock().await;
        if done.contains(&template) {
            // Whoever came before waited, and what he waited for is there now.
            return Ok(true);
        }
        let running = self.clones_of(&template.0, Some(template.1)).await?;
        let any = !running.is_empty();
        if any {
            run.begin(Step::Join);
        }
        for upid in &running {
            // However it ends, whoever began it will tell.
            if let Err(interrupted @ Trouble::Interrupted(_)) = self.finish(upid).await {
                return Err(interrupted);
            }
        }
        done.insert(template);
        Ok(any)
    }

    /// The clones that go on at a host, of this template if one is given.
    async fn clones_of(&self, host: &HostName, template: Option<VmId>) -> Result<Vec<Upid>, ProxmoxError> {
        let running = self.client.running_tasks(host, "qmclone").await?;
        let of_template = |upid: &Upid| template.is_none_or(|template| upid.id() == template.to_string());
        Ok(running.into_iter().filter(of_template).collect())
    }

    /// Sends one clone, and waits for it.
    async fn attempt(&self, run: &mut Run<'_>, creation: &Creation, mark: &Mark, resent: &mut u32) -> Done<Attempt> {
        let description = mark.to_string();
        let template = &creation.template;
        let clone = CloneVm {
            host: &template.host,
            template: template.vmid,
            new_id: mark.vmid,
            name: mark.node.as_str(),
            description: &description,
            pool: creation.pool.as_ref(),
            target: match creation.clone {
                CloneMode::Full => CloneTarget::Full { storage: &creation.storage },
                CloneMode::Linked => CloneTarget::Linked,
            },
            on_host: (template.host != creation.host).then_some(&creation.host),
        };
        let upid = match self.client.clone_vm(&clone).await {
            Ok(upid) => upid,
            Err(error) => return self.not_begun(creation, mark, error, resent).await,
        };
        self.roster.note_own(mark.vmid, &mark.node);
        match self.follow(&upid, run).await {
            Ok(ended) => {
                self.warnings(&ended, run).await;
                Ok(Attempt::Cloned)
            }
            Err(Trouble::Task(error)) => self.not_finished(mark, error).await,
            Err(other) => Err(other),
        }
    }

    /// What to make of a clone that did not begin, or of which nobody knows.
    async fn not_begun(
        &self,
        creation: &Creation,
        mark: &Mark,
        error: ProxmoxError,
        resent: &mut u32,
    ) -> Done<Attempt> {
        match error.kind() {
            Some(RefusalKind::Exists) => return Ok(Attempt::Taken),
            Some(RefusalKind::Busy | RefusalKind::Locked(_)) => return Ok(Attempt::Again),
            _ => {}
        }
        if error.effect() != Effect::MaybeDone {
            return Err(error.into());
        }
        let mut patience = Patience::new(AFTER_SILENCE);
        while let Some(pause) = patience.next() {
            self.pause(pause).await?;
            match self.client.is_free(mark.vmid).await {
                Ok(false) => return Ok(Attempt::Taken),
                Err(error) if error.effect() == Effect::NeverSent => return Err(error.into()),
                // It may run and not have come as far as to take its number.
                Ok(true) | Err(_) => {}
            }
        }
        let template = &creation.template;
        if !self.clones_of(&template.host, Some(template.vmid)).await?.is_empty() {
            return Ok(Attempt::Again);
        }
        *resent += 1;
        if *resent > RESENDS { Err(error.into()) } else { Ok(Attempt::Again) }
    }

    /// What to make of a clone that began and did not end well.
    async fn not_finished(&self, mark: &Mark, error: TaskError) -> Done<Attempt> {
        match error.kind() {
            // A volume that an earlier VM of this number left behind is in the way as well, and goes by no number.
            Some(RefusalKind::Exists) if self.is_free(mark.vmid).await? => Err(error.into()),
            Some(RefusalKind::Exists) => Ok(Attempt::Taken),
            // A template is locked while it is backed up, for example.
            Some(RefusalKind::Busy | RefusalKind::Locked(_)) => Ok(Attempt::Again),
            _ if matches!(error, TaskError::Killed(_) | TaskError::Unknown(_)) => {
                // Its lock, if it left one, tells the rest.
                if self.is_free(mark.vmid).await? { Err(error.into()) } else { Ok(Attempt::Taken) }
            }
            _ => Err(error.into()),
        }
    }

    /// Finds out who has a number, and waits while it is not clear.
    pub(super) async fn holder(&self, run: &mut Run<'_>, mark: &Mark, creation: Option<&Creation>) -> Done<Holder> {
        let vmid = mark.vmid;
        let mut patience = Patience::new(LOCK_PATIENCE);
        let mut hidden = Patience::new(AFTER_SILENCE);
        let mut last_digest = None;
        loop {
            let guests = self.guests().await?;
            let Some(guest) = guests.get(&vmid) else {
                if self.is_free(vmid).await? {
                    return Ok(Holder::Nobody);
                }
                // A clone of ours is in its pool, and so in sight, only when it is done.
                match hidden.next() {
                    Some(pause) => self.pause(pause).await?,
                    None if self.is_cloning(creation, None).await? => hidden.renew(),
                    None => {
                        let who = "something that the token may not see has it";
                        return Ok(Holder::Stranger(who.to_owned()));
                    }
                }
                continue;
            };
            if guest.kind != GuestKind::Vm {
                return Ok(Holder::Stranger(format!("a container on {} has it", guest.host)));
            }
            let pending = match self.ask(|| self.client.vm_pending(&guest.host, vmid)).await {
                Ok(pending) => pending,
                Err(Trouble::Call(error)) if error.kind() == Some(&RefusalKind::NotFound) => {
                    self.pause(Duration::from_millis(300)).await?;
                    if patience.next().is_none() {
                        return Err(error.into());
                    }
                    continue;
                }
                Err(Trouble::Call(error)) if matches!(error.kind(), Some(RefusalKind::Forbidden { .. })) => {
                    if patience.next().is_none() {
                        return Err(error.into());
                    }
                    self.pause(Duration::from_secs(1)).await?;
                    continue;
                }
                Err(trouble) => return Err(trouble),
            };
            let config = pending.wanted();
            let ours = Mark::find(config.description()).as_ref() == Some(mark);
            let marked_by_other = !ours && Mark::find(config.description()).is_some();
            match config.lock() {
                Some(lock) if ours || (lock == "clone" && !marked_by_other) => {
                    if config.digest().map(str::to_owned) != last_digest {
                        last_digest = config.digest().map(str::to_owned);
                        patience.renew();
                    }
                    let stuck = || stuck(guest, lock, &pending);
                    self.wait_for(run, &mut patience, creation, &guest.host, stuck).await?;
                }
                _ if ours => return Ok(Holder::Node(guest.host.clone(), pending)),
                _ => {
                    let name = config.name().unwrap_or("no name");
                    return Ok(Holder::Stranger(format!("VM {vmid} ({name}) on {} has it", guest.host)));
                }
            }
        }
    }

    /// Waits a moment for a VM in the making. Fails when nothing has moved for long, and no clone is in sight that
    /// could move it.
    async fn wait_for(
        &self,
        run: &mut Run<'_>,
        patience: &mut Patience,
        creation: Option<&Creation>,
        host: &HostName,
        stuck: impl FnOnce() -> String,
    ) -> Done<()> {
        if run.step != Step::Join {
            run.begin(Step::Join);
        }
        if let Some(pause) = patience.next() {
            return self.pause(pause).await;
        }
        if self.is_cloning(creation, Some(host)).await? {
            patience.renew();
            return self.pause(Duration::from_secs(1)).await;
        }
        let vmid = run.vmid.map_or_else(|| "<vmid>".to_owned(), |vmid| vmid.to_string());
        Err(Trouble::seen(
            stuck(),
            format!(
                "no API token can clear a lock: look at the VM, then `qm unlock {vmid}` on its host and delete it there if \
                 it is half-made, and run this again"
            ),
        ))
    }

    /// Whether a clone is going on that could be the one that is waited for.
    async fn is_cloning(&self, creation: Option<&Creation>, host: Option<&HostName>) -> Done<bool> {
        let template = creation.map(|creation| creation.template.vmid);
        match creation.map(|creation| &creation.template.host).or(host) {
            Some(host) => Ok(!self.clones_of(host, template).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// The VM of this node that somebody has made meanwhile, if there is one.
    async fn join_made(&self, run: &mut Run<'_>, mark: &Mark) -> Done<Option<Held>> {
        let found = self.all_marked(mark, None).await?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => self.join_marked(run, one).await.map(Some),
            several => Err(two_marks(several)),
        }
    }

    /// All VMs with the mark of a node but this one. What is not yet clear is waited for.
    async fn all_marked(&self, mark: &Mark, but: Option<VmId>) -> Done<Vec<Marked>> {
        let mut patience = Patience::new(LOCK_PATIENCE);
        loop {
            let (found, unclear) = self.ask(|| self.roster.marked(self.client, mark, but)).await?;
            match patience.next().filter(|_| unclear) {
                Some(pause) => self.pause(pause).await?,
                None => return Ok(found),
            }
        }
    }

    async fn join_marked(&self, run: &mut Run<'_>, marked: &Marked) -> Done<Held> {
        run.vmid = Some(marked.mark.vmid);
        run.begin(Step::Join);
        match self.holder(run, &marked.mark, None).await? {
            Holder::Node(host, pending) => self.joined(run, marked.mark.clone(), host, pending).await,
            Holder::Nobody | Holder::Stranger(_) => Err(Trouble::seen(
                format!("VM {} was there a moment ago and is gone", marked.mark.vmid),
                "run it again: somebody else is at work",
            )),
        }
    }

    /// A VM that is complete, by whoever made it.
    pub(super) async fn joined(&self, run: &mut Run<'_>, mark: Mark, host: HostName, pending: VmPending) -> Done<Held> {
        self.roster.note_own(mark.vmid, &mark.node);
        run.vmid = Some(mark.vmid);
        run.host = Some(host.clone());
        let running = self.ask(|| self.client.vm_status(&host, mark.vmid)).await?.power != Power::Stopped;
        let mut held = Held::new(mark, host, running);
        held.recognise(&pending)?;
        Ok(held)
    }

    /// A VM that this run has cloned, unless it gave way to that of another run: with numbers that were chosen freely,
    /// both may have cloned the same node. Nothing when the other one is gone as well.
    async fn settle(&self, run: &mut Run<'_>, creation: &Creation, mark: Mark) -> Done<Option<Held>> {
        let mut held = Held::new(mark, creation.host.clone(), false);
        held.may_have_twin = creation.automatic;
        run.host = Some(held.host.clone());
        self.alone(run, held, Moment::Cloned).await
    }

    /// Looks for another VM of the same node, and decides which of the two stays.
    ///
    /// ```text
    ///            clone ── look ── configure ── look ── start
    /// ```
    /// At the first look the other one stays if it is configured or has the lower number, at the second one only if it
    /// has the lower number. Whoever comes late thus gives way to whoever may have started already; when both give way,
    /// both begin again.
    pub(super) async fn alone(&self, run: &mut Run<'_>, held: Held, moment: Moment) -> Done<Option<Held>> {
        if !held.may_have_twin {
            return Ok(Some(held));
        }
        let twins = self.all_marked(&held.mark, Some(held.mark.vmid)).await?;
        let Some(twin) = twins.into_iter().min_by_key(|twin| twin.mark.vmid) else {
            return Ok(Some(held));
        };
        let configured = twin.pending.wanted().tags().contains(&cluster_tag(self.cluster));
        let lower = twin.mark.vmid < held.mark.vmid;
        let gives_way = lower || (configured && moment == Moment::Cloned);
        if !gives_way {
            return Ok(Some(held));
        }
        run.warn(format!(
            "another run made VM {} for the same node at the same time: VM {}, which was never started, is removed",
            twin.mark.vmid, held.mark.vmid
        ));
        self.remove_never_started(&held).await?;
        match self.holder(run, &twin.mark, None).await? {
            Holder::Node(host, pending) => self.joined(run, twin.mark, host, pending).await.map(Some),
            Holder::Nobody | Holder::Stranger(_) => Ok(None),
        }
    }
}

/// When to look for another VM of the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Cloned,
    Configured,
}

fn stuck(guest: &Guest, lock: &str, pending: &VmPending) -> String {
    let volumes: Vec<String> = pending.wanted().volumes().map(|(_, volume)| volume.to_string()).collect();
    let volumes = if volumes.is_empty() { String::new() } else { format!("; its volumes: {}", volumes.join(", ")) };
    format!(
        "VM {} on {} is locked ({lock}), and nothing seems to be working on it any more{volumes}",
        guest.vmid, guest.host
    )
}

fn two_marks(several: &[Marked]) -> Trouble {
    let places: Vec<String> =
        several.iter().map(|marked| format!("VM {} on {}", marked.mark.vmid, marked.guest.host)).collect();
    Trouble::seen(
        format!("{} carry the mark of this node", places.join(" and ")),
        "keep one, and take the last line out of the others' notes",
    )
}
