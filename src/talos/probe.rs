//! One look at a node: connect, secure, ask. The last step that works tells the state.

use std::io;
use std::time::Duration;

use hyper::Uri;
use rustls::{AlertDescription, Error as TlsError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::api::{Api, Failure};
use super::check::{check, check_certificate};
use super::generated::definitions::MachineStage;
use super::handshake::{Handshake, Shown};
use super::leaf::{Leaf, MAINTENANCE};
use super::port::is_answer;
use super::said::{ask, stage};
use super::tap::{Opening, Tap};
use super::{Dial, NoWay, NodeState, Sighting, Target, root_cause, shown};

/// How long each step of one look may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub connect: Duration,
    pub handshake: Duration,
    /// All questions together.
    pub answers: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), handshake: Duration::from_secs(3), answers: Duration::from_secs(5) }
    }
}

/// Looks once at a node, over a connection of its own: an old one may still be served by a mode that is over.
pub async fn probe<D: Dial>(dial: &D, target: &Target, patience: &Patience) -> Sighting {
    match connect(dial, target, patience).await {
        Ok(stream) => recognise(target, stream, patience).await,
        Err(sighting) => sighting,
    }
}

/// The first step of a look: it costs next to nothing, but where nobody is it takes all of its time.
pub(super) async fn connect<D: Dial>(dial: &D, target: &Target, patience: &Patience) -> Result<D::Stream, Sighting> {
    match timeout(patience.connect, dial.dial(target.socket())).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(no_connection(&error)),
        Err(_) => Err(Sighting::new(NodeState::Unreachable, format!("no answer within {:?}", patience.connect))),
    }
}

/// The rest of a look: who is at the other end?
pub(super) async fn recognise<S>(target: &Target, stream: S, patience: &Patience) -> Sighting
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (handshake, opening) = (Handshake::new(), Opening::default());
    let secured = handshake.perform(target.address, Tap::new(stream, opening.clone()));
    let secured = timeout(patience.handshake, secured).await;
    let shown = handshake.shown();
    let proven = match &secured {
        Ok(Ok(_)) => true,
        // In TLS 1.2, and whenever the end overtakes the handshake, the refusal of our empty hands comes in its middle.
        Ok(Err(error)) => tls_error(error).is_none_or(|error| matches!(error, TlsError::AlertReceived(_))),
        Err(_) => false,
    };
    if proven && shown.is_configured_talos() {
        return configured(target, &shown);
    }
    match secured {
        // Room for all the questions is taken only once there is somebody to put them to.
        Ok(Ok(stream)) => Box::pin(talk(target, stream, shown, patience)).await,
        Ok(Err(error)) => no_handshake(&error, &opening),
        Err(_) if opening.is_empty() => Sighting::new(
            NodeState::NotTalos,
            format!("accepts the connection and says nothing for {:?}", patience.handshake),
        ),
        Err(_) => {
            Sighting::new(NodeState::NotTalos, format!("no end of the TLS handshake within {:?}", patience.handshake))
        }
    }
}

fn no_connection(error: &io::Error) -> Sighting {
    if is_answer(error) {
        return Sighting::new(NodeState::Closed, "the connection is refused");
    }
    Sighting { no_way: NoWay::within(error).is_some(), ..Sighting::new(NodeState::Unreachable, root_cause(error)) }
}

/// What TLS itself found, if it was not the connection that failed.
fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

fn no_handshake(error: &io::Error, opening: &Opening) -> Sighting {
    match tls_error(error) {
        // Listening begins before the certificate is there, up to 1.12.
        Some(TlsError::AlertReceived(AlertDescription::UnrecognisedName)) => {
            Sighting::new(NodeState::Starting, "Talos listens and has no certificate yet (TLS alert 112)")
        }
        Some(TlsError::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            Sighting::new(NodeState::NotTalos, "speaks TLS, but not HTTP/2")
        }
        Some(TlsError::InvalidMessage(_)) => {
            Sighting::new(NodeState::NotTalos, format!("answers {}, which is not TLS", opening.quoted()))
        }
        Some(other) => Sighting::new(NodeState::NotTalos, format!("no TLS connection: {}", shown(&other.to_string()))),
        None if opening.is_empty() => {
            Sighting::new(NodeState::NotTalos, "accepts the connection and hangs up without a word")
        }
        None => Sighting::new(NodeState::NotTalos, format!("no TLS connection: {}", root_cause(error))),
    }
}

