//! The ways to Proxmox as one type.
//!
//! Everything above is generic over it. One type for all ways, and not a copy of the program for each, keeps the binary
//! small; choosing costs nothing beside a request.

use std::sync::Arc;

use crate::proxmox::{Answer, HttpsTransport, Request, Transport, TransportError, Upload};
use crate::sim::InProcess;

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
