//! The file in which a workflow passes its facts to another: lines of `KEY=value`.
//!
//! Nothing in it is ever evaluated. A line ends where it ends, a value is everything behind the
//! first `=`, and an unknown key has no effect. Keys with the original's prefix may have Convoke's
//! instead.

mod order;

use std::collections::{BTreeMap, BTreeSet};

use crate::lane::health::Availability;

pub use self::order::{KeyOrder, KeyOrderError, WriteOrder, WriteOrderError};

/// The facts that one workflow may pass to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The repository, `owner/name`.
    Repo,
    /// Whether the repository could not be determined.
    RepoUnavailable,
    /// The session whose tokens count.
    TokenSessionId,
    /// The record of the calling session.
    ClaudeSourceFile,
    /// The path of the ledger of times.
    TimingLedger,
}

/// The prefix of the original workflow's own keys, and Convoke's for the same keys.
const THEIRS: &str = "LARCH_";
const OURS: &str = "CONVOKE_";

impl Key {
    /// All keys.
    pub const ALL: [Self; 5] = [
        Self::Repo,
        Self::RepoUnavailable,
        Self::TokenSessionId,
        Self::ClaudeSourceFile,
        Self::TimingLedger,
    ];

    /// Returns the key as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repo => "REPO",
            Self::RepoUnavailable => "REPO_UNAVAILABLE",
            Self::TokenSessionId => "LARCH_TOKEN_SESSION_ID",
            Self::ClaudeSourceFile => "LARCH_CLAUDE_SOURCE_FILE",
            Self::TimingLedger => "LARCH_TIMING_LEDGER",
        }
    }

    fn allows(self, value: &str) -> bool {
        match self {
            Self::Repo => !value.contains(char::is_control),
            Self::RepoUnavailable => ["true", "false"].contains(&value),
            Self::TokenSessionId => is_token_session(value),
            Self::ClaudeSourceFile | Self::TimingLedger => is_plain_path(value),
        }
    }

    /// Returns the key that is written so, by either name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == word || is_same(key.name(), word))
    }
}

/// Tells whether two keys differ only in whose name they begin with.
fn is_same(key: &str, other: &str) -> bool {
    let rest = |word: &str| {
        let rest = word.strip_prefix(THEIRS).or_else(|| word.strip_prefix(OURS));
        rest.map(str::to_owned)
    };
    rest(key).is_some_and(|name| rest(other) == Some(name))
}

/// The agent that the original removed; its health is never read from a session file.
const NEVER_TOLD: &str = "gemini";

/// A workflow's session file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionEnv {
    values: BTreeMap<Key, String>,
    health: BTreeMap<String, String>,
    repeated: BTreeSet<String>,
}

impl SessionEnv {
    /// Reads a file. The last line of a repeated key counts.
    pub fn parse(text: &str) -> Self {
        let mut read = Self::default();
        for (key, value) in text.lines().filter_map(pair) {
            let agent = key.strip_suffix("_HEALTHY").map(str::to_lowercase);
            let before = match (Key::parse(key), agent) {
                (Some(key), _) => read.values.insert(key, value.to_owned()),
                (None, Some(agent)) if !agent.is_empty() && agent != NEVER_TOLD => {
                    read.health.insert(agent, value.to_owned())
                }
                (None, _) => None,
            };
            if before.is_some() {
                read.repeated.insert(key.to_owned());
            }
        }
        read
    }

    /// Returns a key's value; an empty value counts as absent.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.values.get(&key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns a key's value, if it has the form required for passing it on.
    pub fn usable(&self, key: Key) -> Option<&str> {
        self.get(key).filter(|value| key.allows(value))
    }

    /// Names the keys whose values must not be passed on.
    pub fn unusable(&self) -> impl Iterator<Item = Key> {
        let said = Key::ALL.into_iter().filter(|key| self.get(*key).is_some());
        said.filter(|key| self.usable(*key).is_none())
    }

