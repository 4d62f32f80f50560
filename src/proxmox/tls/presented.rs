use std::fmt;
use std::net::IpAddr;
use std::time::SystemTime;

use ring::digest::{SHA256, digest};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::model::Fingerprint;
use crate::proxmox::text::clean;

/// What can be said about a certificate that a server presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    pub fingerprint: Fingerprint,
    /// What is written in it; none if it cannot be read.
    pub contents: Option<Contents>,
}

/// What is written in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub subject: String,
    pub issuer: String,
    /// The host names and addresses that it is made out for.
    pub names: Vec<String>,
    pub not_before: SystemTime,
    pub not_after: SystemTime,
    /// Both ends as dates, for people.
    validity: (String, String),
}

impl Presented {
    pub(super) fn of(der: &[u8]) -> Self {
        let mut octets = [0; 32];
        octets.copy_from_slice(digest(&SHA256, der).as_ref());
        Self { fingerprint: Fingerprint::new(octets), contents: contents(der) }
    }
}

fn contents(der: &[u8]) -> Option<Contents> {
    let certificate = Certificate::from_der(der).ok()?;
    let inner = certificate.tbs_certificate();
    let names = inner.get_extension::<SubjectAltName>().ok().flatten().map(|(_, names)| names.0).unwrap_or_default();
    let validity = inner.validity();
    Some(Contents {
        subject: clean(&inner.subject().to_string()),
        issuer: clean(&inner.issuer().to_string()),
        names: names.iter().filter_map(name).collect(),
        not_before: validity.not_before.to_system_time(),
        not_after: validity.not_after.to_system_time(),
        validity: (validity.not_before.to_string(), validity.not_after.to_string()),
    })
}

fn name(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(clean(name.as_str())),
        GeneralName::IpAddress(octets) => {
            let octets = octets.as_bytes();
            let v4 = || <[u8; 4]>::try_from(octets).ok().map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(octets).ok().map(IpAddr::from);
            v4().or_else(v6).map(|address| address.to_string())
        }
        _ => None,
    }
}

impl fmt::Display for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.contents {
            Some(contents) => {
                let names = if contents.names.is_empty() { "no name".to_owned() } else { contents.names.join(", ") };
                let (from, to) = &contents.validity;
                let Contents { subject, issuer, .. } = contents;
                write!(f, "`{subject}` for {names}, issued by `{issuer}`, valid from {from} to {to}, ")?;
            }
            None => f.write_str("a certificate that cannot be read, ")?,
        }
        write!(f, "SHA-256 fingerprint {}", self.fingerprint)
    }
}
