use std::fmt;

use crate::model::{HostName, PoolId, StorageId};
use crate::schematic::Image;

/// Where a template shall be: on a host, or on a storage that several hosts share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub image: Image,
    pub storage: StorageId,
    /// The hosts that a template there serves. The template is made on the first of them.
    pub hosts: Vec<HostName>,
    pub shared: bool,
    pub pool: Option<PoolId>,
    pub linked: bool,
    pub agent: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<&str> = self.hosts.iter().map(HostName::as_str).collect();
        let hosts = hosts.join(", ");
        if self.shared {
            write!(f, "{} on {} for {hosts}", self.image, self.storage)
        } else {
            write!(f, "{} on {hosts}", self.image)
        }
    }
}
