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
use crate::config::{Connection, Decrypted, Explain, Inputs, Loaded, Problem, Sealed, Undecrypted, load};
use crate::model::{Cluster, Endpoint, TokenId};
use crate::proxmox::task::Pace;
use crate::proxmox::{Client, HttpsTransport, ProxmoxError, RefusalKind, SetupError, Timing, Trust};
use crate::talos::{AnyDial, Dial as _, NoWay};
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
    /// Where Proxmox is; nowhere in a simulation.
    pub(super) endpoint: Option<Endpoint>,
    pub(super) token: TokenId,
    pub(super) client: Result<Client<Way>, SetupError>,
    pub(super) dial: AnyDial,
    /// Why the nodes cannot be reached, whoever they are. It has been told.
    pub(super) no_way: Option<NoWay>,
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
                ui.show_failure(&error.with_causes(), &self.hint(&error));
                Err(Ended::With(Exit::Failed))
            }
            None => Err(Ended::With(Exit::Interrupted)),
        }
    }

    /// What the user can do next. A token that is not accepted is named with its place: a forgotten variable stands above
    /// every file.
    pub(super) fn hint(&self, error: &ProxmoxError) -> String {
        let hint = error.hint();
        let credentials = &self.cluster.proxmox.credentials;
        match (&credentials.token_id, &credentials.token_secret) {
            (Some(id), Some(secret)) if self.is_refused_token(error) => {
                let token = &id.value;
                if id.origin == secret.origin {
                    return format!("the token {token} comes from {}; {hint}", id.origin);
                }
                format!("the token {token} comes from {}, and its secret from {}; {hint}", id.origin, secret.origin)
            }
            _ => hint,
        }
    }

    /// Whether a real Proxmox does not accept the token. A simulated one has a token of its own.
    fn is_refused_token(&self, error: &ProxmoxError) -> bool {
        self.pretended.is_none() && error.kind() == Some(&RefusalKind::Unauthenticated)
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
    match open(args, global, ui).await {
        Ok(session) => {
            let result = work(&session, ui).await;
            ended(result, session.pretended.as_ref(), ui)
        }
        Err(end) => ended(Err(end), None, ui),
    }
}

