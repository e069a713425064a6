//! The string literals of Rust sources, because most of them end up in front of a person.

/// A string literal, and the line that it begins on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Returns the string literals of a source without those of comments. Line breaks that the source
/// escapes are gone, and so are the names in braces that a value replaces.
pub(super) fn literals(source: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(next) = rest.chars().next() {
        let (text, length) = match next {
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                (None, rest.find("*/").map_or(rest.len(), |at| at + 2))
            }
            '"' => quoted(rest),
            'r' if is_raw(source, rest) => raw(rest),
            '\'' => (None, character(rest)),
            other => (None, other.len_utf8()),
        };
        found.extend(text.map(|text| Literal { line, text: said(&text) }));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
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
    let found = literals(source);
    let texts: Vec<_> = found.iter().map(|literal| (literal.line, literal.text.as_str())).collect();
    assert_eq!(texts, [(2, "one \\\"x\\\" "), (3, "raw \"two\""), (3, "three four")]);
}
