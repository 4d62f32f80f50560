//! Whether Proxmox is ready for the cluster: everything that is wrong, before anything is changed.
//!
//! ```text
//! Cluster ──► needs ──┬─► look ──► Seen      GET only
//!                     └─────────► check ──► findings      pure
//! ```
//!
//! Nothing here changes anything or prints.

mod check;
mod finding;
mod look;
mod needs;
mod seen;
mod sight;
#[cfg(test)]
mod tests;

pub use check::{check, check_access};
pub(crate) use check::{missing_template, storage_on};
pub use finding::{Finding, State};
pub use look::look;
pub(crate) use look::unseen;
pub use needs::{Needed, Needs};
pub(crate) use needs::{network_path, storage_path};
pub use seen::{HostSeen, Seen, TemplateSeen, Unseen};
pub use sight::blind_spots;
