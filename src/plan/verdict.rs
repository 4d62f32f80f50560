use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::Serialize;

use super::difference::Difference;
use crate::model::{CloneMode, ClusterName, HostName, Mark, NodeName, PoolId, Role, StorageId, VmId};
use crate::preflight::Finding;

/// What has to be done for every node, in the order of the files.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    pub cluster: ClusterName,
    pub nodes: Vec<NodePlan>,
    /// VMs with the mark of this cluster whose nodes are no longer in the files.
    pub left_over: Vec<LeftOver>,
    /// What should be known about the whole, a sentence each.
    pub notes: Vec<String>,
    /// What the preflight found that is not as it should be.
    pub findings: Vec<Finding>,
    /// Guests that are no node's VM.
    #[serde(skip)]
    pub strangers: BTreeSet<VmId>,
}

/// What has to be done for one node.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Serialize)]
pub struct NodePlan {
    pub node: NodeName,
    pub role: Role,
    pub address: IpAddr,
    /// The VM that is there, or the number that it will have.
    pub vmid: Option<VmId>,
    pub host: Option<HostName>,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What will be changed, if the verdict is to change anything.
    pub differences: Vec<Difference>,
    /// What is different and stays so, because nobody asked for a disruption.
    pub held_back: Vec<Difference>,
    /// Options whose new values wait for the VM to be switched off and on.
    pub waiting: Vec<String>,
    /// Whether the VM will be switched off and on.
    pub power_cycle: bool,
    /// Whether the VM will be started.
    pub start: bool,
    /// What should be known, a sentence each.
    pub notes: Vec<String>,
    /// Whether `--only` left it in; what is not selected is only shown.
    pub selected: bool,
    /// Whether the VM was running when it was looked at.
    pub running: bool,
    /// By what, beside its mark, the VM is known again.
    #[serde(skip)]
    pub uuid: Option<String>,
}

/// What is to be done with a node's VM, or why nothing is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Verdict {
    /// There is none: it is cloned.
    Create(Creation),
    /// Somebody, perhaps another run of ours, is only just making it.
    Join,
    /// It was cloned, and the run that did so ended before it was done.
    Finish,
    /// It is changed in place.
    Update,
    /// It only has to be started.
    Start,
    /// It gets our mark, as was asked for, and nothing else.
    Adopt,
    /// It is as it should be.
    Nothing,
    /// It could be adopted, which nobody asked for.
    Adoptable { reason: String },
    /// It cannot be seen, so that nothing is known.
    Unknown { reason: String },
    /// What is wanted cannot be done, or not by us.
    Refuse { reasons: Vec<String> },
    /// Something else stands in its place.
    Conflict { reason: String },
}

/// How a node's VM comes into being.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Creation {
    #[serde(skip)]
    pub vmid: VmId,
    /// Whether the number was chosen here; another one would do as well.
    pub automatic: bool,
    #[serde(skip)]
    pub host: HostName,
    pub template: ChosenTemplate,
    pub clone: CloneMode,
    /// Where the disks of a full clone go.
    pub storage: StorageId,
    /// Whether that storage is one and the same on all hosts.
    pub shared_storage: bool,
    pub pool: Option<PoolId>,
}

impl Creation {
    pub fn mark(&self, cluster: &ClusterName, node: &NodeName) -> Mark {
        Mark { cluster: cluster.clone(), node: node.clone(), vmid: self.vmid }
    }
}

/// The template that a node is cloned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenTemplate {
    pub vmid: VmId,
    pub name: String,
    pub host: HostName,
}

/// A VM of ours whose node is gone from the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOver {
    pub node: NodeName,
    pub vmid: VmId,
    pub host: HostName,
}

impl Verdict {
    /// Whether something is done.
    pub fn acts(&self) -> bool {
        matches!(self, Self::Create(_) | Self::Join | Self::Finish | Self::Update | Self::Start | Self::Adopt)
    }

    /// Whether the node is not what the files say and will not become it.
    pub fn fails(&self) -> bool {
        matches!(self, Self::Adoptable { .. } | Self::Unknown { .. } | Self::Refuse { .. } | Self::Conflict { .. })
    }
}

impl NodePlan {
    /// Whether something is done with it in this run.
    pub fn acts(&self) -> bool {
        self.selected && self.verdict.acts()
    }

    /// Whether it stays different from the files, whatever this run does.
    pub fn stays_different(&self) -> bool {
        self.verdict.fails() || !self.held_back.is_empty()
    }
}

impl Plan {
    /// Whether something is to be done.
    pub fn acts(&self) -> bool {
        self.nodes.iter().any(NodePlan::acts)
    }

    /// Whether somebody should be asked first.
    pub fn needs_consent(&self) -> bool {
        let asks = |node: &&NodePlan| node.verdict == Verdict::Adopt || node.power_cycle;
        self.nodes.iter().filter(|node| node.acts()).any(|node| asks(&node))
    }
}
