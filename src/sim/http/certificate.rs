use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::model::Fingerprint;

/// The server's certificate and its key.
///
/// Self-signed, as a fresh Proxmox looks to a stranger: a client has to be given the fingerprint or the file itself.
#[derive(Clone)]
pub struct Certificate {
    der: CertificateDer<'static>,
    key: Arc<PrivateKeyDer<'static>>,
    pem: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("cannot make a certificate")]
    Generate(#[from] rcgen::Error),
    #[error("the kept certificate cannot be read")]
    Read(#[from] rustls::pki_types::pem::Error),
    #[error("the certificate cannot be used for TLS")]
    Use(#[from] rustls::Error),
}

impl Certificate {
    /// Makes a new one for this machine's loopback names.
    pub fn generate() -> Result<Self, CertificateError> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "simulated Proxmox VE");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2100, 1, 1);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Self::from_pem(&format!("{}{}", certificate.pem(), key.serialize_pem()))
    }

    /// Reads what [`pem`](Self::pem) gave, so that a world keeps its fingerprint between runs.
    pub fn from_pem(pem: &str) -> Result<Self, CertificateError> {
        Ok(Self {
            der: CertificateDer::from_pem_slice(pem.as_bytes())?,
            key: Arc::new(PrivateKeyDer::from_pem_slice(pem.as_bytes())?),
            pem: pem.to_owned(),
        })
    }

    /// The certificate and its **private key**.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub fn der(&self) -> &[u8] {
        &self.der
    }

    pub fn fingerprint(&self) -> Fingerprint {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.der);
        Fingerprint::new(digest.as_ref().try_into().expect("a SHA-256 digest has 32 bytes"))
    }

    /// No protocol is negotiated: `pveproxy` speaks HTTP/1.1 and offers nothing else.
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, CertificateError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![self.der.clone()], self.key.clone_key())?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Says which certificate it is and keeps its key to itself.
impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Certificate").field(&self.fingerprint()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_certificate_keeps_its_fingerprint() {
        let certificate = Certificate::generate().expect("a certificate can be made");
        let kept = Certificate::from_pem(certificate.pem()).expect("its own text can be read");
        assert_eq!(kept.fingerprint(), certificate.fingerprint());
        assert!(kept.acceptor().is_ok());
    }

    #[test]
    fn every_certificate_is_another() {
        let fingerprint = || Certificate::generate().expect("a certificate can be made").fingerprint();
        assert_ne!(fingerprint(), fingerprint());
    }

    #[test]
    fn a_key_is_nowhere_to_be_seen() {
        let certificate = Certificate::generate().expect("a certificate can be made");
        assert!(!format!("{certificate:?}").contains("PRIVATE"));
    }

    #[test]
    fn nonsense_is_no_certificate() {
        assert!(matches!(Certificate::from_pem("nonsense"), Err(CertificateError::Read(_))));
    }
}
