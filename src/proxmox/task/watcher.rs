use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{debug, warn};

use super::{ExitStatus, Pace, TaskError, TaskProgress, TaskState, Upid};
use crate::model::HostName;
use crate::proxmox::calls::{TaskSource, TasksQuery};
use crate::proxmox::error::ProxmoxError;
use crate::proxmox::refusal::RefusalKind;
use crate::proxmox::{Client, Transport};

/// More rows than a host has tasks at a time; whatever is beyond is asked for by name.
const ROWS: u32 = 500;
/// Lines of a log that are read at a time.
const LINES: u32 = 500;

/// Waits for tasks, any number of them at once.
///
/// All who wait for tasks of one host share one look at its task list. Nothing runs in the background: one of those
/// who wait does the looking, and when it has what it waited for, or is dropped, the next one takes over.
#[derive(Debug)]
pub struct TaskWatcher<T> {
    client: Client<T>,
    pace: Pace,
    hosts: Mutex<BTreeMap<HostName, Arc<HostWatch>>>,
}

/// A task that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub upid: Upid,
    /// How many lines of its log begin with `WARN:`.
    pub warnings: u32,
}

/// What is known about one host's tasks.
#[derive(Debug)]
struct HostWatch {
    host: HostName,
    waiting: Mutex<BTreeMap<Upid, Waiting>>,
    last_look: Mutex<Option<Instant>>,
    silent_since: Mutex<Option<Instant>>,
    /// Whose turn it is to look.
    turn: tokio::sync::Mutex<()>,
    /// Wakes the one who looks, because somebody else began to wait.
    joined: Notify,
    /// Wakes all who wait, because there was a look.
    looked: watch::Sender<()>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    /// How many wait for this same task.
    waiters: usize,
    end: Option<Result<Ended, TaskError>>,
}

impl<T: Transport> TaskWatcher<T> {
    pub fn new(client: Client<T>, pace: Pace) -> Self {
        Self { client, pace, hosts: Mutex::default() }
    }

    /// Waits until a task has ended, whoever began it.
    ///
    /// Gives up when the task's log stands still for too long, however long it takes as a whole.
    pub async fn finish(&self, upid: &Upid) -> Result<Ended, TaskError> {
        let rarely = self.pace.stalled_after / 4;
        tokio::select! {
            biased;
            ended = self.ended(upid) => ended,
            stalled = self.signs_of_life(upid, rarely, rarely, |_| ()) => Err(stalled),
        }
    }

    /// Like [`Self::finish`], and tells how far the task is whenever its log has something new.
    pub async fn follow(&self, upid: &Upid, tell: impl FnMut(&TaskProgress) + Send) -> Result<Ended, TaskError> {
        let (first, slowest) = (self.pace.log, self.pace.log * 10);
        tokio::select! {
            biased;
            ended = self.ended(upid) => ended,
            stalled = self.signs_of_life(upid, first, slowest, tell) => Err(stalled),
        }
    }

    async fn ended(&self, upid: &Upid) -> Result<Ended, TaskError> {
        let watch = self.watch(upid.host());
        let place = Place::take(&watch, upid);
        let mut looked = watch.looked.subscribe();
        let mut look = pin!(self.look(&watch));
        loop {
            if let Some(end) = place.end() {
                return end;
            }
            tokio::select! {
                () = &mut look => look.set(self.look(&watch)),
                _ = looked.changed() => {}
            }
        }
    }

    fn watch(&self, host: &HostName) -> Arc<HostWatch> {
        let mut hosts = lock(&self.hosts);
        let watch = hosts.entry(host.clone()).or_insert_with(|| Arc::new(HostWatch::new(host.clone())));
        Arc::clone(watch)
    }

    /// Waits for the turn to look and for the time to look, and looks.
    async fn look(&self, watch: &HostWatch) {
        let _turn = watch.turn.lock().await;
        loop {
            let due = watch.due(&self.pace);
            tokio::select! {
                () = sleep_until(due) => break,
                () = watch.joined.notified() => {}
            }
        }
        self.look_now(watch).await;
        *lock(&watch.last_look) = Some(Instant::now());
        watch.looked.send_replace(());
    }

    async fn look_now(&self, watch: &HostWatch) {
        let waiting = watch.unended();
        let since = waiting.iter().map(Upid::started).min();
        let query = TasksQuery { source: TaskSource::All, limit: ROWS, since, kind: None };
        let rows = match self.client.tasks(&watch.host, &query).await {
            Ok(rows) => rows,
            Err(error) => return watch.not_answered(error, self.pace.silent_after),
        };
        *lock(&watch.silent_since) = None;
        let mut listed: BTreeMap<Upid, TaskState> = rows.into_iter().map(|row| (row.upid, row.state)).collect();
        for upid in waiting {
            let state = match listed.remove(&upid) {
                Some(state) if state != TaskState::Unknown => Ok(state),
                _ => self.client.task_status(&upid).await,
            };
            match state {
                Ok(TaskState::Ended(status)) => watch.end(&upid, ending(&upid, status)),
                Ok(TaskState::Running | TaskState::Unknown) => {}
                Err(error) if error.kind() == Some(&RefusalKind::NoSuchTask) => {
                    watch.end(&upid, Err(TaskError::Unknown(upid.clone())));
                }
                Err(error) if is_final(&error) => {
                    watch.end(&upid, Err(TaskError::Lost { upid: upid.clone(), source: Arc::new(error) }));
                }
                Err(error) => debug!(%upid, %error, "status of a task not read"),
            }
        }
    }

