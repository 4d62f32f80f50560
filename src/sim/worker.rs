//! What runs by itself: one worker per running task, stepping through virtual time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fault::{End, Sabotage};
use super::flock::{LockName, Mode};
use super::world::{Millis, TICK, World};
use super::{clone, create, destroy, download, move_disk, power, resize, snapshot, template, update};

/// What a worker has to do; each room of the simulator has its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Job {
    Clone(Box<clone::Job>),
    Create(Box<create::Job>),
    Destroy(destroy::Job),
    Download(download::Job),
    Move(move_disk::Job),
    Power(power::Job),
    Cleanup(power::Cleanup),
    Resize(resize::Job),
    Snapshot(snapshot::Job),
    Template(template::Job),
    Update(Box<update::Job>),
    RemoveVolume(download::RemoveVolume),
    /// Holds a lock and does nothing else.
    Hold,
}

/// One process of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Worker {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<u64>,
    pub(crate) host: String,
    pub(crate) user: String,
    pub(crate) job: Job,
    /// When its next step is due.
    pub(crate) wake: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<Waiting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sabotage: Option<Sabotage>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) lock: LockName,
    pub(crate) mode: Mode,
    pub(crate) since: Millis,
}

/// All workers by their number, which is also the order in which they wait for a lock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Workers {
    pub(crate) next: u64,
    pub(crate) all: BTreeMap<u64, Worker>,
}

impl Workers {
    pub(crate) fn next_wake(&self) -> Option<Millis> {
        self.all.values().map(|worker| worker.wake).min()
    }
}

/// Why a worker gets to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its time has come, or the lock that it wanted is its own now.
    Go,
    /// It waited in vain; the text says for what.
    LockTimeout(String),
    /// Somebody stopped the task.
    Interrupted,
    /// Something inside went wrong, as a test wished.
    Broken(String),
}

/// What a worker wants next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Sleep(Millis),
    Lock(LockName, Mode, Millis),
    Done(Result<(), String>),
}

/// The circumstances of a running worker.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) worker: u64,
    pub(crate) task: Option<u64>,
    pub(crate) host: String,
    pub(crate) user: String,
}

impl Job {
    fn step(&mut self, world: &mut World, place: &Place, event: Event) -> Step {
        match self {
            Self::Clone(job) => job.step(world, place, event),
            Self::Create(job) => job.step(world, place, event),
            Self::Destroy(job) => job.step(world, place, event),
            Self::Download(job) => job.step(world, place, event),
            Self::Move(job) => job.step(world, place, event),
            Self::Power(job) => job.step(world, place, event),
            Self::Cleanup(job) => job.step(world, place, &event),
            Self::Resize(job) => job.step(world, place, event),
            Self::Snapshot(job) => job.step(world, place, event),
            Self::Template(job) => job.step(world, place, event),
            Self::Update(job) => job.step(world, place, event),
            Self::RemoveVolume(job) => job.step(world, place, event),
            Self::Hold => Step::Done(Ok(())),
        }
    }
}

/// The usual beginning of a job's step: what to do about an event that is no plain go-ahead.
pub(crate) fn failed(event: Event) -> Result<(), String> {
    match event {
        Event::Go => Ok(()),
        Event::LockTimeout(text) | Event::Broken(text) => Err(text),
        Event::Interrupted => Err("received interrupt".to_owned()),
    }
}

impl World {
    /// Starts a worker; with a task, its UPID is what the caller gets.
    pub(crate) fn spawn(&mut self, host: &str, task: Option<u64>, user: &str, job: Job, delay: Millis) -> u64 {
        let number = self.workers.next;
        self.workers.next += 1;
        let sabotage = task.and_then(|task| self.take_sabotage(task));
        let worker = Worker {
            task,
            host: host.to_owned(),
            user: user.to_owned(),
            job,
            wake: self.later(delay),
            waiting: None,
            sabotage,
        };
        self.workers.all.insert(number, worker);
        if let Some(task) = task.and_then(|task| self.tasks.all.get_mut(&task)) {
            task.worker = number;
        }
        number
    }

    /// Starts a task and its worker; the answer to such a call is the UPID.
    pub(crate) fn fork(&mut self, host: &str, kind: &str, about: &str, user: &str, job: Job) -> String {
        let task = self.new_task(host, kind, about, user);
        self.spawn(host, Some(task), user, job, self.timing.fork);
        self.tasks.all[&task].upid()
    }

