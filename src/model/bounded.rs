use std::fmt;
use std::str::FromStr;

use super::Invalid;

/// A whole number with limits; a number outside them cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bounded<const MIN: u32, const MAX: u32>(u32);

/// The number of a VM in a Proxmox cluster.
pub type VmId = Bounded<100, 999_999_999>;
/// An 802.1Q VLAN.
pub type VlanTag = Bounded<1, 4094>;
/// CPU cores per socket.
pub type Cores = Bounded<1, 64>;
/// CPU sockets.
pub type Sockets = Bounded<1, 4>;
/// Memory in MiB.
pub type MemoryMib = Bounded<1024, 262_144>;
/// The least memory in MiB that a VM keeps when the host asks for some back.
pub type BalloonMib = Bounded<0, 262_144>;
/// The largest frame of a network card.
pub type Mtu = Bounded<1450, 9000>;
/// Queues of a virtio network card.
pub type Queues = Bounded<1, 16>;
/// The place of a VM in the start order of its host.
pub type StartupOrder = Bounded<1, 100>;
/// Seconds to wait after starting a VM before the next one starts.
pub type StartupDelay = Bounded<0, 300>;
/// Seconds that a VM has for shutting down.
pub type ShutdownDelay = Bounded<0, 600>;

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    pub const MIN: u32 = MIN;
    pub const MAX: u32 = MAX;

    /// The number, unless it is outside the limits.
    pub const fn new(number: u32) -> Option<Self> {
        if MIN <= number && number <= MAX { Some(Self(number)) } else { None }
    }

    /// The number, or the nearest limit.
    pub const fn nearest(number: u32) -> Self {
        if number < MIN {
            Self(MIN)
        } else if number > MAX {
            Self(MAX)
        } else {
            Self(number)
        }
    }

    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> FromStr for Bounded<MIN, MAX> {
    type Err = Invalid;

    /// Digits only: `+5`, `1_000`, `0x10` and `010` are refused, because programs disagree about them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, format!("a whole number from {MIN} to {MAX}"));
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits {
            return Err(invalid());
        }
        if text.len() > 1 && text.starts_with('0') {
            return Err(invalid().because("a leading zero means octal to some programs"));
        }
        text.parse().ok().and_then(Self::new).ok_or_else(invalid)
    }
}

impl<const MIN: u32, const MAX: u32> fmt::Display for Bounded<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const MIN: u32, const MAX: u32> serde::Serialize for Bounded<MIN, MAX> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_the_limits_do_not_exist() {
        assert_eq!("4094".parse::<VlanTag>().unwrap().get(), 4094);
        for text in ["0", "4095", "-1", "+7", "7.0", "", " 7", "0x7", "99999999999999999999", "１"] {
            assert!(text.parse::<VlanTag>().is_err(), "{text}");
        }
        assert_eq!("99".parse::<VmId>().unwrap_err().to_string(), "`99` is not a whole number from 100 to 999999999");
    }

    #[test]
    fn a_leading_zero_is_refused_with_its_reason() {
        let error = "0100".parse::<VmId>().unwrap_err();
        assert_eq!(error.why(), Some("a leading zero means octal to some programs"));
    }
}
