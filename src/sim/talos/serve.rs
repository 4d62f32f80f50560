//! One connection to the port of a guest, from its first byte to its last.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificate;
use super::machine::{Machine, Stage};
use super::profile::Profile;
use super::service::Api;
use crate::sim::{CertificateError, Clock, GuestView};

/// Whether a guest's port is open, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Port {
    /// The guest is not on the network.
    Away,
    Closed,
    Open(Opened),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Opened {
    /// Talos listens and is not ready yet.
    Starting,
    Ready,
}

impl Port {
    /// ```text
    ///  start ──── 3/5 of the boot ──── 4/5 ─────── 9/10 ──────── booted
    ///    nobody there      │   closed   │  closed    │  starting   │  what the profile says
    /// ```
    pub(in crate::sim) fn of(guest: &GuestView) -> Self {
        let reached = |tenths: u32| guest.up >= guest.boot / 10 * tenths;
        if !guest.can_boot() || !(guest.has_booted || reached(6)) {
            Self::Away
        } else if guest.talos.profile == Profile::WaitingWorker || !(guest.has_booted || reached(9)) {
            Self::Closed
        } else if guest.has_booted {
            Self::Open(Opened::Ready)
        } else {
            Self::Open(Opened::Starting)
        }
    }
}

/// Serves a connection until either side ends it. What goes wrong is the client's affair.
pub(in crate::sim) async fn serve<S>(guest: GuestView, opened: Opened, clock: Clock, stream: S)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    if let Err(error) = behave(guest, opened, &clock, stream).await {
        tracing::debug!(%error, "a connection to a guest ended early");
    }
}

#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("the connection failed")]
    Io(#[from] io::Error),
    #[error("there is no certificate")]
    Certificate(#[from] CertificateError),
    #[error("HTTP/2 failed")]
    Http(#[from] hyper::Error),
}

async fn behave<S>(guest: GuestView, opened: Opened, clock: &Clock, mut stream: S) -> Result<(), Ended>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let profile = guest.talos.profile;
    let stage =
        if opened == Opened::Ready && profile != Profile::Booting { Stage::Maintenance } else { Stage::Booting };
    let machine = Machine::of(&guest, stage);
    // The first generation listens before it has a certificate; the second has one and is still booting.
    let early = opened == Opened::Starting && !machine.is_second_generation();
    match profile {
        Profile::NoCertificate => no_certificate(&mut stream).await?,
        _ if early => no_certificate(&mut stream).await?,
        Profile::Silent => hold(stream).await?,
        Profile::SshBanner => say(stream, b"SSH-2.0-OpenSSH_9.9\r\n").await?,
        Profile::PlainHttp => {
            listen(&mut stream).await?;
            say(stream, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await?;
        }
        Profile::Reset => drop(stream),
        Profile::Garbage => loop {
            stream.write_all(&[0xAA; 4096]).await?;
        },
        Profile::SlowDrip => drip(stream, clock).await?,
        Profile::OddCertificate => hold(accept(certificate::odd()?, stream).await?).await?,
        Profile::NoHttp2 => hold(accept(certificate::without_http2(&machine)?, stream).await?).await?,
        Profile::Configured => hold(accept(certificate::configured(&machine)?, stream).await?).await?,
        Profile::SilentInside => hold(accept(certificate::maintenance(&machine)?, stream).await?).await?,
        Profile::GarbageInside => {
            let mut stream = accept(certificate::maintenance(&machine)?, stream).await?;
            loop {
                stream.write_all(&[0xAA; 4096]).await?;
            }
        }
        Profile::FrameFlood => flood(accept(certificate::maintenance(&machine)?, stream).await?).await?,
        _ => {
            let stream = accept(certificate::maintenance(&machine)?, stream).await?;
            answer(Arc::new(Api { machine, profile }), stream).await?;
        }
    }
    Ok(())
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin>(config: ServerConfig, stream: S) -> io::Result<TlsStream<S>> {
    TlsAcceptor::from(Arc::new(config)).accept(stream).await
}

async fn answer<S>(api: Arc<Api>, stream: TlsStream<S>) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request| {
        let api = Arc::clone(&api);
        async move { Ok::<_, Infallible>(api.answer(request).await) }
    });
    http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
}

/// Waits for the first bytes of the client.
async fn listen<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<()> {
    let mut bytes = [0; 4096];
    let _heard = stream.read(&mut bytes).await?;
    Ok(())
}

/// A fatal alert, `unrecognized_name`, in reply to the first message.
async fn no_certificate<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    listen(stream).await?;
    stream.write_all(&[21, 3, 3, 0, 2, 2, 112]).await?;
    stream.shutdown().await
}

async fn say<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, words: &[u8]) -> io::Result<()> {
    stream.write_all(words).await?;
    hold(stream).await
}

/// Says nothing more, until the client has enough.
async fn hold<S: AsyncRead + Unpin>(mut stream: S) -> io::Result<()> {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}

/// The beginning of a long handshake message, a byte a second.
async fn drip<S: AsyncWrite + Unpin>(mut stream: S, clock: &Clock) -> io::Result<()> {
    let beginning = [22, 3, 3, 0x40, 0, 2, 0, 0x3F, 0xFC, 3, 3];
    for byte in beginning.into_iter().chain(std::iter::repeat(0)) {
        stream.write_all(&[byte]).await?;
        stream.flush().await?;
        clock.sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// The beginning of HTTP/2, and frames of a type that nobody knows: nothing is wrong with them, but their number.
async fn flood<S>(stream: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (reading, mut writing) = tokio::io::split(stream);
    // The answers are taken, or the client would wait with the next one.
    let reader = tokio::spawn(hold(reading));
    writing.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
    let head = [0, 0x40, 0, 0xFA, 0, 0, 0, 0, 0];
    let frame = [&head[..], &[0; 0x4000]].concat();
    while !reader.is_finished() {
        writing.write_all(&frame).await?;
        writing.flush().await?;
    }
    Ok(())
}
