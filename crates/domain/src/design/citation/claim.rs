//! What a text says is at a place: the lines that it cites, and the words that it says are there.
//!
//! Words count as quoted only where the text ties them to the place: `a.rs:7 says "…"`, `a.rs:7: "…"`,
//! `a.rs:7 ("…")`, `"…" (a.rs:7)`. Other words in quotes may be a proposal, which no file has to hold.

use super::forms::{CitedAt, places};
use super::{Citation, CitationRule, MOST, parse};
use crate::receipt::quotation::{QuotedPart, quoted_parts};

/// The longest quotation that is looked up, in characters; a longer one is looked up by its beginning.
const LONGEST_WORDS: usize = 300;

/// Between a place and the words that a text gives it.
const INTRODUCTIONS: [&str; 19] = [
    "",
    ":",
    "(",
    "[",
    "\u{2014}",
    "\u{2013}",
    "says",
    "says:",
    "reads",
    "reads:",
    "states",
    "states:",
    "contains",
    "contains:",
    "has",
    "has:",
    "shows",
    "shows:",
    "says that",
];

/// Between words and the place that a text gives them.
const ATTRIBUTIONS: [&str; 6] = ["(", "[", "(see", "(from", "\u{2014}", "\u{2013}"];

/// A place that a text cites, with the words that it says are there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CitedPassage {
    /// The lines.
    pub place: Citation,
    /// The words, without their quotation marks; nothing if the text quotes none.
    pub words: Option<String>,
    /// Other paths that the text may mean: a name may hold blanks, and a sentence may adjoin a name.
    pub other_paths: Vec<String>,
    /// The line of which the number may be a column, as in `a.rs:7,12`.
    pub column_of: Option<u32>,
}

impl CitedPassage {
    /// Makes the claim that a text of only one reading makes.
    pub const fn new(place: Citation, words: Option<String>) -> Self {
        Self { place, words, other_paths: Vec::new(), column_of: None }
    }

    /// Tells whether another claim is about the same lines and words.
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        self.place == other.place && self.words == other.words
    }

    /// Takes in the doubts of another claim about the same.
    pub fn add_doubts_of(&mut self, other: &Self) {
        for path in &other.other_paths {
            if !self.other_paths.contains(path) {
                self.other_paths.push(path.clone());
            }
        }
        self.column_of = self.column_of.or(other.column_of);
    }

    /// Returns the place as the text cites it, without quotation marks.
    pub fn shown(&self) -> String {
        let shown = self.place.shown();
        shown.trim_matches('`').to_owned()
    }
}

/// Finds the places that a text cites, each once with the words quoted for it.
pub fn cited_places(text: &str) -> Vec<CitedPassage> {
    cited_places_under(CitationRule::EveryForm, text)
}

/// Finds the places that a text cites in the forms that a run reads.
pub fn cited_places_under(rule: CitationRule, text: &str) -> Vec<CitedPassage> {
    let places = places(rule, text);
    let mut quoted = if places.is_empty() { Vec::new() } else { quoted_parts(text) };
    // A path in quotes is another place, and no words of this one.
    quoted.retain(|part| part.text.contains(char::is_whitespace) || !part.text.contains('/'));
    quoted.retain(|part| parse(&part.text).is_none());
    let mut found: Vec<CitedPassage> = Vec::new();
    for CitedAt { start, end, place, other_paths, column_of } in places {
        let words = quoted_at(text, start, end, &quoted);
        let cited = CitedPassage { place, words, other_paths, column_of };
        if let Some(known) = found.iter_mut().find(|known| known.is_about_the_same(&cited)) {
            known.add_doubts_of(&cited);
        } else if found.len() < MOST {
            found.push(cited);
        }
    }
    // A place that is cited with and without words is looked up once, with them.
    let with_words: Vec<_> = found
        .iter()
        .filter(|cited| cited.words.is_some())
        .map(|cited| cited.place.clone())
        .collect();
    found.retain(|cited| cited.words.is_some() || !with_words.contains(&cited.place));
    found
}

fn quoted_at(text: &str, start: usize, end: usize, quoted: &[QuotedPart]) -> Option<String> {
    let behind = quoted.iter().find(|part| part.start >= end);
    let behind = behind.filter(|part| {
        let between = text.get(end..part.start).unwrap_or_default();
        INTRODUCTIONS.contains(&plain(between).as_str())
    });
    let before = || {
        let part = quoted.iter().rfind(|part| part.end <= start)?;
        let between = text.get(part.end..start).unwrap_or_default();
        // Code in back-ticks before a place may be what should be there.
        let is_prose = text.get(part.start..).is_some_and(|rest| !rest.starts_with('`'));
        (is_prose && ATTRIBUTIONS.contains(&plain(between).as_str())).then_some(part)
    };
    let part = behind.or_else(before)?;
    let words: String = part.text.chars().take(LONGEST_WORDS).collect();
    Some(words)
}

