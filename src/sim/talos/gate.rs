//! A SOCKS5 proxy on loopback that leads to the simulated guests.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::sim::{BindError, GuestNetwork};

/// The way into the guests' network for other processes: their addresses are nobody's on this machine, so a proxy
/// stands where a router would.
pub struct Gate {
    listener: TcpListener,
    address: SocketAddr,
    network: GuestNetwork,
}

/// How many connections are served at once, and how long a client may take to say where it wants to go.
const SEATS: usize = 1024;
const IDLE: Duration = Duration::from_secs(10);

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NONE_ACCEPTABLE: u8 = 255;
const CONNECT: u8 = 1;

/// The replies of RFC 1928.
const SUCCEEDED: u8 = 0;
const HOST_UNREACHABLE: u8 = 4;
const REFUSED: u8 = 5;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

impl Gate {
    /// Takes a port of this machine; port 0 stands for any free one.
    pub async fn bind(listen: SocketAddr, network: GuestNetwork) -> Result<Self, BindError> {
        if !listen.ip().is_loopback() {
            return Err(BindError::NotLoopback(listen));
        }
        let failed = |source| BindError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, network })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` comes. Open connections end with it.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let seats = Arc::new(Semaphore::new(SEATS));
        let mut open = JoinSet::new();
        loop {
            let seat = Arc::clone(&seats).acquire_owned();
            tokio::select! {
                () = &mut stop => return,
                Some(_ended) = open.join_next() => {}
                accepted = async { (seat.await, self.listener.accept().await) } => match accepted {
                    (Ok(seat), Ok((stream, _))) => {
                        let network = self.network.clone();
                        open.spawn(async move {
                            if let Err(error) = serve(network, stream).await {
                                tracing::debug!(%error, "a connection through the gate ended early");
                            }
                            drop(seat);
                        });
                    }
                    (_, Err(error)) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    (Err(_), _) => return,
                },
            }
        }
    }
}

async fn serve(network: GuestNetwork, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let asked = timeout(IDLE, ask(&mut stream)).await.map_err(|_| io::ErrorKind::TimedOut)??;
    let Some(to) = asked else {
        return stream.shutdown().await;
    };
    match network.reach(to).await {
        Ok(reached) => {
            reply(&mut stream, SUCCEEDED).await?;
            reached.serve(stream).await;
            Ok(())
        }
        Err(error) => {
            let refused = error.kind() == io::ErrorKind::ConnectionRefused;
            reply(&mut stream, if refused { REFUSED } else { HOST_UNREACHABLE }).await?;
            stream.shutdown().await
        }
    }
}

/// Where the client wants to go; none if it has been told that this cannot be.
async fn ask(stream: &mut TcpStream) -> io::Result<Option<SocketAddr>> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await?;
    let [VERSION, count] = greeting else {
        return Err(io::Error::other("this is not SOCKS5"));
    };
    let mut methods = [0; u8::MAX as usize];
    let methods = &mut methods[..usize::from(count)];
    stream.read_exact(methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        stream.write_all(&[VERSION, NONE_ACCEPTABLE]).await?;
        return Ok(None);
    }
    stream.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let mut request = [0; 4];
    stream.read_exact(&mut request).await?;
    let [VERSION, command, _, kind] = request else {
        return Err(io::Error::other("this is not SOCKS5"));
    };
    let address = match kind {
        1 => IpAddr::from(Ipv4Addr::from(stream.read_u32().await?)),
        4 => IpAddr::from(Ipv6Addr::from(stream.read_u128().await?)),
        // The guests have no names here.
        _ => {
            reply(stream, ADDRESS_NOT_SUPPORTED).await?;
            return Ok(None);
        }
    };
    let to = SocketAddr::new(address, stream.read_u16().await?);
    if command != CONNECT {
        reply(stream, COMMAND_NOT_SUPPORTED).await?;
        return Ok(None);
    }
    Ok(Some(to))
}

async fn reply(stream: &mut TcpStream, code: u8) -> io::Result<()> {
    stream.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
