use crate::model::{HostName, VmId};
use crate::proxmox::Request;

/// A task. Starting a running VM fails in it.
pub fn start(host: &HostName, vmid: VmId) -> Request {
    Request::post(format!("/nodes/{host}/qemu/{vmid}/status/start"))
}

/// A task: pulls the plug. `overrule` ends a shutdown that waits for the guest and holds the lock meanwhile.
pub fn stop(host: &HostName, vmid: VmId, overrule: bool) -> Request {
    let request = Request::post(format!("/nodes/{host}/qemu/{vmid}/status/stop"));
    if overrule { request.with_flag("overrule-shutdown", true) } else { request }
}

/// A task: asks the guest to stop, and pulls the plug after `timeout` seconds if `force` is set.
pub fn shutdown(host: &HostName, vmid: VmId, timeout: u32, force: bool) -> Request {
    Request::post(format!("/nodes/{host}/qemu/{vmid}/status/shutdown"))
        .with("timeout", timeout)
        .with_flag("forceStop", force)
}
