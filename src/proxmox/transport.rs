use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use super::tls::CertificateProblem;
use super::{Answer, Request, Upload};

/// The way to a Proxmox server: the network, or the simulator in the same process.
///
/// A transport sends a request once, and whatever answer arrives is `Ok`. It neither retries nor judges.
pub trait Transport: Send + Sync {
    fn send(&self, request: &Request) -> impl Future<Output = Result<Answer, TransportError>> + Send;

    /// Sends a request with a file. Not every way there can.
    fn upload(&self, upload: &Upload) -> impl Future<Output = Result<Answer, TransportError>> + Send {
        let cause = Cause(format!("`{}` cannot be sent this way", upload.file_name));
        std::future::ready(Err(TransportError::NoConnection(cause.into())))
    }

    /// Where the requests go, for messages.
    fn endpoint(&self) -> &str;
}

impl<T: Transport> Transport for Arc<T> {
    fn send(&self, request: &Request) -> impl Future<Output = Result<Answer, TransportError>> + Send {
        (**self).send(request)
    }

    fn upload(&self, upload: &Upload) -> impl Future<Output = Result<Answer, TransportError>> + Send {
        (**self).upload(upload)
    }

    fn endpoint(&self) -> &str {
        (**self).endpoint()
    }
}

/// The last cause of a failure, without the layers of libraries that it came through.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Cause(String);

impl Cause {
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut last = error;
        while let Some(source) = last.source() {
            last = source;
        }
        Self(last.to_string())
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// No connection came about, so nothing was sent.
    #[error("no connection")]
    NoConnection(#[source] Box<dyn Error + Send + Sync>),
    /// No connection came about in time, so nothing was sent.
    #[error("no connection within {} s", .0.as_secs())]
    ConnectTimedOut(Duration),
    /// There was a connection, and who was at its other end could not be trusted. Nothing was sent.
    #[error("the certificate is not trusted")]
    Untrusted(#[source] Box<CertificateProblem>),
    /// The connection ended before the answer did. Perhaps the request was carried out.
    #[error("the connection ended before the answer was complete")]
    Lost(#[source] Box<dyn Error + Send + Sync>),
    /// The answer did not come in time. Perhaps the request was carried out.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The answer was larger than any that Proxmox gives.
    #[error("the answer is larger than {} MiB", .limit >> 20)]
    TooLarge { limit: usize },
}

impl TransportError {
    /// Whether the request is sure not to have reached the server.
    pub fn is_never_sent(&self) -> bool {
        matches!(self, Self::NoConnection(_) | Self::ConnectTimedOut(_) | Self::Untrusted(_))
    }
}
