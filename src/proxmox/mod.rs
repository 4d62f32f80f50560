//! The Proxmox VE API, seen from a client.

pub mod request;
pub mod types;
