//! When a limit ends, in what clients really printed about one.

use convoke_domain::lane::reset::{ResetClock, ResetHint, reset_in_words};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::*;

/// The end that the stand-in stated, and some hours before it.
const END: &str = "2026-11-19T01:14:32Z";
const NOW: &str = "2026-11-18T21:49:32Z";

fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "Europe/Berlin" => TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").ok(),
        "America/New_York" => TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").ok(),
        _ => None,
    }
}

/// Returns the failure of a lane, by the lines of its client.
fn failure(agent: Client, name: &str) -> LaneFailure {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/limits");
    let stdout = std::fs::read_to_string(format!("{folder}/{name}.jsonl")).unwrap();
    let run = Run { agent, stdout: &stdout, stderr: "", code: Some(1) };
    assert_eq!(run.outcome(), LaneOutcome::RateLimited, "{name}");
    let mut output = ClientOutput::default();
    run.events().into_iter().for_each(|event| output.take(event));
    output.failure().unwrap().clone()
}

fn in_words(failure: &LaneFailure, own: &str) -> Option<String> {
    let now = NOW.parse::<Timestamp>().unwrap().to_zoned(zone(own).unwrap());
    reset_in_words(&failure.message, &ResetClock { now, zone: &zone }).map(|at| at.to_string())
}

// P-401
#[test]
fn real_clients_say_when_a_limit_ends() {
    // To the minute, so its end.
    let minute = Some("2026-11-19T01:14:59Z".to_owned());
    let claude = failure(Client::Claude, "claude");
    assert_eq!(claude.reset, Some(ResetHint::At(END.parse().unwrap())));
    assert_eq!(in_words(&claude, "America/New_York"), minute, "the words name their zone");
    let codex = failure(Client::Codex, "codex-other-day");
    assert_eq!((codex.reset, in_words(&codex, "Europe/Berlin")), (None, minute.clone()));
    let codex = failure(Client::Codex, "codex-same-day");
    assert_eq!((codex.reset, in_words(&codex, "America/New_York")), (None, minute));
    let with_key = failure(Client::Claude, "claude-key");
    assert_eq!((with_key.reset, in_words(&with_key, "Europe/Berlin")), (None, None));
}

// P-401: a warning that a limit is near is no end of one.
#[test]
fn only_a_refusal_counts() {
    for info in [
        r#"{"status":"allowed_warning","resetsAt":1795050872}"#,
        r#"{"status":"rejected"}"#,
        r#"{"status":"rejected","resetsAt":"soon"}"#,
        r#"{"status":"rejected","resetsAt":1e300}"#,
        "[]",
        "null",
    ] {
        let stdout = format!(
            "{{\"type\":\"rate_limit_event\",\"rate_limit_info\":{info},\"uuid\":\"u\",\"session_id\":\"s\"}}\n\
             {{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":429,\
             \"result\":\"no\",\"uuid\":\"v\",\"session_id\":\"s\"}}\n"
        );
        let run = Run { agent: Client::Claude, stdout: &stdout, stderr: "", code: Some(1) };
        let mut output = ClientOutput::default();
        run.events().into_iter().for_each(|event| output.take(event));
        assert_eq!(output.failure().map(|failure| failure.reset), Some(None), "{info}");
    }
}
