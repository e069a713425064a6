//! An agent's spoken answer: without thinking, drafts in comments and invisible marks.
//!
//! Agents think in tags (`<think>…</think>`) and draft in HTML comments. Neither is part of the
//! answer, so a vote in there does not count. If the extent of such a passage is unclear, the
//! larger one is removed: a person notices an abstention, but not a guessed vote.

use super::aside::{BRACKETS, THINKING};
use super::quote::visible;
use super::vote::after_decoration;

/// The kinds of passages that are not part of the answer: one for each thinking tag, and one for
/// comments, which comes last.
const KINDS: usize = THINKING.len() + 1;

const COMMENT: &str = "<!--";

/// Ids at the start of a line; what follows them is a vote and its reason.
const IDS: [&str; 3] = ["FINDING_", "OOS_", "DECISION_"];

/// A place at which a passage begins or ends.
#[derive(Debug, Clone, Copy)]
struct Edge {
    /// The kind of passage, as a place among [`THINKING`], or behind it for a comment.
    kind: usize,
    is_closing: bool,
    /// Where the edge itself begins and ends, in bytes.
    start: usize,
    end: usize,
    place: Place,
    /// Whether nothing follows it on its line.
    ends_line: bool,
}

/// The text around an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In ordinary text.
    Text,
    /// In inline code, where it is only mentioned.
    Code,
    /// In a line that begins with an id, so that it may be part of a reason.
    Reason,
}

impl Edge {
    const fn is_thinking(self) -> bool {
        self.kind < THINKING.len()
    }

    /// Returns the replacement of the passage that ends here. The text behind it did not begin the
    /// line, and must not look so: otherwise a quoted text could become a vote.
    const fn gap(self) -> &'static str {
        if self.ends_line { "" } else { "\u{2026}" }
    }

    /// Tells whether this ends a passage of which no beginning was seen. Models are often made to
    /// begin by thinking, and then only the end of it is in their answer.
    const fn ends_what_began_unseen(self) -> bool {
        self.is_thinking() && self.is_meant()
    }

    /// Tells whether a closing tag ends a passage. In code, and within a reason, it is only
    /// mentioned.
    const fn is_meant(self) -> bool {
        match self.place {
            Place::Text => true,
            Place::Code => false,
            Place::Reason => self.ends_line,
        }
    }
}

/// Returns the answer without thoughts and comments. A passage without an end extends to the end of
/// the answer; one without a beginning starts with the answer.
pub fn spoken(answer: &str) -> String {
    let shown = visible(answer);
    let edges = edges(&shown);
    let mut last_closing = [0; KINDS];
    for edge in edges.iter().filter(|edge| edge.is_closing && edge.is_meant()) {
        last_closing[edge.kind] = edge.start;
    }
    let mut said = String::new();
    let mut from = 0;
    let mut open: Option<(Edge, bool)> = None;
    for edge in edges {
        match open {
            // A passage ends with its own closing tag if one follows, else with any other closing
            // tag.
            Some((begun, has_end)) => {
                let is_end = if has_end {
                    edge.kind == begun.kind
                } else {
                    begun.is_thinking() && edge.is_thinking()
                };
                if edge.is_closing && is_end {
                    open = None;
                    from = edge.end;
                    said.push_str(edge.gap());
                }
            }
            None if edge.is_closing => {
                if edge.ends_what_began_unseen() {
                    edge.gap().clone_into(&mut said);
                    from = edge.end;
                }
            }
            None => {
                let has_end = last_closing[edge.kind] > edge.start;
                if edge.place == Place::Text || edge.place == Place::Reason && has_end {
                    said.push_str(&shown[from..edge.start]);
                    open = Some((edge, has_end));
                }
            }
        }
    }
    if open.is_none() {
        said.push_str(&shown[from..]);
    }
    said
}

/// Finds every edge, in order.
fn edges(text: &str) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let is_in_reason = has_id(line);
        let mut is_in_code = false;
        let mut next = 0;
        for (at, c) in line.char_indices() {
            is_in_code ^= c == '`';
            if at < next {
                continue;
            }
            let Some((kind, is_closing, length)) = edge_at(&line[at..]) else { continue };
            next = at + length;
            let (start, end) = (offset + at, offset + next);
            let place = match (is_in_code, is_in_reason) {
                (true, _) => Place::Code,
                (false, true) => Place::Reason,
                (false, false) => Place::Text,
            };
            let ends_line = line[next..].trim_start().is_empty();
            edges.push(Edge { kind, is_closing, start, end, place, ends_line });
        }
        offset += line.len();
    }
    edges
}

