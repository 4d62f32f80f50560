use serde::Deserialize;

use crate::model::{Fingerprint, HostName};
use crate::proxmox::lenient;

/// A row of `GET /nodes`. The numbers are there only with `Sys.Audit` on the host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Host {
    #[serde(rename = "node", deserialize_with = "lenient::parsed")]
    pub name: HostName,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub status: Option<String>,
    #[serde(default, rename = "ssl_fingerprint", deserialize_with = "lenient::some_parsed")]
    pub fingerprint: Option<Fingerprint>,
    #[serde(default, rename = "maxcpu", deserialize_with = "lenient::some_number")]
    pub cpus: Option<u64>,
    /// Bytes.
    #[serde(default, rename = "maxmem", deserialize_with = "lenient::some_number")]
    pub memory: Option<u64>,
    /// Bytes.
    #[serde(default, rename = "mem", deserialize_with = "lenient::some_number")]
    pub memory_used: Option<u64>,
}

impl Host {
    /// Whether it is known to be up; `unknown` is said of a host whose status daemon is silent.
    pub fn is_online(&self) -> bool {
        self.status.as_deref() == Some("online")
    }
}

/// `GET /nodes/{host}/status`; needs `Sys.Audit` on the host.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HostStatus {
    #[serde(rename = "pveversion", deserialize_with = "lenient::some_text")]
    pub version: Option<String>,
    pub memory: Memory,
    #[serde(rename = "cpuinfo")]
    pub cpu: Cpu,
    #[serde(deserialize_with = "lenient::some_number")]
    pub uptime: Option<u64>,
}

/// Bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Memory {
    #[serde(deserialize_with = "lenient::some_number")]
    pub total: Option<u64>,
    #[serde(deserialize_with = "lenient::some_number")]
    pub used: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Cpu {
    #[serde(deserialize_with = "lenient::some_number")]
    pub cpus: Option<u64>,
    #[serde(deserialize_with = "lenient::some_text")]
    pub model: Option<String>,
}
