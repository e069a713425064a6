//! Words of prose and code, in one form: `ReadBudget`, `read_budget` and "reading budgets" share theirs.

/// Words that tell nothing about which code is meant.
const COMMON: &[&str] = &[
    "a", "about", "add", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "but", "by", "can", "co", "could", "do", "does", "each", "else", "even",
    "for", "from", "get", "had", "has", "have", "how", "http", "https", "if", "in", "instead",
    "into", "is", "it", "its", "let", "like", "make", "more", "most", "new", "no", "none", "not",
    "now", "of", "on", "one", "only", "or", "other", "our", "out", "over", "own", "pr", "same",
    "should", "since", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "too", "two", "up", "use", "used", "using",
    "very", "want", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why",
    "will", "with", "without", "would", "you", "your",
];

/// Returns the longest runs of letters, digits and underscores, in order.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.bytes().any(|byte| byte != b'_' && !byte.is_ascii_digit()))
}

/// Calls `take` with every part of an identifier: `HTTPServer2_port` has `HTTP`, `Server`, `port`.
pub(super) fn each_part<'t>(identifier: &'t str, mut take: impl FnMut(&'t str)) {
    let (mut start, mut before, mut upper_run) = (0, Shape::Other, 0);
    for (at, character) in identifier.char_indices() {
        let shape = Shape::of(character);
        let ends = match (before, shape) {
            (Shape::Lower, Shape::Upper | Shape::Other) | (Shape::Upper, Shape::Other) => Some(at),
            // The last capital of `HTTPServer` begins the next part.
            (Shape::Upper, Shape::Lower) if upper_run > 1 => last_char(identifier, at),
            (Shape::Other, Shape::Lower | Shape::Upper) => {
                start = at;
                None
            }
            _ => None,
        };
        if let Some(end) = ends {
            if before != Shape::Other && end > start {
                take(&identifier[start..end]);
            }
            start = end;
        }
        upper_run = if shape == Shape::Upper { upper_run + 1 } else { 0 };
        before = shape;
    }
    if before != Shape::Other && start < identifier.len() {
        take(&identifier[start..]);
    }
}

fn last_char(text: &str, end: usize) -> Option<usize> {
    text[..end].char_indices().next_back().map(|(at, _)| at)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Lower,
    Upper,
    Other,
}

impl Shape {
    fn of(character: char) -> Self {
        if character.is_uppercase() {
            Self::Upper
        } else if character.is_alphabetic() {
            Self::Lower
        } else {
            Self::Other
        }
    }
}

/// Writes the form in which words are compared: lower case, without common endings.
pub(super) fn write_stem(part: &str, stem: &mut String) {
    stem.clear();
    stem.extend(part.chars().flat_map(char::to_lowercase));
    if stem.len() < 4 || !stem.is_ascii() {
        return;
    }
    if let Some(rest) = stem.strip_suffix("ies") {
        let keep = rest.len();
        stem.truncate(keep);
        stem.push('y');
        return;
    }
    let is_plural =
        stem.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| stem.ends_with(ending));
    if is_plural {
        stem.pop();
    }
    for (ending, least) in [("ing", 6), ("ed", 5)] {
        if stem.len() >= least && stem.ends_with(ending) {
            stem.truncate(stem.len() - ending.len());
            undouble(stem);
            break;
        }
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
}

/// `stopped` and `stop` share a stem; `pass` keeps its letters.
fn undouble(stem: &mut String) {
    let bytes = stem.as_bytes();
    let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    if doubled && !matches!(bytes[bytes.len() - 1], b's' | b'l' | b'e') {
        stem.pop();
    }
}

/// Tells whether a word is too common, or too short, to point to code.
pub(super) fn is_common(part: &str) -> bool {
    let lower = part.to_lowercase();
    lower.chars().count() < 2 || COMMON.binary_search(&lower.as_str()).is_ok()
}

/// Tells whether a word looks like a name in code: `read_all`, `ReadAll`, `readAll`.
pub(super) fn is_compound(identifier: &str) -> bool {
    let mut parts = 0;
    each_part(identifier, |_| parts += 1);
    parts > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(identifier: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each_part(identifier, |part| found.push(part));
        found
    }

    fn stem(word: &str) -> String {
        let mut stem = String::new();
        write_stem(word, &mut stem);
        stem
    }

    #[test]
    fn common_words_are_sorted_for_the_search() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn identifiers_fall_into_their_words() {
        for (identifier, expected) in [
            ("read_budget", &["read", "budget"][..]),
            ("ReadBudget", &["Read", "Budget"]),
            ("HTTPServer2_port", &["HTTP", "Server", "port"]),
            ("__init__", &["init"]),
            ("o200k", &["o", "k"]),
            ("x", &["x"]),
            ("ÄnderungDatum", &["Änderung", "Datum"]),
            ("예산", &["예산"]),
            ("_", &[]),
        ] {
            assert_eq!(parts(identifier), expected, "{identifier}");
        }
    }

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for family in [
            &["parse", "parses", "parsed", "parsing"][..],
            &["stop", "stops", "stopped", "stopping"],
            &["entry", "entries"],
            &["index", "indexed", "indexing"],
            &["pass", "passed", "passing"],
        ] {
            let stems: std::collections::BTreeSet<_> =
                family.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_ne!(stem("status"), stem("state"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_falls_into_words(text in "\\PC{0,60}") {
            for identifier in identifiers(&text) {
                let whole: usize = parts(identifier).iter().map(|part| part.len()).sum();
                proptest::prop_assert!(whole <= identifier.len());
                for part in parts(identifier) {
                    stem(part);
                }
            }
        }
    }
}
