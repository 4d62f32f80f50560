use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The way to a node's port: the network, or the simulator in the same process.
///
/// A refused connection is [`io::ErrorKind::ConnectionRefused`]; whoever is not there at all is any other error, or
/// silence. Time-outs are the caller's.
pub trait Dial: Send + Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl<D: Dial> Dial for Arc<D> {
    type Stream = D::Stream;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send {
        (**self).dial(to)
    }
}

impl<D: Dial> Dial for &D {
    type Stream = D::Stream;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send {
        (**self).dial(to)
    }
}

/// Straight through the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Dial for Direct {
    type Stream = TcpStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
