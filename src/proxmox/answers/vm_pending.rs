use std::collections::BTreeSet;

use serde::Deserialize;

use super::VmConfig;
use crate::proxmox::lenient;

/// `GET …/pending`: what is in effect, what waits for a power cycle, and the digest, all in one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct VmPending(Vec<Row>);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Row {
    key: String,
    #[serde(default, deserialize_with = "lenient::some_text")]
    value: Option<String>,
    #[serde(default, deserialize_with = "lenient::some_text")]
    pending: Option<String>,
    /// 1, or 2 when the volume shall go as well.
    #[serde(default, deserialize_with = "lenient::flag")]
    delete: bool,
}

impl VmPending {
    /// The options as they will be after a power cycle, which is what a change has to start from.
    pub fn wanted(&self) -> VmConfig {
        let kept = self.0.iter().filter(|row| !row.delete);
        kept.filter_map(|row| Some((row.key.clone(), row.pending.clone().or_else(|| row.value.clone())?))).collect()
    }

    /// The options in effect.
    pub fn in_effect(&self) -> VmConfig {
        self.0.iter().filter_map(|row| Some((row.key.clone(), row.value.clone()?))).collect()
    }

    /// The options that wait for a power cycle.
    pub fn waiting(&self) -> BTreeSet<&str> {
        let waits = |row: &&Row| row.delete || row.pending.is_some();
        self.0.iter().filter(waits).map(|row| row.key.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_values_and_those_in_effect_are_told_apart() {
        let rows = r#"[{"key":"cores","value":2,"pending":4},{"key":"numa","value":1,"delete":1},
            {"key":"balloon","pending":"0"},{"key":"name","value":"cp-1"},{"key":"digest","value":"abc"}]"#;
        let pending: VmPending = serde_json::from_str(rows).unwrap();
        let (wanted, in_effect) = (pending.wanted(), pending.in_effect());
        assert_eq!((wanted.cores(), wanted.get("numa"), wanted.get("balloon")), (4, None, Some("0")));
        assert_eq!((in_effect.cores(), in_effect.get("numa"), in_effect.get("balloon")), (2, Some("1"), None));
        assert_eq!((wanted.digest(), wanted.name()), (Some("abc"), Some("cp-1")));
        assert_eq!(pending.waiting().into_iter().collect::<Vec<_>>(), ["balloon", "cores", "numa"]);
    }
}
