use crate::model::{HostName, TemplateMark, VmId};
use crate::proxmox::answers::{Bridge, Host, Permissions, Storage, Version};

/// What Proxmox showed. A part that could not be looked at says why.
#[derive(Clone, Debug)]
pub struct Seen {
    pub version: Version,
    /// Asked for each path by itself, so that what is inherited is in it.
    pub permissions: Permissions,
    pub hosts: Vec<Host>,
    /// The hosts that matter, looked at closely.
    pub close: Vec<HostSeen>,
    /// None when the token may not see it.
    pub quorate: Option<bool>,
}

/// A host, looked at closely.
#[derive(Clone, Debug)]
pub struct HostSeen {
    pub name: HostName,
    pub storages: Result<Vec<Storage>, String>,
    pub bridges: Result<Vec<Bridge>, String>,
    pub templates: Result<Vec<TemplateSeen>, String>,
}

/// A template on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSeen {
    pub vmid: VmId,
    pub name: String,
    pub mark: Option<TemplateMark>,
}
