use std::fmt;
use std::str::FromStr;

use super::switch::digit;
use super::{Properties, PropertyError, Switch};

/// The `agent` value. An absent key is the default: no agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    pub enabled: Switch<false>,
    /// `fstrim_cloned_disks`, `type`, and whatever comes later.
    pub unmanaged: Properties,
}

impl FromStr for Agent {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, Some("enabled"))?;
        Ok(Self { enabled: keys.take_as("enabled").unwrap_or_default(), unmanaged: keys })
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.unmanaged.clone();
        // A text that is no boolean was kept under this key and is the truth unless somebody decided otherwise.
        if self.enabled.written().is_some() || keys.get("enabled").is_none() {
            keys.set("enabled", digit(self.enabled.get()));
        }
        keys.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_same_is_the_same() {
        let on: Agent = "1".parse().unwrap();
        assert_eq!(on, "enabled=true".parse().unwrap());
        assert_ne!(on, "fstrim_cloned_disks=1,enabled=true".parse().unwrap());
        assert_eq!("0".parse::<Agent>(), Ok(Agent::default()));
        assert_eq!(on.to_string(), "enabled=1");
    }
}
