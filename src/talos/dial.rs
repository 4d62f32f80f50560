use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The way to a node's port: the network, or the simulator in the same process.
///
/// A refused connection is [`io::ErrorKind::ConnectionRefused`]; whoever is not there at all is any other error, or
/// silence. Time-outs are the caller's. An error that holds [`NoWay`] is about the way, and tells nothing of the node.
pub trait Dial: Send + Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Whether the way is open, wherever it leads. Only one that begins at somebody else's door can be closed.
    fn check(&self) -> impl Future<Output = Result<(), NoWay>> + Send {
        async { Ok(()) }
    }
}

/// What is wrong with the way to the nodes, in a sentence that names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoWay(String);

impl NoWay {
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// Why a connection failed, if it was the way.
    pub(super) fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// What the user can do next, in one sentence.
    pub fn hint() -> &'static str {
        "open the proxy again, as with `ssh -D`, or take --talos-proxy and PVETALOS_TALOS_PROXY away if the nodes can be \
         reached straight"
    }
}

impl From<NoWay> for io::Error {
    fn from(no_way: NoWay) -> Self {
        Self::other(no_way)
    }
}

impl<D: Dial> Dial for Arc<D> {
    type Stream = D::Stream;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send {
        (**self).dial(to)
    }

    fn check(&self) -> impl Future<Output = Result<(), NoWay>> + Send {
        (**self).check()
    }
}

impl<D: Dial> Dial for &D {
    type Stream = D::Stream;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send {
        (**self).dial(to)
    }

    fn check(&self) -> impl Future<Output = Result<(), NoWay>> + Send {
        (**self).check()
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
