use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Dial, Direct, NoWay};

/// A way that is chosen at run time: straight, through a proxy, or into a simulator.
#[derive(Clone)]
pub struct AnyDial(Arc<dyn DialBoxed>);

/// A connection whatever it goes over.
pub type AnyStream = Box<dyn Stream>;

/// What a connection can do.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// [`Dial`] in the form that a pointer can lead to.
trait DialBoxed: Send + Sync {
    fn dial_boxed(&self, to: SocketAddr) -> Pin<Box<dyn Future<Output = io::Result<AnyStream>> + Send + '_>>;

    fn check_boxed(&self) -> Pin<Box<dyn Future<Output = Result<(), NoWay>> + Send + '_>>;
}

impl<D: Dial> DialBoxed for D {
    fn dial_boxed(&self, to: SocketAddr) -> Pin<Box<dyn Future<Output = io::Result<AnyStream>> + Send + '_>> {
        Box::pin(async move { Ok(Box::new(self.dial(to).await?) as AnyStream) })
    }

    fn check_boxed(&self) -> Pin<Box<dyn Future<Output = Result<(), NoWay>> + Send + '_>> {
        Box::pin(self.check())
    }
}

impl AnyDial {
    pub fn new(dial: impl Dial + 'static) -> Self {
        Self(Arc::new(dial))
    }
}

impl Default for AnyDial {
    fn default() -> Self {
        Self::new(Direct)
    }
}

impl fmt::Debug for AnyDial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyDial")
    }
}

impl Dial for AnyDial {
    type Stream = AnyStream;

    fn dial(&self, to: SocketAddr) -> impl Future<Output = io::Result<AnyStream>> + Send {
        self.0.dial_boxed(to)
    }

    fn check(&self) -> impl Future<Output = Result<(), NoWay>> + Send {
        self.0.check_boxed()
    }
}
