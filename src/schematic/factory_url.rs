use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

use crate::model::{Invalid, Text};

/// Where an Image Factory is: `https://factory.talos.dev`, or one's own.
///
/// What comes from there is started as the operating system of every node, so that who is at the other end has to be
/// certain: `https` only. The one exception is an address of this very machine, written as a number: nobody is in
/// between there, and a simulated factory needs no certificate. A name such as `localhost` does not count, because what
/// it leads to is decided elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactoryUrl(Url);

impl FactoryUrl {
    /// The text without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// The name that container images of this factory begin with.
    pub(super) fn registry(&self) -> &str {
        let (_, rest) = self.as_str().split_once("://").unwrap_or(("", self.as_str()));
        rest
    }

    /// Whether it is on this machine, without encryption.
    pub fn is_local(&self) -> bool {
        self.0.scheme() == "http"
    }
}

impl Default for FactoryUrl {
    fn default() -> Self {
        "https://factory.talos.dev".parse().expect("the public factory has a valid address")
    }
}

impl Text for FactoryUrl {
    const WHAT: &'static str = "the address of an Image Factory like `https://factory.talos.dev`";
    const PATTERN: &'static str = r"^https?://[^@?#\s]+$";
}

impl FromStr for FactoryUrl {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let url = Url::parse(text).map_err(|_| invalid().because("it is no URL").hint("begin it with `https://`"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Invalid::hidden(Self::WHAT).because("an address holds no user and no password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid().because("nothing but a path may follow the host"));
        }
        let on_this_machine = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(_)) => false,
            None => return Err(invalid().because("it names no host")),
        };
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if on_this_machine => Ok(Self(url)),
            "http" => Err(invalid()
                .because("whoever is in between could put another operating system into the image")
                .hint("begin it with `https://`; only an address of this machine, such as http://127.0.0.1:8080, needs none")),
            _ => Err(invalid().because("only https is spoken")),
        }
    }
}

impl fmt::Display for FactoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_can_be_verified_is_a_factory() {
        #[track_caller]
        fn right(text: &str, shown: &str) {
            assert_eq!(text.parse::<FactoryUrl>().map(|url| url.to_string()), Ok(shown.to_owned()));
        }
        right("https://factory.talos.dev/", "https://factory.talos.dev");
        right("https://mirror.example.com:8443/talos/", "https://mirror.example.com:8443/talos");
        right("http://127.0.0.1:8080", "http://127.0.0.1:8080");
        right("http://[::1]:8080", "http://[::1]:8080");
        for text in [
            "http://factory.talos.dev",
            "http://localhost:8080",
            "http://192.0.2.1",
            "ftp://factory.talos.dev",
            "factory.talos.dev",
            "https://u:p@factory.talos.dev",
            "https://factory.talos.dev?x=1",
            "",
        ] {
            assert!(text.parse::<FactoryUrl>().is_err(), "{text}");
        }
        let error = "https://u:hunter2@factory.talos.dev".parse::<FactoryUrl>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
