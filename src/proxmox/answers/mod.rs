//! What Proxmox answers, read leniently: numbers may be texts, booleans may be numbers, and any key may be missing that
//! does not say what the rest is about.

mod agent;
mod cluster;
mod feature;
mod guest;
mod host;
mod network;
mod permissions;
mod pool;
mod power;
mod role;
mod storage;
mod version;
mod vm_config;
mod vm_pending;
mod vm_status;

pub(super) use agent::AgentResult;
pub use agent::GuestInterface;
pub use cluster::{ClusterMember, ClusterStatus};
pub use feature::FeatureAnswer;
pub use guest::{Guest, GuestKind};
pub use host::{Host, HostStatus};
pub use network::Bridge;
pub use permissions::Permissions;
pub use pool::Pool;
pub use power::Power;
pub use role::AccessRole;
pub use storage::{Storage, UrlMetadata, Volume};
pub use version::Version;
pub use vm_config::VmConfig;
pub use vm_pending::VmPending;
pub use vm_status::{VmListed, VmStatus};
