use serde::Deserialize;

use super::Power;
use crate::model::VmId;
use crate::proxmox::lenient;
use crate::proxmox::types::Tags;

/// A row of `GET /nodes/{host}/qemu`. It is live.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VmListed {
    #[serde(deserialize_with = "lenient::parsed")]
    pub vmid: VmId,
    /// `VM 105` if it has none.
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub name: Option<String>,
    #[serde(rename = "status", deserialize_with = "lenient::parsed")]
    pub power: Power,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub template: bool,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub lock: Option<String>,
    #[serde(default, deserialize_with = "super::guest::tags")]
    pub tags: Tags,
}

/// `GET …/status/current`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VmStatus {
    /// Running means that the process exists, nothing more.
    #[serde(rename = "status", deserialize_with = "lenient::parsed")]
    pub power: Power,
    /// What QEMU itself says, such as `paused`.
    #[serde(default, rename = "qmpstatus", deserialize_with = "lenient::some_parsed")]
    pub machine: Option<Power>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub lock: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub template: bool,
    /// Seconds.
    #[serde(default, deserialize_with = "lenient::some_number")]
    pub uptime: Option<u64>,
    #[serde(default)]
    ha: Ha,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct Ha {
    #[serde(default, deserialize_with = "lenient::flag")]
    managed: bool,
}

impl VmStatus {
    /// Whether the HA manager decides about it: then a start is only a wish, and a delete needs `purge`.
    pub fn is_ha_managed(&self) -> bool {
        self.ha.managed
    }
}
