use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::certificate::{Certificate, CertificateError};
use super::connection::Connections;
use super::manners::Manners;
use crate::model::Fingerprint;
use crate::sim::simulator::Simulator;

/// A simulated cluster on a port of this machine.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    fingerprint: Fingerprint,
    connections: Arc<Connections>,
}

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// A world without secrets is nothing to show to a network.
    #[error("the simulator listens on this machine only, not on {0}")]
    NotLoopback(SocketAddr),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot serve TLS")]
    Tls(#[from] CertificateError),
}

impl BindError {
    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotLoopback(_) => "use an address like `127.0.0.1:8006` or `[::1]:8006`",
            Self::Listen { .. } => "another program may have this port; with port 0 a free one is chosen",
            Self::Tls(_) => "leave the certificate out of the world file, and a new one is made",
        }
    }
}

impl Server {
    /// Takes the port; port 0 stands for any free one. Clients can connect from here on.
    pub async fn bind(
        listen: SocketAddr,
        certificate: &Certificate,
        simulator: Simulator,
        manners: Manners,
    ) -> Result<Self, BindError> {
        if !listen.ip().is_loopback() {
            return Err(BindError::NotLoopback(listen));
        }
        let failed = |source| BindError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let body_limit = simulator.world(|world| world.release.body_limit()).min(manners.body_limit);
        let manners = Manners { body_limit, ..manners };
        let connections = Connections { acceptor: certificate.acceptor()?, simulator, manners };
        Ok(Self { listener, address, fingerprint: certificate.fingerprint(), connections: Arc::new(connections) })
    }

    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Serves until `stop` comes. Open connections end with it.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let seats = Arc::new(Semaphore::new(self.connections.manners.connections));
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                () = &mut stop => return,
                Some(ended) = open.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a connection ended in a bug of the simulator");
                    }
                }
                accepted = self.accept(&seats) => {
                    let Some((stream, seat)) = accepted else { continue };
                    let connections = Arc::clone(&self.connections);
                    open.spawn(async move {
                        connections.serve(stream).await;
                        drop(seat);
                    });
                }
            }
        }
    }

    /// The next connection, once there is a seat for it.
    async fn accept(&self, seats: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let seat = Arc::clone(seats).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, _)) => Some((stream, seat)),
            Err(error) => {
                // Out of file handles, mostly. Trying again at once would only burn the processor.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}
