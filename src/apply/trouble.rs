use crate::proxmox::task::{TaskError, Upid};
use crate::proxmox::{Client, ProxmoxError, Transport};

use super::event::{Failure, Step};

/// Why a node does not go on.
#[derive(Debug)]
pub(super) enum Trouble {
    Call(ProxmoxError),
    Task(TaskError),
    /// Something that Proxmox did not say, but that we saw.
    Seen {
        message: String,
        hint: String,
    },
    /// Somebody asked to stop; the task goes on.
    Interrupted(Option<Upid>),
}

pub(super) type Done<T> = Result<T, Trouble>;

impl From<ProxmoxError> for Trouble {
    fn from(error: ProxmoxError) -> Self {
        Self::Call(error)
    }
}

impl From<TaskError> for Trouble {
    fn from(error: TaskError) -> Self {
        Self::Task(error)
    }
}

impl Trouble {
    pub(super) fn seen(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Seen { message: message.into(), hint: hint.into() }
    }

    /// The failure for people; the last lines of a task's log are fetched for it.
    pub(super) async fn told<T: Transport>(self, step: Step, client: &Client<T>) -> Failure {
        match self {
            Self::Call(error) => Failure { step, message: error.with_causes(), log: Vec::new(), hint: error.hint() },
            Self::Task(error) => {
                let log = last_lines(client, error.upid()).await;
                Failure { step, message: crate::proxmox::with_causes(&error), log, hint: error.hint() }
            }
            Self::Seen { message, hint } => Failure { step, message, log: Vec::new(), hint },
            Self::Interrupted(_) => {
                let hint = "run it again: it goes on from here".to_owned();
                Failure { step, message: "interrupted".to_owned(), log: Vec::new(), hint }
            }
        }
    }
}

const LINES: usize = 8;

async fn last_lines<T: Transport>(client: &Client<T>, upid: &Upid) -> Vec<String> {
    let Ok(log) = client.whole_task_log(upid).await else {
        return Vec::new();
    };
    let from = log.lines.len().saturating_sub(LINES);
    log.lines.into_iter().skip(from).map(|line| line.text).collect()
}
