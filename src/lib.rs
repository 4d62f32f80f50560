//! nodes.yaml in, Talos maintenance mode out.
//!
//! ```text
//!  nodes.yaml ──┐                                 Proxmox (or the simulator)
//!  cluster.yaml ┼─► config ──► Cluster ──► preflight ◄── GET only ──┘
//!  environment ─┘                 │            └─► findings ──► ui    each with its fix
//!                                 └─────────────────────────► ui    shown, explained, or every mistake at once
//! ```
//!
//! `use` points down only; ARCHITECTURE.md says what each room may touch.

pub mod apply;
pub mod cli;
pub mod config;
pub mod factory;
pub mod model;
pub mod observe;
pub mod plan;
pub mod preflight;
pub mod proxmox;
pub mod readiness;
pub mod schematic;
pub mod sim;
pub mod status;
pub mod talos;
pub mod template;
pub mod ui;
