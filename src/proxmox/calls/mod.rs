//! Every call that we make, as a function that returns the request for it.
//!
//! Two mistakes cannot be made here: a network card without a MAC address (Proxmox would make up a new one on every
//! write), and a size relative to the present one (sent twice, it would grow twice).

mod access;
mod agent;
mod cluster;
mod config_change;
mod hosts;
mod power;
mod storage;
mod task;
mod template;
mod vm;

#[cfg(test)]
mod schema;

pub use access::{permissions, roles};
pub use agent::agent_interfaces;
pub use cluster::{cluster_status, guests, hosts, next_id, pool, pools, version};
pub use config_change::{CardWithoutMac, ConfigChange, PlainKey};
pub use hosts::{bridges, host_status, storages, vms};
pub use power::{shutdown, start, stop};
pub use storage::{
    Checksum, ChecksumAlgorithm, Download, delete_volume, download, set_storage_content, upload, url_metadata, volumes,
};
pub use task::{TaskSource, TasksQuery, stop_task, task_log, task_status, tasks};
pub use template::{CreateVm, convert_to_template, create_vm};
pub use vm::{
    CloneTarget, CloneVm, CloudInitPart, Feature, clone_vm, cloud_init_dump, configure, configure_in_background,
    delete_vm, feature, regenerate_cloud_init, resize, vm_config, vm_pending, vm_status,
};
