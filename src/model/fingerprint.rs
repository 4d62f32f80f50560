use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, Text, hex};

/// The SHA-256 fingerprint of a certificate, as `pvenode cert info` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }
}

impl Text for Fingerprint {
    const WHAT: &'static str = "a SHA-256 fingerprint like `AB:CD:…` (32 pairs)";
    const PATTERN: &'static str = "^([0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}|[0-9A-Fa-f]{64})$";
}

impl FromStr for Fingerprint {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let pairs: Vec<&str> = if text.len() == 64 && text.is_ascii() {
            (0..32).map(|pair| &text[2 * pair..2 * pair + 2]).collect()
        } else {
            text.split(':').collect()
        };
        if pairs.len() == 20 {
            return Err(invalid().because("this is a SHA-1 fingerprint; the SHA-256 one is needed"));
        }
        let octets: Option<Vec<u8>> = pairs.into_iter().map(hex::pair).collect();
        octets
            .and_then(|octets| octets.try_into().ok())
            .map(Self)
            .ok_or_else(|| invalid().because("32 pairs of hexadecimal digits, separated by colons, are needed"))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_pairs(f, &self.0)
    }
}

serialize_as_text!(Fingerprint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_colons_it_is_the_same() {
        let plain: Fingerprint = "ab".repeat(32).parse().unwrap();
        assert_eq!(plain, ["AB"; 32].join(":").parse().unwrap());
        assert_eq!(
            ["AB"; 20].join(":").parse::<Fingerprint>().unwrap_err().why(),
            Some("this is a SHA-1 fingerprint; the SHA-256 one is needed")
        );
    }
}
