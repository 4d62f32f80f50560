use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::invalid::{checked_text, serialize_as_text};
use super::names::word;
use super::{Invalid, Text};

checked_text! {
    /// The serial number that a virtual disk shows to its guest.
    DiskSerial,
    "a disk serial like `talos-system`",
    "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,19}$",
    |text| word(text, 20, "QEMU keeps at most 20 characters of a serial").map(Cow::Borrowed)
}

/// The disk that Talos installs to, as the machine configuration names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallDisk {
    /// A device such as `/dev/sda`.
    Path(Box<str>),
    /// A serial number, which the system disk then gets.
    Serial(DiskSerial),
}

impl Text for InstallDisk {
    const WHAT: &'static str = "a disk: a path like `/dev/sda`, or a serial number";
    const PATTERN: &'static str = "^(/dev/[A-Za-z0-9/_.:+-]+|[A-Za-z0-9_][A-Za-z0-9_.-]{0,19})$";
}

impl FromStr for InstallDisk {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with('/') {
            let device = text.strip_prefix("/dev/").filter(|name| !name.is_empty());
            let plain = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_.:+-".contains(&b));
            return match device {
                Some(name) if plain(name) => Ok(Self::Path(text.into())),
                _ => Err(Invalid::new(text, Self::WHAT).because("a path begins with `/dev/` and has no spaces")),
            };
        }
        text.parse().map(Self::Serial)
    }
}

impl fmt::Display for InstallDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Serial(serial) => serial.fmt(f),
        }
    }
}

serialize_as_text!(InstallDisk);