/// The same for work that asks only the nodes, so that neither the address of Proxmox nor a token is needed. Whether
/// there is a way to them is left to the work, which may find more mistakes.
pub(super) async fn with_nodes(
    args: &TalosArgs,
    global: &GlobalArgs,
    ui: &mut Ui,
    work: impl AsyncFnOnce(&Cluster, Result<AnyDial, Problem>, &mut Ui) -> Result<Exit, Ended>,
) -> io::Result<Exit> {
    let opened = load_cluster(global, ui).and_then(|cluster| {
        let pretended = global.simulate.as_deref().map(|file| pretend(file, ui)).transpose()?;
        Ok((cluster, pretended))
    });
    let (cluster, pretended) = match opened {
        Ok(opened) => opened,
        Err(end) => return ended(Err(end), None, ui),
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

async fn open(args: &ConnectionArgs, global: &GlobalArgs, ui: &mut Ui) -> Result<Session, Ended> {
    match &global.simulate {
        Some(file) => Ok(simulated(load_cluster(global, ui)?, pretend(file, ui)?)),
        None => real(args, global.inputs(), ui).await,
    }
}

const WRONG_INPUT: Ended = Ended::With(Exit::WrongInput);

/// The cluster of the files; what is wrong with them is shown.
fn load_cluster(global: &GlobalArgs, ui: &mut Ui) -> Result<Cluster, Ended> {
    let inputs = global.inputs();
    say_what_stands_in(&inputs, ui);
    shown(load(inputs, Explain::No), ui)
}

/// Tells once where the nodes come from, if that is not nodes.yaml.
pub(super) fn say_what_stands_in(inputs: &Inputs, ui: &mut Ui) {
    if let Some(sentence) = inputs.stand_in() {
        ui.say(sentence);
    }
}

/// Shows what there is to say about the files, and goes on if they make a cluster.
fn shown(loaded: Loaded, ui: &mut Ui) -> Result<Cluster, Ended> {
    ui.show_problems(&loaded.problems);
    loaded.cluster.ok_or(WRONG_INPUT)
}

/// The simulated world of a file; what is wrong with it is shown.
fn pretend(file: &Path, ui: &mut Ui) -> Result<Pretended, Ended> {
    match Pretended::open(file) {
        Ok(pretended) => {
            let file = pretended.file.display();
            let kept = if pretended.goes_on { "goes on in" } else { "is kept in" };
            ui.say(&format!("SIMULATION: nothing real is touched; the world {kept} {file}\n"));
            Ok(pretended)
        }
        Err(problems) => {
            ui.show_problems(&problems);
            Err(WRONG_INPUT)
        }
    }
}

fn simulated(cluster: Cluster, pretended: Pretended) -> Session {
    let simulator = pretended.simulator();
    Session {
        cluster,
        endpoint: None,
        token: pretended.token.id.clone(),
        client: Ok(Client::new(Way::Simulated(pretended.transport()))),
        dial: AnyDial::new(simulator.guest_network()),
        no_way: None,
        pretended: Some(pretended),
    }
}

async fn real(args: &ConnectionArgs, inputs: Inputs, ui: &mut Ui) -> Result<Session, Ended> {
    say_what_stands_in(&inputs, ui);
    let mut loaded = load(inputs.clone(), Explain::No);
    let lacking = Connection::lacking(&loaded);
    let dial = match args.talos.dial() {
        Ok(dial) if loaded.cluster.is_some() && lacking.is_empty() => dial,
        dial => {
            shown(loaded, ui)?;
            ui.show_problems(&lacking);
            ui.show_problems(dial.err().as_slice());
            return Err(WRONG_INPUT);
        }
    };
    // Nothing else is missing, so that it is worth whatever `sops` may ask for.
    if let Some(sealed) = loaded.sealed.take() {
        match decrypted(&sealed).await? {
            Ok(decrypted) => loaded = load(inputs.with_decrypted(decrypted), Explain::No),
            Err(problem) => {
                shown(loaded, ui)?;
                ui.show_problems(&[problem]);
                return Err(WRONG_INPUT);
            }
        }
    }
    let lacking = Connection::lacking(&loaded);
    let cluster = shown(loaded, ui)?;
    let Some(connection) = Connection::of(&cluster) else {
        ui.show_problems(&lacking);
        return Err(WRONG_INPUT);
    };
    let trust = if args.insecure {
        ui.warn(
            "the server's certificate is not verified (--insecure): whoever is in between can steal the token. \
             Pin its fingerprint instead: `pvenode cert info` on the host shows it, \
             `fingerprints: [\"…\"]` under `proxmox:` in nodes.yaml or pvetalos.yaml trusts it",
        );
        Trust::Insecure
    } else {
        Trust::of(&connection.trust)
    };
    let no_way = dial.check().await.err();
    if let Some(no_way) = &no_way {
        ui.warn(&format!("{no_way}, so that no node can be reached: {}", NoWay::hint()));
    }
    let transport = HttpsTransport::new(&connection.endpoint, &connection.token, trust, Timing::default());
    Ok(Session {
        cluster,
        endpoint: Some(connection.endpoint),
        token: connection.token.id,
        client: transport.map(|transport| Client::new(Way::Https(Arc::new(transport)))),
        dial,
        no_way,
        pretended: None,
    })
}

/// What the SOPS file holds, or what is wrong with it. Ctrl-C ends both it and us.
async fn decrypted(sealed: &Sealed) -> Result<Result<Decrypted, Problem>, Ended> {
    match Interrupts::new()?.or(sealed.decrypt()).await {
        Some(Ok(decrypted)) => Ok(Ok(decrypted)),
        Some(Err(Undecrypted::Failed(problem))) => Ok(Err(problem)),
        Some(Err(Undecrypted::Interrupted)) | None => Err(Ended::With(Exit::Interrupted)),
    }
}