/// A node that asks for client certificates has its configuration. Nothing is asked: it would only refuse.
fn configured(target: &Target, shown: &Shown) -> Sighting {
    let leaf = shown.leaf.clone().unwrap_or_default();
    let name = leaf.common_name.clone().unwrap_or_else(|| "a node without a name".to_owned());
    let checks = check_certificate(target, &leaf);
    Sighting::new(NodeState::Configured, format!("{name} asks for a client certificate of Talos"))
        .with_leaf(leaf)
        .with_checks(checks)
}

/// Asks the questions of a node in maintenance to whoever looks like one.
async fn talk<S>(target: &Target, stream: TlsStream<Tap<S>>, shown: Shown, patience: &Patience) -> Sighting
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let leaf = shown.leaf.clone().unwrap_or_default();
    if let Some(why) = stranger(&leaf, &shown, stream.get_ref().1.alpn_protocol()) {
        return Sighting::new(NodeState::NotTalos, why).with_leaf(leaf);
    }
    let seen = timeout(patience.answers, converse(target, stream)).await.unwrap_or_else(|_| {
        Sighting::new(NodeState::Starting, format!("Talos does not answer within {:?}", patience.answers))
    });
    seen.with_leaf(leaf)
}

/// Why a peer is none that questions should be put to.
fn stranger(leaf: &Leaf, shown: &Shown, protocol: Option<&[u8]>) -> Option<String> {
    let name = || leaf.common_name.clone().unwrap_or_else(|| "nobody".to_owned());
    if shown.asked_for_certificate {
        Some(format!("asks for a client certificate, and not for one of Talos; its own is made out for {}", name()))
    } else if !leaf.is_of_maintenance() {
        Some(format!("its certificate is made out for {}, not for {MAINTENANCE}", name()))
    } else if protocol != Some(b"h2") {
        Some("speaks TLS, but not HTTP/2".to_owned())
    } else {
        None
    }
}

async fn converse<S>(target: &Target, stream: TlsStream<Tap<S>>) -> Sighting
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let origin = Uri::builder().scheme("https").authority(target.socket().to_string()).path_and_query("/").build();
    let origin = origin.expect("an address with a port is an authority");
    let conversation = Api::converse(stream, origin, async |api| question(target, &api).await);
    match conversation.await {
        Ok(sighting) => sighting,
        Err(error) => Sighting::new(NodeState::NotTalos, format!("no HTTP/2: {}", root_cause(&error))),
    }
}

async fn question(target: &Target, api: &Api) -> Sighting {
    match stage(api).await {
        Ok(MachineStage::Maintenance) => {}
        Ok(stage) => return Sighting::new(NodeState::Starting, format!("Talos is {}", stage_words(stage))),
        Err(failure) => return unanswered(failure),
    }
    match ask(api).await {
        Ok(said) => {
            let checks = check(target, &said);
            Sighting::new(NodeState::Maintenance, "Talos waits for a machine configuration")
                .with_said(said)
                .with_checks(checks)
        }
        Err(failure) => unanswered(failure),
    }
}

fn unanswered(failure: Failure) -> Sighting {
    match failure {
        Failure::Absent => Sighting::new(NodeState::Starting, "Talos has no stage yet"),
        Failure::BrokenOff(why) => Sighting::new(NodeState::Starting, format!("Talos breaks off: {why}")),
        Failure::Unknown => Sighting::new(NodeState::NotTalos, "does not know the questions that every Talos answers"),
        Failure::Nonsense(why) => Sighting::new(NodeState::NotTalos, format!("answers as no Talos does: {why}")),
    }
}

fn stage_words(stage: MachineStage) -> &'static str {
    match stage {
        MachineStage::Unknown => "in a stage that it does not name",
        MachineStage::Booting => "booting",
        MachineStage::Installing => "installing",
        MachineStage::Maintenance => "in maintenance",
        MachineStage::Running => "running",
        MachineStage::Rebooting => "rebooting",
        MachineStage::ShuttingDown => "shutting down",
        MachineStage::Resetting => "resetting",
        MachineStage::Upgrading => "upgrading",
    }
}
