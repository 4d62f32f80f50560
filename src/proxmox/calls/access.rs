use crate::proxmox::Request;

/// What the token may do, on one path or on all that have an entry.
pub fn permissions(path: Option<&str>) -> Request {
    Request::get("/access/permissions").with_some("path", path)
}

pub fn roles() -> Request {
    Request::get("/access/roles")
}
