//! The tags that a finding begins with: its focus area, and whether it is out of scope.

use super::{after_word, plain};
use crate::design::finding::FocusArea;

/// The tags that an entry begins with.
#[derive(Default)]
pub(super) struct Tags<'a> {
    pub(super) focus: Option<FocusArea>,
    pub(super) out_of_scope: bool,
    pub(super) rest: &'a str,
}

impl<'a> Tags<'a> {
    /// Removes every known tag, in any order.
    pub(super) fn peel(text: &'a str) -> Self {
        let mut tags = Tags { rest: text, ..Tags::default() };
        while let Some((tag, rest)) = tag(tags.rest) {
            let pieces: Vec<_> = tag.split([',', '|', ';']).map(meaning).collect();
            if pieces.iter().any(Option::is_none) {
                break;
            }
            for piece in pieces.into_iter().flatten() {
                match piece {
                    Meaning::OutOfScope => tags.out_of_scope = true,
                    Meaning::Focus(area) => tags.focus = tags.focus.or(Some(area)),
                }
            }
            tags.rest = rest;
        }
        tags
    }
}

enum Meaning {
    OutOfScope,
    Focus(FocusArea),
}

fn meaning(tag: &str) -> Option<Meaning> {
    let tag = plain(tag);
    if tag.to_ascii_lowercase().replace(['-', '_'], " ") == "out of scope" {
        return Some(Meaning::OutOfScope);
    }
    let word = after_focus_label(tag).unwrap_or(tag);
    FocusArea::parse(plain(word)).map(Meaning::Focus)
}

/// Passes over `focus-area=`, `Focus area:` and their like.
fn after_focus_label(text: &str) -> Option<&str> {
    let rest = after_word(text, "focus")?;
    let rest = rest.strip_prefix(['-', ' ', '_']).unwrap_or(rest);
    let rest = after_word(rest, "area").unwrap_or(rest).trim_start_matches(['*', '_', ' ']);
    rest.strip_prefix(['=', ':']).map(|rest| rest.trim_start_matches(['*', '_', ' ']))
}

/// Splits off a possible tag: `[…]`, `(…)`, `focus-area=…`, or a word with a colon or dash.
fn tag(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    for (opened, closed) in [('[', ']'), ('(', ')')] {
        if let Some(inner) = text.strip_prefix(opened) {
            let end = inner.find([closed, '\n'])?;
            let rest = inner[end..].strip_prefix(closed)?;
            return Some((&inner[..end], after_tag(rest)));
        }
    }
    let label = after_focus_label(text).map_or(0, |rest| text.len() - rest.len());
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/');
    let end = text[label..].find(|c: char| !word(c)).map_or(text.len(), |end| label + end);
    let rest = text[end..].trim_start_matches(['*', '_', '`']);
    let ended = rest.trim_start().starts_with([':', '\u{2014}', '\u{2013}', '-']);
    (label > 0 || ended).then(|| (&text[..end], after_tag(rest)))
}

/// Skips the end of a tag: the emphasis around it, and a colon or dash. Emphasis after that belongs
/// to the words.
fn after_tag(rest: &str) -> &str {
    let rest = rest.trim_start_matches(['*', '`', '_']);
    let marks = |c: char| c.is_whitespace() || matches!(c, ':' | '\u{2014}' | '\u{2013}');
    let rest = rest.trim_start_matches(marks);
    rest.strip_prefix("- ").unwrap_or(rest)
}
