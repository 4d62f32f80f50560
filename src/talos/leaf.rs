use std::net::IpAddr;

use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

use super::shown;

/// The name on the certificate that every node shows in maintenance mode, and no other.
pub(super) const MAINTENANCE: &str = "maintenance-service.talos.dev";

/// The organisation of the authority behind the certificates of configured nodes.
const TALOS: &str = "talos";

/// The most names that are kept of a certificate.
const MOST_NAMES: usize = 64;

/// Who a peer says it is in its certificate. Nobody vouches for any of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaf {
    pub common_name: Option<String>,
    /// The organisation that issued it.
    pub issuer: Option<String>,
    pub dns_names: Vec<String>,
    pub addresses: Vec<IpAddr>,
}

impl Leaf {
    /// Reads a certificate; one that cannot be read says nothing.
    pub(super) fn read(der: &[u8]) -> Self {
        let Ok(certificate) = Certificate::from_der(der) else {
            return Self::default();
        };
        let inner = certificate.tbs_certificate();
        let names = inner.get_extension::<SubjectAltName>().ok().flatten();
        let names = names.map(|(_, names)| names.0).unwrap_or_default();
        Self {
            common_name: inner.subject().common_name().ok().flatten().map(|name| shown(&name.value())),
            issuer: organization(inner.issuer()),
            dns_names: names.iter().filter_map(dns_name).take(MOST_NAMES).collect(),
            addresses: names.iter().filter_map(address).take(MOST_NAMES).collect(),
        }
    }

    pub(super) fn is_of_maintenance(&self) -> bool {
        self.common_name.as_deref() == Some(MAINTENANCE)
    }

    pub(super) fn is_issued_by_talos(&self) -> bool {
        self.issuer.as_deref() == Some(TALOS)
    }

    /// Every host name in it.
    pub fn host_names(&self) -> impl Iterator<Item = &str> {
        self.common_name.iter().chain(&self.dns_names).map(String::as_str)
    }
}

/// Whether a name that the server accepts as issuer of client certificates is that of a Talos authority.
pub(super) fn is_talos_authority(der: &[u8]) -> bool {
    Name::from_der(der).is_ok_and(|name| organization(&name).as_deref() == Some(TALOS))
}

fn organization(name: &Name) -> Option<String> {
    name.organization().ok().flatten().map(|name| shown(&name.value()))
}

fn dns_name(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(shown(name.as_str())),
        _ => None,
    }
}

fn address(name: &GeneralName) -> Option<IpAddr> {
    let GeneralName::IpAddress(octets) = name else {
        return None;
    };
    let octets = octets.as_bytes();
    let v4 = || <[u8; 4]>::try_from(octets).ok().map(IpAddr::from);
    v4().or_else(|| <[u8; 16]>::try_from(octets).ok().map(IpAddr::from))
}
