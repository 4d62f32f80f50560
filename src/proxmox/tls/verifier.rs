use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};

use super::{CertificateProblem, Distrust, Presented, Trust};
use crate::proxmox::SetupError;

/// Accepts what [`Trust`] allows, and explains what it does not.
#[derive(Debug)]
pub(super) struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
    /// The check by authorities. The system's are read when they are first needed, which is never with a pin.
    authorities: OnceLock<Result<Arc<WebPkiServerVerifier>, Distrust>>,
}

impl Verifier {
    pub(super) fn new(trust: Trust, provider: Arc<CryptoProvider>) -> Result<Self, SetupError> {
        let verifier = Self { trust, provider, authorities: OnceLock::new() };
        if let Trust::CaFile(path) = &verifier.trust {
            let mut roots = RootCertStore::empty();
            for certificate in verifier.trust.authorities()? {
                roots.add(certificate).map_err(|_| SetupError::NoCertificate { path: path.clone() })?;
            }
            drop(verifier.authorities.set(verifier.by_authorities(roots)));
        }
        Ok(verifier)
    }

    fn by_authorities(&self, roots: RootCertStore) -> Result<Arc<WebPkiServerVerifier>, Distrust> {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&self.provider))
            .build()
            .map_err(|_| Distrust::Other("this machine has no list of trusted authorities".to_owned()))
    }

    fn system_authorities(&self) -> Result<Arc<WebPkiServerVerifier>, Distrust> {
        let mut roots = RootCertStore::empty();
        // Some of a system's certificates may be unreadable; the others count.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        self.by_authorities(roots)
    }

    fn judge(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Distrust> {
        match &self.trust {
            Trust::Insecure => return Ok(()),
            Trust::Pinned(expected) => {
                let fingerprint = Presented::of(end_entity).fingerprint;
                let known = expected.contains(&fingerprint);
                return if known { Ok(()) } else { Err(Distrust::OtherFingerprint { expected: expected.clone() }) };
            }
            Trust::CaFile(_) | Trust::System => {}
        }
        let authorities = self.authorities.get_or_init(|| self.system_authorities()).as_ref().map_err(Clone::clone)?;
        match authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.distrust(&error, server_name)),
        }
    }

    fn distrust(&self, error: &Error, server_name: &ServerName<'_>) -> Distrust {
        let Error::InvalidCertificate(error) = error else {
            return Distrust::Other(error.to_string());
        };
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Distrust::UnknownIssuer {
                ca_file: match &self.trust {
                    Trust::CaFile(path) => Some(path.clone()),
                    _ => None,
                },
            },
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Distrust::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Distrust::NotYetValid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Distrust::WrongName { asked: server_name.to_str().into_owned() }
            }
            other => Distrust::Other(format!("it was refused: {other}")),
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.judge(end_entity, intermediates, server_name, ocsp, now).map_err(|distrust| {
            let problem = CertificateProblem { presented: Presented::of(end_entity), distrust };
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(problem))))
        })?;
        Ok(ServerCertVerified::assertion())
    }

    // The signatures prove that the server has the certificate's key, without which even a pin would mean nothing.
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
