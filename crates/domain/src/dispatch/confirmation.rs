//! Whether an answer says that the demanded files were read.
//!
//! This is the reader's word and no more; what it is worth, receipts tell. It never stops anything.

use super::artifact::Artifact;

/// How an answer is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// At least one file must be named, and an echo of the instruction does not count.
    #[default]
    Seed,
    /// The words `Files read:` are enough.
    Loose,
}

impl Level {
    /// Both levels.
    pub const ALL: [Self; 2] = [Self::Seed, Self::Loose];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Loose => "loose",
        }
    }

    /// Returns the level that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What an answer says about reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confirmation {
    /// Whether it counts as a confirmation.
    pub confirmed: bool,
    /// The expected files that it names.
    pub named: Vec<String>,
    /// The expected files that it does not name.
    pub missing: Vec<String>,
    /// Files that nobody asked for.
    pub unexpected: Vec<String>,
    /// How many lines it says each named file has.
    pub line_counts: Vec<(String, u64)>,
}

const MARK: &str = "Files read:";

/// Judges an answer. `expected` are the file names of what had to be read.
pub fn confirmation(answer: &str, expected: &[&str], level: Level) -> Confirmation {
    let is_expected = |word: &str| expected.iter().any(|file| means(word, file));
    let names_one = |rest: &&str| names_any(rest) || words(rest).any(is_expected);
    let genuine = answer.split('\n').filter_map(said).find(names_one);
    let confirmed = match level {
        Level::Seed => genuine.is_some(),
        Level::Loose => answer.contains(MARK),
    };
    let entries = genuine.map(entries).unwrap_or_default();
    let file = |name: &str| expected.iter().find(|file| means(name, file)).copied();
    let mut found = Confirmation { confirmed, ..Confirmation::default() };
    let also_named = genuine.into_iter().flat_map(words).filter_map(file);
    let entries = entries.into_iter().chain(also_named.map(|name| (name, None)));
    for (name, lines) in entries {
        let known = file(name);
        let list = if known.is_some() { &mut found.named } else { &mut found.unexpected };
        let name = known.unwrap_or(name).to_owned();
        found.line_counts.extend(lines.map(|lines| (name.clone(), lines)));
        if !list.contains(&name) {
            list.push(name);
        }
    }
    let is_missing = |file: &&&str| !found.named.iter().any(|name| name == *file);
    found.missing = expected.iter().filter(is_missing).map(|file| (*file).to_owned()).collect();
    found
}

/// Returns what a line says behind the first mark that is no echo of the instruction. What stands
/// behind a later mark stands behind that one, too.
fn said(line: &str) -> Option<&str> {
    let quotes = |c: char| " \t\"'*`\u{201c}\u{201d}".contains(c);
    let rests =
        line.match_indices(MARK).map(|(at, _)| line[at + MARK.len()..].trim_start_matches(quotes));
    rests.into_iter().find(|rest| !rest.starts_with("{name}")).map(str::trim_end)
}

