//! The one door to the clock.

use jiff::Timestamp;

/// Returns the time, to the millisecond that is stored.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
