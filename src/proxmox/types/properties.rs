use std::fmt;
use std::str::FromStr;

/// A property string taken apart: `key=value` pairs in the order in which they were written.
///
/// Order is kept for printing and is no part of equality.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    pairs: Vec<(String, String)>,
}

/// Why a text is no property string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertyError {
    #[error("`{0}` is given twice")]
    Duplicate(String),
    #[error("`{0}` has no key, and none is implied here")]
    NoKey(String),
    #[error("`{0}` has no value or an empty key")]
    Incomplete(String),
    #[error("`{0}` is missing")]
    Missing(&'static str),
}

impl Properties {
    /// Takes `text` apart. At most one part may stand without a key; it belongs to `default_key`.
    ///
    /// Empty parts are skipped and a value may contain `=`, as in Proxmox (pve-common: src/PVE/JSONSchema.pm,
    /// `parse_property_string`).
    pub fn parse(text: &str, default_key: Option<&str>) -> Result<Self, PropertyError> {
        let mut properties = Self::default();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = match (part.split_once('='), default_key) {
                (Some((key, value)), _) if !key.is_empty() && !value.is_empty() => (key, value),
                (Some(_), _) => return Err(PropertyError::Incomplete(part.to_owned())),
                (None, Some(key)) => (key, part),
                (None, None) => return Err(PropertyError::NoKey(part.to_owned())),
            };
            if properties.get(key).is_some() {
                return Err(PropertyError::Duplicate(key.to_owned()));
            }
            properties.pairs.push((key.to_owned(), value.to_owned()));
        }
        Ok(properties)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Removes a key and returns its value.
    pub fn take(&mut self, key: &str) -> Option<String> {
        let index = self.pairs.iter().position(|(name, _)| name == key)?;
        Some(self.pairs.remove(index).1)
    }

    /// Removes a key if its value is a `T`. Any other value stays as the text that it is.
    pub fn take_as<T: FromStr>(&mut self, key: &str) -> Option<T> {
        let value = self.get(key)?.parse().ok()?;
        self.take(key);
        Some(value)
    }

    /// Like [`Self::take_as`], for a key that has to be there.
    pub fn required(&mut self, key: &'static str) -> Result<String, PropertyError> {
        self.take(key).ok_or(PropertyError::Missing(key))
    }

    /// Sets a key, in its old place if it was there. The value must not contain a comma.
    pub fn set(&mut self, key: &str, value: impl fmt::Display) {
        let value = value.to_string();
        match self.pairs.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.pairs.push((key.to_owned(), value)),
        }
    }

    /// Like [`Self::set`]; nothing leaves the key as it was.
    pub fn set_some(&mut self, key: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The same pairs in alphabetical order, which is the order in which Proxmox prints them.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.pairs.sort();
        self
    }

    /// Prints the value of the default key, then the pairs in alphabetical order.
    ///
    /// The key is left out, unless the value would then be taken for something else.
    pub(super) fn print_default(self, key: &str, value: impl fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = value.to_string();
        let ambiguous = value.contains('=') || value.trim().is_empty();
        if ambiguous { self.print_after(format_args!("{key}={value}"), f) } else { self.print_after(value, f) }
    }

    /// Prints `first`, then the pairs in alphabetical order: the form in which Proxmox stores drives and cards.
    pub(super) fn print_after(self, first: impl fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{first}")?;
        self.sorted().iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        // Keys are unique on both sides, so equal numbers and one inclusion are enough.
        self.pairs.len() == other.pairs.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl Eq for Properties {}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(index, (key, value))| {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{key}={value}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_is_no_difference() {
        let one = Properties::parse("b=2,a=1", None).unwrap();
        let other = Properties::parse("a=1,,b=2, ", None).unwrap();
        assert_eq!(one, other);
        assert_eq!((one.to_string(), one.sorted().to_string()), ("b=2,a=1".to_owned(), "a=1,b=2".to_owned()));
        assert_ne!(other, Properties::parse("a=1", None).unwrap());
        assert_ne!(other, Properties::parse("a=1,b=3", None).unwrap());
    }

    #[test]
    fn one_part_may_stand_without_its_key() {
        let agent = Properties::parse("fstrim_cloned_disks=1,1", Some("enabled")).unwrap();
        assert_eq!(agent.get("enabled"), Some("1"));
        assert_eq!(Properties::parse("order=scsi0;net0=x", None).unwrap().get("order"), Some("scsi0;net0=x"));
    }

    #[test]
    fn what_breaks_the_grammar_is_refused_with_its_reason() {
        #[track_caller]
        fn case(text: &str, default_key: Option<&str>, expected: &str) {
            assert_eq!(Properties::parse(text, default_key).unwrap_err().to_string(), expected);
        }
        case("a=1,a=2", None, "`a` is given twice");
        case("1,2", Some("enabled"), "`enabled` is given twice");
        case("1,enabled=1", Some("enabled"), "`enabled` is given twice");
        case("a=1,b", None, "`b` has no key, and none is implied here");
        case("a=", None, "`a=` has no value or an empty key");
        case("=1", None, "`=1` has no value or an empty key");
    }

    #[test]
    fn a_value_of_another_type_stays_text() {
        let mut keys = Properties::parse("tag=many,mtu=1400", None).unwrap();
        assert_eq!((keys.take_as::<u32>("tag"), keys.take_as::<u32>("mtu")), (None, Some(1400)));
        assert_eq!(keys.to_string(), "tag=many");
    }
}
