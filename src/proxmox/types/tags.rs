use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::model::Tag;

/// The `tags` of a VM: a set. Case is no difference, but tags that are not ours keep theirs, because a cluster can be
/// told to mind it.
#[derive(Clone, Debug, Default)]
pub struct Tags(BTreeSet<String>);

impl Tags {
    pub fn contains(&self, tag: &Tag) -> bool {
        self.0.iter().any(|own| own.eq_ignore_ascii_case(tag.as_str()))
    }

    /// Adds a tag, unless it is there in any spelling.
    pub fn insert(&mut self, tag: &Tag) {
        if !self.contains(tag) {
            self.0.insert(tag.as_str().to_owned());
        }
    }

    /// Removes a tag in every spelling.
    pub fn remove(&mut self, tag: &Tag) {
        self.0.retain(|own| !own.eq_ignore_ascii_case(tag.as_str()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn lower_case(&self) -> BTreeSet<String> {
        self.iter().map(str::to_ascii_lowercase).collect()
    }
}

impl PartialEq for Tags {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.lower_case() == other.lower_case()
    }
}

impl Eq for Tags {}

impl<'a> FromIterator<&'a Tag> for Tags {
    fn from_iter<I: IntoIterator<Item = &'a Tag>>(tags: I) -> Self {
        Self(tags.into_iter().map(|tag| tag.as_str().to_owned()).collect())
    }
}

impl FromStr for Tags {
    type Err = Infallible;

    /// Commas, semicolons and white space all separate.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let separates = |c: char| c == ',' || c == ';' || c.is_whitespace();
        Ok(Self(text.split(separates).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()))
    }
}

impl fmt::Display for Tags {
    /// Empty tags must not be sent: Proxmox would store a blank. They are cleared by deleting the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(index, tag)| {
            let separator = if index == 0 { "" } else { ";" };
            write!(f, "{separator}{tag}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Tags {
        let Ok(tags) = text.parse();
        tags
    }

    #[test]
    fn what_proxmox_makes_of_tags_is_equal_to_what_was_sent() {
        assert_eq!(tags("Talos,k8s;Worker  k8s"), tags("k8s;talos;worker"));
        assert_ne!(tags("k8s"), tags("k8s;talos"));
        assert_eq!(tags(" "), Tags::default());
    }

    #[test]
    fn other_tags_stay_as_they_are() {
        let mut changed = tags("Mine;talos");
        changed.insert(&"TALOS".parse().unwrap());
        changed.insert(&"mine".parse().unwrap());
        changed.insert(&"a.b".parse().unwrap());
        assert_eq!(changed.to_string(), "Mine;a.b;talos");
        changed.remove(&"mine".parse().unwrap());
        assert_eq!(changed.to_string(), "a.b;talos");
    }
}
