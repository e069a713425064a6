//! Whether an answer says that the demanded files were read.
//!
//! This is the reader's word and no more; what it is worth, receipts tell. It never stops anything.

use super::artifact::Artifact;

/// How an answer is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// The line must be a list of files, each with or without its number of lines, and nothing
    /// else: a sentence that only mentions a file does not count.
    #[default]
    Strict,
    /// At least one file must be named, and an echo of the instruction does not count. A sentence
    /// such as "I could not open design.md" counts, too.
    Seed,
    /// The words `Files read:` are enough.
    Loose,
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Seed, Self::Loose];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
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
    if level == Level::Strict {
        let lists = answer.split('\n').filter_map(listed).map(|rest| list(rest, expected).entries);
        let entries = lists.into_iter().find(|entries| !entries.is_empty()).unwrap_or_default();
        return sorted(!entries.is_empty(), entries, expected);
    }
    let names_one = |rest: &&str| {
        names_any(rest) || words(rest).any(|word| meant_file(word, expected).is_some())
    };
    let genuine = answer.split('\n').filter_map(said).find(names_one);
    let confirmed = match level {
        Level::Strict | Level::Seed => genuine.is_some(),
        Level::Loose => answer.contains(MARK),
    };
    let entries = genuine.map(entries).unwrap_or_default();
    let also_named =
        genuine.into_iter().flat_map(words).filter_map(|name| meant_file(name, expected));
    let entries = entries.into_iter().chain(also_named.map(|name| (name, None))).collect();
    sorted(confirmed, entries, expected)
}

/// Tells whether a line is a confirmation and nothing else.
pub fn is_confirmation(line: &str) -> bool {
    let found = listed(line).map(|rest| list(rest, &[]));
    found.is_some_and(|list| list.is_pure && !list.entries.is_empty())
}

/// Sorts what an answer names by whether it had to be read.
fn sorted(confirmed: bool, entries: Vec<(&str, Option<u64>)>, expected: &[&str]) -> Confirmation {
    let mut found = Confirmation { confirmed, ..Confirmation::default() };
    for (name, lines) in entries {
        let known = meant_file(name, expected);
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

fn meant_file<'a>(name: &str, expected: &[&'a str]) -> Option<&'a str> {
    expected.iter().find(|file| means(name, file)).copied()
}

/// Marks that people and models put around words.
const DECORATION: &str = " \t\r\"'*_`\u{201c}\u{201d}";

/// Returns what follows the mark in a line that begins with it.
fn listed(line: &str) -> Option<&str> {
    let decoration = |c: char| DECORATION.contains(c);
    let line = line.trim_start_matches(|c| decoration(c) || "-\u{2022}#".contains(c));
    let rest = line.strip_prefix(MARK)?;
    Some(rest.trim_matches(decoration))
}

/// A list of files as a confirmation has it.
struct List<'a> {
    entries: Vec<(&'a str, Option<u64>)>,
    /// Whether every piece of it is an entry.
    is_pure: bool,
}

/// Reads `name (N lines)` entries up to the end of the first sentence. A piece that says anything
/// else, such as "design.md (not found)", is no entry.
fn list<'a>(rest: &'a str, expected: &[&str]) -> List<'a> {
    let (sentence, after) = rest.split_once(". ").unwrap_or((rest, ""));
    let mut found = List { entries: Vec::new(), is_pure: after.trim().is_empty() };
    for piece in pieces(sentence) {
        match entry(piece, expected) {
            Some(entry) => found.entries.push(entry),
            None => found.is_pure = false,
        }
    }
    found
}

/// Splits at commas, semicolons and "and" outside parentheses.
fn pieces(sentence: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut depth) = (0, 0_usize);
    for (at, c) in sentence.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ';' if depth == 0 => {
                pieces.push(&sentence[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&sentence[begin..]);
    pieces.into_iter().flat_map(|piece| piece.split(" and ")).collect()
}

/// Reads one entry: a file's name, or an artifact's label, and perhaps how many lines it has.
fn entry<'a>(piece: &'a str, expected: &[&str]) -> Option<(&'a str, Option<u64>)> {
    let decoration = |c: char| DECORATION.contains(c);
    let piece = piece.trim_matches(decoration).trim_end_matches('.').trim_end_matches(decoration);
    let piece = piece.strip_prefix("and ").unwrap_or(piece);
    let (name, lines) = match piece.split_once('(') {
        Some((name, inside)) => {
            let inside = inside.strip_suffix(')')?.trim();
            let (number, unit) = inside.split_once(' ')?;
            let lines = number.parse().ok().filter(|_| matches!(unit.trim(), "line" | "lines"))?;
            (name, Some(lines))
        }
        None => (piece, None),
    };
    let name = name.trim_matches(decoration).trim_end_matches(':');
    let part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let is_name = !name.is_empty() && name.chars().all(part);
    let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.chars().all(char::is_alphanumeric)
    });
    let is_known = || is_label(name) || meant_file(name, expected).is_some();
    (is_name && (is_file || is_known())).then_some((name, lines))
}

