use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError};

/// The `smbios1` value. Its UUID is what the guest reports about itself.
#[derive(Clone, Debug, Default)]
pub struct Smbios {
    keys: Properties,
}

impl Smbios {
    /// The UUID in lower case, which is the case that guests report.
    pub fn uuid(&self) -> Option<String> {
        self.keys.get("uuid").map(str::to_ascii_lowercase)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key)
    }
}

impl PartialEq for Smbios {
    fn eq(&self, other: &Self) -> bool {
        let rest = |smbios: &Self| {
            let mut keys = smbios.keys.clone();
            keys.take("uuid");
            keys
        };
        self.uuid() == other.uuid() && rest(self) == rest(other)
    }
}

impl Eq for Smbios {}

impl FromStr for Smbios {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        Properties::parse(text, None).map(|keys| Self { keys })
    }
}

impl fmt::Display for Smbios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keys.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_a_uuid_is_no_difference() {
        let smbios: Smbios = "uuid=2CCD5E40-ADF6-4429-B2AF-A9237ACFC8F6,serial=ZHM9Y3A=".parse().unwrap();
        assert_eq!(smbios, "serial=ZHM9Y3A=,uuid=2ccd5e40-adf6-4429-b2af-a9237acfc8f6".parse().unwrap());
        assert_eq!(smbios.uuid().as_deref(), Some("2ccd5e40-adf6-4429-b2af-a9237acfc8f6"));
        assert_eq!(smbios.get("serial"), Some("ZHM9Y3A="));
        assert_ne!(smbios, "uuid=2ccd5e40-adf6-4429-b2af-a9237acfc8f6".parse().unwrap());
    }
}
