use crate::model::{HostName, VmId};
use crate::proxmox::Request;

/// The network as the guest's agent sees it; refused unless the VM runs and its agent answers.
pub fn agent_interfaces(host: &HostName, vmid: VmId) -> Request {
    Request::get(format!("/nodes/{host}/qemu/{vmid}/agent/network-get-interfaces"))
}
