use std::sync::Arc;
use std::time::Duration;

use super::Upid;
use crate::proxmox::error::ProxmoxError;
use crate::proxmox::refusal::RefusalKind;

/// A task that did not end well, or was lost sight of.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TaskError {
    #[error("task {upid} failed: {text}")]
    Failed { upid: Upid, text: String },
    /// Nobody knows how far it came.
    #[error("the worker of task {0} was killed")]
    Killed(Upid),
    #[error("{host} does not know task {upid}", host = .0.host(), upid = .0)]
    Unknown(Upid),
    /// It may still be running; it is only no longer waited for.
    #[error("task {upid} has shown no progress for {} s", .waited.as_secs())]
    Stalled { upid: Upid, waited: Duration },
    /// It may still be running; its host could not be asked.
    #[error("lost sight of task {upid}")]
    Lost { upid: Upid, source: Arc<ProxmoxError> },
}

impl TaskError {
    pub fn upid(&self) -> &Upid {
        match self {
            Self::Killed(upid)
            | Self::Unknown(upid)
            | Self::Failed { upid, .. }
            | Self::Stalled { upid, .. }
            | Self::Lost { upid, .. } => upid,
        }
    }

    /// What the failure means, as far as its text is a known one.
    pub fn kind(&self) -> Option<RefusalKind> {
        match self {
            Self::Failed { text, .. } => RefusalKind::of_text(text),
            _ => None,
        }
    }

    /// Whether the work may be done, or go on, all the same.
    pub fn may_be_done(&self) -> bool {
        !matches!(self, Self::Failed { .. })
    }

    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Failed { upid, .. } => {
                // A clone carries the number of what it copies; what failed is about the copy.
                let about = if upid.kind() == "qmclone" { "" } else { upid.id() };
                let call = crate::proxmox::Call {
                    method: crate::proxmox::Method::Post,
                    path: format!("/nodes/{}/qemu/{about}", upid.host()),
                    endpoint: upid.host().to_string(),
                };
                self.kind().unwrap_or(RefusalKind::Other).hint(&call)
            }
            Self::Killed(upid) if upid.kind() == "qmclone" => format!(
                "look at the VM that it was making on {}: a lock that the worker left behind goes away only with \
                 `qm unlock`",
                upid.host()
            ),
            Self::Killed(upid) => format!(
                "look at VM {} on {}: a lock that the worker left behind goes away only with `qm unlock`",
                upid.id(),
                upid.host()
            ),
            Self::Unknown(_) => "look at the VM itself: the host no longer has this task's log".to_owned(),
            Self::Stalled { upid, .. } => {
                format!("look at the task on {} (it was left running); the next run joins it", upid.host())
            }
            Self::Lost { source, .. } => source.hint(),
        }
    }
}
