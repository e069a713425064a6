//! The gate that a client must pass before Convoke resumes its sessions: four checks of a resumed
//! session, once per environment.

use jiff::Timestamp;

/// One of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateCheck {
    /// A fresh session reads a file, lists issues, and has a name.
    V1,
    /// Resuming it gives no error.
    V2,
    /// It still knows the first line of the file.
    V3,
    /// It still knows how many issues it listed.
    V4,
}

impl GateCheck {
    /// All four.
    pub const ALL: [Self; 4] = [Self::V1, Self::V2, Self::V3, Self::V4];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "V1",
            Self::V2 => "V2",
            Self::V3 => "V3",
            Self::V4 => "V4",
        }
    }
}

/// Returns the prompt for the fresh session. `path` is the file that it must read.
pub fn first_prompt(path: &str) -> String {
    format!(
        "Read the file {path} with your file tool. Then list every problem you see in it, one per \
         line, each line beginning with `ISSUE: `. List at least one and at most five.\n"
    )
}

/// The prompt for the resumed session. It does not name the file again.
pub const SECOND_PROMPT: &str = "Do not open any file. Answer from memory, in two lines:\n\
    FIRST LINE: <the first line of the file you read, word for word>\n\
    ISSUES: <how many issues you listed, as a number>\n";

/// The answers to both prompts.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// The first line of the file that the session read.
    pub first_line: &'a str,
    /// The fresh session's name, if it had one.
    pub agent_id: Option<&'a str>,
    /// The fresh session's answer.
    pub first_answer: &'a str,
    /// The resumed session's answer, or what went wrong.
    pub second_answer: Result<&'a str, &'a str>,
}

/// The recorded result of the last test of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedClient {
    /// The client's name, such as `claude`.
    pub client: String,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// Why it failed; `None` if it passed.
    pub reason: Option<String>,
    /// When the client was tried.
    pub at: Timestamp,
}

/// Tells whether sessions of a client may be resumed: the version that is installed has passed.
pub fn is_open(tried: Option<&TriedClient>, version: Option<&str>) -> bool {
    tried.is_some_and(|attempt| attempt.reason.is_none() && attempt.version.as_deref() == version)
}

/// Returns the first check that failed, with why: `V3: …`. Passing is `None`.
pub fn failed(trial: &Trial<'_>) -> Option<String> {
    let issues = trial.first_answer.lines().filter(|line| line.trim().starts_with("ISSUE: "));
    let issues = issues.count();
    let field = |name: &str| {
        let answer = trial.second_answer.unwrap_or_default();
        answer.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim)
    };
    let why = |check: GateCheck| match (check, trial.second_answer) {
        (GateCheck::V1, _) if trial.agent_id.is_none() => Some("no agent id came back".to_owned()),
        (GateCheck::V1, _) if issues == 0 => Some("no issue was listed".to_owned()),
        (GateCheck::V2, Err(error)) => Some(error.to_owned()),
        (GateCheck::V2, Ok(answer)) if answer.trim().is_empty() => Some("empty answer".to_owned()),
        (GateCheck::V3, _) if trial.first_line.trim().is_empty() => {
            Some("the file begins with a blank line, which an agent cannot repeat".to_owned())
        }
        (GateCheck::V3, _) if field("FIRST LINE:") != Some(trial.first_line.trim()) => {
            Some("the resumed session does not know the first line of the file".to_owned())
        }
        (GateCheck::V4, _) if field("ISSUES:") != Some(issues.to_string().as_str()) => {
            Some("the resumed session does not know the number of issues".to_owned())
        }
        (GateCheck::V1 | GateCheck::V2 | GateCheck::V3 | GateCheck::V4, _) => None,
    };
    let found = GateCheck::ALL.into_iter().find_map(|check| Some((check, why(check)?)));
    found.map(|(check, why)| format!("{}: {why}", check.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // D-61
    #[test]
    fn all_four_must_pass() {
        let good = Trial {
            first_line: "# Notes",
            agent_id: Some("a"),
            first_answer: "ISSUE: one\nISSUE: two\n",
            second_answer: Ok("FIRST LINE: # Notes\nISSUES: 2"),
        };
        for (trial, expected) in [
            (good, None),
            (Trial { agent_id: None, ..good }, Some("V1: no agent id came back")),
            (Trial { first_answer: "fine", ..good }, Some("V1: no issue was listed")),
            (Trial { second_answer: Err("HTTP 400"), ..good }, Some("V2: HTTP 400")),
            (Trial { second_answer: Ok(" "), ..good }, Some("V2: empty answer")),
            (
                Trial { second_answer: Ok("FIRST LINE: # Other\nISSUES: 2"), ..good },
                Some("V3: the resumed session does not know the first line of the file"),
            ),
            (
                Trial { first_line: " ", second_answer: Ok("FIRST LINE:\nISSUES: 2"), ..good },
                Some("V3: the file begins with a blank line, which an agent cannot repeat"),
            ),
            (
                Trial { second_answer: Ok("FIRST LINE: # Notes\nISSUES: 3"), ..good },
                Some("V4: the resumed session does not know the number of issues"),
            ),
        ] {
            assert_eq!(failed(&trial).as_deref(), expected);
        }
        assert!(first_prompt("/x/y.md").contains("/x/y.md"));
        assert!(!SECOND_PROMPT.contains("/x"));
    }

    // D-61: once per environment, and another version is another environment.
    #[test]
    fn the_gate_is_open_for_the_version_that_passed() {
        let tried = |reason: Option<&str>| TriedClient {
            client: "claude".to_owned(),
            version: Some("2.1".to_owned()),
            reason: reason.map(str::to_owned),
            at: Timestamp::UNIX_EPOCH,
        };
        assert!(is_open(Some(&tried(None)), Some("2.1")));
        assert!(!is_open(Some(&tried(None)), Some("2.2")));
        assert!(!is_open(Some(&tried(None)), None));
        assert!(!is_open(Some(&tried(Some("V3: forgotten"))), Some("2.1")));
        assert!(!is_open(None, Some("2.1")));
    }
}
