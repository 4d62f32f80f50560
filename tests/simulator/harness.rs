//! A simulator on a free port, and a client that hides nothing.

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use pvetalos::config::read_document;
use pvetalos::model::Fingerprint;
use pvetalos::sim::{Certificate, Clock, Manners, Server, Simulator, Waits, World, WorldFile};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

/// No test waits longer for something that should come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A served simulator; it ends with the test.
pub(crate) struct Served {
    pub(crate) simulator: Simulator,
    pub(crate) address: std::net::SocketAddr,
    certificate: CertificateDer<'static>,
    pub(crate) authorization: String,
    pub(crate) fingerprint: Fingerprint,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Served {
    pub(crate) async fn start() -> Self {
        Self::with(quick_manners(), Waits { refused_login: Duration::from_millis(1), ..Waits::default() }).await
    }

    pub(crate) async fn with(manners: Manners, waits: Waits) -> Self {
        let world = world();
        let authorization = authorization(&world);
        Self::of(Simulator::with(world, Clock::default(), waits), &authorization, manners).await
    }

    pub(crate) async fn of(simulator: Simulator, authorization: &str, manners: Manners) -> Self {
        let authorization = authorization.to_owned();
        let certificate = Certificate::generate().expect("a certificate can be made");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let server = Server::bind(listen, &certificate, simulator.clone(), manners).await.expect("a free port");
        let (address, fingerprint) = (server.address(), server.fingerprint());
        let certificate = CertificateDer::from(certificate.der().to_vec());
        let task = tokio::spawn(server.run_until(std::future::pending()));
        Self { simulator, address, certificate, authorization, fingerprint, task }
    }

    pub(crate) async fn connect(&self) -> Connection {
        self.connect_offering(&[]).await
    }

    /// Connects and offers these protocols to the server.
    pub(crate) async fn connect_offering(&self, protocols: &[&str]) -> Connection {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("the certificate can be trusted");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the default versions are supported")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.address).await.expect("the server listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("TLS works");
        Connection { stream, received: Vec::new(), authorization: self.authorization.clone() }
    }

    /// Sends one request on a connection of its own.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.connect().await.ask(method, path, body).await
    }

    /// The server still works.
    pub(crate) async fn assert_alive(&self) {
        assert_eq!(self.ask("GET", "/version", "").await.status, 200);
        assert!(!self.simulator.is_damaged(), "a request ran into a bug of the world");
    }
}

pub(crate) fn quick_manners() -> Manners {
    Manners { idle: Duration::from_secs(2), ..Manners::default() }
}

pub(crate) struct Connection {
    pub(crate) stream: TlsStream<TcpStream>,
    received: Vec<u8>,
    pub(crate) authorization: String,
}

/// An answer as it stood on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) reason: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}

impl Connection {
    /// Sends one request with a form body and reads its answer.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: &str) -> Answer {
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let form = "application/x-www-form-urlencoded";
        self.send(&self.head(method, path, &format!("Content-Type: {form}\r\n{length}"))).await;
        self.send(body).await;
        self.answer().await
    }

    /// A request head with the token in it.
    pub(crate) fn head(&self, method: &str, path: &str, headers: &str) -> String {
        let authorization = &self.authorization;
        format!(
            "{method} /api2/json{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n{headers}\r\n"
        )
    }

    /// Sends text as it is. A server that hung up already is no failure here: what it said is what counts.
    pub(crate) async fn send(&mut self, text: &str) {
        if self.stream.write_all(text.as_bytes()).await.is_ok() {
            drop(self.stream.flush().await);
        }
    }

    /// The next answer; the test fails when there is none.
    pub(crate) async fn answer(&mut self) -> Answer {
        self.try_answer().await.expect("an answer")
    }

    /// The next answer, or how the connection ended instead.
    pub(crate) async fn try_answer(&mut self) -> io::Result<Answer> {
        let end_of_head = loop {
            match self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(end) => break end,
                None => self.receive().await?,
            }
        };
        let head = String::from_utf8_lossy(&self.received[..end_of_head]).into_owned();
        self.received.drain(..end_of_head + 4);
        let mut lines = head.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let mut parts = status_line.splitn(3, ' ').skip(1);
        let status = parts.next().and_then(|status| status.parse().ok()).expect("a status");
        let reason = parts.next().unwrap_or_default().to_owned();
        let split = |line: &str| line.split_once(": ").map(|(key, value)| (key.to_owned(), value.to_owned()));
        let headers: Vec<_> = lines.filter_map(split).collect();
        let mut answer = Answer { status, reason, headers, body: String::new() };
        let length = answer.header("Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0);
        while self.received.len() < length {
            self.receive().await?;
        }
        answer.body = String::from_utf8_lossy(&self.received[..length]).into_owned();
        self.received.drain(..length);
        Ok(answer)
    }

    async fn receive(&mut self) -> io::Result<()> {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await.expect("something in time")?;
        if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// How the connection ends when nothing more is sent.
    pub(crate) async fn ending(&mut self) -> io::ErrorKind {
        self.try_answer().await.expect_err("the connection ends").kind()
    }
}

/// One of the example worlds.
pub(crate) fn example(name: &str) -> WorldFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/worlds").join(name);
    WorldFile::from_json(read_document(&path).expect("the example is YAML")).expect("the example is a world")
}

/// The world of most tests. It is read once: parsing is what would take the most time of a thousand schedules.
pub(crate) fn world() -> World {
    static WORLD: LazyLock<World> = LazyLock::new(|| example("three-hosts.yaml").world);
    WORLD.clone()
}

pub(crate) fn authorization(world: &World) -> String {
    world.authorization().expect("the world has a token")
}
