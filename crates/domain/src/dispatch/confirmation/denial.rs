//! Sentences in which an answer denies having read a file.

use std::collections::BTreeSet;

use super::{ExpectedFile, Meant, listed, meant, words};

/// Returns the paths of the files that an answer says it did not read, outside its lists: "Files not
/// read: spec.md", "Actually I did not open spec.md."
pub(super) fn denied<'a>(spoken: &str, expected: &[ExpectedFile<'a>]) -> BTreeSet<&'a str> {
    let lines = spoken.lines().map(|line| {
        // The list itself is read elsewhere; what a line says behind its list is not.
        let is_list = listed(line).is_some();
        if is_list { line.split_once(". ").map_or("", |(_, after)| after) } else { line }
    });
    let sentences = lines.flat_map(|line| line.split(". ")).filter(|sentence| denies(sentence));
    let file = |word| match meant(word, expected) {
        Meant::File(file) => Some(file.path),
        Meant::Several | Meant::Nothing => None,
    };
    sentences.flat_map(|sentence| words(sentence).filter_map(file).collect::<Vec<_>>()).collect()
}

/// Tells whether a sentence denies a read.
fn denies(sentence: &str) -> bool {
    const NEGATIONS: [&str; 6] = ["not", "never", "cannot", "unable", "failed", "without"];
    const READING: [&str; 9] =
        ["read", "open", "opened", "access", "load", "view", "reading", "opening", "look"];
    const OPENINGS: [&str; 8] = [
        "files not",
        "not read",
        "could not",
        "couldn't",
        "did not",
        "didn't",
        "unable to",
        "skipped",
    ];
    let plain = sentence.replace('\u{2019}', "'").to_lowercase();
    let plain = plain.trim_start_matches(|c: char| !c.is_alphanumeric());
    let all: Vec<_> = plain
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let is_negated = |(at, word): (usize, &&str)| {
        let is_negation = NEGATIONS.contains(word) || word.ends_with("n't");
        is_negation && all[at + 1..].iter().take(3).any(|next| READING.contains(next))
    };
    let is_own = all.iter().any(|word| ["i", "we", "i've"].contains(word))
        || OPENINGS.iter().any(|opening| plain.starts_with(opening));
    let is_unread = all.iter().enumerate().any(is_negated) || all.contains(&"skipped");
    is_own && is_unread && !all.contains(&"again")
}

#[cfg(test)]
mod tests {
    use super::denies;

    #[test]
    fn only_the_writer_denies_reading() {
        for (sentence, expected) in [
            ("Files not read: spec.md", true),
            ("Actually I did not open spec.md.", true),
            ("**Could not read** spec.md", true),
            ("I haven\u{2019}t read spec.md", true),
            ("I skipped spec.md", true),
            ("I read spec.md and did not find a limit.", false),
            ("The handler of spec.md does not read the header.", false),
            ("I did not open spec.md again.", false),
        ] {
            assert_eq!(denies(sentence), expected, "{sentence}");
        }
    }
}
