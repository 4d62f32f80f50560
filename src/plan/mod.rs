//! What has to be done: a pure function of what is wanted and what is there.
//!
//! ```text
//! Cluster ──┬─► identify ──► whose VM is which       mark, VMID, name, MAC
//! Observed ─┤      └─► compare ──► differences       as values, with a reason each
//!           ├─► place ──► host, template, VMID       for nodes without a VM
//!           └─► plan ──► Plan: a verdict and steps for every node
//! ```
//!
//! Nothing here waits, asks, prints or knows what time it is.

mod compare;
mod destroy;
mod difference;
mod identity;
mod observed;
mod observed_vms;
mod place;
mod planner;
mod suitable;
#[cfg(test)]
mod testing;
mod verdict;

pub use compare::{Comparison, Scope, cluster_tag, compare, node_tags, system_slot};
pub use destroy::{
    Belongings, DestroyOptions, DestroyPlan, Identity, Obstacle, Staying, Target, plan_destroy, wanted_gone,
};
pub use difference::{Difference, Edit, Effect};
pub use identity::{Match, identify};
pub(crate) use observed::is_unfinished;
pub use observed::{Observed, ObservedHost, ObservedVm};
pub use observed_vms::ObservedVms;
pub use planner::{Options, left_over, plan, wants_start_order, without_vm};
pub use verdict::{ChosenTemplate, Creation, LeftOver, NodePlan, Plan, Verdict};
