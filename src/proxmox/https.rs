use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hyper::ext::ReasonPhrase;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use rustls::CertificateError;
use rustls::pki_types::pem;
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::trace;

use super::multipart::Multipart;
use super::text::with_causes;
use super::tls::{CertificateProblem, Trust, client_config};
use super::transport::Cause;
use super::{Answer, Method, Request, Transport, TransportError, Upload, form};
use crate::model::{ApiToken, Endpoint, TokenSecret};

/// More than Proxmox's 30 s between its own daemons, so that its own explanation comes first.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Proxmox closes a connection after 5 s without a request (pve-http-server: src/PVE/APIServer/AnyEvent.pm).
const IDLE_AT_MOST: Duration = Duration::from_secs(3);
/// Proxmox has three single-threaded workers; more would only wait there, and in everybody's way.
const IN_FLIGHT: usize = 4;
/// Bytes in a second; an upload that takes longer is given up.
const SLOWEST_UPLOAD: u64 = 256 << 10;
/// The largest lists are a few megabytes; whatever is beyond this is not an answer.
const LARGEST_BODY: usize = 16 << 20;

/// The network: HTTP/1.1 over TLS with an API token.
///
/// Redirects are not followed, because the token must not go elsewhere. Proxies of the environment (`HTTPS_PROXY` and
/// the like) are not used: they are there for the internet, and a Proxmox host is hardly ever behind one; a proxy that
/// nobody thought of would only see the token's connection fail, or end TLS in the middle.
pub struct HttpsTransport {
    client: reqwest::Client,
    endpoint: String,
    secret: TokenSecret,
    turns: Semaphore,
    timing: Timing,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From sending a request to the end of its answer.
    pub answer: Duration,
    pub connect: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { answer: ANSWER_WITHIN, connect: CONNECT_WITHIN }
    }
}

/// Why no request can be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("the CA file {} cannot be read", path.display())]
    CaFile { path: PathBuf, source: pem::Error },
    #[error("the CA file {} holds no certificate of an authority", path.display())]
    NoCertificate { path: PathBuf },
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    #[error("the HTTP client cannot be set up")]
    Http(#[source] reqwest::Error),
}

impl SetupError {
    /// The error and its causes in one line.
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }

    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::CaFile { .. } | Self::NoCertificate { .. } => {
                "copy /etc/pve/pve-root-ca.pem from any host of the cluster and give its path as `ca_file`"
            }
            Self::Tls(_) | Self::Http(_) => "report this as a bug of pvetalos",
        }
    }
}

impl HttpsTransport {
    pub fn new(endpoint: &Endpoint, token: &ApiToken, trust: Trust, timing: Timing) -> Result<Self, SetupError> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(client_config(trust)?)
            .http1_only()
            .https_only(true)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(IDLE_AT_MOST)
            .pool_max_idle_per_host(IN_FLIGHT)
            .connect_timeout(timing.connect)
            .timeout(timing.answer)
            .user_agent(concat!("pvetalos/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization(token))]))
            .build()
            .map_err(SetupError::Http)?;
        Ok(Self {
            client,
            endpoint: endpoint.to_string(),
            secret: token.secret.clone(),
            turns: Semaphore::new(IN_FLIGHT),
            timing,
        })
    }

    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<Answer, TransportError> {
        let response = request.send().await.map_err(|error| self.explained(&error))?;
        let status = response.status();
        let reason = response.extensions().get::<ReasonPhrase>().map(|phrase| phrase.as_bytes().to_vec());
        let reason = reason.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().into());
        let body = self.without_secret(self.body(response).await?);
        let reason = String::from_utf8_lossy(&self.without_secret(reason)).into_owned();
        Ok(Answer { status: status.as_u16(), reason, body })
    }

    fn prepared(&self, request: &Request) -> reqwest::RequestBuilder {
        let url = format!("{}/api2/json{}", self.endpoint, request.path);
        let params = form::encode(&request.params);
        let url = if request.method.has_query() && !params.is_empty() { format!("{url}?{params}") } else { url };
        let builder = match request.method {
            Method::Get => self.client.get(url),
            Method::Post => self.client.post(url),
            Method::Put => self.client.put(url),
            Method::Delete => self.client.delete(url),
        };
        if request.method.has_query() {
            return builder;
        }
        // The length is said even of an empty body, which would otherwise have none.
        let builder = builder.header(CONTENT_LENGTH, params.len());
        builder.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(params)
    }

    fn prepared_upload(&self, upload: &Upload) -> io::Result<reqwest::RequestBuilder> {
        // Nothing in a file can be taken for its end.
        let boundary = format!("pvetalos-{:032x}", fastrand::u128(..));
        let body = reqwest::Body::wrap(Multipart::new(upload, &boundary)?);
        let url = format!("{}/api2/json{}", self.endpoint, upload.request.path);
        Ok(self
            .client
            .post(url)
            .header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"))
            .timeout(self.timing.answer + Duration::from_secs(upload.length / SLOWEST_UPLOAD))
            .body(body))
    }

