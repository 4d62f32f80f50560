use serde::Deserialize;

use crate::proxmox::lenient;

/// `GET /version`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Version {
    /// Like `9.2.11`.
    #[serde(deserialize_with = "lenient::text")]
    pub version: String,
}

impl Version {
    /// Major and minor number; what cannot be read counts as 0.
    pub fn numbers(&self) -> (u32, u32) {
        let mut numbers = self.version.split(['.', '-', '~', '/']).map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.numbers() >= (major, minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        let version = |text: &str| Version { version: text.to_owned() };
        assert!(version("8.10.1").is_at_least(8, 4));
        assert!(version("9.0~beta").is_at_least(9, 0));
        assert!(!version("8.3.5").is_at_least(8, 4));
        assert!(!version("next").is_at_least(1, 0));
    }
}
