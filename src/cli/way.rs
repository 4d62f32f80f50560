//! The ways to Proxmox and to the nodes, each as one type.
//!
//! Everything above is generic over them. One type for all ways, and not a copy of the program for each, keeps the
//! binary small; choosing costs nothing beside a request.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::proxmox::{Answer, HttpsTransport, Request, Transport, TransportError, Upload};
use crate::sim::{GuestNetwork, InProcess};
use crate::talos::{Dial, Direct};

/// The way to Proxmox.
#[derive(Clone)]
pub(super) enum Way {
    Https(Arc<HttpsTransport>),
    Simulated(InProcess),
}

impl Transport for Way {
    async fn send(&self, request: &Request) -> Result<Answer, TransportError> {
        match self {
            Self::Https(transport) => transport.send(request).await,
            Self::Simulated(transport) => transport.send(request).await,
        }
    }

    async fn upload(&self, upload: &Upload) -> Result<Answer, TransportError> {
        match self {
            Self::Https(transport) => transport.upload(upload).await,
            Self::Simulated(transport) => transport.upload(upload).await,
        }
    }

    fn endpoint(&self) -> &str {
        match self {
            Self::Https(transport) => transport.endpoint(),
            Self::Simulated(transport) => transport.endpoint(),
        }
    }
}

/// The way to the nodes.
#[derive(Debug)]
pub(super) enum Dialer {
    Direct(Direct),
    Simulated(GuestNetwork),
}

/// A connection, whichever way it came about.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Dial for Dialer {
    type Stream = Box<dyn Stream>;

    async fn dial(&self, to: SocketAddr) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Direct(direct) => Box::new(direct.dial(to).await?),
            Self::Simulated(network) => Box::new(network.dial(to).await?),
        })
    }
}
