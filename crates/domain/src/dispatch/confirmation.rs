//! Whether an answer confirms reading the demanded files.
//!
//! This is only the agent's claim; receipts are the proof. A missing confirmation never stops a
//! dispatch.

mod denial;
mod listing;

use std::collections::{BTreeMap, BTreeSet};

use self::denial::denied;
use self::listing::{DECORATION, list, listed};
use super::ambiguity::is_hypothetical;
use super::artifact::FeatureArtifact;
use crate::design::aside::without_asides;
use crate::markdown::bare;
use crate::markdown::fence::{FenceLine, Fences};

/// How an answer is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConfirmationLevel {
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

impl ConfirmationLevel {
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

/// A file that the agent had to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedFile<'a> {
    /// The name in reports: of a feature's document, or a path relative to the project.
    pub name: &'a str,
    /// The file's absolute path.
    pub path: &'a str,
}

/// An answer's claims about reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confirmation {
    /// Whether it counts as a confirmation.
    pub confirmed: bool,
    /// The expected files that it names.
    pub named: Vec<String>,
    /// The expected files that it does not name.
    pub missing: Vec<String>,
    /// Files that the prompt did not require.
    pub unexpected: Vec<String>,
    /// The claimed number of lines of each named file.
    pub line_counts: Vec<(String, u64)>,
    /// Files with contradictory claims: whether the agent read them, or how many lines they have.
    pub disputed: Vec<String>,
    /// Names that fit several files.
    pub unclear: Vec<String>,
}

const MARK: &str = "Files read:";

