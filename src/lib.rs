//! nodes.yaml in, Talos maintenance mode out.
//!
//! ```text
//!  nodes.yaml ──┐                                    Proxmox, Talos (or the simulator)
//!  cluster.yaml ┼─► config ──► Cluster ──► observe ◄── GET only ──┘
//!  environment ─┘                 │           └─► Observed ──┐
//!                                 └─────────────► plan ◄─────┘       pure: no async, clock, I/O or client
//!                                                  └─► Plan ──► ui   shown, then confirmed
//!                                                        └─► apply ──► proxmox, talos   bounded, stoppable
//!                                                               ├─► Event   ──► ui      progress
//!                                                               └─► Outcome ──► ui      results, exit code
//! ```
//!
//! ARCHITECTURE.md says what each room may touch.

pub mod access;
pub mod apply;
pub mod cli;
pub mod config;
pub mod factory;
pub mod handover;
pub mod init;
pub mod model;
pub mod observe;
pub mod plan;
pub mod preflight;
pub mod proxmox;
pub mod pveum;
pub mod readiness;
pub mod schematic;
pub mod sim;
pub mod status;
pub mod talos;
pub mod template;
pub mod ui;
