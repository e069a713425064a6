//! Whether an answer has substance: enough words, and a sign of their source.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// The statement of a reviewer without findings.
pub const NO_ISSUES: &str = "NO_ISSUES_FOUND";

/// How an answer is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A review: few words are enough; none are needed if it reports no issues.
    Review,
    /// A whole piece of work.
    Work,
}

impl Measure {
    const fn fewest_words(self) -> usize {
        match self {
            Self::Review => 30,
            Self::Work => 200,
        }
    }
}

/// Why an answer has no substance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Thin {
    /// It has too few words.
    #[error("body too thin: {words}/{fewest} words after stripping fenced code")]
    FewWords {
        /// The number of words outside of fenced code.
        words: usize,
        /// How many there should be.
        fewest: usize,
    },
    /// Nothing shows where its words come from.
    #[error("no provenance marker found")]
    NoProvenance,
}

/// Judges an answer.
pub fn substance(answer: &str, measure: Measure) -> Result<(), Thin> {
    let first = answer.lines().map(str::trim).find(|line| !line.is_empty());
    if measure == Measure::Review && first == Some(NO_ISSUES) {
        return Ok(());
    }
    let (body, has_code) = without_code(answer);
    let (words, fewest) = (body.split_whitespace().count(), measure.fewest_words());
    if words < fewest {
        return Err(Thin::FewWords { words, fewest });
    }
    if has_code || body.split_whitespace().any(is_provenance) {
        return Ok(());
    }
    Err(Thin::NoProvenance)
}

/// Takes code out, and tells whether there was any.
fn without_code(answer: &str) -> (String, bool) {
    let mut fences = Fences::default();
    let (mut body, mut has_code) = (String::new(), false);
    for line in lines(answer) {
        match fences.feed(bare(line)) {
            FenceLine::Outside => body.push_str(line),
            FenceLine::Body => has_code |= !line.trim().is_empty(),
            FenceLine::Opens | FenceLine::Closes => {}
        }
    }
    (body, has_code)
}

const BUILD_FILES: [&str; 3] = ["Makefile", "Dockerfile", "GNUmakefile"];

/// Endings of file names that do not occur by accident.
const LONG: [&str; 44] = [
    "cc", "cfg", "cjs", "cpp", "css", "csv", "cs", "dart", "gradle", "groovy", "go", "html", "htm",
    "hpp", "java", "json", "jsx", "js", "kt", "lua", "mjs", "mk", "mm", "md", "php", "pl", "proto",
    "py", "rb", "rs", "sass", "scala", "scss", "sh", "sql", "swift", "toml", "tsx", "tsv", "ts",
    "vue", "xml", "yaml", "yml",
];

/// Endings that also end sentences; they count only in an unambiguous path.
const SHORT: [&str; 7] = ["lock", "env", "txt", "c", "h", "m", "r"];

/// Tells whether a word is an address, a build file, or a path.
pub(crate) fn is_provenance(word: &str) -> bool {
    let is_address = ["http://", "https://"]
        .iter()
        .any(|start| word.find(start).is_some_and(|at| word.len() > at + start.len()));
    is_address || word.split(|c: char| !is_path_char(c) && c != ':').any(is_path)
}

fn is_path_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-/".contains(c)
}

/// Tells whether a piece is a path, optionally with a line number.
fn is_path(piece: &str) -> bool {
    let (path, line) = match piece.split_once(':') {
        Some((path, rest)) => (path, rest.starts_with(|c: char| c.is_ascii_digit())),
        None => (piece, false),
    };
    // A colon without a line number belongs to another form.
    if piece.contains(':') && !line && !piece.ends_with(':') {
        return false;
    }
    let path = path.trim_end_matches('.');
    if BUILD_FILES.contains(&path.rsplit('/').next().unwrap_or(path)) {
        return true;
    }
    let Some((stem, ending)) = path.rsplit_once('.') else { return false };
    if stem.is_empty() {
        return false;
    }
    LONG.contains(&ending) || SHORT.contains(&ending) && (line || stem.contains(['/', '_', '-']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(words: usize, marker: &str) -> Result<(), Thin> {
        substance(&format!("{} {marker}", vec!["word"; words].join(" ")), Measure::Review)
    }

    // P-157, P-158, P-160, P-161
    #[test]
    fn an_answer_needs_words_and_a_source() {
        assert_eq!(substance("\n NO_ISSUES_FOUND \nreally", Measure::Review), Ok(()));
        let other = substance("NO_ISSUES_FOUND", Measure::Work);
        assert_eq!(other, Err(Thin::FewWords { words: 1, fewest: 200 }));
        let not_first = substance("I say NO_ISSUES_FOUND", Measure::Review);
        assert_eq!(not_first, Err(Thin::FewWords { words: 3, fewest: 30 }));
        assert_eq!(judged(29, "src/a.rs"), Ok(()));
        assert_eq!(judged(28, "src/a.rs"), Err(Thin::FewWords { words: 29, fewest: 30 }));
        assert_eq!(judged(40, "nothing"), Err(Thin::NoProvenance));
        assert_eq!(judged(40, "\n```\nlet x = 1;\n```\n"), Ok(()));
        assert_eq!(judged(40, "\n```\n\n```\n"), Err(Thin::NoProvenance));
        let text = Thin::FewWords { words: 3, fewest: 30 }.to_string();
        assert_eq!(text, "body too thin: 3/30 words after stripping fenced code");
    }

    // P-159
    #[test]
    fn a_path_differs_from_a_sentence() {
        for (word, expected) in [
            ("src/main.rs", true),
            ("main.rs,", true),
            ("(see `lib/a.py`)", true),
            ("main.rs:12", true),
            ("main.rs:", true),
            ("Makefile", true),
            ("build/Dockerfile", true),
            ("https://example.org/x", true),
            ("https://", false),
            ("notes.txt", false),
            ("my_notes.txt", true),
            ("notes.txt:3", true),
            ("vitamin.c", false),
            ("src/x.c", true),
            ("e.g", false),
            (".rs", false),
            ("main.rsx", false),
            ("main.rs:x", false),
            ("end.", false),
        ] {
            let found = word.split_whitespace().any(is_provenance);
            assert_eq!(found, expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(answer in any::<String>()) {
            substance(&answer, Measure::Review).ok();
            substance(&answer, Measure::Work).ok();
        }
    }
}
