use std::sync::Arc;

use super::args::GlobalArgs;
use crate::config::{Connection, Explain, Inputs, Loaded, load};
use crate::model::Cluster;
use crate::proxmox::{Client, HttpsTransport, SetupError, Timing, Trust};
use crate::ui::Ui;

/// How to reach Proxmox, for commands that do.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectionArgs {
    /// Do not verify the server's certificate: whoever is in between can steal the token
    #[arg(long, help_heading = "Input")]
    insecure: bool,
}

/// A cluster and the way to its Proxmox.
pub(super) struct Reached {
    pub(super) cluster: Cluster,
    pub(super) connection: Connection,
    pub(super) client: Result<Client<Arc<HttpsTransport>>, SetupError>,
}

/// Loads the files and prepares a client; none when the input is wrong, which is then shown.
pub(super) fn reach(args: &ConnectionArgs, global: &GlobalArgs, ui: &mut Ui) -> Option<Reached> {
    let Loaded { cluster, problems, .. } = load(Inputs::from_environment(&global.locations()), Explain::No);
    ui.show_problems(&problems);
    let cluster = cluster?;
    let connection = match Connection::of(&cluster) {
        Ok(connection) => connection,
        Err(problems) => {
            ui.show_problems(&problems);
            return None;
        }
    };
    let trust = if args.insecure {
        ui.warn(
            "the server's certificate is not verified (--insecure): whoever is in between can steal the token. \
             Pin its fingerprint instead: `pvenode cert info` on the host shows it, \
             `proxmox: {fingerprints: [\"…\"]}` in pvetalos.yaml trusts it",
        );
        Trust::Insecure
    } else {
        Trust::of(&connection.trust)
    };
    let transport = HttpsTransport::new(&connection.endpoint, &connection.token, trust, Timing::default());
    Some(Reached { cluster, connection, client: transport.map(Arc::new).map(Client::new) })
}
