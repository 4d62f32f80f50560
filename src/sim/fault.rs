//! What can go wrong on the server's side, as data.

use serde::{Deserialize, Serialize};

use super::flock::LockName;
use super::worker::{Job, Place, Worker};
use super::world::{World, seconds as millis_of};

/// One thing that goes wrong. Those about tasks wait for the next task of their kind, the others happen at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WorldFault {
    /// The next task of this kind (`qmclone`, `qmstart`, …) fails when it has done so many percent, and tidies up.
    TaskFails {
        kind: String,
        percent: u8,
        text: String,
    },
    /// The next task of this kind is killed when it has done so many percent: lock line and volumes stay.
    TaskKilled {
        kind: String,
        percent: u8,
    },
    /// The next download ends after so many percent, and nobody notices: the server had not said how much there is.
    DownloadTruncated {
        percent: u8,
    },
    /// Somebody holds the file lock of a VM.
    VmLocked {
        vmid: u32,
        seconds: u64,
    },
    /// Somebody holds the lock of a storage on a host.
    StorageLocked {
        host: String,
        storage: String,
        seconds: u64,
    },
    /// An operator sets the `lock:` line of a configuration, or removes it.
    LockLine {
        vmid: u32,
        lock: Option<String>,
    },
    HostOffline {
        host: String,
    },
    HostOnline {
        host: String,
    },
    /// The storage has no room left.
    StorageFull {
        storage: String,
    },
    /// No status daemon reports for a while, so the cluster's list grows old.
    StaleResources {
        seconds: u64,
    },
    /// The privileged daemon of a host is down, or up again.
    DaemonDown {
        host: String,
        down: bool,
    },
    /// The cluster file system is down, or up again.
    ClusterFsDown {
        down: bool,
    },
}

/// What happens to one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sabotage {
    percent: u8,
    pub(crate) end: End,
    /// Whether the worker sleeps up to the point where it happens.
    pub(crate) armed: bool,
}

/// How a worker ends that was sabotaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Error(String),
    Killed,
}

impl World {
    /// Lets something go wrong, at the moment that the world has reached.
    pub fn inject(&mut self, fault: WorldFault) {
        match fault {
            WorldFault::TaskFails { .. } | WorldFault::TaskKilled { .. } | WorldFault::DownloadTruncated { .. } => {
                self.faults.push(fault);
            }
            WorldFault::VmLocked { vmid, seconds } => {
                let host = self.vms.get(&vmid).map_or_else(|| self.entry.clone(), |vm| vm.host.clone());
                let lock = LockName::Vm { host: host.clone(), id: vmid };
                self.hold_lock(&host, &lock, millis_of(seconds));
            }
            WorldFault::StorageLocked { host, storage, seconds } => {
                let lock = self.storage_lock(&host, &storage);
                self.hold_lock(&host, &lock, millis_of(seconds));
            }
            WorldFault::LockLine { vmid, lock } => {
                if let Some(vm) = self.vms.get_mut(&vmid) {
                    match lock {
                        Some(lock) => vm.config.insert("lock".to_owned(), lock),
                        None => vm.config.remove("lock"),
                    };
                }
            }
            WorldFault::HostOffline { host } => self.lose_host(&host),
            WorldFault::HostOnline { host } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.online = true;
                }
            }
            WorldFault::StorageFull { storage } => {
                let Some(storage) = self.storages.get_mut(&storage) else {
                    return;
                };
                let places: Vec<String> = storage.volumes.keys().cloned().collect();
                let used = places.iter().map(|place| storage.used(place)).max().unwrap_or(storage.occupied);
                storage.occupied = storage.occupied.saturating_add(storage.capacity.saturating_sub(used));
            }
            WorldFault::StaleResources { seconds } => self.silent_until = self.later(millis_of(seconds)),
            WorldFault::DaemonDown { host, down } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.daemon = !down;
                }
            }
            WorldFault::ClusterFsDown { down } => self.cluster_fs_down = down,
        }
    }

    /// Kills the worker of a running task, as SIGKILL does: its lock line and its volumes stay. Whether there was one.
    pub fn kill_task(&mut self, upid: &str) -> bool {
        let Some((number, task)) = self.tasks.find(upid).filter(|(_, task)| task.exit.is_none()) else {
            return false;
        };
        let place = Place { worker: task.worker, task: Some(number), host: task.host.clone(), user: task.user.clone() };
        self.kill(&place);
        true
    }

    /// A host goes down with everything that runs on it.
    fn lose_host(&mut self, name: &str) {
        if let Some(host) = self.hosts.get_mut(name) {
            host.online = false;
        }
        let workers: Vec<(u64, Option<u64>)> = self
            .workers
            .all
            .iter()
            .filter(|(_, worker)| worker.host == name)
            .map(|(number, worker)| (*number, worker.task))
            .collect();
        for (worker, task) in workers {
            let place = Place { worker, task, host: name.to_owned(), user: String::new() };
            self.kill(&place);
        }
        for vm in self.vms.values_mut().filter(|vm| vm.host == name) {
            vm.power = super::vm::Power::Stopped;
        }
    }

    /// The fault that is waiting for a task like this one.
    pub(crate) fn take_sabotage(&mut self, task: u64) -> Option<Sabotage> {
        let kind = &self.tasks.all.get(&task)?.kind;
        let index = self.faults.iter().position(|fault| match fault {
            WorldFault::TaskFails { kind: wanted, .. } | WorldFault::TaskKilled { kind: wanted, .. } => wanted == kind,
            _ => false,
        })?;
        match self.faults.remove(index) {
            WorldFault::TaskFails { percent, text, .. } => {
                Some(Sabotage { percent, end: End::Error(text), armed: false })
            }
            WorldFault::TaskKilled { percent, .. } => Some(Sabotage { percent, end: End::Killed, armed: false }),
            _ => None,
        }
    }

    /// How much of a file arrives, in percent.
    pub(crate) fn take_truncation(&mut self) -> Option<u8> {
        let is_truncation = |fault: &WorldFault| matches!(fault, WorldFault::DownloadTruncated { .. });
        let index = self.faults.iter().position(is_truncation)?;
        match self.faults.remove(index) {
            WorldFault::DownloadTruncated { percent } => Some(percent.min(100)),
            _ => None,
        }
    }

    /// Shortens the sleep of a worker that is to fail in the middle of it.
    pub(crate) fn shorten_sleep(&self, worker: &mut Worker, time: u64) -> u64 {
        let copying = worker.task.and_then(|task| self.tasks.all.get(&task)).and_then(|task| task.copy.as_ref());
        // The percentage is that of the real copy, if there is one; small images are done before anything can happen.
        let here = match &worker.job {
            Job::Clone(job) => !job.full || copying.is_some_and(|copy| copy.bytes >= 2 << 20),
            Job::Move(_) => copying.is_some(),
            _ => time > 0,
        };
        match &mut worker.sabotage {
            Some(sabotage) if here && !sabotage.armed => {
                sabotage.armed = true;
                u64::try_from(u128::from(time) * u128::from(sabotage.percent.min(100)) / 100).unwrap_or(time)
            }
            _ => time,
        }
    }
}
