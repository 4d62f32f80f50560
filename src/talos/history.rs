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
            // What followed may be left out, so that only what was seen is told.
            let until = match self.phases.get(index + 1) {
                Some(next) if index > 0 || self.left_out == 0 => next.from,
                _ => phase.to,
            };
            let seconds = until.saturating_sub(phase.from).as_secs();
            write!(f, "{}", phase.state)?;
            if seconds > 0 {
                write!(f, " for {seconds} s")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_looks_are_one_phase_and_a_restless_peer_fills_no_memory() {
        let mut history = History::default();
        let states = [NodeState::Closed, NodeState::Starting];
        for second in 0..1000_u32 {
            let state = states[second as usize / 5 % 2];
            history.note(Duration::from_secs(second.into()), &Sighting::new(state, format!("look {second}")));
        }
        assert_eq!(history.phases().len(), MOST);
        assert_eq!(history.phases()[0].from, Duration::ZERO, "how it began is kept");
        assert_eq!(history.last().map(|phase| (phase.looks, phase.evidence.as_str())), Some((5, "look 999")));
        let text = history.to_string();
        assert!(text.starts_with("closed for 4 s, then (168 more changes), then starting for 5 s"), "{text}");
    }
}
