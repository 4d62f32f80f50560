use std::fmt;

use crate::model::HostName;
use crate::proxmox::task::Upid;
use crate::proxmox::{Request, form};

/// Which tasks of a host to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TasksQuery<'a> {
    pub source: TaskSource,
    /// Without a limit, Proxmox stops at 50.
    pub limit: u32,
    /// Only tasks that began at this time (seconds since 1970, by the host's clock) or later.
    pub since: Option<u64>,
    /// Exactly this type, such as `qmclone`.
    pub kind: Option<&'a str>,
}

/// Proxmox lists only finished tasks unless it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSource {
    Active,
    All,
}

impl fmt::Display for TaskSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::All => "all",
        })
    }
}

pub fn tasks(host: &HostName, query: &TasksQuery<'_>) -> Request {
    Request::get(format!("/nodes/{host}/tasks"))
        .with("source", query.source)
        .with("limit", query.limit)
        .with_some("since", query.since)
        .with_some("typefilter", query.kind)
}

/// Asked of the host in the task's own name: any other does not know it.
fn task(upid: &Upid) -> String {
    format!("/nodes/{}/tasks/{}", upid.host(), form::escape(&upid.to_string()))
}

pub fn task_status(upid: &Upid) -> Request {
    Request::get(format!("{}/status", task(upid)))
}

/// Lines of a task's log, `limit` of them after the first `start`.
pub fn task_log(upid: &Upid, start: u64, limit: u32) -> Request {
    Request::get(format!("{}/log", task(upid))).with("start", start).with("limit", limit)
}

/// Ends a task. A clone that is ended may leave rubbish behind.
pub fn stop_task(upid: &Upid) -> Request {
    Request::delete(task(upid))
}
