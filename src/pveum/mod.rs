//! What root has to type on a Proxmox host: roles, and the commands that make and grant them.
//!
//! The one list of privileges: `access` prints these roles, `doctor` and `template create` look whether the token has
//! what is in them, and their fixes are these commands.

mod command;
mod release;
mod role;

pub use command::Command;
pub use release::Release;
pub use role::{DISK_PRIVILEGES, IMAGE_PRIVILEGES, TEMPLATE_PRIVILEGES, TokenRole, VM_PRIVILEGES};
