//! The simulator as a program of its own: served on loopback, with a word on how to reach it.

use std::fmt;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};

use super::clock::Clock;
use super::http::{BindError, Certificate, Manners, Server};
use super::simulator::{Simulator, Waits};
use super::talos::Gate;
use super::world_file::WorldFile;
use crate::model::{ApiToken, Fingerprint};

/// How to serve a world.
#[derive(Debug)]
pub struct Options {
    /// A loopback address; port 0 stands for any free one.
    pub listen: SocketAddr,
    /// The port of the way to the guests, on the same address; 0 stands for any free one.
    pub gate_port: u16,
    pub waits: Waits,
    pub manners: Manners,
}

impl Default for Options {
    /// The port of Proxmox on this machine.
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8006));
        Self { listen, gate_port: 0, waits: Waits::default(), manners: Manners::default() }
    }
}

/// A world on a port.
pub struct Simulation {
    server: Server,
    gate: Gate,
    simulator: Simulator,
    certificate: Certificate,
    token: Option<ApiToken>,
}

impl Simulation {
    /// Takes the port; clients can connect from here on.
    pub async fn start(file: WorldFile, options: Options) -> Result<Self, BindError> {
        let WorldFile { mut world, faults, certificate } = file;
        let certificate = match certificate {
            Some(certificate) => certificate,
            None => Certificate::generate()?,
        };
        // `GET /nodes` tells the fingerprint of each host; the one that answers is who it says it is.
        if let Some(host) = world.hosts.get_mut(&world.entry) {
            host.fingerprint = certificate.fingerprint().to_string();
        }
        let token = world.authorization().and_then(|header| header.parse().ok());
        let clock = Clock::starting_at(world.now());
        let simulator = Simulator::with(world, clock, options.waits);
        for fault in faults {
            simulator.inject(fault);
        }
        let server = Server::bind(options.listen, &certificate, simulator.clone(), options.manners).await?;
        let gate = SocketAddr::new(options.listen.ip(), options.gate_port);
        let gate = Gate::bind(gate, simulator.guest_network()).await?;
        Ok(Self { server, gate, simulator, certificate, token })
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
        tokio::select! {
            () = self.server.run_until(stop) => {}
            () = self.gate.run_until(std::future::pending()) => {}
        }
    }

    /// How to reach it. The token is good for this world and nothing else, so it may be shown.
    pub fn introduction(&self) -> Introduction {
        let (token_id, token_secret) = match &self.token {
            Some(token) => (token.id.as_str(), token.secret.expose()),
            None => ("user@realm!name", "secret"),
        };
        Introduction {
            address: self.server.address(),
            gate: self.gate.address(),
            token_id: token_id.to_owned(),
            token_secret: token_secret.to_owned(),
            fingerprint: self.certificate.fingerprint(),
            factory: None,
        }
    }
}

/// How to point pvetalos and other clients at a simulated cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introduction {
    address: SocketAddr,
    gate: SocketAddr,
    token_id: String,
    token_secret: String,
    fingerprint: Fingerprint,
    factory: Option<SocketAddr>,
}

impl Introduction {
    /// Also tells of an Image Factory.
    #[must_use]
    pub fn with_factory(self, address: Option<SocketAddr>) -> Self {
        Self { factory: address, ..self }
    }

    pub fn endpoint(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The proxy through which the guests can be reached.
    pub fn talos_proxy(&self) -> String {
        format!("socks5://{}", self.gate)
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        let mut document = json!({
            "format_version": 1,
            "endpoint": self.endpoint(),
            "token_id": self.token_id,
            "token_secret": self.token_secret,
            "fingerprint": self.fingerprint.to_string(),
            "talos_proxy": self.talos_proxy(),
        });
        if let Some(factory) = self.factory {
            document["factory"] = json!(format!("http://{factory}"));
        }
        document
    }
}

/// Lines for a shell; what is for other clients stands behind `#`.
impl fmt::Display for Introduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, token_id, token_secret, fingerprint, factory, .. } = self;
        let endpoint = self.endpoint();
        let (host, port) = (address.ip(), address.port());
        let (user, name) = token_id.split_once('!').unwrap_or((token_id, ""));
        writeln!(f, "# A simulated Proxmox VE listens on {endpoint}")?;
        writeln!(f, "export PROXMOX_ENDPOINT='{endpoint}'")?;
        writeln!(f, "export PROXMOX_TOKEN_ID='{token_id}'")?;
        writeln!(f, "export PROXMOX_TOKEN_SECRET='{token_secret}'")?;
        writeln!(f, "# The simulated nodes answer behind a proxy, also as --talos-proxy:")?;
        writeln!(f, "export PVETALOS_TALOS_PROXY='{}'", self.talos_proxy())?;
        writeln!(f, "# pvetalos.yaml, or nodes.yaml:")?;
        writeln!(f, "#   proxmox: {{fingerprint: \"{fingerprint}\"}}")?;
        writeln!(f, "# curl:")?;
        let header = "Authorization: PVEAPIToken=$PROXMOX_TOKEN_ID=$PROXMOX_TOKEN_SECRET";
        writeln!(f, "#   curl -k -H \"{header}\" {endpoint}/api2/json/nodes")?;
        writeln!(f, "# proxmoxer:")?;
        write!(f, "#   ProxmoxAPI('{host}', port={port}, user='{user}', token_name='{name}', ")?;
        writeln!(f, "token_value='{token_secret}', verify_ssl=False)")?;
        if let Some(factory) = factory {
            writeln!(f, "# An Image Factory, for `pvetalos schematic` and `pvetalos template create`:")?;
            writeln!(f, "#   --factory http://{factory}")?;
        }
        writeln!(f, "# Stop it with Ctrl-C.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_introduction_can_be_read_by_a_shell() {
        let introduction = Introduction {
            address: ([127, 0, 0, 1], 8006).into(),
            gate: ([127, 0, 0, 1], 50000).into(),
            token_id: "pvetalos@pve!simulator".to_owned(),
            token_secret: "11111111-1111-4111-8111-111111111111".to_owned(),
            fingerprint: Fingerprint::new([0xab; 32]),
            factory: None,
        };
        insta::assert_snapshot!(introduction, @r#"
        # A simulated Proxmox VE listens on https://127.0.0.1:8006
        export PROXMOX_ENDPOINT='https://127.0.0.1:8006'
        export PROXMOX_TOKEN_ID='pvetalos@pve!simulator'
        export PROXMOX_TOKEN_SECRET='11111111-1111-4111-8111-111111111111'
        # The simulated nodes answer behind a proxy, also as --talos-proxy:
        export PVETALOS_TALOS_PROXY='socks5://127.0.0.1:50000'
        # pvetalos.yaml, or nodes.yaml:
        #   proxmox: {fingerprint: "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB"}
        # curl:
        #   curl -k -H "Authorization: PVEAPIToken=$PROXMOX_TOKEN_ID=$PROXMOX_TOKEN_SECRET" https://127.0.0.1:8006/api2/json/nodes
        # proxmoxer:
        #   ProxmoxAPI('127.0.0.1', port=8006, user='pvetalos@pve', token_name='simulator', token_value='11111111-1111-4111-8111-111111111111', verify_ssl=False)
        # Stop it with Ctrl-C.
        "#);
    }
}
