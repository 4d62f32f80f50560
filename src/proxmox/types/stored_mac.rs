use std::fmt;
use std::str::FromStr;

use crate::model::{Invalid, MacAddress};

/// A MAC address together with the spelling in which Proxmox holds it.
///
/// Equality is that of the address. The spelling matters all the same: Proxmox compares the texts, and would unplug
/// and replug the card of a running VM if only the case differed (qemu-server: src/PVE/QemuServer.pm).
#[derive(Clone, Debug)]
pub struct StoredMac {
    address: MacAddress,
    spelling: Box<str>,
}

impl StoredMac {
    pub fn address(&self) -> MacAddress {
        self.address
    }

    /// Takes another address. An equal one keeps the spelling that is there.
    pub fn set(&mut self, address: MacAddress) {
        if self.address != address {
            *self = address.into();
        }
    }
}

impl From<MacAddress> for StoredMac {
    fn from(address: MacAddress) -> Self {
        Self { address, spelling: address.to_string().into() }
    }
}

impl FromStr for StoredMac {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self { address: text.parse()?, spelling: text.into() })
    }
}

impl PartialEq for StoredMac {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for StoredMac {}

impl fmt::Display for StoredMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_address_keeps_its_stored_spelling() {
        let mut mac: StoredMac = "bc:24:11:00:00:0a".parse().unwrap();
        mac.set("BC:24:11:00:00:0A".parse().unwrap());
        assert_eq!(mac.to_string(), "bc:24:11:00:00:0a");
        mac.set("BC:24:11:00:00:0B".parse().unwrap());
        assert_eq!(mac.to_string(), "BC:24:11:00:00:0B");
    }
}
