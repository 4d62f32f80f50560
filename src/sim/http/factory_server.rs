use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::BindError;
use crate::schematic::Schematic;
use crate::sim::disk_image::empty_qcow2;
use crate::sim::factory::Behind;
use crate::sim::simulator::Simulator;

/// Understands the text of a schematic, or says what is wrong with it.
pub type ReadSchematic = fn(&str) -> Result<Schematic, String>;

/// The simulated Image Factory on a port of this machine: schematics can be registered, and images looked at.
///
/// It speaks plain HTTP, because nobody is in between on this machine. The images that it gives away are whole and tiny:
/// qcow2 files of an empty disk as large as that of the release.
pub struct FactoryServer {
    listener: TcpListener,
    address: SocketAddr,
    factory: Arc<Served>,
}

struct Served {
    simulator: Simulator,
    read: ReadSchematic,
}

type Answer = Response<Full<Bytes>>;

const LARGEST_BODY: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(10);

impl FactoryServer {
    /// Takes the port; port 0 stands for any free one. The simulated hosts can download from there, too.
    pub async fn bind(listen: SocketAddr, simulator: Simulator, read: ReadSchematic) -> Result<Self, BindError> {
        if !listen.ip().is_loopback() {
            return Err(BindError::NotLoopback(listen));
        }
        let failed = |source: io::Error| BindError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        simulator.world(|world| world.serve_factory_at(&format!("http://{address}")));
        Ok(Self { listener, address, factory: Arc::new(Served { simulator, read }) })
    }

    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` comes. Open connections end with it.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                () = &mut stop => return,
                Some(_) = open.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let factory = Arc::clone(&self.factory);
                        open.spawn(async move { factory.serve(stream).await });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
    }
}

impl Served {
    async fn serve(&self, stream: TcpStream) {
        let service = service_fn(|request| async { Ok::<_, Infallible>(self.answer(request).await) });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
            tracing::debug!(%error, "a connection to the factory ended early");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::POST, "/schematics") => self.register(request).await,
            (&Method::GET | &Method::HEAD, path) if path.starts_with("/image/") => self.image(path),
            _ => text(StatusCode::NOT_FOUND, "not found"),
        }
    }

    async fn register(&self, request: Request<Incoming>) -> Answer {
        let body = tokio::time::timeout(PATIENCE, Limited::new(request.into_body(), LARGEST_BODY).collect()).await;
        let Ok(Ok(body)) = body else {
            return text(StatusCode::BAD_REQUEST, "the body cannot be read");
        };
        let body = body.to_bytes();
        let schematic = std::str::from_utf8(&body).map_err(|error| error.to_string()).and_then(self.read);
        match schematic {
            Ok(schematic) => {
                let id = schematic.id();
                self.simulator.world(|world| world.register_schematic(&id));
                let answer = json!({ "id": id, "schematic": schematic.canonical() });
                answered(StatusCode::CREATED, "application/json", answer.to_string().into())
            }
            Err(why) => text(StatusCode::BAD_REQUEST, &why),
        }
    }

    fn image(&self, path: &str) -> Answer {
        match self.simulator.world(|world| world.in_factory(path)) {
            Behind::File { virtual_size, .. } if path.rsplit('.').next() == Some("qcow2") => {
                answered(StatusCode::OK, "application/octet-stream", empty_qcow2(virtual_size).into())
            }
            Behind::Refusal(status) if status.starts_with("400") => text(StatusCode::BAD_REQUEST, "no such image"),
            _ => text(StatusCode::NOT_FOUND, "no such image; the simulated factory gives away qcow2 only"),
        }
    }
}

fn text(status: StatusCode, text: &str) -> Answer {
    answered(status, "text/plain; charset=utf-8", format!("{text}\n").into())
}

fn answered(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, kind).body(Full::new(body));
    answer.expect("a status and a plain header make an answer")
}
