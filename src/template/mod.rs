//! Templates that nodes are cloned from: made out of an Image Factory's images, found again, and deleted.
//!
//! ```text
//! Cluster ──► Want ──► Place ──┬─► look ──► PlaceSeen     GET only
//!               (per host, or  │              │
//!                one if shared)└──────────► decide ──► Verdict      pure
//!                                             │
//!      enable import ─► fetch ─► create ─► check and convert ─► there it is
//!            └──────────┴──────────┴──────────┴─ one step, then look and decide again
//! ```
//!
//! No step remembers another: each is decided by what Proxmox shows at that moment. So a run that was killed anywhere is
//! simply continued by the next one, and an answer that was lost is found out by looking.
//!
//! Nothing here is started, and nothing is changed or deleted that does not carry our own record with its own number.

mod choose;
mod decide;
mod definition;
mod delete;
mod event;
mod inventory;
mod local_image;
mod look;
mod make;
mod place;
mod rights;
mod settings;
mod trouble;
mod want;

pub use delete::{Doomed, Refused, choose_doomed, delete};
pub use event::{Event, Step};
pub use inventory::{Dependents, Listed, ListedState, inventory};
pub use local_image::LocalImage;
pub use make::{Ensured, Outcome, Ready, ensure};
pub use place::Place;
pub use settings::{ImageChecksum, Settings, Source};
pub use trouble::Trouble;
pub use want::Want;
