//! Anonymity: a text in which nobody can read who wrote it.

use super::seat::{Holder, Panel};

/// What stands instead of a name.
const INSTEAD: &str = "the tool";

/// Names of models, which tell as much as those of agents.
const MODELS: [&str; 4] = ["anthropic", "sonnet", "opus", "haiku"];

/// The names that must not be read.
#[derive(Debug, Clone)]
pub struct Hidden {
    names: Vec<String>,
}

/// A text whose author cannot be hidden without changing what it cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cited path names an agent")]
pub struct Leak;

/// A text without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text.
    pub text: String,
    /// Whether anything was replaced.
    pub replaced: bool,
}

impl Hidden {
    /// Hides a panel's agents.
    pub fn of(panel: &Panel) -> Self {
        let agents = [Holder::First, Holder::Second, Holder::Host].map(|it| panel.named(it));
        let both = agents.iter().flat_map(|it| [it.name(), it.word()]);
        let mut names: Vec<_> = both.map(str::to_ascii_lowercase).collect();
        // The longest first, so that a name within another is not replaced before it.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Self { names }
    }

    /// Takes the names out of a text. A path is evidence: if it holds the name of an agent, the
    /// text cannot be shown at all; the name of a model may stay in one.
    pub fn mask(&self, text: &str) -> Result<Masked, Leak> {
        let mut masked = text.to_owned();
        for name in self.names.iter().filter(|name| name.contains(' ')) {
            masked = replaced(&masked, name);
        }
        let words = masked.split_inclusive(char::is_whitespace);
        masked = words.map(|word| self.masked_word(word)).collect::<Result<_, _>>()?;
        let lower = masked.to_ascii_lowercase();
        if self.names.iter().any(|name| holds(&lower, name)) {
            return Err(Leak);
        }
        let replaced = masked != text;
        Ok(Masked { text: masked, replaced })
    }

    fn masked_word(&self, word: &str) -> Result<String, Leak> {
        let path = is_path(word);
        let lower = word.to_ascii_lowercase();
        let agents = self.names.iter().filter(|name| holds(&lower, name));
        let mut masked = word.to_owned();
        for name in agents {
            if path {
                return Err(Leak);
            }
            masked = replaced(&masked, name);
        }
        for model in MODELS.into_iter().filter(|model| !path && holds(&lower, model)) {
            masked = replaced(&masked, model);
        }
        Ok(masked)
    }
}

/// Tells whether a word is a path: it has a slash, or letters around a dot.
fn is_path(word: &str) -> bool {
    let words = word.trim_matches(|c: char| !c.is_alphanumeric());
    let dotted = |(at, _): (usize, &str)| {
        let before = words[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        before && words[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic())
    };
    words.contains(['/', '\\']) || words.match_indices('.').any(dotted)
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

    // P-225: a path that would change is no evidence any more.
    #[test]
    fn a_path_with_an_agents_name_cannot_be_hidden() {
        for text in ["see src/cursor.rs:4", "`codex.toml`", "(.claude/settings.json)", "a\\cursor"]
        {
            assert_eq!(hidden().mask(text), Err(Leak), "{text}");
        }
        assert!(hidden().mask("the end.Cursor").is_err(), "rather too careful than too open");
        assert!(hidden().mask("It ends with Cursor.").is_ok());
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
        // What a replacement would make a name of again is not shown.
        assert_eq!(hidden.mask("beslocal").map(|it| it.text), Err(Leak));
    }

    proptest! {
        // P-224
        #[test]
        fn no_name_is_left(text in "(cur|sor|Cursor|CODEX|cla|ude|opus|the tool|[./ \na]){0,8}", wild in any::<String>()) {
            for text in [text, wild] {
                if let Ok(masked) = hidden().mask(&text) {
                    let lower = masked.text.to_lowercase();
                    for name in ["cursor", "codex", "claude"] {
                        prop_assert!(!lower.contains(name), "{}", lower);
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
