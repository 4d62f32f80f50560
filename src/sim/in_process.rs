//! The way to the simulator without a socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::simulator::{Exchange, Simulator};
use crate::proxmox::{Answer, Request, Transport, TransportError};

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
}

impl Transport for InProcess {
    async fn send(&self, request: &Request) -> Result<Answer, TransportError> {
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let exchange = self.simulator.exchange(request, self.authorization.as_deref());
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

    fn endpoint(&self) -> &'static str {
        "the simulator"
    }
}
