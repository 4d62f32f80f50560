pub mod model;
pub mod proxmox;
