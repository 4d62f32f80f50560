//! The command line: one small file a command.

mod args;
mod connection;
mod doctor;
mod exit;
mod main;
mod schema;
mod schematic;
mod simulate;
mod template;
mod validate;

pub use exit::Exit;
pub use main::main;
