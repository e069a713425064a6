//! The texts in Rust sources: string literals, most of which a user reads, and comments.

/// A string literal or a comment, and the line that it begins on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceText {
    pub(super) line: usize,
    pub(super) text: String,
}

/// All texts of a source, in order.
#[derive(Debug, Default)]
pub(super) struct SourceTexts {
    /// The string literals outside of comments. Line breaks that the source escapes are gone, and so
    /// are the names in braces that a value replaces.
    pub(super) literals: Vec<SourceText>,
    /// The line comments, without their slashes. Comments on consecutive lines are one text, because
    /// a phrase may continue on the next line.
    pub(super) comments: Vec<SourceText>,
}

/// Returns the texts of a source.
pub(super) fn texts(source: &str) -> SourceTexts {
    let mut found = SourceTexts::default();
    let mut rest = source;
    let mut line = 1;
    while let Some(next) = rest.chars().next() {
        let (text, length) = match next {
            '/' if rest.starts_with("//") => {
                let length = rest.find('\n').unwrap_or(rest.len());
                add_comment(&mut found.comments, line, &rest[..length]);
                (None, length)
            }
            '/' if rest.starts_with("/*") => {
                (None, rest.find("*/").map_or(rest.len(), |at| at + 2))
            }
            '"' => quoted(rest),
            'r' if is_raw(source, rest) => raw(rest),
            '\'' => (None, character(rest)),
            other => (None, other.len_utf8()),
        };
        found.literals.extend(text.map(|text| SourceText { line, text: said(&text) }));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Adds a line comment, to the one before it if that ends on the line above.
fn add_comment(comments: &mut Vec<SourceText>, line: usize, comment: &str) {
    let text = comment.trim_start_matches(['/', '!']).trim();
    match comments.last_mut() {
        Some(last) if last.line + last.text.split('\n').count() == line => {
            last.text.push('\n');
            last.text.push_str(text);
        }
        _ => comments.push(SourceText { line, text: text.to_owned() }),
    }
}

/// Returns the inside of a literal in quotes, and the length of the whole.
fn quoted(rest: &str) -> (Option<String>, usize) {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return (Some(rest[1..at].to_owned()), at + 1),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    (None, rest.len())
}

/// Tells whether a raw literal begins here, and not a name that ends in `r`.
fn is_raw(source: &str, rest: &str) -> bool {
    let before = &source[..source.len() - rest.len()];
    let is_word = before.ends_with(|c: char| (c.is_alphanumeric() && c != 'b') || c == '_');
    !is_word && rest[1..].trim_start_matches('#').starts_with('"')
}

fn raw(rest: &str) -> (Option<String>, usize) {
    let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
    let (begin, end) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
    match rest[begin..].find(&end) {
        Some(at) => (Some(rest[begin..begin + at].to_owned()), begin + at + end.len()),
        None => (None, rest.len()),
    }
}

/// Returns the length of a character's literal, or of the quote alone before a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest[1..].char_indices();
    let Some((_, first)) = inside.next() else { return 1 };
    if first == '\\' {
        return rest[2..].find('\'').map_or(1, |at| at + 3);
    }
    match inside.next() {
        Some((at, '\'')) => at + 2,
        _ => 1,
    }
}

/// Returns what a person reads of a literal.
fn said(text: &str) -> String {
    let mut words = String::new();
    for (index, piece) in text.split("\\\n").enumerate() {
        words.push_str(if index == 0 { piece } else { piece.trim_start() });
    }
    let mut outside = String::new();
    let mut depth = 0_usize;
    for c in words.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

#[test]
fn literals_are_found_between_comments_characters_and_lifetimes() {
    let source = concat!(
        "// \"no\"\nfn a<'a>(b: &'a str) { say(\"one \\\"x\\\" {name}\", '\"', '\\'');\n",
        "/* \"no\" */ say(r#\"raw \"two\"\"#); say(\"three \\\n    four\") }"
    );
    let found = texts(source).literals;
    let found: Vec<_> = found.iter().map(|literal| (literal.line, literal.text.as_str())).collect();
    assert_eq!(found, [(2, "one \\\"x\\\" "), (3, "raw \"two\""), (3, "three four")]);
}

#[test]
fn comments_on_consecutive_lines_are_one_text() {
    let source = "//! one\n//! two\n\n/// three\nlet a = \"// no\"; // four\n// five\n";
    let found = texts(source).comments;
    let found: Vec<_> = found.iter().map(|comment| (comment.line, comment.text.as_str())).collect();
    assert_eq!(found, [(1, "one\ntwo"), (4, "three\nfour\nfive")]);
}
