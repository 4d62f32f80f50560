//! The network of the simulated guests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

use super::talos::{Opened, Port, serve};
use super::{GuestView, Simulator};
use crate::talos::{Dial, PORT};

/// The way to the guests of a simulated cluster, without sockets.
#[derive(Clone, Debug)]
pub struct GuestNetwork(Simulator);

/// How long it takes until it is clear that nobody has an address.
const NOBODY: Duration = Duration::from_millis(300);

/// Bytes on their way between the two ends of a connection.
const IN_TRANSIT: usize = 64 * 1024;

impl Simulator {
    /// The network that the guests are on.
    pub fn guest_network(&self) -> GuestNetwork {
        GuestNetwork(self.clone())
    }
}

/// The end of a connection that a guest has.
pub(super) struct Reached {
    guest: GuestView,
    opened: Opened,
    simulator: Simulator,
}

impl GuestNetwork {
    /// Knocks at a port, and waits as long as it takes to know that nobody is there.
    pub(super) async fn reach(&self, to: SocketAddr) -> io::Result<Reached> {
        let guest = self.0.world(|world| world.guest_at(to.ip()));
        let port = guest.as_ref().map_or(Port::Away, Port::of);
        match (guest, port) {
            (Some(guest), Port::Open(opened)) if to.port() == PORT => {
                Ok(Reached { guest, opened, simulator: self.0.clone() })
            }
            (Some(_), Port::Open(_) | Port::Closed) => Err(io::ErrorKind::ConnectionRefused.into()),
            (_, Port::Away) | (None, _) => {
                self.0.clock().sleep(NOBODY).await;
                Err(io::ErrorKind::HostUnreachable.into())
            }
        }
    }
}

impl Reached {
    /// Lets the guest answer on this connection until either side ends it.
    pub(super) async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        serve(self.guest, self.opened, self.simulator.clock().clone(), stream).await;
    }
}

impl Dial for GuestNetwork {
    type Stream = DuplexStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<DuplexStream> {
        let reached = self.reach(to).await?;
        let (ours, theirs) = tokio::io::duplex(IN_TRANSIT);
        // It ends when the client drops its end.
        tokio::spawn(reached.serve(theirs));
        Ok(ours)
    }
}
