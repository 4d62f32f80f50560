use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

use super::invalid::serialize_as_text;
use super::{Invalid, Text};

/// An address together with the length of its network prefix, like `192.168.1.10/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefixed(IpNet);

impl Prefixed {
    /// `address` as a member of `network`; none when one is IPv4 and the other IPv6.
    pub fn in_network(address: IpAddr, network: Self) -> Option<Self> {
        let same_family = address.is_ipv4() == network.address().is_ipv4();
        same_family.then(|| IpNet::new(address, network.0.prefix_len()).ok()).flatten().map(Self)
    }

    pub fn address(&self) -> IpAddr {
        self.0.addr()
    }

    /// The network that the address lies in.
    pub fn network(&self) -> IpNet {
        self.0.trunc()
    }
}

impl From<Prefixed> for IpNet {
    fn from(Prefixed(net): Prefixed) -> Self {
        net
    }
}

impl Text for Prefixed {
    const WHAT: &'static str = "an address with a prefix length like `192.168.1.0/24`";
    const PATTERN: &'static str = r"^[0-9A-Fa-f:.]+/[0-9]{1,3}$";
}

impl FromStr for Prefixed {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        if let Ok(address) = text.parse::<IpAddr>() {
            let usual = if address.is_ipv4() { 24 } else { 64 };
            return Err(invalid()
                .because("the prefix length is missing")
                .hint(format!("for example `{address}/{usual}`")));
        }
        text.parse().map(Self).map_err(|_| invalid())
    }
}

impl fmt::Display for Prefixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How an extra network card gets its address from cloud-init.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NicAddress {
    Dhcp,
    Static(Prefixed),
}

impl Text for NicAddress {
    const WHAT: &'static str = "`dhcp` or an address with a prefix length like `10.0.0.5/24`";
    const PATTERN: &'static str = r"^(dhcp|[0-9A-Fa-f:.]+/[0-9]{1,3})$";
}

impl FromStr for NicAddress {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "dhcp" => Ok(Self::Dhcp),
            text => text.parse().map(Self::Static).map_err(|error: Invalid| {
                let why = error.why().map(str::to_owned);
                let again = Invalid::new(text, Self::WHAT);
                why.into_iter().fold(again, Invalid::because)
            }),
        }
    }
}

impl fmt::Display for NicAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dhcp => f.write_str("dhcp"),
            Self::Static(address) => address.fmt(f),
        }
    }
}

serialize_as_text!(Prefixed, NicAddress);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_prefix_is_named() {
        let error = "10.0.0.5".parse::<Prefixed>().unwrap_err();
        assert_eq!(
            (error.why(), error.suggestion()),
            (Some("the prefix length is missing"), Some("for example `10.0.0.5/24`"))
        );
        assert!("10.0.0.5/33".parse::<Prefixed>().is_err());
        assert!("10.0.0.256/24".parse::<Prefixed>().is_err());
        assert_eq!("dhcp".parse(), Ok(NicAddress::Dhcp));
    }

    #[test]
    fn families_do_not_mix() {
        let network: Prefixed = "192.168.1.0/24".parse().unwrap();
        assert_eq!(Prefixed::in_network("fd00::1".parse().unwrap(), network), None);
        let node = Prefixed::in_network("192.168.1.7".parse().unwrap(), network).unwrap();
        assert_eq!(node.to_string(), "192.168.1.7/24");
    }
}
