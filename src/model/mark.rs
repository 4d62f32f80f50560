use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{ClusterName, Invalid, NodeName, Text, VmId};

/// The line in a VM's description that says whose it is.
///
/// It names the VMID as well: a clone or a restored backup carries a copy of the line, and must not be taken for the
/// VM that it was copied from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    pub cluster: ClusterName,
    pub node: NodeName,
    pub vmid: VmId,
}

const BEGINNING: &str = "pvetalos:";

impl Mark {
    /// The mark in a description: its last line. Descriptions of others have none.
    pub fn find(description: &str) -> Option<Self> {
        description.lines().rev().find(|line| !line.trim().is_empty())?.parse().ok()
    }

    /// A description with this mark as its last line, and whatever stood there before above it.
    pub fn appended_to(&self, description: &str) -> String {
        match description.trim_end() {
            "" => self.to_string(),
            before => format!("{before}\n\n{self}"),
        }
    }
}

impl Text for Mark {
    const WHAT: &'static str = "the mark of a VM like `pvetalos: cluster=home node=cp-1 vmid=4001`";
    const PATTERN: &'static str = "^pvetalos: cluster=[a-z0-9-]+ node=[a-z0-9-]+ vmid=[0-9]+$";
}

impl FromStr for Mark {
    type Err = Invalid;

    /// Words that are not known are passed over, so that a later version may add some.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let words = text.trim().strip_prefix(BEGINNING).ok_or_else(invalid)?;
        let value = |key: &str| words.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        Ok(Self {
            cluster: value("cluster").ok_or_else(invalid)?.parse()?,
            node: value("node").ok_or_else(invalid)?.parse()?,
            vmid: value("vmid").ok_or_else(invalid)?.parse()?,
        })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, node, vmid } = self;
        write!(f, "{BEGINNING} cluster={cluster} node={node} vmid={vmid}")
    }
}

serialize_as_text!(Mark);

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "pvetalos: cluster=home node=cp-1 vmid=4001";

    #[test]
    fn the_mark_is_the_last_line_of_a_description() {
        let found = Mark::find(&format!("rack 3\n\n{MARK}\n\n")).expect("it is there");
        assert_eq!(found.to_string(), MARK);
        assert_eq!(Mark::find(&format!("{MARK} later=word")), Some(found.clone()));
        assert_eq!(Mark::find(&format!("{MARK}\nedited by hand")), None);
        assert_eq!(Mark::find("pvetalos: cluster=home node=cp-1"), None);
        assert_eq!(Mark::find("pvetalos: cluster=home node=cp-1 vmid=-1"), None);
        assert_eq!(Mark::find("pvetalos-template: version=1.12.0"), None);
        assert_eq!(Mark::find(""), None);
        assert_eq!(found.appended_to("rack 3\n"), format!("rack 3\n\n{MARK}"));
        assert_eq!(found.appended_to(""), MARK);
    }
}
