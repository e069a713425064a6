//! The requests of scripts about a session file: one key of it, or to write one.

use super::{is_plain_path, is_token_session, value_of};

/// One key is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOrder {
    /// The file; empty if the script has none.
    pub file: String,
    /// The key's name.
    pub key: String,
    /// The output if the file has no value.
    pub default: Option<String>,
}

/// A request for a key that fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyOrderError {
    /// A flag without a value.
    #[error("read-session-key: {0} requires a value")]
    MissingValue(String),
    /// A flag that the script does not have.
    #[error("read-session-key: unknown flag: {0}")]
    UnknownFlag(String),
    /// A required flag is missing.
    #[error("read-session-key: {0} is required")]
    MissingFlag(&'static str),
    /// There is no such file, and nothing to say instead.
    #[error("read-session-key: cannot read {0}")]
    Unreadable(String),
}

impl KeyOrder {
    /// Parses a script's words. A missing file argument is an error even with a default; only an
    /// empty argument means that there is no file.
    pub fn parse(words: &[String]) -> Result<Self, KeyOrderError> {
        let (mut file, mut key, mut default) = (None, None, None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let place = match word.as_str() {
                "--file" => &mut file,
                "--key" => &mut key,
                "--default" => &mut default,
                _ => return Err(KeyOrderError::UnknownFlag(word.clone())),
            };
            let value = words.next().ok_or_else(|| KeyOrderError::MissingValue(word.clone()))?;
            *place = Some(value.clone());
        }
        let key = key.filter(|key| !key.is_empty()).ok_or(KeyOrderError::MissingFlag("--key"))?;
        let file: String = file.ok_or(KeyOrderError::MissingFlag("--file"))?;
        if file.is_empty() && default.is_none() {
            return Err(KeyOrderError::MissingFlag("--file"));
        }
        Ok(Self { file, key, default })
    }

    /// Returns the output, given the file's text if it could be read.
    pub fn answer<'o>(&'o self, text: Option<&'o str>) -> Result<&'o str, KeyOrderError> {
        match (text, &self.default) {
            (None, None) => Err(KeyOrderError::Unreadable(self.file.clone())),
            (None, Some(default)) => Ok(default),
            (Some(text), default) => {
                let found = value_of(text, &self.key).filter(|value| !value.is_empty());
                Ok(found.or(default.as_deref()).unwrap_or_default())
            }
        }
    }
}

/// A request to write a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOrder {
    /// The file to write.
    pub output: String,
    /// The file's content.
    pub text: String,
}

/// A session file that cannot be written so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteOrderError {
    /// An unknown word.
    #[error("ERROR=Unknown argument: {0}")]
    Unknown(String),
    /// A flag without a value.
    #[error("ERROR=Missing value for {0}")]
    MissingValue(&'static str),
    /// A required option is missing.
    #[error("ERROR=Missing required arguments: --output, --repo-unavailable")]
    Missing,
    /// An invalid value.
    #[error("ERROR=Invalid {flag}: {must}")]
    Invalid {
        /// The flag with its two hyphens.
        flag: &'static str,
        /// The required form.
        must: &'static str,
    },
}

/// The required form of a value.
#[derive(Clone, Copy)]
enum Kind {
    OneLine,
    Truth,
    Path,
    TokenSession,
}

impl Kind {
    fn is_met(self, value: &str) -> bool {
        match self {
            Self::OneLine => !value.contains(char::is_control),
            Self::Truth => ["true", "false"].contains(&value),
            Self::Path => is_plain_path(value),
            Self::TokenSession => is_token_session(value),
        }
    }

    const fn must(self) -> &'static str {
        match self {
            Self::OneLine => "must be one line",
            Self::Truth => "must be true or false",
            Self::Path => "must match ^[A-Za-z0-9_./~+-]{1,512}$",
            Self::TokenSession => "must match ^[A-Za-z0-9_.-]{1,128}$",
        }
    }
}

/// Every line in its order: the flag, the key, what the value must be.
const LINES: [(&str, &str, Kind); 8] = [
    ("--repo", "REPO", Kind::OneLine),
    ("--repo-unavailable", "REPO_UNAVAILABLE", Kind::Truth),
    ("--codex-healthy", "CODEX_HEALTHY", Kind::Truth),
    ("--cursor-healthy", "CURSOR_HEALTHY", Kind::Truth),
    ("--gemini-healthy", "GEMINI_HEALTHY", Kind::Truth),
    ("--timing-ledger", "LARCH_TIMING_LEDGER", Kind::Path),
    ("--token-session-id", "LARCH_TOKEN_SESSION_ID", Kind::TokenSession),
    ("--claude-source-file", "LARCH_CLAUDE_SOURCE_FILE", Kind::Path),
];