/// Judges an answer by the files that the agent had to read.
pub fn confirmation(
    answer: &str,
    expected: &[ExpectedFile<'_>],
    level: ConfirmationLevel,
) -> Confirmation {
    if level == ConfirmationLevel::Strict {
        return strict(answer, expected);
    }
    let names_one = |rest: &&str| {
        names_any(rest) || words(rest).any(|word| meant(word, expected) != Meant::Nothing)
    };
    let genuine = answer.split('\n').filter_map(said).find(names_one);
    let confirmed = match level {
        ConfirmationLevel::Strict | ConfirmationLevel::Seed => genuine.is_some(),
        ConfirmationLevel::Loose => answer.contains(MARK),
    };
    let entries = genuine.map(entries).unwrap_or_default();
    let also_named = genuine.into_iter().flat_map(words);
    let also_named = also_named.filter(|name| meant(name, expected) != Meant::Nothing);
    let entries: Vec<_> = entries.into_iter().chain(also_named.map(|name| (name, None))).collect();
    Confirmation { confirmed, ..sorted(&entries, expected) }
}

/// Judges an answer by the lists that it gives to its reader. What two lists do not agree about, or
/// what the answer denies elsewhere, is not confirmed.
fn strict(answer: &str, expected: &[ExpectedFile<'_>]) -> Confirmation {
    let (spoken, _) = without_asides(answer.trim_start_matches('\u{feff}'));
    let denied = denied(&spoken, expected);
    let lists: Vec<_> = statements(&spoken).map(|rest| list(rest, expected).entries).collect();
    let lists: Vec<_> = lists.iter().map(|entries| named(entries, expected)).collect();
    let claims: Vec<BTreeMap<_, _>> =
        lists.iter().map(|entries| entries.iter().copied().collect()).collect();
    let is_agreed = |name: &str, lines: Option<u64>| {
        !denied.contains(name)
            && claims.iter().all(|claims| match (claims.get(name), lines) {
                (None, _) => false,
                (Some(Some(other)), Some(lines)) => *other == lines,
                (Some(_), _) => true,
            })
    };
    let (agreed, disputed): (Vec<_>, Vec<_>) =
        lists.iter().flatten().copied().partition(|(name, lines)| is_agreed(name, *lines));
    // A file whose length is disputed is also among the agreed ones where it has no length.
    let disputed: BTreeSet<&str> = disputed.into_iter().map(|(place, _)| place).collect();
    let agreed: Vec<_> =
        agreed.into_iter().filter(|(place, _)| !disputed.contains(place)).collect();
    let found = sorted(&agreed, expected);
    let name = |place: &str| match meant(place, expected) {
        Meant::File(file) => file.name.to_owned(),
        Meant::Several | Meant::Nothing => place.to_owned(),
    };
    let disputed = disputed.into_iter().map(name).collect();
    Confirmation { confirmed: !found.named.is_empty(), disputed, ..found }
}

/// Returns what one line claims: each file that had to be read by its path, so that all its names are
/// one, with its length if the line says one.
fn named<'a>(
    entries: &[(&'a str, Option<u64>)],
    expected: &[ExpectedFile<'a>],
) -> Vec<(&'a str, Option<u64>)> {
    let place = |given: &'a str| match meant(given, expected) {
        Meant::File(file) => file.path,
        Meant::Several | Meant::Nothing => given,
    };
    entries.iter().map(|(given, lines)| (place(given), *lines)).collect()
}

/// Returns the text behind the mark in an answer's own statements about reading: not in a fence or
/// in code, not as an example, and not as an echo of the instruction.
fn statements(spoken: &str) -> impl Iterator<Item = &str> {
    let mut fences = Fences::default();
    let mut before = "";
    spoken.split('\n').filter_map(move |line| {
        let is_outside = fences.feed(bare(line)) == FenceLine::Outside;
        let is_code = line.starts_with('\t') || line.starts_with("    ");
        let introduced = before;
        if !line.trim().is_empty() {
            before = line;
        }
        let rest =
            listed(line).filter(|_| is_outside && !is_code && !introduces_example(introduced));
        rest.filter(|rest| !rest.is_empty() && !is_echo(rest))
    })
}

/// Tells whether a line calls the text below it an example or conditional.
fn introduces_example(line: &str) -> bool {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || DECORATION.contains(c));
    let leads_on = line.ends_with([':', '\u{ff1a}', ',', '-', '\u{2013}', '\u{2014}']);
    (leads_on || line.split_whitespace().count() <= 3) && is_hypothetical(line)
}

fn is_echo(rest: &str) -> bool {
    rest.starts_with(['{', '<'])
}

/// Tells whether a line is a confirmation and nothing else.
pub fn is_confirmation(line: &str) -> bool {
    let found = listed(line).map(|rest| list(rest, &[]));
    found.is_some_and(|list| list.is_pure && !list.entries.is_empty())
}

/// Sorts what an answer names by whether it had to be read.
fn sorted(entries: &[(&str, Option<u64>)], expected: &[ExpectedFile<'_>]) -> Confirmation {
    let mut found = Confirmation::default();
    for (given, lines) in entries {
        let (name, list) = match meant(given, expected) {
            Meant::File(file) => (file.name, &mut found.named),
            Meant::Several => (*given, &mut found.unclear),
            Meant::Nothing => (*given, &mut found.unexpected),
        };
        if !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
        let count = lines.map(|lines| (name.to_owned(), lines));
        found.line_counts.extend(count.filter(|count| !found.line_counts.contains(count)));
    }
    let is_missing = |file: &&ExpectedFile<'_>| !found.named.iter().any(|name| name == file.name);
    found.missing = expected.iter().filter(is_missing).map(|file| file.name.to_owned()).collect();
    found
}

/// The meaning of a name in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant<'a> {
    File(ExpectedFile<'a>),
    /// The name matches several files.
    Several,
    /// No file that had to be read.
    Nothing,
}

/// Finds the file that a name in an answer means: by its path, by the end of its path, or, without a
/// folder, by its base name or an artifact's label.
fn meant<'a>(given: &str, expected: &[ExpectedFile<'a>]) -> Meant<'a> {
    let in_project = given.strip_prefix("./");
    let exact = |file: &&ExpectedFile<'_>| file.path == given || in_project == Some(file.name);
    if let Some(file) = expected.iter().find(exact) {
        return Meant::File(*file);
    }
    let name = in_project.unwrap_or(given);
    if name.contains('/')
        && let Some(file) = expected.iter().find(|file| file.name == name)
    {
        return Meant::File(*file);
    }
    let mut fitting = expected.iter().filter(|file| fits(name, file));
    match (fitting.next(), fitting.next()) {
        (Some(file), None) => Meant::File(*file),
        (Some(_), Some(_)) => Meant::Several,
        (None, _) => Meant::Nothing,
    }
}

fn fits(name: &str, file: &ExpectedFile<'_>) -> bool {
    let base = file.path.rsplit('/').next().unwrap_or(file.path);
    if name.starts_with('/') {
        // The same place below another name for the root, such as `/private/tmp` for `/tmp`.
        return name.ends_with(file.path);
    }
    if name.contains('/') {
        return file.path.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'));
    }
    let labelled =
        FeatureArtifact::ALL.iter().find(|artifact| artifact.label().eq_ignore_ascii_case(name));
    base == name || labelled.is_some_and(|file| file.file() == base || is_prd(file, base))
}

/// Returns the text behind the first mark that does not echo the instruction. That text includes
/// every later mark.
fn said(line: &str) -> Option<&str> {
    let quotes = |c: char| " \t\"'*`\u{201c}\u{201d}".contains(c);
    let rests =
        line.match_indices(MARK).map(|(at, _)| line[at + MARK.len()..].trim_start_matches(quotes));
    rests.into_iter().find(|rest| !rest.starts_with("{name}")).map(str::trim_end)
}

