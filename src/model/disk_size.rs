use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, Text};

/// The size of a disk in bytes, written with binary units as Proxmox does: `64G` is 64 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskSize(u64);

const UNITS: [(char, u64); 4] = [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10)];

impl DiskSize {
    pub const fn gib(count: u32) -> Self {
        Self((count as u64) << 30)
    }

    /// A size as systems report it; an empty disk is none.
    pub const fn from_bytes(bytes: u64) -> Option<Self> {
        if bytes == 0 { None } else { Some(Self(bytes)) }
    }

    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Text for DiskSize {
    const WHAT: &'static str = "a disk size like `64G`";
    const PATTERN: &'static str = r"^[0-9]+([KMGT](iB)?)?$";
}

impl FromStr for DiskSize {
    type Err = Invalid;

    /// A number without unit is bytes, as in Proxmox. A `+` is refused: there it means *grow by*.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        if text.starts_with('+') {
            return Err(invalid().because("`+` would mean: grow by that much").hint("give the whole size"));
        }
        let short = text.strip_suffix("iB").unwrap_or(text);
        let (digits, unit) = match UNITS.iter().find(|(letter, _)| short.ends_with(*letter)) {
            Some((_, unit)) => (&short[..short.len() - 1], *unit),
            None if short.len() < text.len() => return Err(invalid()),
            None => (short, 1),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            let why = if text.ends_with('B') {
                "units are K, M, G and T, binary, without `B`"
            } else {
                "a whole number with one of the units K, M, G, T is needed"
            };
            return Err(invalid().because(why));
        }
        let count: Option<u64> = digits.parse().ok();
        match count.and_then(|count| count.checked_mul(unit)) {
            Some(0) => Err(invalid().because("an empty disk is no disk")),
            Some(bytes) => Ok(Self(bytes)),
            None => Err(invalid().because("that is more than any disk can hold")),
        }
    }
}

impl fmt::Display for DiskSize {
    /// In the largest unit that divides it exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, unit)| self.0.is_multiple_of(*unit)) {
            Some((letter, unit)) => write!(f, "{}{letter}", self.0 / unit),
            None => self.0.fmt(f),
        }
    }
}

serialize_as_text!(DiskSize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_binary_and_the_largest_exact_one_is_shown() {
        #[track_caller]
        fn case(text: &str, bytes: u64, shown: &str) {
            let size: DiskSize = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, shown));
        }
        case("64G", 64 << 30, "64G");
        case("64GiB", 64 << 30, "64G");
        case("1024G", 1 << 40, "1T");
        case("1246M", 1246 << 20, "1246M");
        case("528K", 528 << 10, "528K");
        case("1306525697", 1_306_525_697, "1306525697");
    }

    #[test]
    fn what_is_no_absolute_size_is_refused() {
        for text in ["+40G", "", "G", "1.5G", "64GB", "0G", "-1G", "64 G", "99999999999T", "64g", "4iB"] {
            assert!(text.parse::<DiskSize>().is_err(), "{text}");
        }
    }
}
