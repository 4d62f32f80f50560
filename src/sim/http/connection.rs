use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method as HttpMethod, Request as HttpRequest, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::incoming::{self, Verdict};
use super::manners::Manners;
use super::outgoing::{self, HttpResponse};
use super::wire::{ResetSwitch, Wire};
use crate::sim::simulator::{Exchange, Simulator};

/// The first byte of a TLS connection: the content type of its first record.
const TLS_HANDSHAKE: u8 = 22;

/// Bytes of a request up to its body.
const LONGEST_HEAD: usize = 8 * 1024;

/// What all connections of a server have in common.
pub(super) struct Connections {
    pub(super) acceptor: TlsAcceptor,
    pub(super) simulator: Simulator,
    pub(super) manners: Manners,
}

/// The connection ends here, without an answer.
#[derive(Debug)]
struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer is sent")
    }
}

impl std::error::Error for NoAnswer {}

impl Connections {
    /// Serves one connection until either side closes it. What goes wrong on it is the client's affair: it is noted
    /// and forgotten.
    pub(super) async fn serve(self: Arc<Self>, stream: TcpStream) {
        // Answers are small and written at once; waiting for more to send would only cost time.
        drop(stream.set_nodelay(true));
        let mut first = [0];
        match timeout(self.manners.idle, stream.peek(&mut first)).await {
            Ok(Ok(1)) if first == [TLS_HANDSHAKE] => self.serve_tls(stream).await,
            Ok(Ok(1)) => self.serve_plain(stream).await,
            _ => {}
        }
    }

    async fn serve_tls(&self, stream: TcpStream) {
        let Ok(Ok(stream)) = timeout(self.manners.idle, self.acceptor.accept(stream)).await else {
            return debug!("the TLS handshake failed");
        };
        let reset = ResetSwitch::default();
        let served = AtomicU32::new(0);
        let service = service_fn(|request| {
            let last = served.fetch_add(1, Ordering::Relaxed) + 1 >= self.manners.requests_per_connection;
            self.answer(request, last, &reset)
        });
        let wire = TokioIo::new(Wire::new(stream, reset.clone()));
        if let Err(error) = self.http().serve_connection(wire, service).await {
            debug!(%error, "a connection ended early");
        }
    }

    /// Sends whoever speaks plain HTTP to the same address over TLS.
    async fn serve_plain(&self, stream: TcpStream) {
        let service = service_fn(|request: HttpRequest<Incoming>| async move {
            let status = match *request.method() {
                HttpMethod::GET => StatusCode::MOVED_PERMANENTLY,
                _ => StatusCode::PERMANENT_REDIRECT,
            };
            let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            Ok::<_, Infallible>(outgoing::redirect(status, &format!("https://{host}{path}")))
        });
        if let Err(error) = self.http().serve_connection(TokioIo::new(stream), service).await {
            debug!(%error, "a plain connection ended early");
        }
    }

    /// One time-out covers a silent connection, before a request and inside its headers: hyper starts it when it
    /// begins to wait for a request.
    fn http(&self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.manners.idle).title_case_headers(true);
        http.max_headers(64).max_buf_size(LONGEST_HEAD);
        http
    }

    async fn answer(
        &self,
        request: HttpRequest<Incoming>,
        last: bool,
        reset: &ResetSwitch,
    ) -> Result<HttpResponse, NoAnswer> {
        let (head, body) = request.into_parts();
        let authorization = incoming::authorization(&head.headers);
        let exchange = match incoming::judge(&head, body, &self.manners).await {
            Verdict::Call(request) => self.simulator.exchange(&request, authorization).await,
            Verdict::Upload { request, size, virtual_size } => {
                self.simulator.exchange_upload(request, size, virtual_size, authorization).await
            }
            Verdict::Refuse(answer) => Exchange::Answered { answer, close: true },
            Verdict::RefuseOnceLoggedIn(answer) => {
                let answer = self.simulator.refuse_stranger(authorization).await.unwrap_or(answer);
                Exchange::Answered { answer, close: true }
            }
            Verdict::HangUp => Exchange::Dropped,
        };
        match exchange {
            Exchange::Answered { answer, close } => Ok(outgoing::response(answer, close || last)),
            Exchange::Dropped => Err(NoAnswer),
            Exchange::Reset => {
                reset.press();
                Err(NoAnswer)
            }
            // Whoever plays the client kills it; until then it waits, as it would for a server that is stuck.
            Exchange::ClientKilled => std::future::pending().await,
        }
    }
}
