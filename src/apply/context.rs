use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::event::{End, Event, EventKind, Outcome, Step};
use super::limits::{Limits, StoragePlace};
use super::roster::Roster;
use super::settings::{Settings, Stopped};
use super::trouble::{Done, Trouble};
use crate::model::{Cluster, HostName, NodeName, VmId};
use crate::proxmox::answers::Guest;
use crate::proxmox::task::{Ended, TaskWatcher, Upid};
use crate::proxmox::{Client, ProxmoxError, RefusalKind, Transport};

/// What all nodes of a run share.
pub(super) struct Context<'a, T, W> {
    pub(super) client: &'a Client<T>,
    pub(super) watcher: TaskWatcher<T>,
    /// Who looks at the nodes; nobody where only VMs matter.
    pub(super) watch: W,
    pub(super) cluster: &'a Cluster,
    pub(super) settings: Settings,
    pub(super) stopped: &'a Stopped,
    pub(super) tell: &'a (dyn Fn(Event) + Sync),
    pub(super) volumes: Limits<StoragePlace>,
    pub(super) starts: Limits<HostName>,
    pub(super) roster: Roster,
    /// The token may not set the start order.
    pub(super) no_startup: AtomicBool,
    /// The token may not set our tags.
    pub(super) no_tags: AtomicBool,
    /// Whether the clones that others had begun before this run were waited for.
    pub(super) others_done: tokio::sync::Mutex<BTreeSet<(HostName, VmId)>>,
}

impl<'a, T: Transport + Clone, W> Context<'a, T, W> {
    pub(super) fn new(
        client: &'a Client<T>,
        watch: W,
        cluster: &'a Cluster,
        settings: Settings,
        stopped: &'a Stopped,
        tell: &'a (dyn Fn(Event) + Sync),
        roster: Roster,
    ) -> Self {
        Self {
            client,
            watcher: TaskWatcher::new(client.clone(), settings.pace),
            watch,
            cluster,
            settings,
            stopped,
            tell,
            volumes: Limits::new(settings.volumes_per_storage),
            starts: Limits::new(settings.starts_per_host),
            roster,
            no_startup: AtomicBool::new(false),
            no_tags: AtomicBool::new(false),
            others_done: tokio::sync::Mutex::default(),
        }
    }
}

/// How long to ask again what was not answered; a silent server takes half a minute for each attempt.
const ASKING: Duration = Duration::from_secs(3);

