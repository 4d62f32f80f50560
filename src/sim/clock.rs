//! How late it is in a simulated world.

use std::time::Duration;

use tokio::time::Instant;

/// Time since the world began.
///
/// It reads tokio's clock, so one clock serves both uses: over sockets it is real time, and in a test that starts
/// with paused time it is virtual and jumps to the next thing that anybody waits for.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Instant,
    already_passed: Duration,
    speed: u32,
}

impl Clock {
    /// A clock that goes on from `already_passed`, as a world does that was kept in a file.
    pub fn starting_at(already_passed: Duration) -> Self {
        Self { started: Instant::now(), already_passed, speed: 1 }
    }

    /// Lets the world live `speed` seconds in each second of ours. Zero counts as one: a world that stands still
    /// would never finish a task.
    #[must_use]
    pub fn times(self, speed: u32) -> Self {
        Self { speed: speed.max(1), ..self }
    }

    pub fn now(&self) -> Duration {
        self.already_passed.saturating_add(self.started.elapsed().saturating_mul(self.speed))
    }

    /// Waits until `pause` has passed in the world.
    pub async fn sleep(&self, pause: Duration) {
        if !pause.is_zero() {
            tokio::time::sleep(pause / self.speed).await;
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::starting_at(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn paused_time_makes_an_hour_pass_at_once() {
        let clock = Clock::default();
        clock.sleep(Duration::from_hours(1)).await;
        assert_eq!(clock.now(), Duration::from_hours(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_world_lives_more_than_one_second_a_second() {
        let clock = Clock::starting_at(Duration::from_secs(5)).times(10);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(clock.now(), Duration::from_secs(15));
        clock.sleep(Duration::from_secs(10)).await;
        assert_eq!(clock.now(), Duration::from_secs(25));
    }

    #[tokio::test(start_paused = true)]
    async fn a_world_never_stands_still() {
        let clock = Clock::default().times(0);
        clock.sleep(Duration::from_secs(1)).await;
        assert_eq!(clock.now(), Duration::from_secs(1));
    }
}
