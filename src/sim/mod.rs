//! A Proxmox VE cluster as a pure state machine.
//!
//! ```text
//!  Request + Authorization ─► call ─► who? may they? parameters? ─► handler ─► Reply
//!                                                                     │
//!                              World (hosts, storages, VMs, tokens)  ◄┤
//!                                     ▲                               ▼
//!                    advance(now) ────┴──── workers, one per running task, stepping through virtual time
//! ```
//!
//! [`World::call`] answers one request at a moment of virtual time, [`World::advance`] lets the tasks go on. There are
//! no sockets, no threads, no clock and no randomness but a seeded generator: the same calls at the same moments give
//! the same world. Deliberately absent: TLS, HTTP framing, keep-alive, body encodings — those belong to the server
//! around it — and everything that no call of ours can see.
//!
//! What a real server answered is recorded; `tests/replay` replays those recordings against this room.
//!
//! **Waiting.** A task that waits for a file lock is a worker with a deadline. A call that waits (a configuration
//! write while a clone holds the lock) is answered at once, with the time that a real server would have taken in
//! [`Reply::delay`]: the answer is found by letting a copy of the world run on until the lock is free, and the change
//! itself is queued in the real one for that same moment.

#![expect(clippy::unnecessary_wraps, reason = "all handlers have one signature, whether they can fail or not")]

pub mod access;
mod access_api;
mod agent;
mod call;
mod check;
mod clone;
mod cloudinit;
mod cluster;
mod create;
mod destroy;
mod disk;
mod download;
mod drive;
mod factory;
mod fault;
mod flock;
pub mod format;
mod guest_view;
mod initial;
mod move_disk;
mod net;
mod options;
pub mod param;
pub mod pattern;
mod pending;
mod pool;
mod power;
pub mod property;
mod random;
mod resize;
mod resources;
mod rights;
pub mod route;
mod sha1;
mod snapshot;
mod ssh_keys;
mod storage;
mod storage_api;
mod talos;
mod task;
mod task_api;
mod template;
mod update;
mod vm;
mod vm_api;
mod worker;
pub mod world;

pub use call::{Call, Reply};
pub use fault::WorldFault;
pub use guest_view::GuestView;
pub use initial::InvalidWorld;
pub use world::World;

// The shell around the state machine: time, faults, and the ways in.
mod clock;
mod disk_image;
mod duration_text;
mod faults;
mod http;
mod in_process;
mod network;
mod request_log;
mod simulation;
mod simulator;
mod world_file;

pub use clock::Clock;
pub use duration_text::{InvalidDuration, parse_duration};
pub use faults::{Effect, Fault, InvalidPattern, Malformed, Pattern, Times};
pub use http::{BindError, Certificate, CertificateError, FactoryServer, Manners, ReadSchematic, Server};
pub use in_process::InProcess;
pub use network::GuestNetwork;
pub use request_log::{Logged, RequestLog};
pub use simulation::{Introduction, Options as SimulationOptions, Simulation};
pub use simulator::{Simulator, Waits};
pub use talos::{Gate, Profile};
pub use world_file::{Adjustments, WorldFile, WorldFileError};
