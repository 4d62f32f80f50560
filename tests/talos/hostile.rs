//! Peers that mean no good, or mean nothing: they cost bounded time and memory, and are told from Talos.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pvetalos::talos::{Dial, NodeState, Patience, Sighting, probe};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

use crate::harness::target;

/// A peer that does what a function says.
struct Peer<F>(F);

impl<F, R> Dial for Peer<F>
where
    F: Fn(DuplexStream) -> R + Send + Sync,
    R: Future<Output = io::Result<()>> + Send + 'static,
{
    type Stream = DuplexStream;

    async fn dial(&self, _: SocketAddr) -> io::Result<DuplexStream> {
        let (ours, theirs) = duplex(16 * 1024);
        tokio::spawn((self.0)(theirs));
        Ok(ours)
    }
}

async fn look<F, R>(peer: F) -> Sighting
where
    F: Fn(DuplexStream) -> R + Send + Sync,
    R: Future<Output = io::Result<()>> + Send + 'static,
{
    let patience = Patience::default();
    let began = Instant::now();
    let sighting = Box::pin(probe(&Peer(peer), &target(), &patience)).await;
    let longest = patience.connect + patience.handshake + patience.answers;
    assert!(began.elapsed() <= longest, "{:?}", began.elapsed());
    sighting
}

/// A small generator, so that every run sees the same nonsense.
fn nonsense(seed: u64, length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}

#[tokio::test(start_paused = true)]
async fn nonsense_is_never_talos() {
    for seed in 0..300 {
        let sighting = look(move |mut stream: DuplexStream| async move {
            let mut bytes = nonsense(seed, 2000);
            // A third looks like the beginning of TLS, and a third like an alert.
            match seed % 3 {
                0 => bytes.splice(..5, [22, 3, 3, 7, 0]).for_each(drop),
                1 => bytes.splice(..5, [21, 3, 3, 0, 2]).for_each(drop),
                _ => {}
            }
            stream.write_all(&bytes).await?;
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.map(drop)
        })
        .await;
        assert_eq!(sighting.state, NodeState::NotTalos, "{seed}: {}", sighting.evidence);
        assert!(!sighting.evidence.contains(char::is_control), "{seed}: {:?}", sighting.evidence);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_end_is_not_read_to_its_end() {
    for beginning in [&[22_u8, 3, 3, 0x40, 0][..], &[0; 5], b"HTTP/"] {
        let sent = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&sent);
        let sighting = look(move |mut stream: DuplexStream| {
            let counter = Arc::clone(&counter);
            async move {
                stream.write_all(beginning).await?;
                loop {
                    stream.write_all(&[0x14; 1024]).await?;
                    counter.fetch_add(1024, Ordering::Relaxed);
                }
            }
        })
        .await;
        assert_eq!(sighting.state, NodeState::NotTalos, "{}", sighting.evidence);
        assert!(sent.load(Ordering::Relaxed) < 1 << 20, "{sent:?} bytes were taken");
    }
}

#[tokio::test(start_paused = true)]
async fn somebody_who_never_reads_is_given_up() {
    let sighting = look(|stream: DuplexStream| async move {
        tokio::time::sleep(Duration::from_hours(1)).await;
        drop(stream);
        Ok(())
    })
    .await;
    assert_eq!(sighting.state, NodeState::NotTalos);
    assert_eq!(sighting.evidence, "accepts the connection and says nothing for 3s");
}

#[tokio::test(start_paused = true)]
async fn words_that_steer_a_terminal_do_not_reach_it() {
    let sighting = look(|mut stream: DuplexStream| async move {
        stream.write_all("\u{1b}]0;owned\u{7}\u{202e}\r\n".as_bytes()).await?;
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.map(drop)
    })
    .await;
    assert_eq!(sighting.evidence, "answers `\\u{1b}]0;owned\\u{7}\\u{202e}`, which is not TLS");
}

/// A server that asks for client certificates of an authority with this name.
fn asking(organization: &str, version: &'static rustls::SupportedProtocolVersion) -> TlsAcceptor {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, organization);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key can be made");
    let authority = params.self_signed(&key).expect("a certificate can be made").der().clone();
    let issuer = Issuer::new(params, key);
    let mut params = CertificateParams::new(vec!["cp-1".to_owned()]).expect("a name");
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "cp-1");
    let key = KeyPair::generate().expect("a key can be made");
    let leaf = params.signed_by(&key, &issuer).expect("a certificate can be made").der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(authority).expect("it is an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("this version is supported")
        .with_client_cert_verifier(clients.expect("a verifier can be made"))
        .with_single_cert(vec![leaf], key)
        .expect("the key fits");
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// In TLS 1.2 the refusal comes within the handshake, in 1.3 after it; it means the same.
#[tokio::test(start_paused = true)]
async fn whose_certificates_are_asked_for_tells_talos_from_others() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for (organization, state) in [("talos", NodeState::Configured), ("somebody", NodeState::NotTalos)] {
            let acceptor = asking(organization, version);
            let sighting = look(move |stream: DuplexStream| {
                let acceptor = acceptor.clone();
                async move {
                    let mut stream = acceptor.accept(stream).await?;
                    let mut rest = Vec::new();
                    stream.read_to_end(&mut rest).await.map(drop)
                }
            })
            .await;
            assert_eq!(sighting.state, state, "{organization} {version:?}: {}", sighting.evidence);
        }
    }
}
