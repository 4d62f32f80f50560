//! The command line: one small file a command.

mod access;
mod args;
mod completions;
mod consent;
mod destroy;
mod doctor;
mod exit;
mod init;
mod interrupt;
mod main;
mod man;
mod output;
mod plan;
mod pretend;
mod provision;
mod reference;
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

pub use args::built_command;
pub use completions::completion_script;
pub use exit::Exit;
pub use main::main;
pub use man::manual_pages;
pub use reference::command_reference;
