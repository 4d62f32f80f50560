//! What goes wrong on purpose.
//!
//! A fault is data: which requests, what happens, how often. It is the same whether a world file holds it, a test
//! builds it or a seed draws it.

mod armed;
mod malformed;
mod request_pattern;
mod spec;

pub use malformed::Malformed;
pub use request_pattern::{InvalidPattern, Pattern};
pub use spec::{Effect, Fault, Times};

pub(super) use armed::Faults;
pub(super) use request_pattern::parse_method;
