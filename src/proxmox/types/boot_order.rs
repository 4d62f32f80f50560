use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The `boot` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootOrder {
    /// `order=scsi0;net0`: these devices, in this order, and no other.
    Devices(Vec<String>),
    /// The old letters (`cdn`), or anything else.
    Other(String),
}

impl BootOrder {
    pub fn devices<'a>(devices: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Devices(devices.into_iter().map(str::to_owned).collect())
    }

    /// Whether this device is tried before any other.
    pub fn begins_with(&self, device: &str) -> bool {
        matches!(self, Self::Devices(devices) if devices.first().is_some_and(|first| first == device))
    }
}

impl FromStr for BootOrder {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let order = text.split(',').find_map(|part| part.strip_prefix("order="));
        // An empty order reads back as a space.
        let empty = text.trim().is_empty();
        Ok(match order {
            Some(order) if !text.contains(',') => {
                Self::Devices(order.split(';').filter(|device| !device.is_empty()).map(str::to_owned).collect())
            }
            None if empty => Self::Devices(Vec::new()),
            _ => Self::Other(text.to_owned()),
        })
    }
}

impl fmt::Display for BootOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Devices(devices) => write!(f, "order={}", devices.join(";")),
            Self::Other(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_counts() {
        #[track_caller]
        fn case(text: &str, expected: &BootOrder) {
            let Ok(order) = text.parse::<BootOrder>();
            assert_eq!(&order, expected);
        }
        case("order=scsi0;net0", &BootOrder::devices(["scsi0", "net0"]));
        case("order=", &BootOrder::devices([]));
        case(" ", &BootOrder::devices([]));
        case("cdn", &BootOrder::Other("cdn".to_owned()));
        case("legacy=cdn,order=scsi0", &BootOrder::Other("legacy=cdn,order=scsi0".to_owned()));
        assert!(BootOrder::devices(["scsi0", "net0"]).begins_with("scsi0"));
    }
}
