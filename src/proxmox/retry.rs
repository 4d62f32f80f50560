use std::time::Duration;

use backon::ExponentialBuilder;

/// How often a request that cannot do its work twice is sent again, and how long to wait in between.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// How often it is sent again at most.
    pub times: usize,
    /// The first pause; each further one is twice as long, and every one is lengthened at random, so that many
    /// clients that failed together do not come back together.
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Retry {
    pub const NEVER: Self = Self { times: 0, first_pause: Duration::ZERO, longest_pause: Duration::ZERO };

    pub(super) fn pauses(self) -> ExponentialBuilder {
        ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(self.first_pause)
            .with_max_delay(self.longest_pause)
            .with_max_times(self.times)
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self { times: 3, first_pause: Duration::from_millis(250), longest_pause: Duration::from_secs(2) }
    }
}
