use crate::model::{PoolId, VmId};
use crate::proxmox::Request;

pub fn version() -> Request {
    Request::get("/version")
}

/// All VMs and containers that the token may see, wherever they are.
pub fn guests() -> Request {
    Request::get("/cluster/resources").with("type", "vm")
}

/// The lowest free VMID, or whether `probe` is free. It sees ids that the token may not, and reserves nothing.
pub fn next_id(probe: Option<VmId>) -> Request {
    Request::get("/cluster/nextid").with_some("vmid", probe)
}

pub fn cluster_status() -> Request {
    Request::get("/cluster/status")
}

pub fn hosts() -> Request {
    Request::get("/nodes")
}

pub fn pools() -> Request {
    Request::get("/pools")
}

/// One pool and its members.
pub fn pool(pool: &PoolId) -> Request {
    Request::get("/pools").with("poolid", pool)
}
