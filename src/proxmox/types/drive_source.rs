use std::fmt;
use std::str::FromStr;

use super::VolumeId;
use crate::model::{DiskSize, StorageId};

/// What a drive is made of: the first part of its string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveSource {
    Volume(VolumeId),
    /// A volume that Proxmox shall make: `local-lvm:32` asks for 32 GiB. Sent twice it makes two.
    Allocate {
        storage: StorageId,
        size: DiskSize,
    },
    /// A volume that Proxmox shall fill from another one, which `import-from` names: `local-lvm:0`.
    Import {
        storage: StorageId,
    },
    /// A drive for cloud-init's data that Proxmox shall make: `local-lvm:cloudinit`.
    CloudInit {
        storage: StorageId,
    },
    /// A CD drive without a disc.
    Empty,
    /// Anything else, such as `cdrom` or a path that only root can have set.
    Other(String),
}

impl DriveSource {
    pub fn volume(&self) -> Option<&VolumeId> {
        match self {
            Self::Volume(volume) => Some(volume),
            _ => None,
        }
    }
}

impl FromStr for DriveSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            return Ok(Self::Empty);
        }
        let Ok(volume) = text.parse::<VolumeId>() else {
            return Ok(Self::Other(text.to_owned()));
        };
        let storage = || volume.storage().clone();
        Ok(match volume.name() {
            "cloudinit" => Self::CloudInit { storage: storage() },
            "0" => Self::Import { storage: storage() },
            name => match gibibytes(name) {
                Some(size) => Self::Allocate { storage: storage(), size },
                None => Self::Volume(volume),
            },
        })
    }
}

/// Reads a number of GiB, perhaps with a fraction.
fn gibibytes(text: &str) -> Option<DiskSize> {
    const FRACTION_DIGITS: usize = 20;
    let (whole, fraction) = text.split_once('.').map_or((text, "0"), |(whole, fraction)| (whole, fraction));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = (fraction.parse::<u128>().ok()? << 30) + scale / 2;
    let bytes = (whole.parse::<u64>().ok()?.checked_mul(1 << 30)?).checked_add(u64::try_from(part / scale).ok()?)?;
    // The size type has its own idea of what is a size, and no other way in.
    bytes.to_string().parse().ok()
}

impl fmt::Display for DriveSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume(volume) => volume.fmt(f),
            Self::Allocate { storage, size } => {
                write!(f, "{storage}:{}", size.bytes() >> 30)?;
                print_fraction(size.bytes() & ((1 << 30) - 1), f)
            }
            Self::Import { storage } => write!(f, "{storage}:0"),
            Self::CloudInit { storage } => write!(f, "{storage}:cloudinit"),
            Self::Empty => f.write_str("none"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Prints what is left of a GiB as a decimal fraction, as exactly as it is read back.
fn print_fraction(mut rest: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if rest > 0 {
        f.write_str(".")?;
    }
    for _ in 0..20 {
        if rest == 0 {
            break;
        }
        rest *= 10;
        write!(f, "{}", rest >> 30)?;
        rest &= (1 << 30) - 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_asks_for_a_new_volume() {
        #[track_caller]
        fn case(text: &str, size: &str) {
            let source: DriveSource = text.parse().unwrap();
            let storage = "local-lvm".parse().unwrap();
            assert_eq!(source, DriveSource::Allocate { storage, size: size.parse().unwrap() });
            assert_eq!(source.to_string(), text);
        }
        case("local-lvm:32", "32G");
        case("local-lvm:0.5", "512M");
        case("local-lvm:1.216796875", "1246M");
    }

    #[test]
    fn everything_else_is_told_apart() {
        #[track_caller]
        fn case(text: &str, is: fn(&DriveSource) -> bool) {
            let source: DriveSource = text.parse().unwrap();
            assert!(is(&source), "{source:?}");
            assert_eq!(source.to_string(), text);
        }
        case("local-lvm:vm-105-disk-0", |source| source.volume().is_some());
        case("local-lvm:0", |source| matches!(source, DriveSource::Import { .. }));
        case("local-lvm:cloudinit", |source| matches!(source, DriveSource::CloudInit { .. }));
        case("none", |source| matches!(source, DriveSource::Empty));
        case("cdrom", |source| matches!(source, DriveSource::Other(_)));
        case("/dev/disk/by-id/x", |source| matches!(source, DriveSource::Other(_)));
        case("local-lvm:99999999999999999999", |source| source.volume().is_some());
    }
}
