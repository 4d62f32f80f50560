use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use crate::proxmox::{Answer, Request, Transport, TransportError};

type Reply = dyn Fn(&Request) -> Result<Answer, TransportError> + Send + Sync;

/// A transport that answers by a function and remembers what it was asked.
pub(in crate::proxmox) struct Script {
    reply: Box<Reply>,
    sent: Mutex<Vec<Request>>,
}

impl Script {
    pub(in crate::proxmox) fn new(
        reply: impl Fn(&Request) -> Result<Answer, TransportError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { reply: Box::new(reply), sent: Mutex::default() })
    }

    /// These answers, one after the other; then nobody answers any more.
    pub(in crate::proxmox) fn of(answers: impl IntoIterator<Item = Result<Answer, TransportError>>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Self::new(move |_| answers.lock().unwrap().pop_front().unwrap_or_else(|| Err(no_connection())))
    }

    pub(in crate::proxmox) fn sent(&self) -> Vec<Request> {
        self.sent.lock().unwrap().clone()
    }
}

impl Transport for Script {
    async fn send(&self, request: &Request) -> Result<Answer, TransportError> {
        self.sent.lock().unwrap().push(request.clone());
        (self.reply)(request)
    }

    fn endpoint(&self) -> &'static str {
        "https://pve1:8006"
    }
}

pub(in crate::proxmox) fn no_connection() -> TransportError {
    TransportError::NoConnection(Box::new(io::Error::from(io::ErrorKind::ConnectionRefused)))
}

pub(in crate::proxmox) fn lost() -> TransportError {
    TransportError::Lost(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)))
}

pub(in crate::proxmox) fn answer(status: u16, reason: &str, body: &str) -> Answer {
    Answer { status, reason: reason.to_owned(), body: body.as_bytes().to_vec() }
}

/// A success with this data.
pub(in crate::proxmox) fn data(json: &str) -> Answer {
    answer(200, "OK", &format!(r#"{{"data":{json}}}"#))
}

/// A refusal as an old Proxmox words it: in the reason phrase alone.
pub(in crate::proxmox) fn refusal(status: u16, reason: &str) -> Answer {
    answer(status, reason, r#"{"data":null}"#)
}
