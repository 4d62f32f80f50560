//! The way to the simulator without a socket.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::disk_image;
use super::simulator::{Exchange, Simulator};
use crate::proxmox::{Answer, Request, Transport, TransportError, Upload};

/// Calls the simulator in the same process.
///
/// All waiting is tokio's, so under paused time an hour of clones takes no time at all, while every delay, fault and
/// time-out still happens in its order. It keeps the limits of the network transport, so that what is counted and
/// timed here holds there: so many requests at once, so long for an answer.
#[derive(Clone, Debug)]
pub struct InProcess {
    simulator: Simulator,
    authorization: Option<String>,
    turns: Arc<Semaphore>,
    time_out: Duration,
}

const AT_ONCE: usize = 4;
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

impl InProcess {
    /// Sends this `Authorization` header with every request.
    pub fn new(simulator: Simulator, authorization: impl Into<Option<String>>) -> Self {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        Self { simulator, authorization: authorization.into(), turns, time_out: ANSWER_WITHIN }
    }

    /// How long to wait for an answer; 40 s unless set.
    #[must_use]
    pub fn time_out(self, time_out: Duration) -> Self {
        Self { time_out, ..self }
    }

    async fn heard(&self, exchange: impl Future<Output = Exchange>) -> Result<Answer, TransportError> {
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let lost = |kind: io::ErrorKind| TransportError::Lost(Box::new(io::Error::from(kind)));
        match tokio::time::timeout(self.time_out, exchange).await {
            Ok(Exchange::Answered { answer, .. }) => Ok(answer),
            Ok(Exchange::Dropped) => Err(lost(io::ErrorKind::UnexpectedEof)),
            Ok(Exchange::Reset) => Err(lost(io::ErrorKind::ConnectionReset)),
            // The dead feel no time-out.
            Ok(Exchange::ClientKilled) => std::future::pending().await,
            Err(_) => Err(TransportError::TimedOut(self.time_out)),
        }
    }
}

impl Transport for InProcess {
    async fn send(&self, request: &Request) -> Result<Answer, TransportError> {
        self.heard(self.simulator.exchange(request, self.authorization.as_deref())).await
    }

    async fn upload(&self, upload: &Upload) -> Result<Answer, TransportError> {
        let header = header_of(upload.file()).map_err(|error| TransportError::NoConnection(Box::new(error)))?;
        let mut request = upload.request().clone();
        request.params.push(("filename".to_owned(), upload.file_name().to_owned()));
        let (size, disk) = (upload.length(), disk_image::virtual_size(&header));
        self.heard(self.simulator.exchange_upload(request, size, disk, self.authorization.as_deref())).await
    }

    fn endpoint(&self) -> &'static str {
        "the simulator"
    }
}

/// The beginning of a file: all that the simulator needs to see of it.
fn header_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut header = Vec::with_capacity(disk_image::HEADER);
    File::open(file)?.take(disk_image::HEADER as u64).read_to_end(&mut header)?;
    Ok(header)
}
