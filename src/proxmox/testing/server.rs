use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::model::{ApiToken, Endpoint, Fingerprint};
use crate::proxmox::{HttpsTransport, Timing, Trust};

pub(in crate::proxmox) const SECRET: &str = "5ec2e7ab-0000-4000-8000-5ec2e75ec2e7";

/// An authority of our own.
pub(in crate::proxmox) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(in crate::proxmox) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Proxmox Virtual Environment");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { issuer }
    }

    /// Its own certificate, used as that of a server.
    pub(in crate::proxmox) fn own(&self) -> Certified {
        Certified { certificate: self.issuer.der().clone(), key: self.issuer.key().serialize_der() }
    }

    /// A file with its certificate, and the folder that holds it.
    pub(in crate::proxmox) fn file(&self) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pve-root-ca.pem");
        std::fs::write(&path, self.issuer.pem()).unwrap();
        (folder, path)
    }

    /// A certificate for these names and for 127.0.0.1, valid in this span of days from today.
    pub(in crate::proxmox) fn certify(&self, address: bool, days: std::ops::Range<i64>) -> Certified {
        let mut params = CertificateParams::new(vec!["pve1.example.com".to_owned()]).unwrap();
        if address {
            params.subject_alt_names.push(SanType::IpAddress("127.0.0.1".parse().unwrap()));
        }
        params.distinguished_name.push(DnType::CommonName, "pve1.example.com");
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = (day(days.start).into(), day(days.end).into());
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Certified { certificate: certificate.der().clone(), key: key.serialize_der() }
    }
}

fn day(number: i64) -> SystemTime {
    let length = Duration::from_hours(24 * number.unsigned_abs());
    if number < 0 { SystemTime::now() - length } else { SystemTime::now() + length }
}

pub(in crate::proxmox) struct Certified {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certified {
    pub(in crate::proxmox) fn fingerprint(&self) -> Fingerprint {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.certificate);
        Fingerprint::new(digest.as_ref().try_into().unwrap())
    }
}

/// What the server does with a request.
#[derive(Clone)]
pub(in crate::proxmox) enum Reply {
    /// Sends these bytes and keeps the connection.
    Send(Vec<u8>),
    /// Sends these bytes and closes the connection.
    SendAndClose(Vec<u8>),
    /// Sends these bytes, and then zeros for ever.
    Endless(Vec<u8>),
    /// Says nothing, and keeps the connection.
    Silence,
}

impl Reply {
    pub(in crate::proxmox) fn json(body: &str) -> Self {
        Self::status("200 OK", body)
    }

    pub(in crate::proxmox) fn status(status: &str, body: &str) -> Self {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: {length}");
        Self::Send(format!("{head}\r\n\r\n{body}").into_bytes())
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(in crate::proxmox) struct Received {
    /// Method, path and query.
    pub(in crate::proxmox) line: String,
    pub(in crate::proxmox) headers: String,
    pub(in crate::proxmox) body: String,
}

/// A server on loopback that speaks TLS and follows a script. It ends when it is dropped.
pub(in crate::proxmox) struct Server {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<Mutex<usize>>,
    accepting: JoinHandle<()>,
}

impl Server {
    pub(in crate::proxmox) async fn start(
        certified: &Certified,
        reply: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let key = PrivateKeyDer::try_from(certified.key.clone()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.certificate.clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (received, connections) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<usize>>::default());
        let reply = Arc::new(reply);
        let (log, count) = (Arc::clone(&received), Arc::clone(&connections));
        let accepting = tokio::spawn(async move {
            // The tasks of the connections end with this one.
            let mut tasks = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, reply, log, count) =
                    (acceptor.clone(), Arc::clone(&reply), Arc::clone(&log), Arc::clone(&count));
                tasks.spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        *count.lock().unwrap() += 1;
                        serve(stream, &*reply, &log).await;
                    }
                });
            }
        });
        Self { address, received, connections, accepting }
    }

    pub(in crate::proxmox) fn endpoint(&self) -> Endpoint {
        self.address.to_string().parse().unwrap()
    }

    pub(in crate::proxmox) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// How many handshakes were completed.
    pub(in crate::proxmox) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    pub(in crate::proxmox) fn transport(&self, trust: Trust) -> HttpsTransport {
        transport(&self.endpoint(), trust, PATIENT)
    }

    pub(in crate::proxmox) fn impatient_transport(&self, trust: Trust) -> HttpsTransport {
        transport(&self.endpoint(), trust, IMPATIENT)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// For answers that come, even on a machine that is busy with other things.
pub(in crate::proxmox) const PATIENT: Timing =
    Timing { answer: Duration::from_secs(20), connect: Duration::from_secs(20) };
/// For answers that do not come.
pub(in crate::proxmox) const IMPATIENT: Timing = Timing { answer: Duration::from_millis(300), ..PATIENT };

/// A transport with a known secret.
pub(in crate::proxmox) fn transport(endpoint: &Endpoint, trust: Trust, timing: Timing) -> HttpsTransport {
    HttpsTransport::new(endpoint, &token(), trust, timing).unwrap()
}

pub(in crate::proxmox) fn token() -> ApiToken {
    format!("pvetalos@pve!ci={SECRET}").parse().unwrap()
}

async fn serve(
    mut stream: TlsStream<TcpStream>,
    reply: &(dyn Fn(&Received) -> Reply + Send + Sync),
    log: &Mutex<Vec<Received>>,
) {
    while let Some(request) = receive(&mut stream).await {
        log.lock().unwrap().push(request.clone());
        let sent = match reply(&request) {
            Reply::Send(bytes) => stream.write_all(&bytes).await,
            Reply::SendAndClose(bytes) => {
                drop(stream.write_all(&bytes).await);
                drop(stream.shutdown().await);
                return;
            }
            Reply::Endless(bytes) => {
                let mut sent = stream.write_all(&bytes).await;
                while sent.is_ok() {
                    sent = stream.write_all(&[b' '; 16384]).await;
                }
                sent
            }
            Reply::Silence => std::future::pending().await,
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn receive(stream: &mut TlsStream<TcpStream>) -> Option<Received> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read_buf(&mut bytes).await.ok()?;
        (read > 0).then_some(())?;
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let (line, headers) = head.split_once("\r\n")?;
    let length =
        headers.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let body_end = head_end + 4 + length.unwrap_or(0);
    while bytes.len() < body_end {
        let read = stream.read_buf(&mut bytes).await.ok()?;
        (read > 0).then_some(())?;
    }
    let body = String::from_utf8(bytes[head_end + 4..body_end].to_vec()).ok()?;
    Some(Received { line: line.to_owned(), headers: headers.to_owned(), body })
}
