use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError};

/// The `memory` value, in MiB. An absent key is the default: 512 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub mib: u32,
    pub unmanaged: Properties,
}

impl Memory {
    pub fn new(mib: u32) -> Self {
        Self { mib, unmanaged: Properties::default() }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(512)
    }
}

impl FromStr for Memory {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, Some("current"))?;
        let mib = keys.take_as("current").ok_or(PropertyError::Missing("current"))?;
        Ok(Self { mib, unmanaged: keys })
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unmanaged.clone().print_after(self.mib, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_the_same() {
        assert_eq!("4096".parse::<Memory>(), Ok(Memory::new(4096)));
        assert_eq!("current=4096".parse::<Memory>(), Ok(Memory::new(4096)));
        assert_eq!(Memory::new(4096).to_string(), "4096");
        assert!("much".parse::<Memory>().is_err());
    }
}
