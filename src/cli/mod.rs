//! The command line: one small file a command.

mod args;
mod doctor;
mod exit;
mod interrupt;
mod main;
mod plan;
mod pretend;
mod schema;
mod session;
mod simulate;
mod status;
mod talos;
mod validate;
mod wait;
mod way;
mod world;

pub use exit::Exit;
pub use main::main;
