pub mod model;
pub mod proxmox;
pub mod sim;
