//! The door to the clock that only runs forwards. Limits are measured by it, whatever happens to the
//! time of day.

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