    /// Reads the body piece by piece, so that an endless one is noticed before it fills the memory.
    async fn body(&self, mut response: reqwest::Response) -> Result<Vec<u8>, TransportError> {
        let too_large = || TransportError::TooLarge { limit: LARGEST_BODY };
        if response.content_length().is_some_and(|length| length > LARGEST_BODY as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.explained(&error))? {
            if body.len() + piece.len() > LARGEST_BODY {
                return Err(too_large());
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn explained(&self, error: &reqwest::Error) -> TransportError {
        if let Some(problem) = certificate_problem(error) {
            return TransportError::Untrusted(Box::new(problem));
        }
        if error.is_connect() && error.is_timeout() {
            TransportError::ConnectTimedOut(self.timing.connect)
        } else if error.is_connect() || error.is_builder() {
            TransportError::NoConnection(Cause::of(error).into())
        } else if error.is_timeout() {
            TransportError::TimedOut(self.timing.answer)
        } else {
            TransportError::Lost(Cause::of(error).into())
        }
    }

    /// A server that repeats the request's headers must not bring the secret into a message, in whatever way it writes
    /// JSON: some escape characters that need no escape.
    fn without_secret(&self, text: Vec<u8>) -> Vec<u8> {
        let secret = self.secret.expose();
        let text = if text.contains(&b'\\') { unescaped_if_echoed(text, secret) } else { text };
        replaced(&text, secret.as_bytes())
    }
}

const HIDDEN: &str = "<secret>";

/// The text with every occurrence of the secret replaced, in one pass however many there are.
fn replaced(text: &[u8], secret: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.windows(secret.len()).position(|window| window == secret) {
        clean.extend_from_slice(&rest[..found]);
        clean.extend_from_slice(HIDDEN.as_bytes());
        rest = &rest[found + secret.len()..];
    }
    clean.extend_from_slice(rest);
    clean
}

/// The same JSON in the plainest spelling if a string or key of it holds the secret.
fn unescaped_if_echoed(text: Vec<u8>, secret: &str) -> Vec<u8> {
    match serde_json::from_slice::<Value>(&text) {
        Ok(value) if holds(&value, secret) => value.to_string().into_bytes(),
        _ => text,
    }
}

fn holds(value: &Value, secret: &str) -> bool {
    match value {
        Value::String(text) => text.contains(secret),
        Value::Array(items) => items.iter().any(|item| holds(item, secret)),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains(secret) || holds(value, secret)),
        _ => false,
    }
}

/// The header that carries the token, marked so that no log shows it.
fn authorization(token: &ApiToken) -> HeaderValue {
    // Proxmox undoes percent signs here; the secret has none.
    let id = token.id.as_str().replace('%', "%25");
    let text = format!("PVEAPIToken={id}={}", token.secret.expose());
    let mut value = HeaderValue::from_bytes(text.as_bytes()).expect("neither half of a token has control characters");
    value.set_sensitive(true);
    value
}

/// Our own verifier's finding, from under the layers that carried it here.
fn certificate_problem(error: &reqwest::Error) -> Option<CertificateProblem> {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = next {
        // An I/O error is transparent: its source is the source of what it wraps.
        let inner =
            error.downcast_ref::<io::Error>().and_then(io::Error::get_ref).map(|inner| inner as &(dyn Error + 'static));
        for error in [Some(error), inner].into_iter().flatten() {
            if let Some(rustls::Error::InvalidCertificate(CertificateError::Other(other))) = error.downcast_ref() {
                return other.0.downcast_ref().cloned();
            }
        }
        next = inner.or_else(|| error.source());
    }
    None
}

impl Transport for HttpsTransport {
    async fn send(&self, request: &Request) -> Result<Answer, TransportError> {
        self.in_turn(request, self.prepared(request)).await
    }

    async fn upload(&self, upload: &Upload) -> Result<Answer, TransportError> {
        let prepared = self.prepared_upload(upload).map_err(|error| TransportError::NoConnection(Box::new(error)))?;
        self.in_turn(&upload.request, prepared).await
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl HttpsTransport {
    async fn in_turn(&self, request: &Request, prepared: reqwest::RequestBuilder) -> Result<Answer, TransportError> {
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        trace!(method = %request.method, path = request.path, "sending");
        let answer = self.exchange(prepared).await;
        match &answer {
            Ok(answer) => trace!(status = answer.status, reason = answer.reason, bytes = answer.body.len(), "answered"),
            Err(error) => trace!(%error, "not answered"),
        }
        answer
    }
}

impl fmt::Debug for HttpsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpsTransport")
            .field("endpoint", &self.endpoint)
            .field("timing", &self.timing)
            .finish_non_exhaustive()
    }
}