    /// Lets everything happen that is due until `now`, in order.
    pub(crate) fn run_until(&mut self, now: Millis) {
        loop {
            let due = self.workers.all.iter().map(|(number, worker)| (worker.wake, *number)).min();
            let worker = due.filter(|(wake, _)| *wake <= now);
            let tick = (self.next_tick <= now).then_some(self.next_tick);
            match (worker, tick) {
                (Some((wake, number)), tick) if tick.is_none_or(|tick| wake < tick) => {
                    self.now = self.now.max(wake);
                    self.resume(number, None);
                }
                (_, Some(tick)) => {
                    self.now = self.now.max(tick);
                    self.report();
                    // Nothing happens between here and the next worker: the reports in between say the same.
                    let quiet = worker.map_or(now, |(wake, _)| wake);
                    let skip = quiet.saturating_sub(tick) / TICK;
                    self.next_tick = tick + TICK * skip.max(1);
                }
                _ => break,
            }
        }
        self.now = self.now.max(now);
    }

    /// Runs one worker until it sleeps, waits or ends.
    pub(crate) fn resume(&mut self, number: u64, event: Option<Event>) {
        let Some(mut worker) = self.workers.all.remove(&number) else {
            return;
        };
        let mut event = event.unwrap_or_else(|| match worker.waiting.take() {
            Some(waiting) => Event::LockTimeout(waiting.lock.timeout()),
            None => Event::Go,
        });
        worker.waiting = None;
        self.unreported = true;
        let place = Place { worker: number, task: worker.task, host: worker.host.clone(), user: worker.user.clone() };
        loop {
            if worker.sabotage.as_ref().is_some_and(|sabotage| sabotage.armed) {
                match worker.sabotage.take().map(|sabotage| sabotage.end) {
                    Some(End::Error(text)) => event = Event::Broken(text),
                    _ => return self.kill(&place),
                }
            }
            match worker.job.step(self, &place, event) {
                Step::Sleep(time) => {
                    worker.wake = self.later(self.shorten_sleep(&mut worker, time));
                    break;
                }
                Step::Lock(lock, mode, wait) => {
                    if self.flocks.is_free(&lock, mode, number) {
                        self.flocks.hold(&lock, mode, number);
                        event = Event::Go;
                        continue;
                    }
                    self.log(place.task, "trying to acquire lock...");
                    worker.wake = self.later(wait);
                    worker.waiting = Some(Waiting { lock, mode, since: self.now });
                    break;
                }
                Step::Done(result) => {
                    if let Some(task) = place.task {
                        self.end_task(task, &result);
                    }
                    self.flocks.release_all(number);
                    self.grant_locks();
                    return;
                }
            }
        }
        self.workers.all.insert(number, worker);
        self.grant_locks();
    }

    /// Ends a worker as SIGKILL does: nothing is tidied up, but its file locks are gone.
    pub(crate) fn kill(&mut self, place: &Place) {
        if let Some(task) = place.task {
            self.lose_task(task);
        }
        self.workers.all.remove(&place.worker);
        self.flocks.release_all(place.worker);
        self.grant_locks();
    }

    /// Gives free locks to those who wait, first come first served.
    pub(crate) fn grant_locks(&mut self) {
        let mut waiting: Vec<(Millis, u64)> = self
            .workers
            .all
            .iter()
            .filter_map(|(number, worker)| Some((worker.waiting.as_ref()?.since, *number)))
            .collect();
        waiting.sort_unstable();
        for (_, number) in waiting {
            let Some(worker) = self.workers.all.get_mut(&number) else {
                continue;
            };
            let Some(Waiting { lock, mode, .. }) = worker.waiting.clone() else {
                continue;
            };
            if self.flocks.is_free(&lock, mode, number) {
                self.flocks.hold(&lock, mode, number);
                worker.waiting = None;
                worker.wake = self.now;
                let task = worker.task;
                self.log(task, " OK");
            }
        }
    }

    /// Lets somebody outside hold a lock for a while, if it is free or will be.
    pub(crate) fn hold_lock(&mut self, host: &str, lock: &LockName, time: Millis) {
        let worker = self.spawn(host, None, "root@pam", Job::Hold, time);
        self.flocks.hold(lock, Mode::Exclusive, worker);
    }
}
