//! Anonymity: a text that does not show who wrote it.

use super::seat::{Holder, Panel};
use crate::text::lookalike::look;

/// The words that replace a name.
const INSTEAD: &str = "the tool";

/// Names of models, which tell as much as those of agents.
const MODELS: [&str; 4] = ["anthropic", "sonnet", "opus", "haiku"];

/// The names that must not be read.
#[derive(Debug, Clone)]
pub struct Hidden {
    names: Vec<String>,
}

/// A text in which a name would appear again once others are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an agent's name cannot be hidden")]
pub struct Leak;

/// A text whose names are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text after replacement.
    pub text: String,
    /// Whether the text had any name.
    pub replaced: bool,
}

impl Hidden {
    /// Hides a panel's agents.
    pub fn of(panel: &Panel) -> Self {
        let agents =
            [Holder::First, Holder::Second, Holder::Host].map(|holder| panel.named(holder));
        let both = agents.iter().flat_map(|agent| [agent.name(), agent.word()]);
        let mut names: Vec<_> = both.map(str::to_ascii_lowercase).collect();
        // The longest first, so that a name within another is not replaced before it.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Self { names }
    }

    /// Removes the names from a text. A path or an identifier is evidence and stays unchanged, even
    /// if it names an agent (`CLAUDE.md`): it shows the subject, not the speaker. It is replaced
    /// only where the speaker calls itself by it.
    pub fn mask(&self, text: &str) -> Result<Masked, Leak> {
        let mut masked = text.to_owned();
        for name in self.names.iter().filter(|name| name.contains(' ')) {
            masked = replaced(&masked, name);
        }
        let words: Vec<_> = masked.split_inclusive(char::is_whitespace).collect();
        let mut result = String::with_capacity(masked.len());
        for (at, word) in words.iter().enumerate() {
            let before = words[at.saturating_sub(BEFORE)..at].concat();
            let after = words.get(at + 1).copied().unwrap_or_default();
            let is_kept = self.is_evidence(word) && !is_self(&before, word, after);
            let hidden = if is_kept { (*word).to_owned() } else { self.masked_word(word) };
            if !is_kept && self.holds_name(&hidden) {
                return Err(Leak);
            }
            result.push_str(&hidden);
        }
        let replaced = result != text;
        Ok(Masked { text: result, replaced })
    }

    fn masked_word(&self, word: &str) -> String {
        let lower = word.to_ascii_lowercase();
        let names = self.names.iter().map(String::as_str).chain(MODELS);
        let mut masked = word.to_owned();
        for name in names.filter(|name| holds(&lower, name)) {
            masked = replaced(&masked, name);
        }
        if masked == word && self.holds_name(&folded(word)) {
            // Letters that only look like those of a name: nothing of the word is worth keeping.
            let blank = word.len() - word.trim_end().len();
            masked = format!("{INSTEAD}{}", &word[word.len() - blank..]);
        }
        masked
    }

    fn holds_name(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.names.iter().any(|name| holds(&lower, name))
    }

    /// Tells whether a word names a part of the project: a file, a folder or an identifier.
    fn is_evidence(&self, word: &str) -> bool {
        // In a link, only where it leads.
        let word = word.rsplit_once("](").map_or(word, |(_, target)| target);
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && !"./~_".contains(c));
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric() && !"/_".contains(c));
        let word = &word[word.find(|c: char| c.is_ascii()).unwrap_or(0)..];
        is_file(word) || self.is_folder(word) || self.is_identifier(word)
    }

    /// Tells whether a word is a path of folders; `Claude/Opus` are only two names.
    fn is_folder(&self, word: &str) -> bool {
        let parts: Vec<_> = word.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        let is_plain = |part: &&str| {
            part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
        };
        // `.claude` is a folder; `..claude`, `/Claude` and `~/Claude` are only a name with marks.
        let says_nothing = |part: &&str| {
            let part = part.strip_prefix("..").map_or(*part, |rest| rest.trim_start_matches('.'));
            let part = part.to_ascii_lowercase();
            ["", ".", "~"].contains(&part.as_str())
                || self.names.contains(&part)
                || MODELS.contains(&part.as_str())
                || SPEAKERS.contains(&part.as_str())
        };
        if parts.iter().all(says_nothing) {
            return false;
        }
        if word.starts_with(['.', '~', '/']) && word.contains('/') {
            return word.contains(char::is_alphanumeric);
        }
        parts.len() > 1 && parts.iter().all(is_plain)
    }

    /// Tells whether a word is an identifier: `codex_home`, `CodexAdapter`, `codex::run`. A
    /// sentence in one word, such as `IAmCodex`, does not count.
    fn is_identifier(&self, word: &str) -> bool {
        let is_code = |c: char| c.is_ascii_alphanumeric() || "_:.".contains(c);
        let parts = humps(word);
        let speaks = parts.iter().any(|part| SPEAKERS.contains(&part.as_str()));
        let is_name = |part: &String| self.names.contains(part);
        let is_joined = word.contains('_') || word.contains("::") || !word.contains(':');
        word.chars().all(is_code)
            && is_joined
            && !speaks
            && parts.len() > 1
            && parts.iter().any(is_name)
            && !parts.iter().all(is_name)
            && !word.trim_matches('.').contains('.')
    }
}

