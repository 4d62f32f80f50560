use std::time::Duration;

use super::NodeState;

/// How soon to look again: soon while a machine is about to change, calmly when it has not for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// After a sign of life.
    pub quick: Duration,
    /// While nobody answers, and when nothing has changed for a while.
    pub steady: Duration,
    /// When nothing has changed for long.
    pub calm: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { quick: Duration::from_millis(500), steady: Duration::from_secs(1), calm: Duration::from_secs(4) }
    }
}

/// How long after a change the next one is near, and how long after it is not expected any more.
const SOON: Duration = Duration::from_mins(1);
const LATE: Duration = Duration::from_mins(4);

impl Pace {
    /// The time from one look to the next, given for how long the state has been the same.
    pub(super) fn interval(&self, state: NodeState, unchanged: Duration) -> Duration {
        let alive = matches!(state, NodeState::Closed | NodeState::Starting);
        match unchanged {
            unchanged if alive && unchanged < SOON => self.quick,
            unchanged if unchanged < LATE => self.steady,
            _ => self.calm,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_quickly_after_a_sign_of_life_and_calmly_later() {
        let pace = Pace::default();
        let after = |state, seconds| pace.interval(state, Duration::from_secs(seconds));
        assert_eq!(after(NodeState::Unreachable, 0), pace.steady);
        assert_eq!(after(NodeState::Closed, 0), pace.quick);
        assert_eq!(after(NodeState::Starting, 59), pace.quick);
        assert_eq!(after(NodeState::Starting, 60), pace.steady);
        for state in NodeState::ALL {
            assert_eq!(after(state, 600), pace.calm, "{state}");
        }
    }
}
