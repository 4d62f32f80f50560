use std::time::Duration;

use serde::Serialize;

use crate::model::{HostName, NodeName, VmId};

/// Something that happened to a node.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub node: NodeName,
    #[serde(flatten)]
    pub kind: EventKind,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum EventKind {
    /// A step begins; the one before it is over.
    Began { step: Step },
    /// How far the step is.
    Progress { percent: u8 },
    /// Something that should be known and does not stop the node.
    Warned { warning: String },
    /// The node is done with, one way or another.
    Ended { outcome: Outcome },
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Finding out whether somebody holds the address already.
    CheckAddress,
    /// Waiting for a place among those that clone.
    Queue,
    Clone,
    /// Waiting for a VM that another run is making.
    Join,
    Adopt,
    Configure,
    AddDisks,
    Grow,
    Stop,
    Start,
    /// Waiting for Talos to be reached.
    Await,
    Delete,
    /// Making sure that it is gone.
    Verify,
}

impl Step {
    /// What is being done, as in `cloning`.
    pub fn doing(self) -> &'static str {
        match self {
            Self::CheckAddress => "checking the address",
            Self::Queue => "waiting for its turn",
            Self::Clone => "cloning",
            Self::Join => "waiting for another run's clone",
            Self::Adopt => "adopting",
            Self::Configure => "configuring",
            Self::AddDisks => "adding disks",
            Self::Grow => "growing the disk",
            Self::Stop => "stopping",
            Self::Start => "starting",
            Self::Await => "waiting for Talos",
            Self::Delete => "deleting",
            Self::Verify => "making sure that it is gone",
        }
    }
}

/// How a node came out of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub node: NodeName,
    pub vmid: Option<VmId>,
    pub host: Option<HostName>,
    #[serde(flatten)]
    pub end: End,
    pub warnings: Vec<String>,
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub took: Duration,
}

fn seconds<S: serde::Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Milliseconds are as exact as anybody needs.
    let milliseconds = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
    serializer.serialize_f64(f64::from(milliseconds) / 1000.0)
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum End {
    /// What was planned is done.
    Done {
        /// What Talos said last, if it was waited for.
        talos: Option<String>,
    },
    /// It did not work; the other nodes are not concerned.
    Failed { failure: Failure },
    /// Everything was done, and Talos could not be reached in time.
    TimedOut { failure: Failure },
    /// Somebody pressed Ctrl-C.
    Interrupted {
        /// The task that goes on without us.
        running: Option<String>,
    },
}

/// Why something did not work, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub step: Step,
    /// What happened, with its causes, in one line.
    pub message: String,
    /// The last lines of the task's log, if it was a task.
    pub log: Vec<String>,
    /// What to do next.
    pub hint: String,
}

impl Outcome {
    pub fn is_done(&self) -> bool {
        matches!(self.end, End::Done { .. })
    }
}
