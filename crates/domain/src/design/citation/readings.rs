//! Other paths that a citation may mean.
//!
//! Prose does not say where a path begins: `see my notes.md:3` may name `notes.md`, `my notes.md` or
//! `see my notes.md`. Only a citation that fails under each reading is false.

/// How far before a word a path may begin, in bytes.
const FARTHEST: usize = 120;

/// The most blanks and marks that a path is read across.
const MOST_STEPS: usize = 12;

/// Marks that texts put before a path without a blank.
const BEFORE_PATHS: [char; 9] = ['@', '+', '-', '\u{2013}', '~', '$', '%', '=', '_'];

/// Returns the other paths that may be meant where a word names `path`; `before` is the text before
/// it.
pub(super) fn other_paths(before: &str, word: &str, path: &str) -> Vec<String> {
    let mut found = other_spellings(path);
    // A name may itself hold a colon and a number.
    if let Some((longer, _)) = word.rsplit_once(':')
        && longer != path
    {
        found.push(longer.to_owned());
    }
    for longer in longer_paths(before, path) {
        found.extend(other_spellings(&longer));
        found.push(longer);
    }
    found.retain(|other| other != path && !other.is_empty());
    found.sort();
    found.dedup();
    found
}

/// Returns the paths that may be meant by a word that names a path: one that a mark or a sentence
/// without blanks adjoins, one with escapes, and one of another system or of a difference in git.
pub fn other_spellings(path: &str) -> Vec<String> {
    let mut found = vec![
        path.trim_start_matches(BEFORE_PATHS).to_owned(),
        path.replace('\\', "/"),
        path.replace('\\', ""),
        unescaped(path),
    ];
    let marks = path.char_indices().filter(|(_, c)| !c.is_ascii() || BEFORE_PATHS.contains(c));
    for (at, mark) in marks.take(MOST_STEPS) {
        found.extend(
            [at, at + mark.len_utf8()].iter().filter_map(|at| path.get(*at..)).map(str::to_owned),
        );
    }
    for side in ["a/", "b/"] {
        found.extend(path.strip_prefix(side).map(str::to_owned));
    }
    found.retain(|other| other != path && !other.is_empty());
    found
}

/// Returns paths that begin farther left on the same line.
fn longer_paths(before: &str, path: &str) -> Vec<String> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let near = line.char_indices().rev().take_while(|(at, _)| line.len() - at <= FARTHEST);
    let borders = near.filter(|(_, c)| c.is_whitespace() || is_mark(*c)).take(MOST_STEPS);
    let starts = borders.flat_map(|(at, c)| [Some(at + c.len_utf8()), is_mark(c).then_some(at)]);
    let rests = starts.flatten().chain([0]).filter_map(|at| line.get(at..));
    // A blank ends the name before it, and none begins with one.
    let rests =
        rests.filter(|rest| rest.len() <= FARTHEST && !rest.starts_with(char::is_whitespace));
    rests.map(|rest| format!("{rest}{path}")).collect()
}

/// Tells whether a path may begin with this character or behind it, although it ends a word.
fn is_mark(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && !"/._-".contains(c)
}

/// Decodes `%20` and its like.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((plain, escaped)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let digits = escaped.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match digits {
            Some(byte) => bytes.push(byte),
            None => bytes.push(b'%'),
        }
        rest = if digits.is_some() { escaped.get(2..).unwrap_or_default() } else { escaped };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}
