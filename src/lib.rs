//! nodes.yaml in, Talos maintenance mode out.
//!
//! ```text
//!  nodes.yaml ──┐
//!  cluster.yaml ┼─► config ──► Cluster ──► ui      shown, explained, or every mistake at once
//!  environment ─┘
//! ```
//!
//! `use` points down only: `cli` → `config`, `ui` → `proxmox` → `model`. ARCHITECTURE.md says what each room may touch.

pub mod cli;
pub mod config;
pub mod model;
pub mod preflight;
pub mod proxmox;
pub mod sim;
pub mod ui;