/// Splits an identifier into its words, in lower case.
fn humps(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in word.chars() {
        if !c.is_alphanumeric() || was_lower && c.is_uppercase() {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        if let Some(last) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// How many words before a name show whether a speaker calls itself by it.
const BEFORE: usize = 4;

/// Words for a speaker, which make no path of a name.
const SPEAKERS: [&str; 8] = ["i", "am", "im", "iam", "me", "my", "myself", "us"];

/// Words before a speaker's own name, in some languages.
const CALLED: [&str; 36] = [
    "i am",
    "i'm",
    "i\u{2019}m",
    "i, ",
    "my name is",
    "call me",
    "ich bin",
    "mein name ist",
    "ich hei\u{df}e",
    "je suis",
    "je m'appelle",
    "je m\u{2019}appelle",
    "yo soy",
    "soy",
    "me llamo",
    "eu sou",
    "meu nome \u{e9}",
    "io sono",
    "sono",
    "mi chiamo",
    "ik ben",
    "jag \u{e4}r",
    "jeg er",
    "jestem",
    "nazywam si\u{119}",
    "\u{44f}",
    "\u{43c}\u{435}\u{43d}\u{44f} \u{437}\u{43e}\u{432}\u{443}\u{442}",
    "\u{6211}\u{662f}",
    "\u{6211}\u{53eb}",
    "\u{79c1}\u{306f}",
    "\u{50d5}\u{306f}",
    "\u{b098}\u{b294}",
    "\u{c800}\u{b294}",
    "ben",
    "\u{645}\u{646}",
    "\u{623}\u{646}\u{627}",
];

/// Words before a speaker's own name when a sentence with `I` follows.
const AS: [&str; 11] = [
    "as",
    "speaking as",
    "als",
    "en tant que",
    "como",
    "come",
    "jako",
    "som",
    "\u{43a}\u{430}\u{43a}",
    "\u{4f5c}\u{4e3a}",
    "olarak",
];

/// Words with which speakers go on about themselves.
const I: [&str; 14] = [
    "i",
    "i'm",
    "i\u{2019}m",
    "my",
    "ich",
    "je",
    "j'ai",
    "yo",
    "eu",
    "io",
    "ik",
    "jag",
    "ja",
    "\u{44f}",
];

/// Tells whether a speaker calls itself by a word.
fn is_self(before: &str, word: &str, after: &str) -> bool {
    let start = word.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(word.len());
    let quotes = ['`', '"', '\'', '*', '_', '\u{201c}', '\u{ab}', '\u{300c}'];
    let before = format!("{before}{}", word[..start].trim_end_matches(quotes)).to_lowercase();
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || quotes.contains(&c));
    let ends = |phrase: &str| {
        before
            .strip_suffix(phrase.trim_end())
            .is_some_and(|rest| !phrase.is_ascii() || !rest.ends_with(char::is_alphanumeric))
    };
    let goes_on = || {
        let next = after.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        word.trim_end().ends_with([',', '\u{ff0c}']) && I.contains(&&*next)
    };
    CALLED.iter().any(|phrase| ends(phrase)) || AS.iter().any(|phrase| ends(phrase)) && goes_on()
}

/// Tells whether a word is the name of a file: it ends with a dot and a few letters, and optionally
/// a line. A vendor's web address does not count.
fn is_file(word: &str) -> bool {
    let end = word.find([':', '#', '(', '?']).unwrap_or(word.len());
    let name = &word[..end];
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_ending = (1..=10).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_address = !stem.contains(['/', '-', '_'])
        && ["ai", "com", "io", "dev", "org", "net", "app", "sh", "so"].contains(&ending);
    is_ending && !stem.ends_with('.') && !is_address
}

/// Returns a text with letters that look like Latin ones replaced by those.
fn folded(text: &str) -> String {
    text.chars().map(look).collect()
}

/// Replaces a name in any case.
fn replaced(text: &str, name: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for at in places(&lower, name) {
        result.push_str(&text[end..at]);
        result.push_str(INSTEAD);
        end = at + name.len();
    }
    result + &text[end..]
}

fn holds(lower: &str, name: &str) -> bool {
    places(lower, name).next().is_some()
}

/// Finds a name anywhere; one of less than four letters only as a word, since it is part of many.
fn places(lower: &str, name: &str) -> impl Iterator<Item = usize> {
    let is_word = move |at: usize| {
        let around = (&lower[..at], &lower[at + name.len()..]);
        !around.0.ends_with(char::is_alphanumeric) && !around.1.starts_with(char::is_alphanumeric)
    };
    let found = lower.match_indices(name).map(|(at, _)| at);
    found.filter(move |at| name.len() > 3 || is_word(*at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::seat::Named;
    use super::*;

    fn hidden() -> Hidden {
        Hidden::of(&Panel::default())
    }

    // P-224, P-225
    #[test]
    fn names_are_replaced_in_any_case() {
        for (text, expected) in [
            ("Cursor said so", "the tool said so"),
            ("as CODEX, I", "as the tool, I"),
            ("Claude's and cursor-like", "the tool's and the tool-like"),
            ("an Anthropic model, Opus", "an the tool model, the tool"),
            ("see src/opus/frame.rs:3", "see src/opus/frame.rs:3"),
            ("line\none", "line\none"),
        ] {
            let masked = hidden().mask(text).unwrap();
            assert_eq!(masked.text, expected);
            assert_eq!(masked.replaced, text != expected);
        }
    }

    // P-225: a path shows the subject, not the speaker.
    #[test]
    fn a_path_with_an_agents_name_stays_as_it_is() {
        for text in ["see src/cursor.rs:4", "`codex.toml`", "(.claude/settings.json)", "CLAUDE.md,"]
        {
            let masked = hidden().mask(text).unwrap();
            assert_eq!((masked.text.as_str(), masked.replaced), (text, false));
        }
        let masked = |text: &str| hidden().mask(text).unwrap().text;
        assert_eq!(masked("I am claude.rs"), "I am the tool.rs");
        assert_eq!(masked("the end.Cursor"), "the end.the tool");
        assert_eq!(masked("It ends with Cursor."), "It ends with the tool.");
    }

    // P-224: the names are those of the panel.
    #[test]
    fn other_panels_hide_other_names() {
        let named = |word, name| Named::new(word, name).unwrap();
        let panel =
            Panel::new(named("qwen", "Qwen 3"), named("b", "Best"), named("local", "Local"));
        let hidden = Hidden::of(&panel.unwrap());
        assert_eq!(hidden.mask("qwen 3 and Cursor").unwrap().text, "the tool and Cursor");
        assert_eq!(hidden.mask("a bench of b, bbb").unwrap().text, "a bench of the tool, bbb");
        // A text in which a replacement would form a name again is not shown.
        assert_eq!(hidden.mask("beslocal").map(|masked| masked.text), Err(Leak));
    }

    // P-224: letters of another script that look the same are read the same.
    #[test]
    fn a_name_in_letters_that_look_alike_is_hidden() {
        for text in ["Cl\u{430}ude", "\u{421}ursor", "C\u{43e}dex"] {
            let masked = hidden().mask(&format!("by {text} alone")).unwrap();
            assert_eq!(masked.text, "by the tool alone", "{text}");
        }
    }

    proptest! {
        // P-224
        #[test]
        fn a_name_is_left_only_in_evidence(text in "(cur|sor|Cursor|CODEX|cla|ude|opus|the tool|[./ \na]){0,8}", wild in any::<String>()) {
            for text in [text, wild] {
                if let Ok(masked) = hidden().mask(&text) {
                    // A hidden folder such as `.claude/` is evidence.
                    let is_hidden = |part: &str| part.starts_with('.') && !part.starts_with("..");
                    let words = masked.text.split_whitespace();
                    for word in words.filter(|word| !word.split('/').any(is_hidden)) {
                        let lower = word.to_lowercase();
                        let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
                        prop_assert!(!["cursor", "codex", "claude"].contains(&bare), "{}", word);
                    }
                    prop_assert_eq!(&hidden().mask(&masked.text).unwrap().text, &masked.text);
                }
            }
        }
    }

    #[test]
    fn a_long_text_costs_its_length() {
        assert!(hidden().mask(&"cursor".repeat(50_000)).unwrap().replaced);
        assert!(hidden().mask(&"cursor ".repeat(50_000)).unwrap().replaced);
    }
}