fn has_id(line: &str) -> bool {
    let words = after_decoration(line);
    IDS.iter().any(|id| words.get(..id.len()).is_some_and(|start| start.eq_ignore_ascii_case(id)))
}

/// Reads an edge that a text begins with: `<!--`, `-->`, `<think …>`, `</think>`, `[THINK]` or
/// `[/THINK]`. Returns its kind, whether it closes, and its length.
fn edge_at(text: &str) -> Option<(usize, bool, usize)> {
    let comment = THINKING.len();
    if text.starts_with(COMMENT) {
        return Some((comment, false, COMMENT.len()));
    }
    if text.starts_with("-->") {
        return Some((comment, true, "-->".len()));
    }
    let open = text.chars().next()?;
    let (_, close) = BRACKETS.into_iter().find(|(bracket, _)| *bracket == open)?;
    let inner = &text[open.len_utf8()..];
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let length = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let (word, behind) = name.split_at(length);
    let kind = THINKING.iter().position(|tag| tag.eq_ignore_ascii_case(word))?;
    let end = behind.char_indices().take(LONGEST_ATTRIBUTES).find(|(_, c)| *c == close)?.0;
    let is_tag = end == 0 || behind.starts_with(char::is_whitespace);
    is_tag.then_some((
        kind,
        name.len() < inner.len(),
        text.len() - behind.len() + end + close.len_utf8(),
    ))
}

/// The most characters between a tag's name and its end.
const LONGEST_ATTRIBUTES: usize = 100;

/// Tells whether a line is a quotation.
pub fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// Tells whether a line is indented as far as code is.
pub fn is_indented(line: &str) -> bool {
    let columns = line.chars().take_while(|c| c.is_whitespace());
    columns.map(|c| if c == '\t' { 4 } else { 1 }).sum::<usize>() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    // Thinking and drafts are no part of an answer, however they are marked.
    #[test]
    fn thinking_and_comments_are_not_said_aloud() {
        for (answer, said) in [
            ("a", "a"),
            ("<think>\nx\n</think>\na", "\na"),
            ("<Thinking time=\"3\">x</THINKING>a", "…a"),
            ("a<!-- x -->b<!-- y", "a…b"),
            ("x\n</think>\na", "\na"),
            ("a\n<reasoning>\nx\ny", "a\n"),
            ("[THINK]x[/THINK]\na", "\na"),
            ("<think>x<analysis>y</analysis>z</think>\na", "\na"),
            ("<think>x</thinking>\na", "\na"),
            ("<think><!-- x</think>\na", "\na"),
            ("<!-- <think> x -->\na", "\na"),
            // Text behind a passage does not begin a line.
            ("- **Concern**: </think>FINDING_1: YES", "…FINDING_1: YES"),
            // Only mentioned.
            ("the tag `<think>` is open", "the tag `<think>` is open"),
            ("<thinker>a", "<thinker>a"),
            ("a < b, think>c", "a < b, think>c"),
            (
                "FINDING_1: NO \u{2014} <think> is not handled\nb",
                "FINDING_1: NO \u{2014} <think> is not handled\nb",
            ),
            ("OOS_1: NO \u{2014} a </think> alone\nb", "OOS_1: NO \u{2014} a </think> alone\nb"),
            // The end of thinking that began before the answer.
            ("FINDING_1: NO \u{2014} or so</think>\nb", "\nb"),
            ("FINDING_1: NO <think>x</think>\nb", "FINDING_1: NO \nb"),
            ("FINDING_1: <think>\nOOS_1: </think> x", "FINDING_1: <think>\nOOS_1: </think> x"),
            ("<think>\nFINDING_1: a</think>\nb", "\nb"),
        ] {
            assert_eq!(spoken(answer), said, "{answer}");
        }
    }

    #[test]
    fn quotations_and_code_are_recognised() {
        assert!(is_quoted("  > a") && !is_quoted("a > b"));
        assert!(is_indented("    a") && is_indented("\ta") && is_indented("  \ta"));
        assert!(!is_indented("   a"));
    }
}