impl<T: Transport, W> Context<'_, T, W> {
    /// Ctrl-C is heard between requests, never inside one: a half-sent request helps nobody.
    pub(super) fn go_on(&self) -> Done<()> {
        if self.stopped.is_asked() { Err(Trouble::Interrupted(None)) } else { Ok(()) }
    }

    /// Asks something that changes nothing, and asks again when only the way there was in trouble.
    pub(super) async fn ask<R, F>(&self, question: impl Fn() -> F) -> Done<R>
    where
        F: Future<Output = Result<R, ProxmoxError>>,
    {
        let mut patience = Patience::new(ASKING);
        loop {
            let error = match question().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let passing = match error.kind() {
                Some(RefusalKind::BackendSilent | RefusalKind::Ambiguous | RefusalKind::Busy | RefusalKind::Other) => {
                    true
                }
                Some(_) => false,
                None => matches!(error, ProxmoxError::Unanswered { .. }),
            };
            match patience.next().filter(|_| passing) {
                Some(pause) => self.pause(pause).await?,
                None => return Err(error.into()),
            }
        }
    }

    /// All guests, as they are from now on.
    pub(super) async fn guests(&self) -> Done<Arc<BTreeMap<VmId, Guest>>> {
        self.ask(|| self.roster.guests(self.client)).await
    }

    /// Waits for a turn, unless everybody is asked to stop.
    pub(super) async fn turn<K: Ord + Clone>(&self, limits: &Limits<K>, place: &K) -> Done<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = self.stopped.asked() => Err(Trouble::Interrupted(None)),
            turn = limits.turn(place) => Ok(turn),
        }
    }

    pub(super) async fn is_free(&self, vmid: VmId) -> Done<bool> {
        self.ask(|| self.client.is_free(vmid)).await
    }

    pub(super) async fn pause(&self, time: Duration) -> Done<()> {
        tokio::select! {
            biased;
            () = self.stopped.asked() => Err(Trouble::Interrupted(None)),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Waits for a task. Being asked to stop leaves it running.
    pub(super) async fn finish(&self, upid: &Upid) -> Done<Ended> {
        tokio::select! {
            biased;
            () = self.stopped.asked() => Err(Trouble::Interrupted(Some(upid.clone()))),
            ended = self.watcher.finish(upid) => Ok(ended?),
        }
    }

    /// Waits for a clone and tells how far it is.
    pub(super) async fn follow(&self, upid: &Upid, run: &Run<'_>) -> Done<Ended> {
        if !self.settings.percent {
            return self.finish(upid).await;
        }
        let tell = |progress: &crate::proxmox::task::TaskProgress| {
            if let Some(percent) = progress.percent(1) {
                run.tell(EventKind::Progress { percent });
            }
        };
        tokio::select! {
            biased;
            () = self.stopped.asked() => Err(Trouble::Interrupted(Some(upid.clone()))),
            ended = self.watcher.follow(upid, tell) => Ok(ended?),
        }
    }

    /// The lines with warnings of a task that ended well.
    pub(super) async fn warnings(&self, ended: &Ended, run: &mut Run<'_>) {
        if ended.warnings == 0 {
            return;
        }
        let lines = match self.client.whole_task_log(&ended.upid).await {
            Ok(log) => log.lines,
            Err(_) => Vec::new(),
        };
        let warned = lines.iter().filter_map(|line| line.text.strip_prefix("WARN: "));
        let warned: Vec<String> = warned.map(str::to_owned).collect();
        if warned.is_empty() {
            run.warn(format!("task {} ended with {} warnings", ended.upid, ended.warnings));
        }
        for warning in warned {
            run.warn(warning);
        }
    }
}

/// One node on its way: where it is, and what should be known about it.
pub(super) struct Run<'a> {
    node: &'a NodeName,
    began: Instant,
    tell: &'a (dyn Fn(Event) + Sync),
    pub(super) step: Step,
    pub(super) vmid: Option<VmId>,
    pub(super) host: Option<HostName>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Run<'a> {
    /// A node with the VM that it has, or will have, and the step that it begins with.
    pub(super) fn new(
        node: &'a NodeName,
        vm: (Option<VmId>, Option<HostName>),
        first: Step,
        tell: &'a (dyn Fn(Event) + Sync),
    ) -> Self {
        let (vmid, host) = vm;
        Self { node, began: Instant::now(), tell, step: first, vmid, host, warnings: Vec::new() }
    }

    /// Tells how it ended.
    pub(super) async fn ended<T: Transport>(self, end: Done<End>, client: &Client<T>) -> Outcome {
        let end = match end {
            Ok(end) => end,
            Err(Trouble::Interrupted(running)) => End::Interrupted { running: running.map(|upid| upid.to_string()) },
            Err(trouble) => End::Failed { failure: trouble.told(self.step, client).await },
        };
        let outcome = Outcome {
            node: self.node.clone(),
            vmid: self.vmid,
            host: self.host.clone(),
            end,
            warnings: self.warnings.clone(),
            took: self.began.elapsed(),
        };
        self.tell(EventKind::Ended { outcome: outcome.clone() });
        outcome
    }

    pub(super) fn tell(&self, kind: EventKind) {
        (self.tell)(Event { node: self.node.clone(), kind });
    }

    pub(super) fn begin(&mut self, step: Step) {
        self.step = step;
        self.tell(EventKind::Began { step });
    }

    pub(super) fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.tell(EventKind::Warned { warning: warning.clone() });
            self.warnings.push(warning);
        }
    }
}

/// Waits between two looks at something that will change, a little longer each time.
pub(super) struct Patience {
    pause: Duration,
    waited: Duration,
    limit: Duration,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { pause: Duration::from_millis(500), waited: Duration::ZERO, limit }
    }

    /// The next pause, or nothing when the patience is at its end.
    pub(super) fn next(&mut self) -> Option<Duration> {
        if self.waited >= self.limit {
            return None;
        }
        // Two runs that wait for the same thing should not keep step.
        let pause = self.pause.mul_f64(0.8 + 0.4 * fastrand::f64());
        self.pause = (self.pause * 3 / 2).min(Duration::from_secs(5));
        self.waited += pause;
        Some(pause)
    }

    /// There was a sign of life.
    pub(super) fn renew(&mut self) {
        *self = Self::new(self.limit);
    }
}
