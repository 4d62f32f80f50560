//! The command line: one small file a command.

mod args;
mod connection;
mod doctor;
mod exit;
mod interrupt;
mod main;
mod schema;
mod simulate;
mod talos;
mod validate;
mod wait;

pub use exit::Exit;
pub use main::main;
