//! The simulator as a program of its own: served on loopback, with a word on how to reach it.

use std::fmt::Write as _;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

use super::clock::Clock;
use super::http::{BindError, Certificate, Manners, Server};
use super::simulator::{Simulator, Waits};
use super::world_file::WorldFile;
use crate::model::ApiToken;

/// How to serve a world.
#[derive(Debug)]
pub struct Options {
    /// A loopback address; port 0 stands for any free one.
    pub listen: SocketAddr,
    pub waits: Waits,
    pub manners: Manners,
}

impl Default for Options {
    /// The port of Proxmox on this machine.
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8006));
        Self { listen, waits: Waits::default(), manners: Manners::default() }
    }
}

/// A world on a port.
pub struct Simulation {
    server: Server,
    simulator: Simulator,
    certificate: Certificate,
    token: Option<ApiToken>,
}

impl Simulation {
    /// Takes the port; clients can connect from here on.
    pub async fn start(file: WorldFile, options: Options) -> Result<Self, BindError> {
        let WorldFile { world, faults, certificate } = file;
        let token = world.authorization().and_then(|header| header.parse().ok());
        let clock = Clock::starting_at(world.now());
        let simulator = Simulator::with(world, clock, options.waits);
        faults.into_iter().for_each(|fault| simulator.inject(fault));
        let certificate = match certificate {
            Some(certificate) => certificate,
            None => Certificate::generate()?,
        };
        let server = Server::bind(options.listen, &certificate, simulator.clone(), options.manners).await?;
        Ok(Self { server, simulator, certificate, token })
    }

    /// What the server shows to its clients.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The world behind the port.
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Serves until `stop` comes.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        self.server.run_until(stop).await;
    }

    /// How to point pvetalos and other clients at it, as lines for a shell.
    ///
    /// The token is good for this world and nothing else, so it may be shown.
    pub fn introduction(&self) -> String {
        let endpoint = format!("https://{}", self.server.address());
        let fingerprint = self.server.fingerprint();
        let (id, secret) = match &self.token {
            Some(token) => (token.id.as_str(), token.secret.expose()),
            None => ("user@pve!name", "secret"),
        };
        let mut text = format!("# A simulated Proxmox VE listens on {endpoint}\n");
        for (name, value) in [("ENDPOINT", endpoint.as_str()), ("TOKEN_ID", id), ("TOKEN_SECRET", secret)] {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "export PROXMOX_{name}='{value}'");
        }
        text + &format!(
            "\n\
             # pvetalos.yaml, or nodes.yaml:\n\
             #   proxmox: {{fingerprint: \"{fingerprint}\"}}\n\
             # curl:\n\
             #   curl -k -H \"Authorization: PVEAPIToken=$PROXMOX_TOKEN_ID=$PROXMOX_TOKEN_SECRET\" \
             {endpoint}/api2/json/nodes\n\
             # proxmoxer:\n\
             #   ProxmoxAPI('{host}', port={port}, user='{user}', token_name='{name}', token_value='{secret}', \
             verify_ssl=False)\n\
             # Stop it with Ctrl-C.\n",
            host = self.server.address().ip(),
            port = self.server.address().port(),
            user = id.split('!').next().unwrap_or_default(),
            name = id.split('!').nth(1).unwrap_or_default(),
        )
    }
}
