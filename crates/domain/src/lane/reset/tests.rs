//! What clients, servers and strangers write about the end of a limit.

use proptest::prelude::*;

use super::*;
use jiff::tz::TimeZone;

/// A Wednesday in winter, at a quarter past two in Berlin.
const NOW: &str = "2026-01-07T13:15:20Z";

fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "Europe/Berlin" => TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").ok(),
        "America/New_York" => TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").ok(),
        _ => None,
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn read_at(words: &str, now: &str) -> Option<String> {
    let now = now.parse::<Timestamp>().unwrap().to_zoned(zone("Europe/Berlin").unwrap());
    reset_in_words(words, &ResetClock { now, zone: &zone }).map(|at| at.to_string())
}

fn read(words: &str) -> Option<String> {
    read_at(words, NOW)
}

// P-401: the words of clients and APIs.
#[test]
fn words_name_a_time() {
    for (words, expected) in [
        ("Claude AI usage limit reached|1767801600", "2026-01-07T16:00:00Z"),
        ("5-hour limit reached ∙ resets 5pm", "2026-01-07T16:00:59Z"),
        ("You've hit your limit · resets 5pm (Europe/Berlin)", "2026-01-07T16:00:59Z"),
        (
            "You've hit your session limit · resets 3:45pm (America/New_York)",
            "2026-01-07T20:45:59Z",
        ),
        ("You've hit your weekly limit · resets Jan 9, 10am (UTC)", "2026-01-09T10:00:59Z"),
        ("You've hit your weekly limit · resets Jan 9 at 10am", "2026-01-09T09:00:59Z"),
        (
            "You've hit your usage limit. Upgrade to Plus to continue using Codex \
             (https://chatgpt.com/explore/plus), or try again at 5:45 PM.",
            "2026-01-07T16:45:59Z",
        ),
        (
            "You've hit your usage limit. To get more access now, send a request to your admin or \
             try again at Jan 9th, 2026 3:45 PM.",
            "2026-01-09T14:45:59Z",
        ),
        ("Please try again in 3 days 4 hours 5 minutes.", "2026-01-10T17:20:20Z"),
        (
            "Rate limit reached for gpt-5 on requests. Please try again in 6m0s.",
            "2026-01-07T13:21:20Z",
        ),
        ("Please try again in 1.5s. Visit https://platform.openai.com", "2026-01-07T13:15:21.5Z"),
        ("Please try again in 250ms.", "2026-01-07T13:15:20.25Z"),
        ("Your quota will reset after 2h30m5s.", "2026-01-07T15:45:25Z"),
        ("Please retry in 34.5s., retryDelay: 34s", "2026-01-07T13:15:54.5Z"),
        ("the server answers 429: slow down (retry after 30 s)", "2026-01-07T13:15:50Z"),
        (r#"{"type":"usage_limit_reached","resets_at":1767801600}"#, "2026-01-07T16:00:00Z"),
        (r#"{"resetsAt":"2026-01-07T16:00:00Z"}"#, "2026-01-07T16:00:00Z"),
        ("try again in an hour", "2026-01-07T14:15:20Z"),
        ("available again at 15:45", "2026-01-07T14:45:59Z"),
        ("resets 2026-01-08 09:30", "2026-01-08T08:30:59Z"),
    ] {
        assert_eq!(read(words).as_deref(), Some(expected), "{words}");
    }
}

// P-401: a time of day without a date is the next one, also over midnight, a year's end and the change
// of clocks.
#[test]
fn the_clock_settles_what_words_leave_open() {
    for (words, now, expected) in [
        ("resets 1am", "2026-01-07T22:15:20Z", "2026-01-08T00:00:59Z"),
        ("resets Jan 2, 10am", "2025-12-30T08:00:00Z", "2026-01-02T09:00:59Z"),
        ("resets 2:30am", "2026-03-28T22:00:00Z", "2026-03-29T01:30:59Z"),
        ("resets 12am", "2026-06-01T12:00:00Z", "2026-06-01T22:00:59Z"),
        ("resets 12pm", "2026-06-01T09:00:00Z", "2026-06-01T10:00:59Z"),
    ] {
        assert_eq!(read_at(words, now).as_deref(), Some(expected), "{words} {now}");
    }
}

// P-401: a time that is over, years away, ambiguous or none is unknown.
#[test]
fn hostile_words_name_no_time() {
    for words in [
        "",
        "You've hit your usage limit. Try again later.",
        "429 Too Many Requests",
        "limit reached|1700000000",
        "limit reached|9999999999",
        "limit reached|99999999999999999999",
        "resets at 1970-01-01T00:00:00Z",
        "try again at Jan 5th, 2031 3:45 PM",
        "resets Oct 9, 10am",
        "resets 2:10pm",
        "resets 5pm PST",
        "resets 5pm (Mars/Olympus)",
        "resets 25:00",
        "resets 13pm",
        "resets 5",
        "resets on 10/12/2025",
        "resets Feb 30, 10am",
        "try again in 400 days",
        "try again in 0s",
        "try again in -5 minutes",
        "try again in 1e400 s",
        "try again in 99999999999999999999 weeks",
        "resets in NaN s",
        "resets 5pm, or try again in 3 days",
        "resets 5pm (UTC). Ignore that, resets 8pm (UTC)",
        "resets. 5pm is when we close",
        "resets 5pm (UTC-8)",
        "resets 5pm GMT+2",
        "resets 15:45 +0200",
        "resets 5pm (PST8PDT)",
        "resets 5pm (Pacific Time)",
        "resets 5pm in America/New_York",
        "resets 5pm on Jan 9",
        "resets 5pm (Jan 9)",
        "resets 5pm on Friday",
        "resets 5pm or 7pm",
        "try again in 20 seconds or 40 minutes",
        "resets Jan 8, 3am (Europe/Berlin). Resets weekly Jan 12, 3am",
    ] {
        assert_eq!(read(words), None, "{words}");
    }
}

// P-401
#[test]
fn headers_name_a_time() {
    let at = |text: &str| Some(ResetHint::At(text.parse().unwrap()));
    let after = |ms| Some(ResetHint::After(SignedDuration::from_millis(ms)));
    assert_eq!(retry_after("30"), after(30_000));
    assert_eq!(retry_after(" 0.5 "), after(500));
    assert_eq!(retry_after("Wed, 07 Jan 2026 16:00:00 GMT"), at("2026-01-07T16:00:00Z"));
    assert_eq!(reset_header("1767801600"), at("2026-01-07T16:00:00Z"));
    assert_eq!(reset_header("1767801600000"), at("2026-01-07T16:00:00Z"));
    assert_eq!(reset_header("2026-01-07T16:00:00Z"), at("2026-01-07T16:00:00Z"));
    assert_eq!(reset_header("6m0s"), after(360_000));
    for value in ["", "soon", "-5", "NaN", "inf", "1e300", "Wed, 07 Jan 2026"] {
        assert_eq!(retry_after(value), None, "{value}");
    }
    for value in ["", "soon", "-5", "6x", "m", "..s"] {
        assert_eq!(reset_header(value), None, "{value}");
    }
    let usable = |hint| reset_of_hint(hint, now());
    assert_eq!(usable(ResetHint::After(SignedDuration::ZERO)), None, "that is now");
    assert_eq!(usable(ResetHint::After(SignedDuration::MAX)), None);
    assert_eq!(usable(ResetHint::At(Timestamp::MAX)), None);
    assert_eq!(usable(ResetHint::At(Timestamp::MIN)), None);
}

proptest! {
    // P-401: for all that a program prints, a time is in the next weeks or unknown.
    #[test]
    fn a_time_is_never_over_or_far_away(
        words in "(resets?|try again|retry|limit reached\\|)[ ]?(at|in|after|on)? ?\\PC{0,40}",
        seconds in 0_i64..4_000_000_000,
    ) {
        let now = Timestamp::from_second(seconds).unwrap();
        let clock = ResetClock { now: now.to_zoned(TimeZone::UTC), zone: &zone };
        if let Some(at) = reset_in_words(&words, &clock) {
            prop_assert!(at > now);
            prop_assert!(at.duration_since(now) <= SignedDuration::from_hours(24 * MOST_DAYS));
        }
    }

    // P-401: a client's own forms mean what it meant.
    #[test]
    fn written_times_are_read_back(
        seconds in 1_700_000_000_i64..1_900_000_000,
        minutes in 1_i64..20 * 1440,
    ) {
        let now = Timestamp::from_second(seconds).unwrap();
        let meant = now.checked_add(SignedDuration::from_mins(minutes)).unwrap();
        let clock = ResetClock { now: now.to_zoned(TimeZone::UTC), zone: &zone };
        let (hours, rest) = (minutes / 60, minutes % 60);
        for words in [
            format!("usage limit reached|{}", meant.as_second()),
            format!("try again at {}.", meant.strftime("%b %-dth, %Y %-I:%M %p")),
            format!("resets {} (UTC)", meant.strftime("%b %-d, %-I:%M%P")),
            format!("resets in {hours}h{rest}m."),
            format!("try again in {hours} hours and {rest} minutes"),
        ] {
            let at = reset_in_words(&words, &clock);
            let late = at.map(|at| at.duration_since(meant).as_secs());
            prop_assert!(late.is_some_and(|late| (0..60).contains(&late)), "{words} {late:?}");
        }
    }
}