/// Tells whether a line contains the name or label of a file.
fn names_any(rest: &str) -> bool {
    words(rest).any(|word| {
        let is_file = word.strip_suffix(".md").is_some_and(|stem| !stem.is_empty());
        is_file || FeatureArtifact::ALL.iter().any(|artifact| artifact.label() == word)
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

/// A PRD may be a file of another name.
fn is_prd(artifact: &FeatureArtifact, file: &str) -> bool {
    *artifact == FeatureArtifact::PRD && file.ends_with("prd.md")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["design.md", "spec.md"];
    const EXPECTED: [ExpectedFile<'_>; 2] = [
        ExpectedFile { name: "design.md", path: "/repo/x/design.md" },
        ExpectedFile { name: "spec.md", path: "/repo/x/spec.md" },
    ];

    fn judged(answer: &str) -> Confirmation {
        confirmation(answer, &EXPECTED, ConfirmationLevel::Strict)
    }

    fn check(level: ConfirmationLevel, cases: &[(&str, bool, &[&str])]) {
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
            ConfirmationLevel::Strict,
            &[
                ("Files read: spec.md (212 lines), design.md (380 lines)", true, &[]),
                ("**Files read:** Spec (40 lines)", true, &["design.md"]),
                ("\"Files read: `spec.md` (1 line)\"", true, &["design.md"]),
                ("- Files read: /repo/x/design.md (9 lines); spec.md (2 lines).\r", true, &[]),
                ("Files read: spec.md (2 lines) and design.md (9 lines)", true, &[]),
                ("\u{feff}FILES READ (2): spec.md (2), design.md \u{2014} 9 lines", true, &[]),
                ("1. **Files read**: [spec.md](x/spec.md), Design: /repo/x/design.md", true, &[]),
                ("Files read: [spec.md](x/design.md), Spec: design.md", false, &NAMES),
                ("Files read: none of design.md, spec.md", false, &NAMES),
                ("Files read: all except design.md, spec.md", false, &NAMES),
                ("Files read: spec.md. I could not open design.md.", true, &["design.md"]),
                ("Files read: spec.md (2 lines), design.md (not found)", true, &["design.md"]),
                ("\"Files read: {name} ({N} lines)\"\nFiles read: spec.md", true, &["design.md"]),
                ("After reading, confirm: \"Files read: spec.md\"", false, &NAMES),
                ("Files read: {name} ({N} lines), ...", false, &NAMES),
                ("Files read: I could not open design.md", false, &NAMES),
                ("Files read: design.md could not be opened", false, &NAMES),
                ("Files read: design.md (0 bytes, unreadable)", false, &NAMES),
                ("Files read: none", false, &NAMES),
                ("Files read:\nspec.md", false, &NAMES),
                ("files read: spec.md", true, &["design.md"]),
                ("> Files read: spec.md", false, &NAMES),
                ("Files read: .md", false, &NAMES),
                ("", false, &NAMES),
            ],
        );
        let makefile = ExpectedFile { name: "Makefile", path: "/repo/Makefile" };
        let files = confirmation(
            "Files read: Makefile, a.toml (3 lines)",
            &[makefile],
            ConfirmationLevel::Strict,
        );
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
            ConfirmationLevel::Seed,
            &[
                ("Files read: spec.md (212 lines), design.md (380 lines)", true, &[]),
                ("After reading, confirm: \"Files read: {name} ({N} lines), ...\"", false, &NAMES),
                ("Files read: none", false, &NAMES),
                ("files read: spec.md", false, &NAMES),
                ("Files read:\nspec.md", false, &NAMES),
                ("Files read: .md", false, &NAMES),
                ("no word of it", false, &NAMES),
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
    fn a_confirmation_is_parsed() {
        let found = judged("Files read: spec.md (212 lines), notes.md (3 lines), PRD (7 lines)");
        assert_eq!(found.named, ["spec.md"]);
        assert_eq!(found.unexpected, ["notes.md", "PRD"]);
        let counts = [("spec.md", 212), ("notes.md", 3), ("PRD", 7)];
        assert_eq!(found.line_counts, counts.map(|(name, lines)| (name.to_owned(), lines)));
        let prd = ExpectedFile { name: "x.prd.md", path: "/repo/x.prd.md" };
        let source = confirmation("Files read: PRD (7 lines)", &[prd], ConfirmationLevel::Seed);
        assert_eq!((source.named, source.missing), (vec!["x.prd.md".to_owned()], vec![]));
    }

    // D-41: the shipped check was content with the words.
    #[test]
    fn loosely_the_words_are_enough() {
        for answer in ["Files read: none", "confirm: \"Files read: {name}\""] {
            assert!(
                confirmation(answer, &EXPECTED, ConfirmationLevel::Loose).confirmed,
                "{answer}"
            );
        }
        assert!(!confirmation("read all", &EXPECTED, ConfirmationLevel::Loose).confirmed);
    }

    // However often an answer repeats the mark, each line is judged once.
    #[test]
    fn a_line_is_judged_once() {
        for level in [ConfirmationLevel::Strict, ConfirmationLevel::Seed] {
            for words in ["Files read: x ", "Files read: {name} ", "Files read: (, "] {
                let answer = words.repeat(20_000);
                assert!(!confirmation(&answer, &EXPECTED, level).confirmed);
            }
        }
        assert!(!judged(&format!("Files read: {}", "Design: ".repeat(100_000))).confirmed);
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
