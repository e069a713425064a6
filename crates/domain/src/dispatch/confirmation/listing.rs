//! The line in which an answer lists what it read.

use super::{ExpectedFile, FeatureArtifact, Meant, meant};

/// Marks that people and models put around words.
pub(super) const DECORATION: &str = " \t\r\"'*_`\u{201c}\u{201d}";

/// Words after which a list names files that the agent did not read.
const EXCEPTIONS: [&str; 17] = [
    "none",
    "neither",
    "nothing",
    "no",
    "not",
    "never",
    "except",
    "excluding",
    "without",
    "but",
    "keine",
    "nicht",
    "au\u{df}er",
    "ohne",
    "sauf",
    "excepto",
    "aucun",
];

fn is_decoration(c: char) -> bool {
    DECORATION.contains(c)
}

/// Returns what follows the mark in a line that begins with it, in any letter case: `Files read:`,
/// `1. **Files read**:`, `Files read (2):`.
pub(super) fn listed(line: &str) -> Option<&str> {
    const MARK: &str = "files read";
    let line = line.trim_start_matches(|c| is_decoration(c) || "-\u{2022}#".contains(c));
    let line = without_number(line).trim_start_matches(is_decoration);
    let mark = line.get(..MARK.len())?;
    let rest = mark.eq_ignore_ascii_case(MARK).then(|| &line[MARK.len()..])?;
    let rest = without_count(rest.trim_start_matches(is_decoration));
    Some(rest.trim_start_matches(is_decoration).strip_prefix(':')?.trim_matches(is_decoration))
}

/// Cuts off the number of a list's item, such as `1.` or `1)`.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest.len() < line.len();
    rest.strip_prefix(['.', ')']).filter(|_| is_number).unwrap_or(line)
}

/// Cuts off how many files a list has, such as `(2)` or `(2 files)`.
fn without_count(rest: &str) -> &str {
    let Some((count, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return rest;
    };
    let unit = count.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_count = unit.len() < count.len() && matches!(unit.trim(), "" | "file" | "files");
    if is_count { after } else { rest }
}

/// A list of files as a confirmation has it.
pub(super) struct List<'a> {
    pub(super) entries: Vec<(&'a str, Option<u64>)>,
    /// Whether every piece of it is an entry.
    pub(super) is_pure: bool,
}

/// Reads `name (N lines)` entries up to the end of the first sentence. A piece with any other
/// words, such as "design.md (not found)", is no entry, and neither is any text after a word such
/// as "none" or "except".
pub(super) fn list<'a>(rest: &'a str, expected: &[ExpectedFile<'_>]) -> List<'a> {
    let (sentence, after) = rest.split_once(". ").unwrap_or((rest, ""));
    let mut found = List { entries: Vec::new(), is_pure: after.trim().is_empty() };
    for piece in pieces(sentence) {
        let entry = entry(piece, expected);
        found.is_pure &= entry.is_some();
        if entry.is_none() && excepts(piece) {
            break;
        }
        found.entries.extend(entry);
    }
    found
}

/// Tells whether a piece of a list begins to name files that the agent did not read.
fn excepts(piece: &str) -> bool {
    let outside = piece.split('(').next().unwrap_or_default().to_lowercase();
    let mut words = outside.split(|c: char| !c.is_alphanumeric());
    words.any(|word| EXCEPTIONS.contains(&word))
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

/// Reads one entry: a file's name, or an artifact's label, and optionally its number of lines.
fn entry<'a>(piece: &'a str, expected: &[ExpectedFile<'_>]) -> Option<(&'a str, Option<u64>)> {
    let piece = piece.trim_matches(is_decoration).trim_end_matches('.');
    let piece = piece.trim_end_matches(is_decoration);
    let piece = piece.strip_prefix("and ").unwrap_or(piece);
    if let Some((label, rest)) = piece.split_once(": ")
        && is_label(label.trim_matches(is_decoration))
        && !is_count(rest)
    {
        let (name, lines) = entry(Some(rest).filter(|rest| !rest.contains(": "))?, expected)?;
        return is_same(label.trim_matches(is_decoration), name, expected).then_some((name, lines));
    }
    let (name, lines) = match linked(piece) {
        Some((name, target, "")) if is_same(name, target, expected) => (name, None),
        Some((name, target, count)) if is_same(name, target, expected) => {
            let (_, lines) = counted(count)?;
            (name, lines)
        }
        Some(_) => return None,
        None => counted(piece)?,
    };
    let name = name.trim_matches(is_decoration).trim_end_matches(':');
    let is_known = || is_label(name) || meant(name, expected) != Meant::Nothing;
    (is_name(name) && (is_file(name) || is_known())).then_some((name, lines))
}

/// Splits `name (N lines)`, `name (N)` and `name \u{2014} N lines`; a name alone has no number.
fn counted(piece: &str) -> Option<(&str, Option<u64>)> {
    if let Some((name, inside)) = piece.split_once('(') {
        let inside = inside.strip_suffix(')')?.trim();
        let lines = number_of_lines(inside).or_else(|| number(inside))?;
        return Some((name, Some(lines)));
    }
    let dashed = [" \u{2014} ", " \u{2013} ", " - ", ": "].iter().find_map(|dash| {
        let (name, count) = piece.split_once(dash)?;
        Some((name, Some(number_of_lines(count)?)))
    });
    dashed.or(Some((piece, None)))
}

fn is_count(text: &str) -> bool {
    number_of_lines(text).is_some()
}

/// Reads `N lines`.
fn number_of_lines(text: &str) -> Option<u64> {
    let (count, unit) = text.trim().split_once(' ')?;
    number(count).filter(|_| matches!(unit.trim(), "line" | "lines"))
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

/// Splits `[name](target) rest`.
fn linked(piece: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = piece.strip_prefix('[')?.split_once("](")?;
    let (target, rest) = rest.split_once(')')?;
    Some((name.trim_matches(is_decoration), target, rest.trim_matches(is_decoration)))
}

/// Tells whether two names mean one file: the same of the expected ones, or the same base name.
fn is_same(name: &str, other: &str, expected: &[ExpectedFile<'_>]) -> bool {
    let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let stem = |name: &str| base(name).trim_end_matches(".md").to_owned();
    match (meant(name, expected), meant(other, expected)) {
        (Meant::File(file), Meant::File(same)) => file == same,
        _ => is_name(other) && stem(name) == stem(other),
    }
}

fn is_name(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    !name.is_empty() && name.chars().all(part)
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.chars().all(char::is_alphanumeric)
    })
}

fn is_label(name: &str) -> bool {
    FeatureArtifact::ALL.iter().any(|artifact| artifact.label().eq_ignore_ascii_case(name))
}
