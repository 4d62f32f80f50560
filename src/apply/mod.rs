//! What a plan says, done.
//!
//! Nothing here prints, and nothing here plans: an action may turn out to be done already, or be given up, but never
//! become another kind of action.

mod clone;
mod configure;
mod context;
mod destroy;
mod event;
mod executor;
mod limits;
mod power;
mod ready;
mod roster;
mod settings;
mod trouble;

pub use destroy::{belongings, destroy};
pub use event::{End, Event, EventKind, Failure, Outcome, Step};
pub use executor::apply;
pub use settings::{Settings, Stop, Stopped};