    /// Reads the log from time to time, and returns when it has stood still for too long.
    async fn signs_of_life(
        &self,
        upid: &Upid,
        first_pause: Duration,
        slowest: Duration,
        mut tell: impl FnMut(&TaskProgress) + Send,
    ) -> TaskError {
        let mut progress = TaskProgress::default();
        let mut last_sign = Instant::now();
        let mut pause = first_pause;
        loop {
            sleep(pause).await;
            pause = pause.mul_f64(1.5).min(slowest);
            match self.client.task_log(upid, progress.lines, LINES).await {
                Ok(page) if !page.lines.is_empty() => {
                    last_sign = Instant::now();
                    progress.read(&page.lines);
                    tell(&progress);
                }
                Ok(_) => {}
                Err(error) => debug!(%upid, %error, "log of a task not read"),
            }
            let waited = last_sign.elapsed();
            if waited >= self.pace.stalled_after {
                return TaskError::Stalled { upid: upid.clone(), waited };
            }
        }
    }
}

fn ending(upid: &Upid, status: ExitStatus) -> Result<Ended, TaskError> {
    let upid = upid.clone();
    match status {
        ExitStatus::Ok => Ok(Ended { upid, warnings: 0 }),
        ExitStatus::Warnings(warnings) => Ok(Ended { upid, warnings }),
        ExitStatus::Failed(text) => Err(TaskError::Failed { upid, text }),
        ExitStatus::Unexpected => Err(TaskError::Killed(upid)),
    }
}

/// Whether asking again cannot help.
fn is_final(error: &ProxmoxError) -> bool {
    let refused = matches!(error.kind(), Some(RefusalKind::Unauthenticated | RefusalKind::Forbidden { .. }));
    refused || matches!(error, ProxmoxError::Untrusted { .. })
}

impl HostWatch {
    fn new(host: HostName) -> Self {
        Self {
            host,
            waiting: Mutex::default(),
            last_look: Mutex::default(),
            silent_since: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            joined: Notify::new(),
            looked: watch::Sender::new(()),
        }
    }

    /// When to look next: soon while something is young, but not the later the more keep joining.
    fn due(&self, pace: &Pace) -> Instant {
        let now = Instant::now();
        let waiting = lock(&self.waiting);
        let since = || waiting.values().map(|waiting| waiting.since);
        let (oldest, youngest) = (since().min().unwrap_or(now), since().max().unwrap_or(now));
        let last_look = lock(&self.last_look).unwrap_or(oldest).max(oldest);
        last_look + pace.pause(now.saturating_duration_since(youngest))
    }

    fn unended(&self) -> Vec<Upid> {
        let waiting = lock(&self.waiting);
        waiting.iter().filter(|(_, waiting)| waiting.end.is_none()).map(|(upid, _)| upid.clone()).collect()
    }

    fn end(&self, upid: &Upid, end: Result<Ended, TaskError>) {
        if let Some(waiting) = lock(&self.waiting).get_mut(upid) {
            waiting.end = Some(end);
        }
    }

    /// A host that does not answer for a moment has not lost its tasks; one that stays silent is given up.
    fn not_answered(&self, error: ProxmoxError, patience: Duration) {
        let since = *lock(&self.silent_since).get_or_insert_with(Instant::now);
        if since.elapsed() < patience && !is_final(&error) {
            warn!(host = %self.host, %error, "task list not read, trying again");
            return;
        }
        let source = Arc::new(error);
        for upid in self.unended() {
            let lost = TaskError::Lost { upid: upid.clone(), source: Arc::clone(&source) };
            self.end(&upid, Err(lost));
        }
    }
}

/// The place of one who waits; leaving it, by whatever way, frees it.
struct Place<'a> {
    watch: &'a HostWatch,
    upid: &'a Upid,
}

impl<'a> Place<'a> {
    fn take(watch: &'a HostWatch, upid: &'a Upid) -> Self {
        let begun = || Waiting { since: Instant::now(), waiters: 0, end: None };
        lock(&watch.waiting).entry(upid.clone()).or_insert_with(begun).waiters += 1;
        watch.joined.notify_one();
        Self { watch, upid }
    }

    fn end(&self) -> Option<Result<Ended, TaskError>> {
        lock(&self.watch.waiting).get(self.upid).and_then(|waiting| waiting.end.clone())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.watch.waiting);
        if let Some(own) = waiting.get_mut(self.upid) {
            own.waiters -= 1;
            if own.waiters == 0 {
                waiting.remove(self.upid);
            }
        }
    }
}

/// What is guarded stays whole even if somebody panicked meanwhile.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
