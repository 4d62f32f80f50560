use serde::Deserialize;

use crate::proxmox::lenient;

/// `GET …/feature`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FeatureAnswer {
    #[serde(rename = "hasFeature", deserialize_with = "lenient::flag")]
    pub available: bool,
    /// The hosts on which all storages of the VM are available.
    #[serde(default, rename = "nodes")]
    pub hosts: Vec<String>,
}
