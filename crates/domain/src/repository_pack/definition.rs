//! Definitions of a text, and the parts that it is cut into: each begins where a definition begins.

use super::language::{DefinitionStyle, LanguageRules};

/// A part is at most this long; a longer definition is cut where a line is empty, or anywhere.
const LONGEST_PART: usize = 100;

/// So long a part is worth a cut at an empty line.
const SHORTEST_CUT: usize = 40;

/// More definitions in one file are data.
const MOST_DEFINITIONS: usize = 5000;

/// Words that begin a statement, never a definition.
const STATEMENTS: &[&str] = &[
    "if", "for", "while", "switch", "return", "else", "catch", "do", "try", "elif", "until",
    "case", "match", "with", "using", "lock", "foreach", "throw", "new", "delete", "assert",
    "await", "}", "it", "describe", "test",
];

/// Something that a line defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Definition<'t> {
    /// The line with its name, counted from 0.
    pub(super) line: usize,
    /// The line at which its comments and attributes begin.
    pub(super) start: usize,
    /// How far the line is indented, in columns.
    pub(super) indent: usize,
    /// The words that name it: the line up to its arguments or its body.
    pub(super) signature: &'t str,
}

/// Lines of a file that stay together: `first` to `last`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line; never before the first.
    pub last: usize,
}

/// Finds the definitions of a text, in order.
pub(super) fn definitions<'t>(path: &str, lines: &[&'t str]) -> Vec<Definition<'t>> {
    let rules = LanguageRules::of(path);
    let mut found: Vec<Definition<'_>> = Vec::new();
    let mut free = 0;
    let mut fenced = None;
    for (line, text) in lines.iter().enumerate() {
        if rules.style == DefinitionStyle::Headings && is_fenced(text, &mut fenced) {
            continue;
        }
        let below = lines.get(line + 1).copied().unwrap_or_default();
        let Some(signature) = signature(rules, text, below) else { continue };
        let indent = text.len() - text.trim_start().len();
        let start = lead_in(rules, lines, line, free);
        free = line + 1;
        found.push(Definition { line, start, indent, signature });
        if found.len() == MOST_DEFINITIONS {
            break;
        }
    }
    found
}

/// Follows code fences of a Markdown text: what is inside has no headings.
fn is_fenced(line: &str, fence: &mut Option<char>) -> bool {
    let trimmed = line.trim_start();
    let mark = ['`', '~']
        .into_iter()
        .find(|mark| trimmed.starts_with(&[*mark; 3].iter().collect::<String>()));
    match (mark, *fence) {
        (Some(mark), None) => *fence = Some(mark),
        (Some(mark), Some(open)) if mark == open => *fence = None,
        (_, None) => return false,
        (_, Some(_)) => {}
    }
    true
}

/// Goes up over the comments, attributes and decorators of a definition.
fn lead_in(rules: &LanguageRules, lines: &[&str], line: usize, free: usize) -> usize {
    let mut start = line;
    while start > free {
        let above = lines[start - 1].trim_start();
        if !rules.leads.iter().any(|lead| above.starts_with(lead)) {
            break;
        }
        start -= 1;
    }
    start
}

fn signature<'t>(rules: &LanguageRules, line: &'t str, below: &str) -> Option<&'t str> {
    let trimmed = line.trim();
    let indent = line.len() - line.trim_start().len();
    let is_at_margin = indent == 0;
    match rules.style {
        DefinitionStyle::Plain => None,
        DefinitionStyle::Headings => {
            let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
            let text = trimmed[level..].strip_prefix(' ')?;
            (is_at_margin && (1..=6).contains(&level)).then_some(text)
        }
        DefinitionStyle::Underlined => {
            let is_title = is_at_margin && !trimmed.is_empty() && !is_rule(trimmed);
            (is_title && is_rule(below) && below.trim_end().len() + 2 >= trimmed.chars().count())
                .then_some(trimmed)
        }
        DefinitionStyle::Sections => {
            let key = trimmed.split([':', '=']).next().unwrap_or_default();
            let is_section = trimmed.starts_with('[');
            let is_key = trimmed.ends_with(':') && key.len() + 1 == trimmed.len();
            (is_at_margin && (is_section || is_key)).then_some(key)
        }
        DefinitionStyle::Keywords => by_keyword(rules, trimmed, indent),
        DefinitionStyle::KeywordsAndHeads => {
            by_keyword(rules, trimmed, indent).or_else(|| by_head(trimmed, below, indent))
        }
    }
}

