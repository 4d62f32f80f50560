use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A TLS connection that can end with a reset instead of a polite close.
///
/// hyper takes the stream and drops it when a request ends in an error, so the wish for a reset has to wait here,
/// where the drop happens.
pub(super) struct Wire {
    stream: TlsStream<TcpStream>,
    reset: ResetSwitch,
}

/// Asks for the reset from the other side of hyper.
#[derive(Clone, Default)]
pub(super) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    pub(super) fn press(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Wire {
    pub(super) fn new(stream: TlsStream<TcpStream>, reset: ResetSwitch) -> Self {
        Self { stream, reset }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.reset.0.load(Ordering::Relaxed) {
            // Unsent bytes are thrown away and the peer gets RST. If it fails, it gets a plain close.
            drop(self.stream.get_ref().0.set_zero_linger());
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
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
