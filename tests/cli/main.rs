//! The real binary, run as a user would run it.

mod doctor;
mod harness;
mod interface;
mod schema;
mod schematic;
mod secrets;
mod simulate;
mod template;
mod validate;
