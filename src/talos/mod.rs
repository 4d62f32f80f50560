//! The Talos API, seen from a client: is somebody there, and who?
//!
//! Nothing here knows Proxmox, decides what should be done, or prints.

mod dial;
mod port;
mod probe;

pub use dial::{Dial, Direct};
pub use port::{PORT, PortState, port_state};
pub use probe::probe;
