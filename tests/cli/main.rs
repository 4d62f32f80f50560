//! The real binary, run as a user would run it.

mod doctor;
mod harness;
mod interface;
mod plan;
mod schema;
mod secrets;
mod simulate;
mod status;
mod story;
mod validate;
mod wait;