    /// Returns the health of an agent, by its word: only `true` is a clear yes, and an empty value
    /// counts as absent.
    pub fn health(&self, agent: &str) -> Option<bool> {
        let key = agent.to_lowercase().replace('-', "_");
        let value = self.health.get(&key).filter(|value| !value.is_empty())?;
        Some(value == "true")
    }

    /// Returns the health file at the beginning of a design: the agents that the original knows,
    /// then the other agents of the panel. An agent of unknown health counts as unhealthy.
    pub fn health_file(&self, seats: &[(&str, bool)]) -> String {
        let mut known = Availability::default();
        for agent in ["codex", "cursor"] {
            let seat = seats.iter().find(|(word, _)| *word == agent).map(|(_, is_well)| *is_well);
            let is_well = seat.or_else(|| self.health(agent)).unwrap_or(false);
            known.extend([(agent.to_owned(), is_well)]);
        }
        known.extend([(NEVER_TOLD.to_owned(), false)]);
        later_health(known, seats)
    }

    /// Names the keys that occur more than once.
    pub fn repeated(&self) -> impl Iterator<Item = &str> {
        self.repeated.iter().map(String::as_str)
    }
}

/// Returns the health file at a design's end. An agent that failed once stays unhealthy.
pub fn last_health(before: &str, seats: &[(&str, bool)]) -> String {
    later_health(Availability::parse(before), seats)
}

fn later_health(mut known: Availability, seats: &[(&str, bool)]) -> String {
    known.extend(seats.iter().map(|(word, is_well)| (word.replace('-', "_"), *is_well)));
    known.text()
}

/// Reads a line; empty ones, comments, and those without a key say nothing.
fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.split_once('=').filter(|(key, _)| !key.is_empty() && !key.starts_with('#'))
}

/// Returns what the first line with a key says, byte for byte.
pub fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let exact = |line: &'t str| line.strip_prefix(key)?.strip_prefix('=');
    let alike =
        |line: &'t str| pair(line).filter(|(name, _)| is_same(name, key)).map(|pair| pair.1);
    text.lines().find_map(exact).or_else(|| text.lines().find_map(alike))
}

/// Tells whether a text is a plain path: no word of a shell, and not a long one.
pub fn is_plain_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./~+-".contains(c);
    (1..=512).contains(&text.len()) && text.chars().all(plain)
}

