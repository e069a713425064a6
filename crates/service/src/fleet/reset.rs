//! When an agent's limit lets it work again, as clients say it.

use jiff::{SignedDuration, Timestamp};

/// The longest wait that is believed.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);

/// Added to a client's time, because the limit of a vendor need not end with the second.
const MARGIN: SignedDuration = SignedDuration::from_secs(2);

/// What stands before a number of seconds, minutes or hours.
const BEFORE: [&str; 3] = ["try again in ", "retry after ", "retry in "];

/// Returns how long to wait after words such as `usage limit reached|1800000000` or `try again in 5
/// minutes`; `None` if they name no one time, or one that is past or too far away.
pub(super) fn wait_after(words: &str, now: Timestamp) -> Option<SignedDuration> {
    let words = words.to_lowercase();
    let mut waits: Vec<_> = moment(&words, now).into_iter().collect();
    waits.extend(BEFORE.iter().filter_map(|before| span(words.split_once(before)?.1)));
    let [wait] = waits[..] else { return None };
    (wait.is_positive() && wait <= LONGEST).then(|| wait.saturating_add(MARGIN))
}

/// Reads Claude Code's `|SECONDS-SINCE-1970`.
fn moment(words: &str, now: Timestamp) -> Option<SignedDuration> {
    let (_, rest) = words.split_once("limit reached|")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let at = Timestamp::from_second(digits.parse().ok()?).ok()?;
    Some(at.duration_since(now))
}

/// Reads a number and its unit.
fn span(words: &str) -> Option<SignedDuration> {
    let digits: String = words.chars().take_while(char::is_ascii_digit).collect();
    let unit = words.get(digits.len()..)?.trim_start();
    let number: i64 = digits.parse().ok()?;
    let seconds = [("s", 1), ("m", 60), ("h", 3600)];
    // `m` is a minute; `ms` and months are neither of these.
    let is_unit = |short: &str, long: &str| {
        let word: String = unit.chars().take_while(char::is_ascii_alphabetic).collect();
        word == short || word == long || word.strip_suffix('s') == Some(long)
    };
    let long = |short| match short {
        "s" => ["sec", "second"],
        "m" => ["min", "minute"],
        _ => ["hr", "hour"],
    };
    let known = seconds
        .into_iter()
        .find(|(short, _)| long(short).iter().any(|long| is_unit(short, long)))?;
    Some(SignedDuration::from_secs(number.checked_mul(known.1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_clear_time_is_believed() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let wait = |words| wait_after(words, now).map(|wait| wait.as_secs());
        for (words, seconds) in [
            ("Claude AI usage limit reached|1800000060", Some(62)),
            ("rate limit: Please try again in 20s.", Some(22)),
            ("Rate limit. Try again in 5 minutes", Some(302)),
            ("retry after 1 hour", Some(3602)),
            ("retry in 3 secs", Some(5)),
            ("Claude AI usage limit reached|1799999999", None),
            ("Claude AI usage limit reached|soon", None),
            ("try again in 99 hours", None),
            ("try again in 3 months", None),
            ("try again in 500ms", None),
            ("try again in 5", None),
            ("try again in 20 seconds, or retry after 1 hour", None),
            ("try again in 99999999999999999999 s", None),
            ("You've hit your usage limit. Try again later.", None),
            ("", None),
        ] {
            assert_eq!(wait(words), seconds, "{words}");
        }
    }
}
