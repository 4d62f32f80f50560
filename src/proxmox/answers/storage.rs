use std::collections::BTreeSet;

use serde::Deserialize;

use crate::model::{StorageId, VmId};
use crate::proxmox::lenient;
use crate::proxmox::types::{Reading, VolumeId};

/// A row of `GET /nodes/{host}/storage`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Storage {
    #[serde(rename = "storage", deserialize_with = "lenient::parsed")]
    pub name: StorageId,
    /// Like `dir`, `lvmthin`, `zfspool`.
    #[serde(default, rename = "type", deserialize_with = "lenient::some_text")]
    pub kind: Option<String>,
    /// What it takes, such as `images` and `import`.
    #[serde(default, deserialize_with = "words")]
    pub content: BTreeSet<String>,
    /// Whether all hosts see the same volumes.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub shared: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub active: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub enabled: bool,
    /// Bytes.
    #[serde(default, deserialize_with = "lenient::some_number")]
    pub total: Option<u64>,
    /// Bytes.
    #[serde(default, rename = "avail", deserialize_with = "lenient::some_number")]
    pub available: Option<u64>,
}

fn words<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<String>, D::Error> {
    let text = lenient::some_text(deserializer)?.unwrap_or_default();
    Ok(text.split([',', ';', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// A row of `GET /nodes/{host}/storage/{storage}/content`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Volume {
    #[serde(rename = "volid", deserialize_with = "volume_id")]
    pub id: Reading<VolumeId>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub content: Option<String>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub format: Option<String>,
    /// Bytes.
    #[serde(default, deserialize_with = "lenient::some_number")]
    pub size: Option<u64>,
    #[serde(default, deserialize_with = "lenient::some_parsed")]
    pub vmid: Option<VmId>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pub parent: Option<String>,
}

fn volume_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Reading<VolumeId>, D::Error> {
    lenient::text(deserializer).map(|text| Reading::of(&text))
}

/// `GET /nodes/{host}/query-url-metadata`: what a host finds behind a URL.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UrlMetadata {
    /// Bytes; not every server says.
    #[serde(default, deserialize_with = "lenient::some_number")]
    pub size: Option<u64>,
}
