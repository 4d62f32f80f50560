use std::time::Duration;

/// How often to look, and how long to be patient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Between two looks at a host's task list while something has only just begun.
    pub fastest: Duration,
    /// Between two looks when nothing new began for a while.
    pub slowest: Duration,
    /// Between two looks at a log whose progress somebody watches; it grows to ten times this.
    pub log: Duration,
    /// A task without a new line in its log for this long is given up. It is not ended.
    pub stalled_after: Duration,
    /// A host whose task list cannot be read for this long is given up.
    pub silent_after: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            fastest: Duration::from_millis(500),
            slowest: Duration::from_secs(2),
            log: Duration::from_secs(1),
            stalled_after: Duration::from_mins(10),
            silent_after: Duration::from_mins(2),
        }
    }
}

impl Pace {
    /// The pause when the youngest task is this old: an eighth of its age, so that the wait after its end stays small
    /// beside the task itself; lengthened or shortened a little, so that many clients do not keep step.
    pub(super) fn pause(&self, age: Duration) -> Duration {
        let pause = (age / 8).clamp(self.fastest, self.slowest.max(self.fastest));
        pause.mul_f64(0.9 + 0.2 * fastrand::f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tasks_are_looked_at_less_often() {
        let pace = Pace::default();
        let near = |age: u64, expected: u64| {
            let pause = pace.pause(Duration::from_secs(age));
            let expected = Duration::from_millis(expected);
            assert!(pause >= expected.mul_f64(0.89) && pause <= expected.mul_f64(1.11), "{pause:?}");
        };
        near(0, 500);
        near(8, 1000);
        near(600, 2000);
    }
}