/// Returns the text between a place and a quotation, without the back-tick around the place.
fn plain(between: &str) -> String {
    let between = between.trim().trim_matches('`').trim_matches('*');
    between.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> String {
        let found = cited_places(text).into_iter().map(|cited| match &cited.words {
            Some(words) => format!("{}={words}", cited.shown()),
            None => cited.shown(),
        });
        found.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn only_words_that_are_tied_to_a_place_are_quoted() {
        for (text, expected) in [
            ("src/a.rs:7 says \"every token is signed\".", "src/a.rs:7=every token is signed"),
            ("`src/a.rs:7`: `let token = sign(key);`", "src/a.rs:7=let token = sign(key);"),
            ("`src/a.rs:7-9` (`let token = sign(key)`)", "src/a.rs:7-9=let token = sign(key)"),
            ("\"every token is signed\" (src/a.rs#L7)", "src/a.rs:7=every token is signed"),
            ("\u{201c}every token is signed\u{201d} — `a.md:2`", "a.md:2=every token is signed"),
            ("a.md:3\n\n> every token is\n> signed\n", "a.md:3=every token is\nsigned"),
            // The words of one place are not those of the next.
            (
                "a.md:1 has \"every token\u{a0}is signed\", b.md:2 has nothing.",
                "a.md:1=every token\u{a0}is signed | b.md:2",
            ),
            // Another place is no quotation.
            (
                "`src/upload/client.rs:8` (`src/upload/worker.rs:9`)",
                "src/upload/client.rs:8 | src/upload/worker.rs:9",
            ),
            ("`src/upload/client.rs:8` (`src/upload/worker.rs`)", "src/upload/client.rs:8"),
            // A proposal is no quotation.
            ("src/a.rs:7 should use `parking_lot::Mutex`.", "src/a.rs:7"),
            ("Use `parking_lot::Mutex` (src/a.rs:7).", "src/a.rs:7"),
            ("Replace it in src/a.rs:7 with \"something much longer\".", "src/a.rs:7"),
            ("src/a.rs:7 says \"short\".", "src/a.rs:7"),
            // Once, with its words.
            (
                "See src/a.rs:7. src/a.rs:7: \"every token is signed\"",
                "src/a.rs:7=every token is signed",
            ),
            // Lines behind a path, in words and marks.
            ("`src/a.rs` line 901 and `src/b.rs`:902.", "src/a.rs:901 | src/b.rs:902"),
            ("src/a.rs lines 903-904, src/b.rs, line 3 to 5", "src/a.rs:903-904 | src/b.rs:3-5"),
            ("src/a.rs (L909) and `src/b.rs` (lines 1\u{2013}2)", "src/a.rs:909 | src/b.rs:1-2"),
            ("src/a.rs line 7: \"every token is signed\"", "src/a.rs:7=every token is signed"),
            ("src/a.rs:1,907 and src/b.rs:2, 40 of them", "src/a.rs:1 | src/a.rs:907 | src/b.rs:2"),
            ("src/a.rs#L3C5-L4C2", "src/a.rs:3-4"),
            ("Makefile:905 and Dockerfile line 2", "Makefile:905 | Dockerfile:2"),
            ("node:18, a.rs lines up, a.rs (400 lines), a.rs line 3rd, the.Line 5", ""),
            // A number that goes on is a version, a time or a name.
            ("registry/app.js:1.2.3 a.rs:3x a.rs:3.md:7 a.rs:50%", ""),
            ("a.rs:3-2026x and a.rs:3-", "a.rs:3"),
            ("https://example.org/a.rs:80 and 10:30 and localhost:80", ""),
            ("", ""),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    // Runs of earlier versions have journals without the other forms.
    #[test]
    fn earlier_runs_read_one_word() {
        let text = "a.rs:1,907, `b.rs` line 3, Makefile:4";
        let read = |rule| {
            let found = cited_places_under(rule, text);
            found.iter().map(CitedPassage::shown).collect::<Vec<_>>()
        };
        assert_eq!(read(CitationRule::Everywhere), ["a.rs:1"]);
        assert_eq!(read(CitationRule::EveryForm), ["a.rs:1", "a.rs:907", "b.rs:3", "Makefile:4"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), cited in "(a\\.rs|:[0-9-]{0,3}|[\"`>“”( \n…]|says|,[0-9]| lines? | \\(L|to|[a-zé]{1,14}){0,30}") {
            for text in [text, cited] {
                let found = cited_places(&text);
                prop_assert!(found.len() <= MOST);
                for cited in found {
                    prop_assert!(cited.words.is_none_or(|words| words.chars().count() <= LONGEST_WORDS));
                }
            }
        }
    }

    #[test]
    fn a_flood_of_citations_ends() {
        let flood = (0..5000).map(|line| format!("a.rs:{line} ")).collect::<Vec<_>>().concat();
        assert_eq!(cited_places(&flood).len(), MOST);
    }
}
