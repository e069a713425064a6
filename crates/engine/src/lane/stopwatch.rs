//! The only use of the monotonic clock. It measures limits, independent of changes to the time of
//! day.

use std::time::{Duration, Instant};

/// Measures from when it was started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
