use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, SchematicId, TalosVersion, Text};

/// The line in a template's description that says which Talos image it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateMark {
    pub talos_version: TalosVersion,
    pub schematic_id: SchematicId,
    pub secureboot: bool,
}

const BEGINNING: &str = "pvetalos-template:";

impl TemplateMark {
    /// The mark in a description: its last line. Descriptions of others have none.
    pub fn find(description: &str) -> Option<Self> {
        description.lines().rev().find(|line| !line.trim().is_empty())?.parse().ok()
    }
}

impl Text for TemplateMark {
    const WHAT: &'static str =
        "the mark of a template like `pvetalos-template: version=1.12.0 schematic=… secureboot=false`";
    const PATTERN: &'static str = "^pvetalos-template: version=[^ ]+ schematic=[0-9a-f]{64} secureboot=(true|false)$";
}

impl FromStr for TemplateMark {
    type Err = Invalid;

    /// Words that are not known are passed over, so that a later version may add some.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let words = text.trim().strip_prefix(BEGINNING).ok_or_else(invalid)?;
        let value = |key: &str| words.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        Ok(Self {
            talos_version: value("version").ok_or_else(invalid)?.parse()?,
            schematic_id: value("schematic").ok_or_else(invalid)?.parse()?,
            secureboot: match value("secureboot") {
                Some("true") => true,
                Some("false") => false,
                _ => return Err(invalid()),
            },
        })
    }
}

impl fmt::Display for TemplateMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { talos_version, schematic_id, secureboot } = self;
        write!(f, "{BEGINNING} version={talos_version} schematic={schematic_id} secureboot={secureboot}")
    }
}

serialize_as_text!(TemplateMark);

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "pvetalos-template: version=1.12.0 \
                        schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515 secureboot=true";

    #[test]
    fn the_mark_is_the_last_line_of_a_description() {
        let found = TemplateMark::find(&format!("Talos\n\n{MARK}\n")).unwrap();
        assert_eq!(found.to_string(), MARK);
        assert_eq!(TemplateMark::find(&format!("{MARK} later=word")), Some(found));
        assert_eq!(TemplateMark::find(&format!("{MARK}\nedited by hand")), None);
        assert_eq!(TemplateMark::find(""), None);
        assert_eq!(TemplateMark::find("pvetalos-template: version=1.12.0"), None);
    }
}
