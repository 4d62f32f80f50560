//! Talos in the simulated guests: what answers on port 50000 of a VM that was started.
//!
//! ```text
//!  GuestView ─► Port: away, closed, open ─► serve ─► TLS ─► Api ─► resources ◄─ Machine ◄─ GuestView
//!   the VM's config, how long it is up       profile: an honest Talos, or one of the others
//! ```
//!
//! Everything that a machine tells is made from the configuration of its VM at the moment of the connection; there is
//! no state here. Clients come in process ([`GuestNetwork`](super::GuestNetwork)) or through a SOCKS5 gate on loopback,
//! because the guests' addresses are nobody's on this machine.

mod certificate;
mod gate;
mod machine;
mod profile;
mod resources;
mod serve;
mod service;

pub use gate::Gate;
pub use profile::Profile;
pub(crate) use profile::TalosGuest;
pub(in crate::sim) use serve::{Opened, Port, serve};
