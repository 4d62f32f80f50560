use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use url::Host;

use super::invalid::serialize_as_text;
use super::{Invalid, Text};

/// Where the Proxmox API listens: `https` only, port 8006 unless another one is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    host: Host,
    port: u16,
}

impl Endpoint {
    pub const DEFAULT_PORT: u16 = 8006;

    pub fn host(&self) -> &Host {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Text for Endpoint {
    const WHAT: &'static str = "a Proxmox address like `https://pve1.example.com:8006`";
    const PATTERN: &'static str = r"^([Hh][Tt][Tt][Pp][Ss]://)?[^@/?#\s]+(/api2/json)?/*$";
}

impl FromStr for Endpoint {
    type Err = Invalid;

    /// Takes `host`, `host:port` and URLs, with or without `/api2/json` and a trailing slash.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('@') {
            return Err(Invalid::hidden(Self::WHAT)
                .because("an address holds no user and no password")
                .hint("give the API token by PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET"));
        }
        let invalid = || Invalid::new(text, Self::WHAT);
        let rest = match text.split_once("://") {
            None => text,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => {
                return Err(invalid()
                    .because("the token would cross the network unencrypted")
                    .hint("begin it with `https://`"));
            }
            Some(_) => return Err(invalid().because("only https is spoken")),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if !matches!(path.trim_end_matches('/'), "" | "/api2/json") {
            return Err(invalid().because("nothing but `/api2/json` may follow the host"));
        }
        let (host, port) =
            split_port(authority).ok_or_else(|| invalid().because("the port is not a number from 1 to 65535"))?;
        let host = if let Ok(address) = host.parse::<Ipv6Addr>() {
            Host::Ipv6(address)
        } else {
            Host::parse(host).map_err(|_| invalid().because("the host is no name and no address"))?
        };
        if matches!(&host, Host::Domain(name) if !is_host_name(name)) {
            return Err(invalid().because("the host is no name and no address"));
        }
        Ok(Self { host, port })
    }
}

/// `url` takes nearly anything for a domain; DNS does not.
fn is_host_name(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// Splits `host:port`, `[v6]:port`, and their forms without a port; a bare IPv6 address has none.
fn split_port(authority: &str) -> Option<(&str, u16)> {
    let bare_v6 = authority.parse::<Ipv6Addr>().is_ok();
    let colon = authority.rfind(':').filter(|colon| !bare_v6 && authority[*colon..].find(']').is_none());
    let Some(colon) = colon else {
        return Some((authority, Endpoint::DEFAULT_PORT));
    };
    let (host, port) = (&authority[..colon], &authority[colon + 1..]);
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let port = digits.then(|| port.parse().ok()).flatten().filter(|port| *port > 0)?;
    Some((host, port))
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}:{}", self.host, self.port)
    }
}

serialize_as_text!(Endpoint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_spelling_is_understood() {
        #[track_caller]
        fn case(text: &str, expected: &str) {
            assert_eq!(text.parse::<Endpoint>().map(|endpoint| endpoint.to_string()), Ok(expected.to_owned()));
        }
        case("pve1", "https://pve1:8006");
        case("pve1:443", "https://pve1:443");
        case("https://pve1", "https://pve1:8006");
        case("https://pve1:443/", "https://pve1:443");
        case("HTTPS://PVE1.Example.COM:8006/api2/json", "https://pve1.example.com:8006");
        case("https://192.168.1.10:8006/api2/json/", "https://192.168.1.10:8006");
        case("fd00::10", "https://[fd00::10]:8006");
        case("[fd00::10]:8443", "https://[fd00::10]:8443");
        case("https://[fd00::10]", "https://[fd00::10]:8006");
    }

    #[test]
    fn what_is_unsafe_or_no_address_is_refused() {
        #[track_caller]
        fn case(text: &str, why: &str) {
            assert_eq!(text.parse::<Endpoint>().unwrap_err().why(), Some(why));
        }
        case("http://pve1:8006", "the token would cross the network unencrypted");
        case("ftp://pve1", "only https is spoken");
        case("https://pve1/pve", "nothing but `/api2/json` may follow the host");
        case("https://pve1?x=1", "nothing but `/api2/json` may follow the host");
        case("pve1:0", "the port is not a number from 1 to 65535");
        case("pve1:70000", "the port is not a number from 1 to 65535");
        case("pve 1", "the host is no name and no address");
        case("", "the host is no name and no address");
        case("https://", "the host is no name and no address");
        case("<pve-ip>", "the host is no name and no address");
    }

    #[test]
    fn a_password_in_an_address_is_never_repeated() {
        let error = "https://root:hunter2@pve1".parse::<Endpoint>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
