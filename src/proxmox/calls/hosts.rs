use crate::model::HostName;
use crate::proxmox::Request;

pub fn host_status(host: &HostName) -> Request {
    Request::get(format!("/nodes/{host}/status"))
}

/// The VMs of one host, live: name, power and template flag do not lag here.
pub fn vms(host: &HostName) -> Request {
    Request::get(format!("/nodes/{host}/qemu"))
}

/// The storages of one host, or only those that take `content`.
pub fn storages(host: &HostName, content: Option<&str>) -> Request {
    Request::get(format!("/nodes/{host}/storage")).with_some("content", content)
}

/// Everything that a network card can be plugged into.
pub fn bridges(host: &HostName) -> Request {
    Request::get(format!("/nodes/{host}/network")).with("type", "any_bridge")
}
