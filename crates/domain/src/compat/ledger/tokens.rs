//! Rows of the token ledger: a step begins, or an agent used tokens.

use jiff::Timestamp;

use super::{LedgerMisuse, VENDORS};

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read again from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_create: u64,
    /// As the client reports it; the sum of the others if it reports none.
    pub total: u64,
}

impl TokenCounts {
    /// Returns the sum of the parts.
    pub fn parts(&self) -> u64 {
        let parts = [self.input, self.output, self.cache_read, self.cache_create];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Adds more.
    pub fn add(&mut self, more: &Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_create = self.cache_create.saturating_add(more.cache_create);
        self.total = self.total.saturating_add(more.total);
    }
}

/// An agent's usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUse {
    /// The agent by its short name, such as `codex`.
    pub vendor: String,
    /// Tokens, as reported in the `KEY=VALUE` words of the row.
    pub counts: TokenCounts,
    /// Where the numbers come from, in a word.
    pub raw: String,
}

impl TokenUse {
    /// Reads `KEY=VALUE` words. Missing numbers are 0; a missing total is the sum.
    pub(super) fn parse(vendor: &str, words: &[&str]) -> Result<Self, LedgerMisuse> {
        if !VENDORS.contains(&vendor) {
            return Err(LedgerMisuse::new(format!("unknown vendor `{vendor}`")));
        }
        let mut counts = TokenCounts::default();
        let (mut raw, mut total) = (String::new(), None);
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| LedgerMisuse::new(format!("`{word}` is not KEY=VALUE")))?;
            let number = || number(key, value);
            match key {
                "input" => counts.input = number()?,
                "output" => counts.output = number()?,
                "cache_read" => counts.cache_read = number()?,
                "cache_create" => counts.cache_create = number()?,
                "total" => total = Some(number()?),
                "raw" => value.clone_into(&mut raw),
                other => return Err(LedgerMisuse::new(format!("unknown key `{other}`"))),
            }
        }
        counts.total = total.unwrap_or_else(|| counts.parts());
        Ok(Self { vendor: vendor.to_owned(), counts, raw })
    }
}

fn number(key: &str, value: &str) -> Result<u64, LedgerMisuse> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| value.parse().ok()).flatten();
    number.ok_or_else(|| LedgerMisuse::new(format!("`{key}={value}` is not a number of tokens")))
}

/// A row of the token ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// When it was written.
    pub at: Timestamp,
    /// The row's event.
    pub event: TokenEvent,
}

/// The event of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenEvent {
    /// A step begins.
    Mark(String),
    /// An agent used tokens.
    Use(TokenUse),
}

/// Returns a time as it is written: in seconds of UTC.
pub fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Chooses the id of the session that a ledger belongs to: the given one, else the one in a file,
/// else the working folder.
pub fn session_id(named: Option<&str>, file: Option<&str>, folder: &str) -> String {
    let written = file.map(str::trim).filter(|session| !session.is_empty());
    named.filter(|session| !session.is_empty()).or(written).unwrap_or(folder).to_owned()
}

/// Returns what a session's ledger is called. Only the id's hash reaches the path.
pub fn file_name(hash: &str) -> String {
    format!("larch-tokens-{hash}.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-373, P-374
    #[test]
    fn six_keys_are_known() {
        let given = TokenUse::parse("codex", &["total=18250", "raw=codex_review"]).unwrap();
        let counts = TokenCounts { total: 18250, ..TokenCounts::default() };
        assert_eq!(
            given,
            TokenUse { vendor: "codex".to_owned(), counts, raw: "codex_review".to_owned() }
        );
        let words = ["input=1", "output=2", "cache_read=3", "cache_create=4", "raw=a=b"];
        let given = TokenUse::parse("cursor", &words).unwrap();
        assert_eq!((given.counts.total, given.raw.as_str()), (10, "a=b"));
        for wrong in [
            "input=-1",
            "input=+1",
            "input=1.5",
            "input=",
            "total=99999999999999999999",
            "in=1",
            "input",
        ] {
            assert!(TokenUse::parse("codex", &["output=1", wrong]).is_err(), "{wrong}");
        }
        assert!(TokenUse::parse("", &[]).is_err());
        assert!(TokenUse::parse("claude", &["total=1"]).is_err());
    }

    // P-371
    #[test]
    fn times_are_in_seconds_of_utc() {
        let at = Timestamp::from_millisecond(1_777_627_800_999).unwrap();
        assert_eq!(stamp(at), "2026-05-01T09:30:00Z");
    }

    // P-372
    #[test]
    fn the_id_that_is_named_comes_first() {
        assert_eq!(session_id(Some("a"), Some("b"), "c"), "a");
        assert_eq!(session_id(None, Some(" b\n"), "c"), "b");
        assert_eq!(session_id(Some(""), Some("\n"), "c"), "c");
        assert_eq!(session_id(None, None, "c"), "c");
    }
}