/// Tells whether a text can name whose tokens are counted.
pub fn is_token_session(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    (1..=128).contains(&text.len()) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-24, P-25
    #[test]
    fn lines_are_read_and_nothing_is_evaluated() {
        let env = SessionEnv::parse(
            "# REPO=commented\n\nREPO=a/b=c\nexport X\nCODEX_HEALTHY=true\r\nCURSOR_HEALTHY=maybe\n\
             GEMINI_HEALTHY=true\nSESSION_TMPDIR=/x\nCONVOKE_TOKEN_SESSION_ID=$(id)\n=empty\n\
             LARCH_TIMING_LEDGER=\n REPO_UNAVAILABLE=true\n",
        );
        assert_eq!(env.get(Key::Repo), Some("a/b=c"));
        assert_eq!(env.get(Key::TokenSessionId), Some("$(id)"), "it is a text");
        assert_eq!(env.get(Key::TimingLedger), None, "nothing is said");
        assert_eq!(env.get(Key::RepoUnavailable), None, "a space belongs to the key");
        let health = ["codex", "cursor", "gemini", "claude"].map(|agent| env.health(agent));
        assert_eq!(health, [Some(true), Some(false), None, None]);
    }

    // P-26
    #[test]
    fn the_last_of_a_key_counts_in_a_file_and_the_first_for_a_reader() {
        let text = "REPO=one\nREPO=two\nCODEX_HEALTHY=true\nCODEX_HEALTHY=false\n";
        let env = SessionEnv::parse(text);
        assert_eq!((env.get(Key::Repo), env.health("codex")), (Some("two"), Some(false)));
        assert_eq!(env.repeated().collect::<Vec<_>>(), ["CODEX_HEALTHY", "REPO"]);
        assert_eq!(value_of(text, "REPO"), Some("one"));
    }

    // P-30
    #[test]
    fn malformed_values_are_not_passed_on() {
        let env = SessionEnv::parse(
            "REPO=a/b\nREPO_UNAVAILABLE=maybe\nLARCH_TOKEN_SESSION_ID=a b\n\
             LARCH_CLAUDE_SOURCE_FILE=/t/a.jsonl\n",
        );
        let usable: Vec<_> = Key::ALL.into_iter().filter_map(|key| env.usable(key)).collect();
        assert_eq!(usable, ["a/b", "/t/a.jsonl"]);
        let unusable: Vec<_> = env.unusable().collect();
        assert_eq!(unusable, [Key::RepoUnavailable, Key::TokenSessionId]);
    }

    // P-79, P-80, P-81, P-83
    #[test]
    fn a_health_file_only_loses() {
        let told = SessionEnv::parse("CODEX_HEALTHY=true\nCURSOR_HEALTHY=true\n");
        let first = told.health_file(&[("cursor", false), ("my-own", true)]);
        assert_eq!(
            first,
            "CODEX_HEALTHY=true\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\nMY_OWN_HEALTHY=true\n"
        );
        let without_seats = SessionEnv::default().health_file(&[]);
        assert_eq!(
            without_seats,
            "CODEX_HEALTHY=false\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\n"
        );
        let last = last_health(&first, &[("cursor", true), ("my-own", false)]);
        assert_eq!(last, first.replace("MY_OWN_HEALTHY=true", "MY_OWN_HEALTHY=false"));
        assert_eq!(last_health("", &[("codex", true)]), "CODEX_HEALTHY=true\n");
    }

    // P-28
    #[test]
    fn an_empty_file_says_nothing() {
        assert_eq!(SessionEnv::parse(""), SessionEnv::default());
        assert_eq!(SessionEnv::default().get(Key::Repo), None);
    }

    // P-31
    #[test]
    fn one_key_is_found_by_its_exact_name() {
        let text = "XREPO=no\nREPO =no\nREPO=a=b=c \nLARCH_TIMING_LEDGER=/t\n";
        assert_eq!(value_of(text, "REPO"), Some("a=b=c "));
        assert_eq!(value_of(text, "CONVOKE_TIMING_LEDGER"), Some("/t"), "by our name, too");
        assert_eq!(value_of(text, "REP"), None);
        assert_eq!(value_of(text, "TIMING_LEDGER"), None);
    }

    // P-30
    #[test]
    fn values_that_a_shell_could_take_for_words_are_not_plain() {
        assert!(is_plain_path("/a/b-c_d.e~f+g") && is_token_session("a_B.9-x"));
        assert!(is_plain_path(&"x".repeat(512)) && !is_plain_path(&"x".repeat(513)));
        assert!(is_token_session(&"x".repeat(128)) && !is_token_session(&"x".repeat(129)));
        for wrong in ["", "a b", "$(x)", "a\nb", "ä", "a;b"] {
            assert!(!is_plain_path(wrong) && !is_token_session(wrong), "{wrong:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        // P-24: for any file, the parser only returns texts that the file contains.
        #[test]
        fn any_file_is_read_and_only_read(
            text in r"((LARCH_|CONVOKE_)?[A-Z_]{0,24}(REPO|CODEX_HEALTHY|TIMING_LEDGER)?=?[a-z$`() ]{0,8}\r?\n){0,8}|(?s).*"
        ) {
            let env = SessionEnv::parse(&text);
            for key in Key::ALL {
                if let Some(value) = env.get(key) {
                    prop_assert!(text.contains(value) && !value.contains('\n'));
                }
                let first = value_of(&text, key.name());
                prop_assert!(first.is_none_or(|value| text.contains(value)));
            }
            prop_assert_eq!(env.health("gemini"), None);
            for order in [&["--file", "x", "--key", "REPO"][..], &["--key", &text]] {
                let words: Vec<_> = order.iter().map(|word| (*word).to_owned()).collect();
                if let Ok(order) = KeyOrder::parse(&words) {
                    order.answer(Some(&text)).ok();
                }
            }
        }
    }
}
