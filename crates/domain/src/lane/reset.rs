//! When a limit ends, as far as a client or an API tells.
//!
//! Words come from programs of others. A time counts only if they name exactly one, in the next weeks;
//! everything else is unknown.

use jiff::{SignedDuration, Timestamp};

mod words;

pub use words::{ResetClock, reset_in_words};
use words::{compact, is_epoch};

/// The most days that a limit lasts. The longest that vendors name is a month.
const MOST_DAYS: i64 = 35;

/// When a limit ends, where a header or a field says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetHint {
    /// At this time.
    At(Timestamp),
    /// So long after the answer.
    After(SignedDuration),
}

/// Returns the time of a hint, unless it is over or too far away to be meant.
pub fn reset_of_hint(hint: ResetHint, now: Timestamp) -> Option<Timestamp> {
    let at = match hint {
        ResetHint::At(at) => at,
        ResetHint::After(wait) => now.checked_add(wait).ok()?,
    };
    usable(at, now)
}

fn usable(at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let latest = now.checked_add(SignedDuration::from_hours(24 * MOST_DAYS)).ok()?;
    (at > now && at <= latest).then_some(at)
}

/// Reads the value of a `retry-after` header: seconds, or a date as HTTP writes it.
pub fn retry_after(value: &str) -> Option<ResetHint> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        let wait = SignedDuration::try_from_secs_f64(seconds).ok()?;
        return (!wait.is_negative()).then_some(ResetHint::After(wait));
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(ResetHint::At(at))
}

/// Reads the value of a vendor's header: seconds or milliseconds since 1970, a date with its time, or a
/// wait such as `6m0s`.
pub fn reset_header(value: &str) -> Option<ResetHint> {
    let value = value.trim();
    if is_epoch(value) {
        let count: i64 = value.parse().ok()?;
        let is_seconds = value.len() == 10;
        let at = if is_seconds { Timestamp::from_second } else { Timestamp::from_millisecond };
        return at(count).ok().map(ResetHint::At);
    }
    if let Ok(at) = value.parse() {
        return Some(ResetHint::At(at));
    }
    compact(value).map(ResetHint::After)
}

/// Returns the later of two hints; nothing if they cannot be compared.
pub fn later_hint(one: ResetHint, other: ResetHint) -> Option<ResetHint> {
    match (one, other) {
        (ResetHint::At(one), ResetHint::At(other)) => Some(ResetHint::At(one.max(other))),
        (ResetHint::After(one), ResetHint::After(other)) => Some(ResetHint::After(one.max(other))),
        (ResetHint::At(_), ResetHint::After(_)) | (ResetHint::After(_), ResetHint::At(_)) => None,
    }
}

#[cfg(test)]
mod tests;
