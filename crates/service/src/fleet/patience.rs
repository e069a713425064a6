//! Patience with a server that is away: it may start again, and what agents did until then must not be
//! lost.

use std::thread;
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_store::error::StoreError;

/// How long the first pause is, and how long the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// How long a store may be away.
pub(super) const LONGEST: Duration = Duration::from_mins(10);

/// Asks a store until it answers, for a time. A repeated request must come to the same,
/// because a server can go away after it did it. A caller that is stopped asks once more, for the last
/// time.
pub(super) fn patiently<T>(
    longest: Duration,
    cancel: &Cancel,
    ask: impl Fn() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let (mut pause, mut waited) = (PAUSES.0, Duration::ZERO);
    loop {
        let error = match ask() {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if waited >= longest || cancel.is_cancelled() || !error.may_pass() {
            return Err(error);
        }
        thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(PAUSES.1);
    }
}
