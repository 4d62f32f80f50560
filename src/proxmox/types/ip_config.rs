use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{Ipv4Net, Ipv6Net};

use super::{Properties, PropertyError};

/// An `ipconfigN` value: what cloud-init tells the guest about `netN`.
///
/// An empty value means DHCP for both families, which is what the default is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpConfig {
    pub ip: Option<Ipv4Config>,
    pub gateway: Option<Ipv4Addr>,
    pub ip6: Option<Ipv6Config>,
    pub gateway6: Option<Ipv6Addr>,
    pub unmanaged: Properties,
}

/// How a card gets its IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv4Config {
    Dhcp,
    /// Proxmox accepts this and then cannot start the VM.
    Manual,
    Static(Ipv4Net),
}

/// How a card gets its IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv6Config {
    Dhcp,
    /// By router advertisements.
    Auto,
    /// Proxmox accepts this and then cannot start the VM.
    Manual,
    Static(Ipv6Net),
}

impl FromStr for Ipv4Config {
    type Err = ipnet::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "dhcp" => Ok(Self::Dhcp),
            "manual" => Ok(Self::Manual),
            text => text.parse().map(Self::Static),
        }
    }
}

impl FromStr for Ipv6Config {
    type Err = ipnet::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "dhcp" => Ok(Self::Dhcp),
            "auto" => Ok(Self::Auto),
            "manual" => Ok(Self::Manual),
            text => text.parse().map(Self::Static),
        }
    }
}

impl fmt::Display for Ipv4Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dhcp => f.write_str("dhcp"),
            Self::Manual => f.write_str("manual"),
            Self::Static(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for Ipv6Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dhcp => f.write_str("dhcp"),
            Self::Auto => f.write_str("auto"),
            Self::Manual => f.write_str("manual"),
            Self::Static(address) => address.fmt(f),
        }
    }
}

impl FromStr for IpConfig {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, None)?;
        Ok(Self {
            ip: keys.take_as("ip"),
            gateway: keys.take_as("gw"),
            ip6: keys.take_as("ip6"),
            gateway6: keys.take_as("gw6"),
            unmanaged: keys,
        })
    }
}

impl fmt::Display for IpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = Properties::default();
        keys.set_some("ip", self.ip);
        keys.set_some("gw", self.gateway);
        keys.set_some("ip6", self.ip6);
        keys.set_some("gw6", self.gateway6);
        for (key, value) in self.unmanaged.iter() {
            // A typed field, where there is one, has replaced the text.
            if keys.get(key).is_none() {
                keys.set(key, value);
            }
        }
        keys.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> IpConfig {
        text.parse().unwrap()
    }

    #[test]
    fn order_and_the_spelling_of_an_address_are_no_difference() {
        assert_eq!(config("gw=10.20.0.1,ip=10.20.0.11/24"), config("ip=10.20.0.11/24,gw=10.20.0.1"));
        let both = config("ip=10.20.0.11/24,gw=10.20.0.1,ip6=FD00::0011/64,gw6=fd00::1");
        assert_eq!(both.to_string(), "ip=10.20.0.11/24,gw=10.20.0.1,ip6=fd00::11/64,gw6=fd00::1");
        assert_eq!(both, config(&both.to_string()));
        assert_eq!(config("ip=dhcp,ip6=auto").to_string(), "ip=dhcp,ip6=auto");
        assert_eq!(config(""), IpConfig::default());
    }

    #[test]
    fn what_is_no_address_stays_text() {
        assert_eq!(config("ip=10.0.0.5,gw=here").to_string(), "ip=10.0.0.5,gw=here");
        assert_ne!(config("ip=10.0.0.5/24"), config("ip=10.0.0.5/25"));
        assert_ne!(config("ip=10.0.0.5/24"), config("ip=10.0.0.6/24"));
    }
}
