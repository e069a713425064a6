//! The clock that use cases ask for the time.

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the present time, to the millisecond that the store keeps.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        now()
    }
}

/// Returns the time of the machine, to the millisecond that is stored.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
