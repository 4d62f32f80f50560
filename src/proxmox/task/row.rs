use serde::Deserialize;

use super::{ExitStatus, Upid};
use crate::proxmox::lenient;

/// A row of a host's task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    pub upid: Upid,
    pub state: TaskState,
}

/// Where a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskState {
    Running,
    Ended(ExitStatus),
    /// The list says neither; the task's own status does.
    Unknown,
}

#[derive(Deserialize)]
pub(in crate::proxmox) struct ListedTask {
    #[serde(default, deserialize_with = "lenient::some_parsed")]
    upid: Option<Upid>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    status: Option<String>,
}

impl ListedTask {
    /// A row whose name we cannot read is not one that we wait for.
    pub(in crate::proxmox) fn row(self) -> Option<TaskRow> {
        let state = match self.status.as_deref() {
            None | Some("") => TaskState::Unknown,
            Some("RUNNING" | "running") => TaskState::Running,
            Some(status) => ended(status),
        };
        Some(TaskRow { upid: self.upid?, state })
    }
}

/// `GET …/tasks/{upid}/status`.
#[derive(Deserialize)]
pub(in crate::proxmox) struct StatusOfTask {
    #[serde(default, deserialize_with = "lenient::some_text")]
    status: Option<String>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    exitstatus: Option<String>,
}

impl StatusOfTask {
    pub(in crate::proxmox) fn state(self) -> TaskState {
        match (self.status.as_deref(), self.exitstatus.as_deref()) {
            (Some("running"), _) => TaskState::Running,
            (_, Some(status)) => ended(status),
            (_, None) => TaskState::Unknown,
        }
    }
}

fn ended(status: &str) -> TaskState {
    let Ok(status) = status.parse();
    TaskState::Ended(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_running_and_ended_tasks_are_told_apart() {
        #[track_caller]
        fn case(status: &str, expected: &TaskState) {
            let row = format!(r#"{{"upid":"UPID:pve:00003ECE:000A5D7D:6AFA5F39:qmclone:9000:a@pve!b:"{status}}}"#);
            let task: ListedTask = serde_json::from_str(&row).unwrap();
            assert_eq!(&task.row().unwrap().state, expected);
        }
        case(r#","status":"RUNNING","saved":"0""#, &TaskState::Running);
        case(r#","status":"OK","endtime":1"#, &TaskState::Ended(ExitStatus::Ok));
        case("", &TaskState::Unknown);
        let unreadable: ListedTask = serde_json::from_str(r#"{"upid":"x"}"#).unwrap();
        assert_eq!(unreadable.row(), None);
    }
}
