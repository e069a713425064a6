//! Derives the kind of a failure from a status or from clients' real messages.

use convoke_domain::lane::event::{FailureKind, LaneFailure};

/// The most characters of a failure's message, which a person reads; a longer one is a dump.
const MOST_CHARACTERS: usize = 2_000;

/// Returns the kind of failure for an HTTP status of a model's API.
pub(in crate::client) const fn of_status(status: u64) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Auth,
        // 402: no credit. 529: overloaded, in Anthropic's own number.
        402 | 429 | 529 => FailureKind::RateLimited,
        _ => FailureKind::Other,
    }
}

/// Words that tell a kind, in lower case. A client printed each, or its public issues quote it.
const TELLING: [(FailureKind, &[&str]); 5] = [
    (
        FailureKind::NoSession,
        &[
            "no conversation found with session id",
            "--resume requires a valid session id",
            "no rollout found for thread id",
            "error resuming session",
            "no saved session found",
            "session not found",
        ],
    ),
    (FailureKind::Clash, &["database is locked", "failed query:"]),
    (
        FailureKind::OverBudget,
        &["reached maximum number of turns", "reached maximum budget", "reached max session turns"],
    ),
    (
        FailureKind::RateLimited,
        &[
            "429",
            "529",
            "too many requests",
            "rate limit",
            "rate_limit",
            "usage limit",
            "quota",
            "resource_exhausted",
            "credit balance is too low",
        ],
    ),
    (
        FailureKind::Auth,
        &[
            "401",
            "not logged in",
            "failed to authenticate",
            "authentication required",
            "authentication_error",
            "authentication_failed",
            "unauthenticated",
            "unauthorized",
            "api key is invalid",
            "api key not valid",
            "invalid api key",
            "missing api key",
            "missing environment variable",
            "must specify the gemini_api_key",
            "set an auth method",
            "invalid auth method selected",
        ],
    ),
];

/// Beginnings of a command-line parser's errors.
const OF_FLAGS: [&str; 6] = [
    "error: unknown option",
    "error: unexpected argument",
    "error: invalid value",
    "error: option '",
    "unknown argument",
    "invalid values:",
];

/// Derives the kind of a failure from its words.
fn of_words(words: &str) -> FailureKind {
    let words = words.to_lowercase();
    let is_told = |told: &str| match told.parse::<u16>() {
        Ok(_) => has_number(&words, told),
        Err(_) => words.contains(told),
    };
    let found = TELLING.iter().find(|(_, telling)| telling.iter().any(|told| is_told(told)));
    found.map_or(FailureKind::Other, |(kind, _)| *kind)
}

/// A status is a separate word: `127.0.0.1:42900` and an identifier contain none.
fn has_number(words: &str, number: &str) -> bool {
    let mut parts = words.split(|c: char| !c.is_alphanumeric() && c != ':' && c != '-');
    parts.any(|part| part.trim_matches(':') == number)
}

/// Returns a failure in a client's words.
pub(crate) fn failure(kind: FailureKind, message: &str) -> LaneFailure {
    LaneFailure { kind, message: readable(message), reset: None }
}

/// Returns a failure of which only words are known.
pub(in crate::client) fn told(message: &str) -> LaneFailure {
    failure(of_words(message), message)
}

/// Returns a failure of which a status is known too, which tells more than words.
pub(crate) fn answered(status: u64, message: &str) -> LaneFailure {
    let by_status = of_status(status);
    let is_known = by_status != FailureKind::Other;
    failure(if is_known { by_status } else { of_words(message) }, message)
}

/// Returns what a line of stderr complains of; most lines are mere noise.
pub(crate) fn complaint(line: &str) -> Option<LaneFailure> {
    // One client prints its events there too, with the agent's text in them.
    if line.trim_start().starts_with('{') {
        return None;
    }
    let line = readable(line);
    let start = line.trim_start().to_lowercase();
    if OF_FLAGS.iter().any(|words| start.starts_with(words)) {
        return Some(failure(FailureKind::RefusedFlags, &line));
    }
    Some(told(&line)).filter(|failure| failure.kind != FailureKind::Other)
}

/// Takes colours and other control characters out, which terminals obey.
pub(crate) fn readable(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.trim().chars().take(MOST_CHARACTERS);
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// Skips an escape sequence up to its first letter.
fn skip_escape(rest: &mut impl Iterator<Item = char>) {
    rest.find(char::is_ascii_alphabetic);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_the_kind() {
        use FailureKind::{Auth, Clash, NoSession, Other, OverBudget, RateLimited};
        for (words, expected) in [
            ("Not logged in · Please run /login", Auth),
            ("Failed to authenticate. API Error: 401 fake error 401", Auth),
            ("unexpected status 401 Unauthorized: no, url: http://127.0.0.1:1/v1", Auth),
            ("Missing environment variable: `OPENAI_API_KEY`.", Auth),
            ("When using Gemini API, you must specify the GEMINI_API_KEY environment", Auth),
            ("⚠ Warning: The provided API key is invalid.", Auth),
            ("API Error: Request rejected (429) · fake error", RateLimited),
            ("exceeded retry limit, last status: 429 Too Many Requests", RateLimited),
            ("unexpected status 529 <unknown status code>: Overloaded", RateLimited),
            ("You've hit your usage limit. Try again later.", RateLimited),
            ("To increase your limits, request a quota increase", RateLimited),
            ("No conversation found with session ID: 4", NoSession),
            ("thread/resume failed: no rollout found for thread id 0 (code -32600)", NoSession),
            ("Error: Session not found", NoSession),
            ("Reached maximum number of turns (2)", OverBudget),
            ("database is locked", Clash),
            ("connect ECONNREFUSED 127.0.0.1:429", Other),
            ("request id: 9a57-401-SIN", Other),
            ("Unexpected server error. Check server logs for details.", Other),
            ("", Other),
        ] {
            assert_eq!(of_words(words), expected, "{words}");
        }
    }

    #[test]
    fn only_some_lines_are_complaints() {
        use FailureKind::{NoSession, RefusedFlags};
        for (line, expected) in [
            ("error: unknown option '--nope'", Some(RefusedFlags)),
            ("error: unexpected argument '--nope' found", Some(RefusedFlags)),
            ("Unknown argument: nope", Some(RefusedFlags)),
            ("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found", Some(NoSession)),
            ("Ripgrep is not available. Falling back to GrepTool.", None),
            ("He wrote that error: unknown option was odd", None),
            ("{\"type\":\"assistant\",\"text\":\"rate limit\"}", None),
            ("", None),
        ] {
            assert_eq!(complaint(line).map(|failure| failure.kind), expected, "{line}");
        }
    }

    #[test]
    fn words_cannot_harm_a_terminal() {
        let message = complaint("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession\u{7} not found");
        assert_eq!(message.unwrap().message, "Error: Session not found");
        assert_eq!(readable(&"x".repeat(5000)).len(), MOST_CHARACTERS);
    }

    #[test]
    fn statuses_tell_the_kind() {
        for (status, expected) in [
            (401, FailureKind::Auth),
            (403, FailureKind::Auth),
            (402, FailureKind::RateLimited),
            (429, FailureKind::RateLimited),
            (529, FailureKind::RateLimited),
            (400, FailureKind::Other),
            (500, FailureKind::Other),
        ] {
            assert_eq!(of_status(status), expected, "{status}");
        }
    }
}
