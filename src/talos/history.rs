use std::fmt;
use std::time::Duration;

use super::{NodeState, Sighting};

/// The most phases that are kept; a peer that changes all the time says no more by the hundredth change.
const MOST: usize = 32;

/// What was seen of a node over time: looks that showed the same are one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    phases: Vec<Phase>,
    /// Phases that are no longer kept, between the first and the others.
    left_out: usize,
}

/// A time during which every look showed the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub state: NodeState,
    /// What the last look of it was told by.
    pub evidence: String,
    /// Since the waiting began.
    pub from: Duration,
    pub to: Duration,
    pub looks: u32,
}

impl History {
    pub(super) fn note(&mut self, at: Duration, sighting: &Sighting) {
        match self.phases.last_mut() {
            Some(phase) if phase.state == sighting.state => {
                phase.to = at;
                phase.looks = phase.looks.saturating_add(1);
                phase.evidence.clone_from(&sighting.evidence);
            }
            _ => {
                if self.phases.len() == MOST {
                    self.phases.remove(1);
                    self.left_out += 1;
                }
                let Sighting { state, evidence, .. } = sighting;
                self.phases.push(Phase { state: *state, evidence: evidence.clone(), from: at, to: at, looks: 1 });
            }
        }
    }

    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    pub fn last(&self) -> Option<&Phase> {
        self.phases.last()
    }

    pub fn has_seen(&self, state: NodeState) -> bool {
        self.phases.iter().any(|phase| phase.state == state)
    }

    /// For how long the last state has been the same.
    pub(super) fn unchanged(&self, now: Duration) -> Duration {
        self.last().map_or(Duration::ZERO, |phase| now.saturating_sub(phase.from))
    }
}

/// `unreachable for 12 s, then closed for 3 s, then starting`.
impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, phase) in self.phases.iter().enumerate() {
            if index > 0 {
                f.write_str(", then ")?;
            }
            if index == 1 && self.left_out > 0 {
                write!(f, "({} more changes), then ", self.left_out)?;
            }
            let until = self.phases.get(index + 1).map_or(phase.to, |next| next.from);
            let seconds = until.saturating_sub(phase.from).as_secs();
            write!(f, "{}", phase.state)?;
            if seconds > 0 {
                write!(f, " for {seconds} s")?;
            }
        }
        Ok(())
    }
}
