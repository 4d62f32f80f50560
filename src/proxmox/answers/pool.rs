use serde::Deserialize;

use crate::model::VmId;
use crate::proxmox::lenient;

/// A pool; its members are there only when it was asked for by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pool {
    #[serde(rename = "poolid", deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(default)]
    members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Member {
    #[serde(default, deserialize_with = "lenient::some_parsed")]
    vmid: Option<VmId>,
}

impl Pool {
    /// The VMs and containers in it.
    pub fn guests(&self) -> impl Iterator<Item = VmId> {
        self.members.iter().filter_map(|member| member.vmid)
    }
}
