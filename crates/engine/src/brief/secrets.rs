//! Likely secrets in documents, found by the rules of gitleaks.
//!
//! The rules are data: `secrets/gitleaks.toml` is the default configuration of gitleaks, and a newer
//! one can take its place. A finding names the kind and the line; it never holds the secret.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use convoke_domain::brief::collection::LikelySecret;
use regex::bytes::{Captures, Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;

const RULES: &str = include_str!("secrets/gitleaks.toml");

/// The rule for any text assigned to a name such as `password`. A rule for a specific kind of
/// secret takes precedence.
const GENERIC: &str = "generic-api-key";

/// The mark by which a person declares that a line holds no secret.
const ALLOWED: &str = "gitleaks:allow";

/// More findings in one document tell nothing more.
const MOST_FINDINGS: usize = 100;

/// A compiled rule is larger than most patterns that people write.
const MOST_COMPILED_BYTES: usize = 32 * 1024 * 1024;

/// The rules could not be used: a defect of the data file.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the rules for likely secrets")]
pub struct SecretRulesError(#[source] Box<dyn std::error::Error + Send + Sync>);

#[derive(Debug, Deserialize)]
struct RuleFile {
    allowlist: Allowlist,
    rules: Vec<RuleEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleEntry {
    id: String,
    regex: Option<String>,
    path: Option<String>,
    secret_group: Option<usize>,
    entropy: Option<f64>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Allowlist {
    #[serde(default)]
    paths: Patterns,
    #[serde(default)]
    regexes: Patterns,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    regex_target: String,
    #[serde(default)]
    condition: String,
}

/// Patterns of which any may match, compiled together on their first use.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
struct Patterns {
    patterns: Vec<String>,
    set: OnceLock<Option<RegexSet>>,
}

impl From<Vec<String>> for Patterns {
    fn from(patterns: Vec<String>) -> Self {
        Self { patterns, set: OnceLock::new() }
    }
}

impl Patterns {
    fn is_match(&self, text: &[u8]) -> bool {
        self.set().is_some_and(|set| set.is_match(text))
    }

    fn set(&self) -> Option<&RegexSet> {
        let compile = || {
            let patterns = self.patterns.iter().map(|pattern| with_plain_braces(pattern));
            let mut builder = RegexSetBuilder::new(patterns);
            builder.unicode(false).size_limit(MOST_COMPILED_BYTES).build().ok()
        };
        self.set.get_or_init(compile).as_ref()
    }
}

/// The rules. Only those whose keywords occur in a document are compiled.
#[derive(Debug)]
pub struct SecretRules {
    allowlist: Allowlist,
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    /// The rule that each keyword belongs to.
    owners: Vec<usize>,
}

#[derive(Debug)]
struct Rule {
    entry: RuleEntry,
    regex: OnceLock<Option<Regex>>,
}

/// A place that a rule matches.
struct Suspect<'t> {
    secret: &'t [u8],
    whole: &'t [u8],
    line: &'t [u8],
    path: &'t str,
}

impl SecretRules {
    /// Reads the rules.
    pub fn load() -> Result<Self, SecretRulesError> {
        let file: RuleFile =
            toml::from_str(RULES).map_err(|error| SecretRulesError(Box::new(error)))?;
        let rules: Vec<_> = file
            .rules
            .into_iter()
            .filter(|entry| entry.regex.is_some())
            .map(|entry| Rule { entry, regex: OnceLock::new() })
            .collect();
        let pairs = rules.iter().enumerate().flat_map(|(owner, rule)| {
            rule.entry.keywords.iter().map(move |keyword| (keyword, owner))
        });
        let (words, owners): (Vec<_>, _) = pairs.unzip();
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .map_err(|error| SecretRulesError(Box::new(error)))?;
        Ok(Self { allowlist: file.allowlist, rules, keywords, owners })
    }

    /// Returns likely secrets in a document, by line.
    pub fn scan(&self, path: &str, text: &str) -> Vec<LikelySecret> {
        if self.allowlist.paths.is_match(path.as_bytes()) {
            return Vec::new();
        }
        let mut is_due = vec![false; self.rules.len()];
        for found in self.keywords.find_overlapping_iter(text) {
            is_due[self.owners[found.pattern().as_usize()]] = true;
        }
        let due = self.rules.iter().zip(is_due).filter(|(_, is_due)| *is_due);
        let mut found: Vec<_> = due.flat_map(|(rule, _)| self.found_by(rule, path, text)).collect();
        found.sort_by(|a, b| (a.at, &a.kind).cmp(&(b.at, &b.kind)));
        number_lines(&mut found, text);
        let known: Vec<_> = found
            .iter()
            .filter(|secret| secret.kind != GENERIC)
            .map(|secret| secret.line)
            .collect();
        found.retain(|secret| secret.kind != GENERIC || !known.contains(&secret.line));
        found.dedup_by(|later, earlier| later.line == earlier.line && later.kind == earlier.kind);
        found.truncate(MOST_FINDINGS);
        found
    }

    fn found_by(&self, rule: &Rule, path: &str, text: &str) -> Vec<LikelySecret> {
        let entry = &rule.entry;
        let here = |pattern: &String| {
            compiled(pattern).is_some_and(|regex| regex.is_match(path.as_bytes()))
        };
        let applies = entry.path.as_ref().is_none_or(here);
        let Some(regex) = rule.regex().filter(|_| applies) else { return Vec::new() };
        let found = regex.captures_iter(text.as_bytes()).filter_map(|captures| {
            let whole = captures.get(0)?;
            let secret = secret_of(entry, &captures)?;
            let line = line_around(text, secret.start(), secret.end());
            let suspect =
                Suspect { secret: secret.as_bytes(), whole: whole.as_bytes(), line, path };
            let random = entry.entropy.is_none_or(|least| entropy(suspect.secret) > least);
            let allowed =
                entry.allowlists.iter().chain([&self.allowlist]).any(|list| list.allows(&suspect));
            let marked = holds(line, ALLOWED.as_bytes());
            let at = secret.start();
            (random && !allowed && !marked).then(|| LikelySecret {
                line: 0,
                at,
                kind: entry.id.clone(),
            })
        });
        found.take(MOST_FINDINGS).collect()
    }
}

impl Rule {
    fn regex(&self) -> Option<&Regex> {
        let compile = || compiled(self.entry.regex.as_deref()?);
        self.regex.get_or_init(compile).as_ref()
    }
}

impl Allowlist {
    fn allows(&self, suspect: &Suspect<'_>) -> bool {
        let target = match self.regex_target.as_str() {
            "match" => suspect.whole,
            "line" => suspect.line,
            _ => suspect.secret,
        };
        let by_regex = || self.regexes.is_match(target);
        let by_path = || self.paths.is_match(suspect.path.as_bytes());
        let by_word = || {
            let secret = suspect.secret.to_ascii_lowercase();
            self.stopwords.iter().any(|word| holds(&secret, word.as_bytes()))
        };
        if self.condition == "AND" {
            return (self.regexes.patterns.is_empty() || by_regex())
                && (self.paths.patterns.is_empty() || by_path())
                && (self.stopwords.is_empty() || by_word());
        }
        by_regex() || by_path() || by_word()
    }
}

/// Escapes braces that begin no repetition: Go takes them as they are, and Rust refuses them.
fn with_plain_braces(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    for (at, character) in pattern.char_indices() {
        let before = &pattern.as_bytes()[..at];
        let is_escaped = before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        let is_named = [&b"\\p"[..], b"\\P", b"\\x"].iter().any(|start| before.ends_with(start));
        let is_plain = character == '{' && !is_escaped && !is_named;
        if is_plain && !is_repetition(&pattern[at + 1..]) {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

fn is_repetition(after: &str) -> bool {
    let count = after.split('}').next().unwrap_or_default();
    after.len() > count.len()
        && count.starts_with(|c: char| c.is_ascii_digit())
        && count.chars().all(|c| c.is_ascii_digit() || c == ',')
}

/// Go's patterns mean ASCII classes, so these do.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(&with_plain_braces(pattern))
        .unicode(false)
        .size_limit(MOST_COMPILED_BYTES)
        .build()
        .ok()
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && text.windows(word.len()).any(|part| part == word)
}

/// Returns the group that a rule names, else the first that took part, else all of the match.
fn secret_of<'t>(entry: &RuleEntry, captures: &Captures<'t>) -> Option<Match<'t>> {
    if let Some(group) = entry.secret_group {
        return captures.get(group);
    }
    let groups = (1..captures.len()).filter_map(|group| captures.get(group));
    groups.into_iter().find(|group| !group.is_empty()).or_else(|| captures.get(0))
}

fn line_around(text: &str, from: usize, to: usize) -> &[u8] {
    let bytes = text.as_bytes();
    let start = bytes[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[to..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| to + at);
    &bytes[start..end]
}

fn number_lines(found: &mut [LikelySecret], text: &str) {
    let (mut line, mut counted) = (1, 0);
    for secret in found {
        line += text.as_bytes()[counted..secret.at].split(|byte| *byte == b'\n').count() - 1;
        counted = secret.at;
        secret.line = line;
    }
}

/// Returns Shannon's entropy in bits for each byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let all = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f64::from(*count) / all;
        -share * share.log2()
    });
    bits.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(path: &str, text: &str) -> Vec<(usize, String)> {
        let rules = SecretRules::load().unwrap();
        let found = rules.scan(path, text);
        found.into_iter().map(|secret| (secret.line, secret.kind)).collect()
    }

    #[test]
    fn every_rule_of_the_data_file_compiles() {
        let rules = SecretRules::load().unwrap();
        let broken: Vec<_> = rules
            .rules
            .iter()
            .filter(|rule| rule.regex().is_none())
            .map(|rule| rule.entry.id.as_str())
            .collect();
        assert_eq!(broken, Vec::<&str>::new());
        let lists = rules.rules.iter().flat_map(|rule| &rule.entry.allowlists);
        for list in lists.chain([&rules.allowlist]) {
            assert!(list.regexes.set().is_some() && list.paths.set().is_some(), "{list:?}");
        }
    }

    // B-88. The parts are joined here, so that no scanner takes this file for a leak.
    #[test]
    fn keys_are_found_by_kind_and_line() {
        let aws = ["AKIA", "Z7JQ4N2XKM5RWT3P"].concat();
        let github = ["ghp_", "x7Kq2mZ9pLw4Tn8Rv3Yc6Bd1Hj5Fs0GaQeUi"].concat();
        let generic = ["password = \"", "q8Zr4Lm2Xw9Tk7Pv", "\""].concat();
        let text = format!("# Setup\n\nkey: {aws}\nwith {github} too\n{generic}\n");
        let found = kinds("docs/setup.md", &text);
        let expected = [(3, "aws-access-token"), (4, "github-pat"), (5, GENERIC)];
        assert_eq!(found, expected.map(|(line, kind)| (line, kind.to_owned())));
        let allowed = format!("key: {aws} # {ALLOWED}\n");
        assert_eq!(kinds("docs/setup.md", &allowed), []);
    }

    #[test]
    fn only_braces_that_repeat_nothing_are_escaped() {
        for (go, rust) in [
            (r"a{2}b{2,}c{2,3}", r"a{2}b{2,}c{2,3}"),
            (r"^\${(?:x)}$", r"^\$\{(?:x)}$"),
            (r"{{[^}]+}}", r"\{\{[^}]+}}"),
            (r"\{a\\{", r"\{a\\\{"),
            (r"\x{41}{\d+}", r"\x{41}\{\d+}"),
        ] {
            assert_eq!(with_plain_braces(go), rust);
        }
    }

    #[test]
    fn prose_about_secrets_is_no_secret() {
        let text = "Set `API_KEY=YOUR_API_KEY` and the password to `password`.\n\
                    AKIAIOSFODNN7EXAMPLE is the key of AWS's own documents.\n\
                    token: ${GITHUB_TOKEN}\n";
        assert_eq!(kinds("docs/setup.md", text), []);
    }
}
