use crate::model::{HostName, Template, TemplateMark, VmId};
use crate::proxmox::answers::{Bridge, Host, Permissions, Storage, Version, VmConfig};

/// What Proxmox showed. A part that could not be looked at says why.
#[derive(Clone, Debug)]
pub struct Seen {
    pub version: Version,
    /// Asked for each path by itself, so that what is inherited is in it.
    pub permissions: Permissions,
    pub hosts: Vec<Host>,
    /// The hosts that matter, looked at closely.
    pub close: Vec<HostSeen>,
    pub quorate: Result<bool, Unseen>,
}

/// Why something could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    pub why: String,
    pub fix: String,
    /// The token may not see it; otherwise the server could not show it.
    pub forbidden: bool,
}

/// A host, looked at closely.
#[derive(Clone, Debug)]
pub struct HostSeen {
    pub name: HostName,
    pub storages: Result<Vec<Storage>, Unseen>,
    pub bridges: Result<Vec<Bridge>, Unseen>,
    pub templates: Result<Vec<TemplateSeen>, Unseen>,
}

impl Seen {
    /// A host that was looked at closely.
    pub fn close(&self, host: &HostName) -> Option<&HostSeen> {
        self.close.iter().find(|seen| seen.name == *host)
    }
}

/// A template on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSeen {
    pub vmid: VmId,
    pub name: String,
    pub mark: Option<TemplateMark>,
    pub config: VmConfig,
}

impl TemplateSeen {
    /// Whether it is the template that is asked for.
    pub fn is(&self, wanted: &Template) -> bool {
        match (wanted, &self.mark) {
            (Template::Name(name), _) => self.name == name.as_str(),
            (Template::Image { talos_version, schematic_id, secureboot }, Some(mark)) => {
                mark.talos_version == *talos_version
                    && mark.schematic_id == *schematic_id
                    && mark.secureboot == *secureboot
            }
            (Template::Image { .. }, None) => false,
        }
    }
}
