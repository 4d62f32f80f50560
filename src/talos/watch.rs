use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::probe::{connect, recognise};
use super::{Dial, History, NodeState, Pace, Patience, Sighting, Target};

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Maintenance,
    Configured,
    /// Either of the two.
    Any,
}

impl Goal {
    pub fn is_reached(self, state: NodeState) -> bool {
        match self {
            Self::Maintenance => state == NodeState::Maintenance,
            Self::Configured => state == NodeState::Configured,
            Self::Any => matches!(state, NodeState::Maintenance | NodeState::Configured),
        }
    }

    /// Whether no waiting will ever lead from this state to the goal.
    fn is_lost(self, state: NodeState) -> bool {
        state == NodeState::WrongHost || (self == Self::Maintenance && state == NodeState::Configured)
    }
}

/// How the waiting for one node ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    pub end: End,
    /// The last look.
    pub sighting: Sighting,
    pub history: History,
    pub took: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Reached,
    /// In a state from which the goal cannot be reached by waiting.
    Lost,
    TimedOut,
}

/// Looks at nodes, so many at once.
#[derive(Debug)]
pub struct Watch<D> {
    dial: D,
    /// For those who are there: looks at them take milliseconds of work.
    turns: Semaphore,
    /// For those who may not be: knocking takes seconds of waiting, which must not keep the others from their turns.
    knocks: Semaphore,
    patience: Patience,
    pace: Pace,
}

/// Looks in flight, unless set otherwise. Twice as many may knock where nobody answered before.
pub const AT_ONCE: usize = 64;

/// More connections than a process may have open.
const MOST_AT_ONCE: usize = 1 << 16;

impl<D: Dial> Watch<D> {
    pub fn new(dial: D) -> Self {
        Self::at_once(dial, AT_ONCE)
    }

    /// With so many looks in flight; at least one.
    pub fn at_once(dial: D, looks: usize) -> Self {
        let looks = looks.clamp(1, MOST_AT_ONCE);
        let (turns, knocks) = (Semaphore::new(looks), Semaphore::new(2 * looks));
        Self { dial, turns, knocks, patience: Patience::default(), pace: Pace::default() }
    }

    #[must_use]
    pub fn patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Looks once at a node.
    pub async fn look(&self, target: &Target) -> Sighting {
        Box::pin(self.look_again(target, NodeState::Unreachable)).await
    }

    /// Looks at a node that was last seen so.
    async fn look_again(&self, target: &Target, last: NodeState) -> Sighting {
        let wait = "the semaphores are never closed";
        let (_knock, stream, _turn) = if last.is_held() {
            let turn = self.turns.acquire().await.expect(wait);
            (None, connect(&self.dial, target, &self.patience).await, turn)
        } else {
            let knock = self.knocks.acquire().await.expect(wait);
            let stream = connect(&self.dial, target, &self.patience).await;
            if let Err(sighting) = stream {
                return sighting;
            }
            (Some(knock), stream, self.turns.acquire().await.expect(wait))
        };
        match stream {
            // Boxed once more: many knock, and only few of them need the room for all the questions.
            Ok(stream) => Box::pin(recognise(target, stream, &self.patience)).await,
            Err(sighting) => sighting,
        }
    }

    /// Looks at a node again and again until the goal is reached, cannot be reached any more, or the time is over.
    ///
    /// Ends within the time-out, whatever the peer does; at least one look is made. `tell` hears of every look.
    pub async fn wait(
        &self,
        target: &Target,
        goal: Goal,
        time_out: Duration,
        mut tell: impl FnMut(&Sighting),
    ) -> Waited {
        let began = Instant::now();
        let end_at = began + time_out.min(FOREVER);
        let mut history = History::default();
        let mut last: Option<Sighting> = None;
        loop {
            let look_at = Instant::now();
            let seen = last.as_ref().map_or(NodeState::Unreachable, |last| last.state);
            // Boxed, because a waiting node mostly sleeps, and whoever waits for hundreds keeps all of their states.
            let looked = timeout_at(end_at, Box::pin(self.look_again(target, seen))).await;
            let now = began.elapsed();
            let sighting = match (looked, last.take()) {
                (Ok(sighting), _) => sighting,
                // The time was over in the middle of a look: what the one before showed still holds.
                (Err(_), Some(last)) => return Waited { end: End::TimedOut, sighting: last, history, took: now },
                (Err(_), None) => Sighting::new(NodeState::Unreachable, format!("no answer within {time_out:?}")),
            };
            history.note(now, &sighting);
            tell(&sighting);
            let end = match sighting.state {
                state if goal.is_reached(state) => Some(End::Reached),
                state if goal.is_lost(state) => Some(End::Lost),
                _ if Instant::now() >= end_at => Some(End::TimedOut),
                _ => None,
            };
            if let Some(end) = end {
                return Waited { end, sighting, history, took: now };
            }
            // From look to look, so that the time that a look takes is not added to the pause.
            let pause = self.pace.interval(sighting.state, history.unchanged(now));
            let next = (look_at + pause).max(Instant::now() + SHORTEST).min(end_at);
            last = Some(sighting);
            sleep_until(next).await;
            if Instant::now() >= end_at {
                let sighting = last.expect("it was set in this round");
                return Waited { end: End::TimedOut, sighting, history, took: began.elapsed() };
            }
        }
    }

    /// Waits for all of them at once. `tell` gets the number of the node in `targets`; the results are in that order.
    pub async fn wait_for_all(
        &self,
        targets: &[Target],
        goal: Goal,
        time_out: Duration,
        tell: impl FnMut(usize, &Sighting),
    ) -> Vec<Waited> {
        let tell = Mutex::new(tell);
        let waits = targets.iter().enumerate().map(|(index, target)| {
            let tell = &tell;
            self.wait(target, goal, time_out, move |sighting| {
                let mut tell = tell.lock().unwrap_or_else(PoisonError::into_inner);
                tell(index, sighting);
            })
        });
        join_all(waits).await
    }
}

/// The shortest pause between two looks, however long the first took.
const SHORTEST: Duration = Duration::from_millis(100);

/// A time-out that nobody waits for; longer ones would overflow the clock.
const FOREVER: Duration = Duration::from_hours(24 * 365);
