use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, TemplateMark, Text, VmId};

/// The mark of a template that we made ourselves: which VM it was put on, and what it was made from.
///
/// A copy of the template carries the same line with the number of the original, so that it is told from ours by that.
/// A mark that somebody wrote by hand has no number; such a template is used, and never changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateRecord {
    pub mark: TemplateMark,
    pub vmid: VmId,
    /// The URL of the image, or `upload:` and the name of a file.
    pub image: Box<str>,
    /// Bytes of the image's file.
    pub bytes: u64,
}

impl TemplateRecord {
    /// The record in a description: its last line. Descriptions of others have none.
    pub fn find(description: &str) -> Option<Self> {
        description.lines().rev().find(|line| !line.trim().is_empty())?.parse().ok()
    }
}

impl Text for TemplateRecord {
    const WHAT: &'static str = "the record of a template like `pvetalos-template: version=1.12.0 schematic=… \
                                secureboot=false vmid=9000 image=https://… size=206766080`";
    const PATTERN: &'static str = "^pvetalos-template: version=[^ ]+ schematic=[0-9a-f]{64} secureboot=(true|false) \
                                   vmid=[0-9]+ image=[^ ]+ size=[0-9]+$";
}

impl FromStr for TemplateRecord {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let value = |key: &str| {
            let word = text.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            word.filter(|word| !word.is_empty()).ok_or_else(invalid)
        };
        let bytes = value("size")?;
        let digits = bytes.bytes().all(|b| b.is_ascii_digit());
        Ok(Self {
            mark: text.parse()?,
            vmid: value("vmid")?.parse().map_err(|_| invalid())?,
            image: value("image")?.into(),
            bytes: digits.then(|| bytes.parse().ok()).flatten().ok_or_else(invalid)?,
        })
    }
}

impl fmt::Display for TemplateRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mark, vmid, image, bytes } = self;
        write!(f, "{mark} vmid={vmid} image={image} size={bytes}")
    }
}

serialize_as_text!(TemplateRecord);

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "pvetalos-template: version=1.12.0 \
                          schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515 secureboot=true \
                          vmid=9000 image=https://factory.talos.dev/x?a=b size=206766080";

    #[test]
    fn a_record_is_a_mark_with_more() {
        let found = TemplateRecord::find(&format!("Talos\n\n{RECORD}\n")).unwrap();
        assert_eq!(found.to_string(), RECORD);
        assert_eq!((found.vmid.get(), &*found.image), (9000, "https://factory.talos.dev/x?a=b"));
        assert_eq!(TemplateMark::find(RECORD), Some(found.mark));
        let by_hand = RECORD.split(" vmid=").next().unwrap();
        assert!(TemplateMark::find(by_hand).is_some());
        assert_eq!(TemplateRecord::find(by_hand), None);
        for wrong in ["vmid=9", "vmid=", "size=-1", "size=x"] {
            let key = wrong.split('=').next().unwrap();
            let words = RECORD.split(' ').map(|word| if word.starts_with(key) { wrong } else { word });
            assert_eq!(TemplateRecord::find(&words.collect::<Vec<_>>().join(" ")), None, "{wrong}");
        }
    }
}
