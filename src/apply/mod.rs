//! What a plan says, done.
//!
//! Nothing here prints, and nothing here plans: an action may turn out to be done already, or be given up, but never
//! become another kind of action.

mod event;
mod settings;

pub use event::{End, Event, EventKind, Failure, Outcome, Step};
pub use settings::{Settings, Stop, Stopped};
