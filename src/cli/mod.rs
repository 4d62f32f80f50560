//! The command line: one small file a command.

mod access;
mod args;
mod consent;
mod destroy;
mod doctor;
mod exit;
mod interrupt;
mod main;
mod plan;
mod pretend;
mod provision;
mod schema;
mod schematic;
mod session;
mod simulate;
mod status;
mod talos;
mod template;
mod validate;
mod wait;
mod way;
mod world;

pub use exit::Exit;
pub use main::main;
