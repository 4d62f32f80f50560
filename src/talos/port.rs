use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::timeout;

use super::Dial;

/// The port of Talos' API.
pub const PORT: u16 = 50_000;

/// What a connection attempt tells about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortState {
    /// Nobody answers.
    Unreachable,
    /// Somebody is there and refuses: the port is closed.
    Closed,
    /// Something listens.
    Open,
}

impl PortState {
    /// Whether somebody holds the address, whatever they answer.
    pub fn is_held(self) -> bool {
        self != Self::Unreachable
    }
}

impl fmt::Display for PortState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unreachable => "unreachable",
            Self::Closed => "port closed",
            Self::Open => "port open",
        })
    }
}

impl serde::Serialize for PortState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Tries once to connect to Talos' port at an address.
pub async fn port_state<D: Dial>(dial: &D, address: IpAddr, patience: Duration) -> PortState {
    match timeout(patience, dial.dial(SocketAddr::new(address, PORT))).await {
        Ok(Ok(_stream)) => PortState::Open,
        Ok(Err(error)) if is_answer(&error) => PortState::Closed,
        Ok(Err(_)) | Err(_) => PortState::Unreachable,
    }
}

/// Whether the error came from the machine at the address, and not from the way there.
pub(super) fn is_answer(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::talos::Direct;

    struct To(SocketAddr);

    impl Dial for To {
        type Stream = tokio::net::TcpStream;

        async fn dial(&self, _: SocketAddr) -> io::Result<Self::Stream> {
            Direct.dial(self.0).await
        }
    }

    struct Nobody;

    impl Dial for Nobody {
        type Stream = tokio::io::DuplexStream;

        async fn dial(&self, _: SocketAddr) -> io::Result<Self::Stream> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_listener_a_refusal_and_silence_are_told_apart() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let patience = Duration::from_secs(5);
        assert_eq!(port_state(&To(address), address.ip(), patience).await, PortState::Open);
        drop(listener);
        assert_eq!(port_state(&To(address), address.ip(), patience).await, PortState::Closed);
        let short = Duration::from_millis(1);
        assert_eq!(port_state(&Nobody, address.ip(), short).await, PortState::Unreachable);
    }
}
