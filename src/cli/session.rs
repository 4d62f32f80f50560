use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::args::GlobalArgs;
use super::exit::{Ended, Exit};
use super::interrupt::Interrupts;
use super::pretend::Pretended;
use super::talos::TalosArgs;
use super::way::Way;
use crate::apply::Settings;
use crate::config::{Connection, Explain, Loaded, Problem, load};
use crate::model::{Cluster, TokenId};
use crate::proxmox::task::Pace;
use crate::proxmox::{Client, HttpsTransport, ProxmoxError, SetupError, Timing, Trust};
use crate::talos::AnyDial;
use crate::ui::Ui;

/// How to reach Proxmox, for commands that do.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectionArgs {
    /// Do not verify the server's certificate: whoever is in between can steal the token
    #[arg(long, help_heading = "Input")]
    insecure: bool,
    #[command(flatten)]
    talos: TalosArgs,
}

/// A cluster, and the ways to its Proxmox and its nodes.
pub(super) struct Session {
    pub(super) cluster: Cluster,
    pub(super) token: TokenId,
    pub(super) client: Result<Client<Way>, SetupError>,
    pub(super) dial: AnyDial,
    pretended: Option<Pretended>,
}

impl Session {
    /// How much at once, and how often to look. A world that lives faster is looked at more often.
    pub(super) fn settings(&self) -> Settings {
        let usual = Settings::default();
        if self.pretended.is_none() {
            return usual;
        }
        let pace = Pace { fastest: Duration::from_millis(100), log: Duration::from_millis(200), ..usual.pace };
        Settings { pace, ..usual }
    }

    /// The client; why there is none is shown.
    pub(super) fn client(&self, ui: &mut Ui) -> Result<&Client<Way>, Ended> {
        self.client.as_ref().map_err(|error| {
            ui.show_failure(&error.with_causes(), error.hint());
            Ended::With(Exit::Failed)
        })
    }

    /// Does something that changes nothing, until it is done or somebody presses Ctrl-C. What makes all else pointless
    /// is shown.
    pub(super) async fn asking<T>(
        &self,
        ui: &mut Ui,
        work: impl Future<Output = Result<T, ProxmoxError>>,
    ) -> Result<T, Ended> {
        match Interrupts::new()?.or(work).await {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => {
                ui.show_failure(&error.with_causes(), &error.hint());
                Err(Ended::With(Exit::Failed))
            }
            None => Err(Ended::With(Exit::Interrupted)),
        }
    }
}

/// Loads the files, opens the way to Proxmox, and lets `work` go it. Wrong input is shown, and ends it before.
///
/// However the work ends, a simulated world is kept as it is then.
pub(super) async fn with_session(
    args: &ConnectionArgs,
    global: &GlobalArgs,
    ui: &mut Ui,
    work: impl AsyncFnOnce(&Session, &mut Ui) -> Result<Exit, Ended>,
) -> io::Result<Exit> {
    let Some(session) = open(args, global, ui) else {
        return Ok(Exit::WrongInput);
    };
    let result = work(&session, ui).await;
    ended(result, session.pretended.as_ref(), ui)
}

/// The same for work that asks only the nodes, so that neither the address of Proxmox nor a token is needed. Whether
/// there is a way to them is left to the work, which may find more mistakes.
pub(super) async fn with_nodes(
    args: &TalosArgs,
    global: &GlobalArgs,
    ui: &mut Ui,
    work: impl AsyncFnOnce(&Cluster, Result<AnyDial, Problem>, &mut Ui) -> Result<Exit, Ended>,
) -> io::Result<Exit> {
    let Some(cluster) = load_cluster(global, ui) else {
        return Ok(Exit::WrongInput);
    };
    let pretended = match &global.simulate {
        None => None,
        Some(file) => match pretend(file, ui) {
            None => return Ok(Exit::WrongInput),
            pretended => pretended,
        },
    };
    let dial = match &pretended {
        Some(pretended) => Ok(AnyDial::new(pretended.simulator().guest_network())),
        None => args.dial(),
    };
    let result = work(&cluster, dial, ui).await;
    ended(result, pretended.as_ref(), ui)
}

/// Keeps the simulated world, if there is one.
fn ended(result: Result<Exit, Ended>, pretended: Option<&Pretended>, ui: &mut Ui) -> io::Result<Exit> {
    let result = match result {
        Ok(exit) | Err(Ended::With(exit)) => Ok(exit),
        Err(Ended::Unwritable(error)) => Err(error),
    };
    if let Some(Err(problem)) = pretended.map(Pretended::keep) {
        ui.show_problems(&[problem]);
        return result.map(|_| Exit::Failed);
    }
    result
}

fn open(args: &ConnectionArgs, global: &GlobalArgs, ui: &mut Ui) -> Option<Session> {
    let cluster = load_cluster(global, ui)?;
    match &global.simulate {
        Some(file) => pretend(file, ui).map(|pretended| simulated(cluster, pretended)),
        None => real(args, cluster, ui),
    }
}

fn load_cluster(global: &GlobalArgs, ui: &mut Ui) -> Option<Cluster> {
    let inputs = global.inputs();
    if inputs.is_sample() {
        ui.say("there is no nodes.yaml here: the built-in nodes.sample.yaml is used");
    }
    let Loaded { cluster, problems, .. } = load(inputs, Explain::No);
    ui.show_problems(&problems);
    cluster
}

/// The simulated world of a file; what is wrong with it is shown.
fn pretend(file: &Path, ui: &mut Ui) -> Option<Pretended> {
    match Pretended::open(file) {
        Ok(pretended) => {
            let file = pretended.file.display();
            let kept = if pretended.goes_on { "goes on in" } else { "is kept in" };
            ui.say(&format!("SIMULATION: nothing real is touched; the world {kept} {file}\n"));
            Some(pretended)
        }
        Err(problems) => {
            ui.show_problems(&problems);
            None
        }
    }
}

fn simulated(cluster: Cluster, pretended: Pretended) -> Session {
    let simulator = pretended.simulator();
    Session {
        cluster,
        token: pretended.token.id.clone(),
        client: Ok(Client::new(Way::Simulated(pretended.transport()))),
        dial: AnyDial::new(simulator.guest_network()),
        pretended: Some(pretended),
    }
}

fn real(args: &ConnectionArgs, cluster: Cluster, ui: &mut Ui) -> Option<Session> {
    let (connection, dial) = match (Connection::of(&cluster), args.talos.dial()) {
        (Ok(connection), Ok(dial)) => (connection, dial),
        (connection, dial) => {
            ui.show_problems(&connection.err().unwrap_or_default());
            ui.show_problems(dial.err().as_slice());
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
    Some(Session {
        cluster,
        token: connection.token.id,
        client: transport.map(|transport| Client::new(Way::Https(Arc::new(transport)))),
        dial,
        pretended: None,
    })
}
