//! The command line: one small file a command.

mod args;
mod exit;
mod main;
mod schema;
mod validate;

pub use args::command;
pub use exit::Exit;
pub use main::main;
