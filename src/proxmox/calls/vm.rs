use std::fmt;

use super::ConfigChange;
use crate::model::{DiskSize, HostName, PoolId, StorageId, VmId};
use crate::proxmox::Request;
use crate::proxmox::types::DiskSlot;

fn vm(host: &HostName, vmid: VmId) -> String {
    format!("/nodes/{host}/qemu/{vmid}")
}

/// The options that are set, with waiting ones applied.
pub fn vm_config(host: &HostName, vmid: VmId) -> Request {
    Request::get(format!("{}/config", vm(host, vmid)))
}

/// The options in effect beside those that wait for a power cycle.
pub fn vm_pending(host: &HostName, vmid: VmId) -> Request {
    Request::get(format!("{}/pending", vm(host, vmid)))
}

pub fn vm_status(host: &HostName, vmid: VmId) -> Request {
    Request::get(format!("{}/status/current", vm(host, vmid)))
}

/// A new VM from a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloneVm<'a> {
    pub host: &'a HostName,
    pub template: VmId,
    pub new_id: VmId,
    pub name: &'a str,
    /// The place for our mark: it is in the new VM's configuration nearly from the first moment on.
    pub description: &'a str,
    pub pool: Option<&'a PoolId>,
    pub target: CloneTarget<'a>,
    /// Where the new VM shall live, if not beside its template; only possible when all its volumes are shared.
    pub on_host: Option<&'a HostName>,
}

/// What the new VM's disks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloneTarget<'a> {
    /// Copies, on this storage.
    Full { storage: &'a StorageId },
    /// Differences to the template's, on its storage.
    Linked,
}

/// A task, whose id is the template's. Always says whether it shall be full: the default depends on the source.
pub fn clone_vm(clone: &CloneVm<'_>) -> Request {
    let request = Request::post(format!("{}/clone", vm(clone.host, clone.template)))
        .with("newid", clone.new_id)
        .with("name", clone.name)
        .with("description", clone.description)
        .with_some("pool", clone.pool)
        .with_some("target", clone.on_host);
    match clone.target {
        CloneTarget::Full { storage } => request.with_flag("full", true).with("storage", storage),
        CloneTarget::Linked => request.with_flag("full", false),
    }
}

/// Changes options and returns when it is done.
///
/// Proxmox stores the options one by one, so a change that was refused may be stored in part: read them again. This is
/// not for anything that makes volumes, which may take longer than the 30 s after which Proxmox's own proxy gives up.
pub fn configure(host: &HostName, vmid: VmId, change: &ConfigChange) -> Request {
    change.add_to(Request::put(format!("{}/config", vm(host, vmid))))
}

/// Changes options in a task.
pub fn configure_in_background(host: &HostName, vmid: VmId, change: &ConfigChange) -> Request {
    change.add_to(Request::post(format!("{}/config", vm(host, vmid))))
}

/// A task: grows a disk to this size. The size is absolute, so sending it twice does no harm.
pub fn resize(host: &HostName, vmid: VmId, slot: DiskSlot, size: DiskSize, digest: Option<&str>) -> Request {
    Request::put(format!("{}/resize", vm(host, vmid))).with("disk", slot).with("size", size).with_some("digest", digest)
}

/// A task: deletes a VM and its volumes. `purge` also takes it out of backup jobs, replication and HA;
/// `unreferenced` deletes volumes that carry its number but are not in its configuration.
pub fn delete_vm(host: &HostName, vmid: VmId, purge: bool, unreferenced: bool) -> Request {
    Request::delete(vm(host, vmid)).with_flag("purge", purge).with_flag("destroy-unreferenced-disks", unreferenced)
}

/// One of the files that cloud-init's data consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudInitPart {
    User,
    Network,
    Meta,
}

impl fmt::Display for CloudInitPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Network => "network",
            Self::Meta => "meta",
        })
    }
}

/// What the guest will be told at its next start.
pub fn cloud_init_dump(host: &HostName, vmid: VmId, part: CloudInitPart) -> Request {
    Request::get(format!("{}/cloudinit/dump", vm(host, vmid))).with("type", part)
}

pub fn regenerate_cloud_init(host: &HostName, vmid: VmId) -> Request {
    Request::put(format!("{}/cloudinit", vm(host, vmid)))
}

/// Something that a VM's storages may or may not be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Linked clones.
    Clone,
    /// Full clones.
    Copy,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clone => "clone",
            Self::Copy => "copy",
        })
    }
}

pub fn feature(host: &HostName, vmid: VmId, feature: Feature) -> Request {
    Request::get(format!("{}/feature", vm(host, vmid))).with("feature", feature)
}
