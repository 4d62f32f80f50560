//! Work that Proxmox does in the background: its name, its end, its log, and waiting for it.
//!
//! ```text
//! POST …/clone ──► Upid ──► TaskWatcher ──► ended: OK · WARNINGS · failed · killed
//!                              │    └── one list per host and round serves everybody who waits for that host
//!                              └── log: percent, and a sign of life while nothing else shows
//! ```

mod error;
mod exit_status;
mod log;
mod pace;
mod progress;
mod row;
mod upid;
mod watcher;
#[cfg(test)]
mod watcher_tests;

pub use error::TaskError;
pub use exit_status::ExitStatus;
pub use log::{LogLine, LogPage};
pub use pace::Pace;
pub use progress::{DriveCopy, TaskProgress};
pub(super) use row::{ListedTask, StatusOfTask};
pub use row::{TaskRow, TaskState};
pub use upid::{InvalidUpid, Upid};
pub use watcher::{Ended, TaskWatcher};
