//! Rules of Proxmox that the simulator keeps and no recording shows: other storages, several hosts, waits, rights,
//! faults, worlds in files.

#![expect(clippy::unwrap_used, reason = "a test ends where its assumptions do")]

mod access;
mod configuration;
mod consistency;
mod faults;
mod grammars;
mod hosts;
mod huge_numbers;
mod lab;
mod locks;
mod never_panics;
mod persistence;
mod power;
mod resources;
mod storages;
mod templates;
