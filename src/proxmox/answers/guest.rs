use serde::Deserialize;

use crate::model::{HostName, VmId};
use crate::proxmox::lenient;
use crate::proxmox::types::Tags;

/// A VM or container in the list of the whole cluster.
///
/// Number, host, kind, lock, tags and pool are live. Everything else in that list lags by ten seconds and may even be
/// that of a deleted VM with the same number, so it is not read here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Guest {
    #[serde(deserialize_with = "lenient::parsed")]
    pub vmid: VmId,
    #[serde(rename = "node", deserialize_with = "lenient::parsed")]
    pub host: HostName,
    #[serde(rename = "type")]
    pub kind: GuestKind,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub lock: Option<String>,
    #[serde(default, deserialize_with = "tags")]
    pub tags: Tags,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub pool: Option<String>,
    /// A lagging name. A row without one is a VM that is only just coming into being.
    #[serde(default, rename = "name", deserialize_with = "lenient::some_text")]
    pub stale_name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum GuestKind {
    #[serde(rename = "qemu")]
    Vm,
    #[serde(rename = "lxc")]
    Container,
    /// Something newer than this program. It holds its number like the others.
    #[serde(other)]
    Other,
}

pub(super) fn tags<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Tags, D::Error> {
    let text = lenient::some_text(deserializer)?.unwrap_or_default();
    let Ok(tags) = text.parse();
    Ok(tags)
}
