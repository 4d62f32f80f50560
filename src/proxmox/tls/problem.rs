use std::fmt;
use std::path::PathBuf;

use super::Presented;
use crate::model::Fingerprint;

/// A certificate that was presented and not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{distrust}; presented was {presented}")]
pub struct CertificateProblem {
    pub presented: Presented,
    pub distrust: Distrust,
}

/// Why a certificate was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// Nobody who is trusted vouches for it.
    UnknownIssuer {
        /// The file that was to know the issuer, if one was given.
        ca_file: Option<PathBuf>,
    },
    /// It is made out for others.
    WrongName {
        asked: String,
    },
    Expired,
    NotYetValid,
    /// It is none of the pinned ones.
    OtherFingerprint {
        expected: Vec<Fingerprint>,
    },
    /// Anything else that the verifier found.
    Other(String),
}

impl CertificateProblem {
    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> String {
        let line = format!("`fingerprints: [\"{}\"]`", self.presented.fingerprint);
        let pin = format!("{line} under `proxmox:` in nodes.yaml or pvetalos.yaml");
        let compare = "if `pvenode cert info` on the host shows the same SHA-256 fingerprint";
        match &self.distrust {
            Distrust::UnknownIssuer { ca_file: None } | Distrust::Other(_) => format!(
                "{compare}, add {pin}, or give the cluster's own authority (/etc/pve/pve-root-ca.pem of any host) as \
                 `ca_file`"
            ),
            Distrust::UnknownIssuer { ca_file: Some(file) } => format!(
                "copy /etc/pve/pve-root-ca.pem of the host over {} if the cluster's authority is new, or, {compare}, \
                 add {pin}",
                file.display()
            ),
            Distrust::WrongName { asked } => match self.better_name() {
                Some(name) => {
                    format!("use `{name}` instead of `{asked}` as the address of Proxmox, or, {compare}, add {pin}")
                }
                None => format!("use one of the certificate's own names as the address, or, {compare}, add {pin}"),
            },
            Distrust::Expired => format!(
                "renew it with `pvecm updatecerts --force` on the host (and check this machine's clock), or, {compare}, \
                 add {pin}"
            ),
            Distrust::NotYetValid => {
                format!("check the clocks of this machine and of the host, or, {compare}, add {pin}")
            }
            Distrust::OtherFingerprint { .. } => {
                format!(
                    "somebody may be in between: only {compare}, replace the pin under `proxmox:` in nodes.yaml or pvetalos.yaml by {line}"
                )
            }
        }
    }

    /// A name of the certificate that could be used for it, rather than the loopback ones that every one has.
    fn better_name(&self) -> Option<&str> {
        let loopback = |name: &&String| matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1");
        let names = self.presented.contents.iter().flat_map(|contents| &contents.names);
        names.filter(|name| !loopback(name)).map(String::as_str).next()
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownIssuer { ca_file: None } => {
                f.write_str("no authority that this machine trusts vouches for it")
            }
            Self::UnknownIssuer { ca_file: Some(file) } => {
                write!(f, "no authority in {} vouches for it", file.display())
            }
            Self::WrongName { asked } => write!(f, "it is not made out for `{asked}`"),
            Self::Expired => f.write_str("it has expired"),
            Self::NotYetValid => f.write_str("it is not valid yet"),
            Self::OtherFingerprint { expected } => {
                let expected: Vec<_> = expected.iter().map(ToString::to_string).collect();
                write!(f, "its fingerprint is not the expected {}", expected.join(" or "))
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}
