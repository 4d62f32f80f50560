use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::shown;

/// How much of the peer's first words is kept: enough for a banner.
const OPENING: usize = 64;

/// The most that a peer may send on one connection. A Talos node in maintenance says some tens of KiB.
const MOST: u64 = 4 << 20;

/// How a connection ends whose peer says more.
pub(super) const TOO_MUCH: io::ErrorKind = io::ErrorKind::QuotaExceeded;

/// A connection that remembers how its peer began, and fails when the peer says more than any Talos would.
#[derive(Debug)]
pub(super) struct Tap<S> {
    stream: S,
    opening: Opening,
    received: u64,
}

/// The first bytes of a peer. They outlive the connection: a failed handshake is explained by them.
#[derive(Clone, Debug, Default)]
pub(super) struct Opening(Arc<Mutex<Vec<u8>>>);

impl Opening {
    fn note(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = OPENING.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The first line in quotes, or the first bytes of what is no text.
    pub(super) fn quoted(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = kept.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        match str::from_utf8(line) {
            Ok(line) if !line.trim().is_empty() => format!("`{}`", shown(line)),
            _ => {
                let bytes: Vec<String> = kept.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                format!("the bytes {}", bytes.join(" "))
            }
        }
    }
}

impl<S> Tap<S> {
    pub(super) fn new(stream: S, opening: Opening) -> Self {
        Self { stream, opening, received: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let new = &buf.filled()[before..];
        if self.received < OPENING as u64 {
            self.opening.note(new);
        }
        self.received += new.len() as u64;
        if self.received > MOST {
            let text = format!("it sent more than {} MiB", MOST >> 20);
            return Poll::Ready(Err(io::Error::new(TOO_MUCH, text)));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