fn is_rule(line: &str) -> bool {
    let mut bytes = line.trim_end().bytes();
    let Some(first) = bytes.next() else { return false };
    b"=-~^\"'`*+#.:_".contains(&first) && line.len() > 2 && bytes.all(|byte| byte == first)
}

fn by_keyword<'t>(rules: &LanguageRules, line: &'t str, indent: usize) -> Option<&'t str> {
    let mut rest = line;
    loop {
        let end = rest.find([' ', '\t', '(', '<', '{']).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_keyword =
            rules.keywords.contains(&word) || indent == 0 && rules.at_margin.contains(&word);
        let after = &rest[end..];
        // `const` may stand before `fn`, and before a name.
        let is_modifier = rules.modifiers.contains(&word) && !after.is_empty();
        if is_modifier && let Some(found) = by_keyword(rules, after_modifier(after), indent) {
            return Some(found);
        }
        if is_keyword && !after.trim().is_empty() {
            return Some(head(after.trim_start(), word));
        }
        if !is_modifier {
            return None;
        }
        rest = after_modifier(after);
    }
}

/// Skips the brackets of `pub(crate)` and the name of `extern "C"`.
fn after_modifier(after: &str) -> &str {
    let mut rest = after.trim_start();
    for (open, close) in [('(', ')'), ('"', '"')] {
        if let Some(inside) = rest.strip_prefix(open) {
            rest = inside.split_once(close).map_or("", |(_, behind)| behind).trim_start();
        }
    }
    rest
}

/// Cuts a line before its arguments or body. A receiver, as in `func (s *Store) Put(`, is kept.
fn head<'t>(rest: &'t str, keyword: &str) -> &'t str {
    let from = if rest.starts_with('(') { rest.find(')').unwrap_or(0) } else { 0 };
    let ends: &[char] =
        if matches!(keyword, "impl" | "class") { &['{', ';'] } else { &['(', '{', '=', ';'] };
    let end = rest[from..].find(ends).map_or(rest.len(), |at| from + at);
    rest[..end].trim_end()
}

/// Reads the head of a function without a keyword: `static int main(…) {`, with its brace here or below.
fn by_head<'t>(line: &'t str, below: &str, indent: usize) -> Option<&'t str> {
    const DEEPEST: usize = 8;
    let opens = line.ends_with('{') || below.trim() == "{";
    let (before, _) = line.split_once('(')?;
    let first = before.split_whitespace().next()?;
    let last = before.split_whitespace().next_back()?;
    let is_name = last.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_statement =
        STATEMENTS.contains(&first) || before.contains(['=', '"', '\'', '{', '.', '!']);
    (opens && is_name && !is_statement && indent <= DEEPEST).then_some(before)
}

/// Cuts a text into parts, from the first line to the last. Each begins at a definition, or where a
/// longer one is divided.
pub(super) fn parts(lines: &[&str], definitions: &[Definition<'_>]) -> Vec<LineRange> {
    let mut starts: Vec<usize> = definitions.iter().map(|definition| definition.start).collect();
    starts.push(0);
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let mut parts = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        divide(lines, start, end, &mut parts);
    }
    parts
}

fn divide(lines: &[&str], mut start: usize, end: usize, parts: &mut Vec<LineRange>) {
    while end - start > LONGEST_PART {
        let window = &lines[start + SHORTEST_CUT..start + LONGEST_PART];
        let empty = window.iter().rposition(|line| line.trim().is_empty());
        let next = start + empty.map_or(LONGEST_PART, |at| SHORTEST_CUT + at + 1);
        parts.push(LineRange { first: start + 1, last: next });
        start = next;
    }
    if end > start {
        parts.push(LineRange { first: start + 1, last: end });
    }
}
