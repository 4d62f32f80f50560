use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, Text, hex};

/// The hardware address of one network card. `bc:24:…` in a file equals `BC:24:…` from Proxmox: case is never a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress([u8; 6]);

impl Text for MacAddress {
    const WHAT: &'static str = "a MAC address like `BC:24:11:5A:00:01`";
    const PATTERN: &'static str = "^[0-9A-Fa-f][02468ACEace](:[0-9A-Fa-f]{2}){5}$";
}

impl FromStr for MacAddress {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let octets: Option<Vec<u8>> = text.split(':').map(hex::pair).collect();
        let Some(octets) = octets.and_then(|octets| <[u8; 6]>::try_from(octets).ok()) else {
            return Err(match with_colons(text) {
                Some(spelling) => {
                    invalid().because("the six pairs are separated by colons").hint(format!("write `{spelling}`"))
                }
                None => invalid().because("six pairs of hexadecimal digits, separated by colons, are needed"),
            });
        };
        if octets[0] & 1 == 1 {
            let unicast = Self([octets[0] & !1, octets[1], octets[2], octets[3], octets[4], octets[5]]);
            return Err(invalid()
                .because("this is a multicast address, which no network card may have")
                .hint(format!("make the first pair even, for example `{unicast}`")));
        }
        if octets == [0; 6] {
            return Err(invalid().because("all zeros stand for no address"));
        }
        Ok(Self(octets))
    }
}

/// The usual spelling of an address that was written with dashes, with dots or with nothing in between.
fn with_colons(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| !matches!(c, '-' | '.' | ':')).collect();
    let complete = digits.len() == 12 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    complete.then(|| {
        digits
            .as_bytes()
            .chunks(2)
            .map(|pair| String::from_utf8_lossy(pair).to_uppercase())
            .collect::<Vec<_>>()
            .join(":")
    })
}

impl fmt::Display for MacAddress {
    /// The way Proxmox itself writes generated addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_pairs(f, &self.0)
    }
}

serialize_as_text!(MacAddress);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_no_difference() {
        let lower: MacAddress = "bc:24:11:5a:00:01".parse().unwrap();
        assert_eq!(lower, "BC:24:11:5A:00:01".parse().unwrap());
        assert_eq!(lower.to_string(), "BC:24:11:5A:00:01");
    }

    #[test]
    fn each_mistake_has_its_reason() {
        #[track_caller]
        fn case(text: &str, why: &str, hint: Option<&str>) {
            let error = text.parse::<MacAddress>().unwrap_err();
            assert_eq!((error.why(), error.suggestion()), (Some(why), hint));
        }
        let pairs = "six pairs of hexadecimal digits, separated by colons, are needed";
        case("bc:24:11:5a:00", pairs, None);
        case("bc:24:11:5a:00:zz", pairs, None);
        case("bc:24:11:5a:00:+1", pairs, None);
        case("", pairs, None);
        case("bc-24-11-5a-00-01", "the six pairs are separated by colons", Some("write `BC:24:11:5A:00:01`"));
        case("bc24.115a.0001", "the six pairs are separated by colons", Some("write `BC:24:11:5A:00:01`"));
        case(
            "bd:24:11:5a:00:01",
            "this is a multicast address, which no network card may have",
            Some("make the first pair even, for example `BC:24:11:5A:00:01`"),
        );
        case("00:00:00:00:00:00", "all zeros stand for no address", None);
    }
}