fn is_label(name: &str) -> bool {
    Artifact::ALL.iter().any(|artifact| artifact.label().eq_ignore_ascii_case(name))
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
        confirmation(answer, &EXPECTED, Level::Strict)
    }

    fn check(level: Level, cases: &[(&str, bool, &[&str])]) {
        for (answer, confirmed, missing) in cases {
            let found = confirmation(answer, &EXPECTED, level);
            assert_eq!(found.confirmed, *confirmed, "{answer}");
            assert_eq!(found.missing, *missing, "{answer}");
        }
    }

    // D-41, D-42: a list of files confirms; a sentence about files does not.
    #[test]
    fn a_list_of_files_confirms() {
        check(
            Level::Strict,
            &[
                ("Files read: spec.md (212 lines), design.md (380 lines)", true, &[]),
                ("**Files read:** Spec (40 lines)", true, &["design.md"]),
                ("\"Files read: `spec.md` (1 line)\"", true, &["design.md"]),
                ("- Files read: /repo/x/design.md (9 lines); spec.md (2 lines).\r", true, &[]),
                ("Files read: spec.md (2 lines) and design.md (9 lines)", true, &[]),
                ("Files read: spec.md. I could not open design.md.", true, &["design.md"]),
                ("Files read: spec.md (2 lines), design.md (not found)", true, &["design.md"]),
                ("\"Files read: {name} ({N} lines)\"\nFiles read: spec.md", true, &["design.md"]),
                ("After reading, confirm: \"Files read: spec.md\"", false, &EXPECTED),
                ("Files read: {name} ({N} lines), ...", false, &EXPECTED),
                ("Files read: I could not open design.md", false, &EXPECTED),
                ("Files read: design.md could not be opened", false, &EXPECTED),
                ("Files read: design.md (0 bytes, unreadable)", false, &EXPECTED),
                ("Files read: none", false, &EXPECTED),
                ("Files read:\nspec.md", false, &EXPECTED),
                ("files read: spec.md", false, &EXPECTED),
                ("> Files read: spec.md", false, &EXPECTED),
                ("Files read: .md", false, &EXPECTED),
                ("", false, &EXPECTED),
            ],
        );
        let files =
            confirmation("Files read: Makefile, a.toml (3 lines)", &["Makefile"], Level::Strict);
        assert_eq!((files.confirmed, files.missing.len()), (true, 0));
    }

    #[test]
    fn only_a_list_of_files_is_a_confirmation_line() {
        for (line, expected) in [
            ("Files read: spec.md (2 lines)", true),
            ("**Files read:** spec.md, design.md.", true),
            ("Files read: spec.md. I do not approve.", false),
            ("Files read: spec.md, which I reject", false),
            ("Files read: none", false),
            ("spec.md", false),
        ] {
            assert_eq!(is_confirmation(line), expected, "{line}");
        }
    }

    // D-41, D-42, section 11 example 4
    #[test]
    fn in_the_seeds_reading_naming_one_file_confirms() {
        check(
            Level::Seed,
            &[
                ("Files read: spec.md (212 lines), design.md (380 lines)", true, &[]),
                (
                    "After reading, confirm: \"Files read: {name} ({N} lines), ...\"",
                    false,
                    &EXPECTED,
                ),
                ("Files read: none", false, &EXPECTED),
                ("files read: spec.md", false, &EXPECTED),
                ("Files read:\nspec.md", false, &EXPECTED),
                ("Files read: .md", false, &EXPECTED),
                ("no word of it", false, &EXPECTED),
                ("Files read: I read spec.md, all of it", true, &["design.md"]),
                ("Files read: I could not open design.md", true, &["spec.md"]),
                // An echo does not spoil what comes after it.
                (
                    "\"Files read: {name} ({N} lines)\" it says.\nFiles read: spec.md",
                    true,
                    &["design.md"],
                ),
            ],
        );
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
        for level in [Level::Strict, Level::Seed] {
            for words in ["Files read: x ", "Files read: {name} ", "Files read: (, "] {
                let answer = words.repeat(20_000);
                assert!(!confirmation(&answer, &EXPECTED, level).confirmed);
            }
        }
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
