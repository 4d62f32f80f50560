//! The network of the simulated guests.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::DuplexStream;

use super::{GuestView, Simulator};
use crate::proxmox::types::{IpConfig, Ipv4Config, Ipv6Config};
use crate::talos::{Dial, PORT};

/// The way to the guests of a simulated cluster, without sockets.
#[derive(Clone, Debug)]
pub struct GuestNetwork(Simulator);

/// How long it takes until it is clear that nobody has an address.
const NOBODY: Duration = Duration::from_millis(300);

impl Simulator {
    /// The network that the guests are on.
    pub fn guest_network(&self) -> GuestNetwork {
        GuestNetwork(self.clone())
    }
}

impl Dial for GuestNetwork {
    type Stream = DuplexStream;

    /// A guest that boots has no address yet, so that nobody answers until it listens.
    async fn dial(&self, to: SocketAddr) -> io::Result<DuplexStream> {
        let guests = self.0.world(|world| world.running_guests());
        let listens = guests.iter().any(|guest| guest.has_booted && guest.has_address(to.ip()));
        if !listens {
            self.0.clock().sleep(NOBODY).await;
            return Err(io::ErrorKind::HostUnreachable.into());
        }
        if to.port() != PORT {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (ours, _theirs) = tokio::io::duplex(64 * 1024);
        Ok(ours)
    }
}

impl GuestView {
    /// Whether cloud-init gave the guest this address.
    pub fn has_address(&self, address: IpAddr) -> bool {
        let configs = self.config.iter().filter(|(key, _)| key.starts_with("ipconfig"));
        let mut configs = configs.filter_map(|(_, value)| value.parse::<IpConfig>().ok());
        configs.any(|config| match address {
            IpAddr::V4(address) => matches!(config.ip, Some(Ipv4Config::Static(net)) if net.addr() == address),
            IpAddr::V6(address) => matches!(config.ip6, Some(Ipv6Config::Static(net)) if net.addr() == address),
        })
    }
}
