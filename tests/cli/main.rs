//! The real binary, run as a user would run it.

mod access;
mod doctor;
mod gotask;
mod ground;
mod harness;
mod init;
mod interface;
mod output;
mod plan;
mod schema;
mod schematic;
mod secrets;
mod simulate;
mod sops;
mod status;
mod story;
mod template;
mod tidied;
mod validate;
mod wait;
