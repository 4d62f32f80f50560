//! One simulated cluster that everybody shares: the world, its clock, the faults in wait and the log of requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;

use super::clock::Clock;
use super::faults::{Effect, Fault, Faults};
use super::request_log::RequestLog;
use super::{Call, Reply, World};
use crate::proxmox::request::{Answer, Method, Request};

/// A handle to one simulated cluster; clones are handles to the same one.
///
/// ```text
///  HTTPS server ──┐                ┌─ faults: does anything go wrong with request k?
///                 ├─► exchange() ──┼─ world:  what is the answer, and how long does it take?
///  in process  ───┘                └─ clock:  waits that long, in real or in paused time
/// ```
/// Both ways in go through [`exchange`](Self::exchange), so a story told in process holds over a socket too.
#[derive(Clone, Debug)]
pub struct Simulator(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    clock: Clock,
    waits: Waits,
    killed: watch::Sender<bool>,
}

#[derive(Debug)]
struct State {
    world: World,
    faults: Faults,
    log: RequestLog,
}

/// The waits that belong to the server and not to the cluster behind it.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// Added to every answer.
    pub latency: Duration,
    /// How long a refused login waits for its answer, against guessing (pve-http-server: `AnyEvent.pm`).
    pub refused_login: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { latency: Duration::ZERO, refused_login: Duration::from_secs(3) }
    }
}

/// How a request ended for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    Answered {
        answer: Answer,
        /// The server hangs up after this answer.
        close: bool,
    },
    /// The connection closed without an answer.
    Dropped,
    /// The connection was reset.
    Reset,
    /// The client is dead; nobody waits for an end.
    ClientKilled,
}

impl Simulator {
    pub fn new(world: World) -> Self {
        Self::with(world, Clock::default(), Waits::default())
    }

    pub fn with(world: World, clock: Clock, waits: Waits) -> Self {
        let state = State { world, faults: Faults::default(), log: RequestLog::default() };
        Self(Arc::new(Shared { state: Mutex::new(state), clock, waits, killed: watch::Sender::new(false) }))
    }

    pub fn inject(&self, fault: Fault) {
        self.state().faults.inject(fault);
    }

    /// The requests so far.
    pub fn log(&self) -> RequestLog {
        self.state().log.clone()
    }

    /// Forgets the requests so far; the next one is number 1 again.
    pub fn clear_log(&self) {
        self.state().log = RequestLog::default();
    }

    /// Looks at the world, or changes it, as it is now.
    pub fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        let now = self.0.clock.now();
        let mut state = self.state();
        state.world.advance(now);
        look(&mut state.world)
    }

    /// Whether a bug has interrupted the world in the middle of a change, so that it may no longer be sound.
    pub fn is_damaged(&self) -> bool {
        self.0.state.is_poisoned()
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Waits until a fault has killed the client. Whoever runs the client drops it then, as a killed process drops
    /// everything.
    pub async fn client_killed(&self) {
        let mut killed = self.0.killed.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        drop(killed.wait_for(|killed| *killed).await);
    }

    /// Lets a new client start after the last one was killed.
    pub fn revive_client(&self) {
        self.0.killed.send_replace(false);
    }

    /// Carries out one request as far as the faults allow, and waits as long as its answer takes.
    ///
    /// The world sees the request before the first wait: a client that hangs up early changes nothing any more.
    pub(super) async fn exchange(&self, request: &Request, authorization: Option<&str>) -> Exchange {
        let _in_flight = InFlight(self);
        let (effect, reply) = self.deliver(request, authorization);
        let mut pause = self.0.waits.latency;
        if let Some(reply) = &reply {
            let wait = if reply.answer.status == 401 { self.0.waits.refused_login } else { reply.delay };
            pause = pause.saturating_add(wait);
        }
        if let Some(Effect::Delay(delay)) = effect {
            pause = pause.saturating_add(delay);
        }
        self.0.clock.sleep(pause).await;
        self.finish(effect, reply)
    }

    /// The same for a request that came with a file, which the host puts aside first.
    pub(super) async fn exchange_upload(
        &self,
        mut request: Request,
        size: u64,
        virtual_size: Option<u64>,
        authorization: Option<&str>,
    ) -> Exchange {
        if let Some(answer) = self.refuse_stranger(authorization).await {
            return Exchange::Answered { answer, close: true };
        }
        let file = self.world(|world| world.receive_upload(size, virtual_size));
        request.params.push(("tmpfilename".to_owned(), file));
        self.exchange(&request, authorization).await
    }

    fn deliver(&self, request: &Request, authorization: Option<&str>) -> (Option<Effect>, Option<Reply>) {
        let now = self.0.clock.now();
        let mut state = self.state();
        let number = state.log.note(now, request);
        let effect = state.faults.strike(number, request);
        if let Some(Effect::InWorld(fault)) = &effect {
            state.world.advance(now);
            state.world.inject(fault.clone());
        }
        let arrives = effect.as_ref().is_none_or(Effect::lets_it_through);
        let reply = arrives.then(|| state.world.call(now, Call { request, authorization }));
        (effect, reply)
    }

    fn finish(&self, effect: Option<Effect>, reply: Option<Reply>) -> Exchange {
        match effect {
            None | Some(Effect::Delay(_) | Effect::InWorld(_)) => reply.map_or(Exchange::Dropped, answered),
            Some(Effect::Malformed(how)) => reply.map_or(Exchange::Dropped, |mut reply| {
                reply.answer.body = how.spoil(&reply.answer.body);
                answered(reply)
            }),
            Some(Effect::NeverArrives | Effect::LoseAnswer) => Exchange::Dropped,
            Some(Effect::Reset { .. }) => Exchange::Reset,
            Some(Effect::Answer { status, text, .. }) => {
                Exchange::Answered { answer: made_up(status, &text), close: status >= 400 }
            }
            Some(Effect::KillClient { .. }) => {
                self.0.killed.send_replace(true);
                Exchange::ClientKilled
            }
        }
    }

    /// The answer for somebody whom the server does not know, after the wait that is due; nothing for the others.
    ///
    /// The server looks at the login before it looks at the body, so it has to be able to ask without a call. Asking
    /// for the version is the call that changes nothing and that everybody may make.
    pub(super) async fn refuse_stranger(&self, authorization: Option<&str>) -> Option<Answer> {
        let version = Request { method: Method::Get, path: "/version".to_owned(), params: Vec::new() };
        let answer = self.state().world.call(self.0.clock.now(), Call { request: &version, authorization }).answer;
        if answer.status != 401 {
            return None;
        }
        self.0.clock.sleep(self.0.waits.refused_login).await;
        Some(answer)
    }

    /// A panic while the world was locked is a bug, but one that should not take every other connection with it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a request as over even when its client stops waiting for it.
struct InFlight<'a>(&'a Simulator);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.state().log.note_end();
    }
}

fn answered(reply: Reply) -> Exchange {
    let close = reply.close || reply.answer.status >= 400;
    Exchange::Answered { answer: reply.answer, close }
}

/// An answer in the shape that Proxmox gives to this status: none of the proxy's own statuses has a body.
fn made_up(status: u16, text: &str) -> Answer {
    let body = match status {
        401 | 595..=599 => Vec::new(),
        _ => json!({"data": null, "message": format!("{text}\n")}).to_string().into_bytes(),
    };
    Answer { status, reason: text.lines().next().unwrap_or_default().to_owned(), body }
}
