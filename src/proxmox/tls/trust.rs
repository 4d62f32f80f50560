use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::verifier::Verifier;
use crate::model::{Fingerprint, TlsTrust};
use crate::proxmox::SetupError;

/// What makes the server's certificate trustworthy. The first that is given decides alone: a pin is stricter than an
/// authority, and a private authority stricter than all public ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The certificate is one of these. Authority, name and dates do not matter then: the key proves who it is.
    Pinned(Vec<Fingerprint>),
    /// An authority in this PEM file vouches for it.
    CaFile(PathBuf),
    /// An authority that the operating system trusts vouches for it.
    System,
    /// Anybody may be at the other end. The token can be stolen by whoever is.
    Insecure,
}

impl Trust {
    /// What the settings ask for.
    pub fn of(settings: &TlsTrust) -> Self {
        match (&settings.fingerprints, &settings.ca_file) {
            (Some(pins), _) if !pins.value.is_empty() => Self::Pinned(pins.value.clone()),
            (_, Some(file)) => Self::CaFile(file.value.clone()),
            _ => Self::System,
        }
    }

    /// The authorities in the file, if one is needed.
    pub(super) fn authorities(&self) -> Result<Vec<CertificateDer<'static>>, SetupError> {
        let Self::CaFile(path) = self else {
            return Ok(Vec::new());
        };
        let unreadable = |source| SetupError::CaFile { path: path.clone(), source };
        let certificates: Vec<_> =
            CertificateDer::pem_file_iter(path).map_err(unreadable)?.collect::<Result<_, _>>().map_err(unreadable)?;
        if certificates.is_empty() {
            return Err(SetupError::NoCertificate { path: path.clone() });
        }
        Ok(certificates)
    }
}

/// TLS 1.2 and 1.3, HTTP/1.1 only: Proxmox speaks nothing newer. The only cryptography is that of `ring`; a second
/// provider in the binary would make rustls panic when it has to choose.
pub(crate) fn client_config(trust: Trust) -> Result<ClientConfig, SetupError> {
    let provider: Arc<CryptoProvider> = rustls::crypto::ring::default_provider().into();
    let verifier = Verifier::new(trust, Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(SetupError::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