/// Tells whether a file's name or label stands in a line.
fn names_any(rest: &str) -> bool {
    words(rest).any(|word| {
        let is_file = word.strip_suffix(".md").is_some_and(|stem| !stem.is_empty());
        is_file || Artifact::ALL.iter().any(|artifact| artifact.label() == word)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    text.split(move |c| !part(c)).map(|word| word.trim_end_matches('.'))
}

/// Reads `name (N lines)` entries between commas.
fn entries(rest: &str) -> Vec<(&str, Option<u64>)> {
    let found = rest.split([',', ';']).filter_map(|piece| {
        let name = words(piece).find(|word| !word.is_empty())?;
        Some((name, line_count(piece)))
    });
    found.filter(|(name, lines)| lines.is_some() || names_any(name)).collect()
}

/// Reads the number in `(N lines)`.
fn line_count(piece: &str) -> Option<u64> {
    let (_, inside) = piece.split_once('(')?;
    let (number, unit) = inside.trim_start().split_once(' ')?;
    number.parse().ok().filter(|_| unit.trim_start().starts_with("line"))
}

/// Tells whether a name in an answer means a file: its name, its path, or an artifact's label.
fn means(name: &str, file: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let labelled =
        Artifact::ALL.iter().find(|artifact| artifact.label().eq_ignore_ascii_case(base));
    base == file || labelled.is_some_and(|it| it.file() == file || is_prd(it, file))
}

/// A PRD may be a file of another name.
fn is_prd(artifact: &Artifact, file: &str) -> bool {
    *artifact == Artifact::PRD && file.ends_with("prd.md")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EXPECTED: [&str; 2] = ["design.md", "spec.md"];

    fn judged(answer: &str) -> Confirmation {
        confirmation(answer, &EXPECTED, Level::Seed)
    }

    // D-41, D-42, section 11 example 4
    #[test]
    fn naming_one_file_confirms() {
        for (answer, confirmed, missing) in [
            ("Files read: spec.md (212 lines), design.md (380 lines)", true, &[][..]),
            ("**Files read:** Spec (40 lines)", true, &["design.md"]),
            ("\"Files read: `spec.md` (1 line)\"", true, &["design.md"]),
            ("Files read: /repo/x/design.md (9 lines); spec.md (2 lines).", true, &[]),
            ("After reading, confirm: \"Files read: {name} ({N} lines), ...\"", false, &EXPECTED),
            ("Files read: none", false, &EXPECTED),
            ("files read: spec.md", false, &EXPECTED),
            ("Files read:\nspec.md", false, &EXPECTED),
            ("Files read: .md", false, &EXPECTED),
            ("no word of it", false, &EXPECTED),
            ("", false, &EXPECTED),
            ("Files read: spec.md (2 lines) and design.md (9 lines)", true, &[]),
            ("Files read: I read spec.md, all of it", true, &["design.md"]),
            // An echo does not spoil what comes after it.
            (
                "\"Files read: {name} ({N} lines)\" it says.\nFiles read: spec.md",
                true,
                &["design.md"],
            ),
        ] {
            let found = judged(answer);
            assert_eq!(found.confirmed, confirmed, "{answer}");
            assert_eq!(found.missing, missing, "{answer}");
        }
    }

    // D-42
    #[test]
    fn what_is_said_is_taken_apart() {
        let found = judged("Files read: spec.md (212 lines), notes.md (3 lines), PRD (7 lines)");
        assert_eq!(found.named, ["spec.md"]);
        assert_eq!(found.unexpected, ["notes.md", "PRD"]);
        let counts = [("spec.md", 212), ("notes.md", 3), ("PRD", 7)];
        assert_eq!(found.line_counts, counts.map(|(name, lines)| (name.to_owned(), lines)));
        let source = confirmation("Files read: PRD (7 lines)", &["x.prd.md"], Level::Seed);
        assert_eq!((source.named, source.missing), (vec!["x.prd.md".to_owned()], vec![]));
    }

    // D-41: the shipped check was content with the words.
    #[test]
    fn loosely_the_words_are_enough() {
        for answer in ["Files read: none", "confirm: \"Files read: {name}\""] {
            assert!(confirmation(answer, &EXPECTED, Level::Loose).confirmed, "{answer}");
        }
        assert!(!confirmation("read all", &EXPECTED, Level::Loose).confirmed);
    }

    // However often it is said, an answer is judged in one go.
    #[test]
    fn a_line_is_judged_once() {
        assert!(!judged(&"Files read: x ".repeat(200_000)).confirmed);
        assert!(!judged(&"Files read: {name} ".repeat(200_000)).confirmed);
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(answer in "(Files read:|[a-z.(), {}*`\"\n]|spec\\.md|é){0,40}") {
            let found = judged(&answer);
            prop_assert_eq!(found.named.len() + found.missing.len(), EXPECTED.len());
            prop_assert!(!found.confirmed || answer.contains(MARK));
        }
    }
}
