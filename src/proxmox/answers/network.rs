use serde::Deserialize;

use crate::proxmox::lenient;

/// Something on a host that a network card can be plugged into.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Bridge {
    #[serde(rename = "iface", deserialize_with = "lenient::text")]
    pub name: String,
    /// `bridge`, `OVSBridge` or `vnet`.
    #[serde(default, rename = "type", deserialize_with = "lenient::some_text")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub active: bool,
    #[serde(default, rename = "bridge_vlan_aware", deserialize_with = "lenient::flag")]
    pub vlan_aware: bool,
}