impl WriteOrder {
    /// Reads a script's words. A value that is empty is not written, except the repository's.
    pub fn parse(words: &[String]) -> Result<Self, WriteOrderError> {
        let mut output = String::new();
        let mut values: [Option<&str>; LINES.len()] = [None; LINES.len()];
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = |flag| words.next().ok_or(WriteOrderError::MissingValue(flag));
            if word == "--output" {
                output.clone_from(value("--output")?);
            } else if let Some(place) = LINES.iter().position(|(flag, ..)| flag == word) {
                values[place] = Some(value(LINES[place].0)?);
            } else {
                return Err(WriteOrderError::Unknown(word.clone()));
            }
        }
        if output.is_empty() || values[1].is_none_or(str::is_empty) {
            return Err(WriteOrderError::Missing);
        }
        let mut lines = Vec::new();
        for ((flag, key, kind), value) in LINES.into_iter().zip(values) {
            let value = value.unwrap_or_default();
            if !value.is_empty() && !kind.is_met(value) {
                return Err(WriteOrderError::Invalid { flag, must: kind.must() });
            }
            if !value.is_empty() || key == "REPO" {
                lines.push(format!("{key}={value}\n"));
            }
        }
        Ok(Self { output, text: lines.concat() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(|word| word.replace("''", "")).collect()
    }

    // P-31, P-32
    #[test]
    fn a_reader_of_one_key_has_rules_for_everything() {
        let read = |line: &str, text: Option<&str>| {
            let order = KeyOrder::parse(&words(line)).map_err(|error| error.to_string())?;
            order.answer(text).map(str::to_owned).map_err(|error| error.to_string())
        };
        let text = Some("REPO=a/b\nEMPTY=\n");
        for (line, text, expected) in [
            ("--file f --key REPO", text, Ok("a/b")),
            ("--file f --key REPO --default d", text, Ok("a/b")),
            ("--file f --key EMPTY --default d", text, Ok("d")),
            ("--file f --key NONE --default d", text, Ok("d")),
            ("--file f --key NONE", text, Ok("")),
            ("--file f --key REPO --default d", None, Ok("d")),
            ("--file '' --key REPO --default d", None, Ok("d")),
            ("--file '' --key REPO --default ''", None, Ok("")),
            ("--file f --key REPO", None, Err("read-session-key: cannot read f")),
            ("--file '' --key REPO", None, Err("read-session-key: --file is required")),
            ("--key REPO --default d", text, Err("read-session-key: --file is required")),
            ("--file f --default d", text, Err("read-session-key: --key is required")),
            ("--file f --key", text, Err("read-session-key: --key requires a value")),
            ("--fyle f --key REPO", text, Err("read-session-key: unknown flag: --fyle")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(read(line, text), expected, "{line}");
        }
    }

    // P-29, P-30
    #[test]
    fn a_session_file_has_its_lines_in_order() {
        let order = WriteOrder::parse(&words(
            "--claude-source-file /c --token-session-id t.1 --timing-ledger /t --gemini-healthy false \
             --cursor-healthy true --codex-healthy false --repo-unavailable false --repo a/b --output o",
        ));
        let order = order.unwrap();
        assert_eq!(
            (order.output.as_str(), order.text.as_str()),
            (
                "o",
                "REPO=a/b\nREPO_UNAVAILABLE=false\nCODEX_HEALTHY=false\nCURSOR_HEALTHY=true\n\
                 GEMINI_HEALTHY=false\nLARCH_TIMING_LEDGER=/t\nLARCH_TOKEN_SESSION_ID=t.1\n\
                 LARCH_CLAUDE_SOURCE_FILE=/c\n"
            )
        );
        let least =
            WriteOrder::parse(&words("--output o --repo-unavailable true --codex-healthy ''"));
        assert_eq!(least.unwrap().text, "REPO=\nREPO_UNAVAILABLE=true\n");
    }

    // P-29, P-30
    #[test]
    fn a_session_file_of_wrong_values_is_not_written() {
        let missing = "ERROR=Missing required arguments: --output, --repo-unavailable";
        for (line, expected) in [
            ("--what x", "ERROR=Unknown argument: --what"),
            ("--output o", missing),
            ("--repo-unavailable true", missing),
            ("--output o --repo-unavailable ''", missing),
            ("--output", "ERROR=Missing value for --output"),
            (
                "--output o --repo-unavailable maybe",
                "ERROR=Invalid --repo-unavailable: must be true or false",
            ),
            (
                "--output o --repo-unavailable true --codex-healthy yes",
                "ERROR=Invalid --codex-healthy: must be true or false",
            ),
            (
                "--output o --repo-unavailable true --token-session-id a/b",
                "ERROR=Invalid --token-session-id: must match ^[A-Za-z0-9_.-]{1,128}$",
            ),
            (
                "--output o --repo-unavailable true --timing-ledger $x",
                "ERROR=Invalid --timing-ledger: must match ^[A-Za-z0-9_./~+-]{1,512}$",
            ),
        ] {
            assert_eq!(
                WriteOrder::parse(&words(line)).unwrap_err().to_string(),
                expected,
                "{line}"
            );
        }
        let two_lines =
            ["--output", "o", "--repo-unavailable", "true", "--repo", "a\nCODEX_HEALTHY=true"];
        let error = WriteOrder::parse(&two_lines.map(str::to_owned)).unwrap_err().to_string();
        assert_eq!(error, "ERROR=Invalid --repo: must be one line");
    }
}
