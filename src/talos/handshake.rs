use std::io;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::leaf::{Leaf, is_talos_authority};

/// What a TLS handshake shows beside its success.
///
/// In TLS 1.3 the client is done before the server has looked at the client's certificate, so that success alone
/// proves nothing: whether the server asked for one is what tells a configured node from one in maintenance.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) leaf: Option<Leaf>,
    /// The server asked for a client certificate.
    pub(super) asked_for_certificate: bool,
    /// It would accept one from a Talos authority.
    pub(super) trusts_talos: bool,
}

impl Shown {
    /// Whether this is the API of a node that has its configuration.
    pub(super) fn is_configured_talos(&self) -> bool {
        let issued_by_talos = self.leaf.as_ref().is_some_and(Leaf::is_issued_by_talos);
        self.asked_for_certificate && (self.trusts_talos || issued_by_talos)
    }
}

/// Takes down what the server shows, and trusts it with nothing: only public questions will be asked.
#[derive(Debug)]
struct Notes {
    shown: Mutex<Shown>,
    provider: Arc<CryptoProvider>,
}

/// A handshake that can be looked at, however it ends.
pub(super) struct Handshake(Arc<Notes>);

static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));

impl Handshake {
    pub(super) fn new() -> Self {
        Self(Arc::new(Notes { shown: Mutex::default(), provider: Arc::clone(&PROVIDER) }))
    }

    /// What has been shown so far.
    pub(super) fn shown(&self) -> Shown {
        self.0.note().clone()
    }

    /// Speaks TLS on a fresh connection.
    pub(super) async fn perform<S>(&self, address: IpAddr, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // With an address for a name, no name is sent: nodes know none of the names that we have for them.
        TlsConnector::from(Arc::new(self.config()?)).connect(ServerName::from(address), stream).await
    }

    fn config(&self) -> io::Result<ClientConfig> {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&PROVIDER))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.0) as Arc<dyn ServerCertVerifier>)
            .with_client_cert_resolver(Arc::clone(&self.0) as Arc<dyn ResolvesClientCert>);
        config.alpn_protocols = vec![b"h2".to_vec()];
        // A resumed session would show no certificate.
        config.resumption = Resumption::disabled();
        Ok(config)
    }
}

impl Notes {
    fn note(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerCertVerifier for Notes {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.note().leaf = Some(Leaf::read(end_entity));
        Ok(ServerCertVerified::assertion())
    }

    // Whoever has no key for the certificate has only copied it.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl ResolvesClientCert for Notes {
    /// rustls asks exactly when the server did. There is none to give.
    fn resolve(&self, authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let mut shown = self.note();
        shown.asked_for_certificate = true;
        shown.trusts_talos = authorities.iter().any(|authority| is_talos_authority(authority));
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}
