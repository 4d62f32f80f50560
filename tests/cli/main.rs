//! The real binary, run as a user would run it.

mod doctor;
mod harness;
mod interface;
mod plan;
mod schema;
mod schematic;
mod secrets;
mod simulate;
mod sops;
mod status;
mod story;
mod template;
mod validate;
mod wait;
