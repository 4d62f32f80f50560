use std::collections::BTreeSet;

use serde::Deserialize;

use crate::proxmox::lenient;

/// A row of `GET /access/roles`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AccessRole {
    #[serde(rename = "roleid", deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(default, rename = "privs", deserialize_with = "privileges")]
    pub privileges: BTreeSet<String>,
}

fn privileges<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<String>, D::Error> {
    let text = lenient::some_text(deserializer)?.unwrap_or_default();
    Ok(text.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect())
}
