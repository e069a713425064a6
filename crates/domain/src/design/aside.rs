//! Asides: an agent's text for itself, which is not part of its answer.
//!
//! Models think aloud between tags and keep drafts in HTML comments. A draft of a plan is no plan
//! and a finding that was only considered is no finding, so Convoke removes asides before it parses
//! an answer. Code stays unchanged: a plan may be about such tags.

use std::borrow::Cow;

use crate::markdown::bare;
use crate::markdown::fence::{FenceLine, Fences};

/// How many asides an answer had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asides {
    /// Blocks of thinking.
    pub thoughts: usize,
    /// HTML comments.
    pub comments: usize,
    /// The start of an unclosed thought, in bytes of the answer. It counts as one of the thoughts,
    /// and extends to the end.
    pub unended: Option<usize>,
}

impl Asides {
    /// Names the parts that were left out, in words that follow "left out".
    pub fn words(&self) -> Vec<String> {
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        };
        let thoughts = counted(self.thoughts, "block of thinking", "blocks of thinking");
        let comments = counted(self.comments, "HTML comment", "HTML comments");
        thoughts.into_iter().chain(comments).collect()
    }
}

/// Which asides are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Thoughts and comments. All before an end whose beginning was lost is a thought.
    All,
    /// Thoughts whose beginning is there, in tags that are for nothing else. Models write reviews for
    /// their readers between the other ones.
    Thoughts,
}

impl Which {
    /// Returns the names of the tags that thoughts are in.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::All => &THINKING,
            Self::Thoughts => &THINKING[..2],
        }
    }
}

/// Returns an answer without its asides.
pub fn without_asides(answer: &str) -> (Cow<'_, str>, Asides) {
    taken_out(answer, Which::All)
}

/// Returns an answer without its thoughts, for people to see: comments stay, and so do an analysis
/// between tags and everything before a closing tag that has no opening one.
pub fn without_thoughts(answer: &str) -> Cow<'_, str> {
    taken_out(answer, Which::Thoughts).0
}

fn taken_out(answer: &str, which: Which) -> (Cow<'_, str>, Asides) {
    let mut asides = Asides::default();
    let mut kept = String::new();
    let (mut fences, mut at) = (Fences::default(), 0);
    let last_comment_end = answer.rfind(COMMENT_END);
    while at < answer.len() {
        let rest = &answer[at..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line = &rest[..end];
        if fences.feed(bare(line)) != FenceLine::Outside {
            kept.push_str(line);
            at += end;
            continue;
        }
        let Some(mark) = first_mark(line, which) else {
            kept.push_str(line);
            at += end;
            continue;
        };
        let (start, after) = (mark.at, at + mark.at + mark.length);
        // Searching every line for an end that does not exist would take quadratic time.
        let ends = mark.kind != Kind::Comment || last_comment_end.is_some_and(|last| last >= after);
        let stop = if ends { end_of(answer, after, mark.kind, which) } else { None };
        match (mark.kind, stop) {
            (Kind::ThoughtEnd, _) if which == Which::Thoughts => {
                kept.push_str(&line[..start + mark.length]);
                at = after;
            }
            // The beginning of the thought was lost on the way; all before its end belongs to it.
            (Kind::ThoughtEnd, _) => {
                kept.clear();
                asides.thoughts += 1;
                at = after;
            }
            (kind, Some(stop)) => {
                kept.push_str(&line[..start]);
                let is_comment = kind == Kind::Comment;
                *(if is_comment { &mut asides.comments } else { &mut asides.thoughts }) += 1;
                at = stop;
            }
            (Kind::Thought, None) => {
                kept.push_str(&line[..start]);
                asides.thoughts += 1;
                asides.unended = Some(at + start);
                break;
            }
            // A comment that begins a line hides the rest; one in a sentence is a slip.
            (Kind::Comment, None) if line[..start].trim().is_empty() => {
                asides.comments += 1;
                break;
            }
            (Kind::Comment, None) => {
                kept.push_str(&line[..start + mark.length]);
                at = after;
            }
        }
    }
    if asides == Asides::default() {
        (Cow::Borrowed(answer), asides)
    } else {
        (kept.into(), asides)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Thought,
    ThoughtEnd,
    Comment,
}

struct Mark {
    kind: Kind,
    at: usize,
    length: usize,
}

const COMMENT: &str = "<!--";
const COMMENT_END: &str = "-->";

/// The names of the tags that models think in; the first two are for nothing else.
pub(super) const THINKING: [&str; 8] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
];

/// The brackets around such a name, by model family.
pub(super) const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('\u{25c1}', '\u{25b7}')];

/// Finds where an aside begins or ends on a line, unless that is code.
fn first_mark(line: &str, which: Which) -> Option<Mark> {
    let mut is_code = false;
    for (at, c) in line.char_indices() {
        let rest = &line[at..];
        is_code ^= c == '`';
        if is_code {
            continue;
        }
        if which == Which::All && rest.starts_with(COMMENT) {
            return Some(Mark { kind: Kind::Comment, at, length: COMMENT.len() });
        }
        if let Some((is_end, length)) = thought_tag(rest, which) {
            let (before, after) = (line[..at].trim(), line[at + length..].trim());
            // A tag between the words of one line is a word itself.
            if before.is_empty() || after.is_empty() {
                let kind = if is_end { Kind::ThoughtEnd } else { Kind::Thought };
                return Some(Mark { kind, at, length });
            }
        }
    }
    None
}

/// Reads a tag of thinking; returns whether it ends a thought, and its length in bytes.
fn thought_tag(text: &str, which: Which) -> Option<(bool, usize)> {
    let opened = text.chars().next()?;
    let (_, closed) = BRACKETS.into_iter().find(|(bracket, _)| *bracket == opened)?;
    let inner = &text[opened.len_utf8()..];
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let end = name.find(|c: char| !c.is_ascii_alphabetic())?;
    let is_known = which.names().iter().any(|known| known.eq_ignore_ascii_case(&name[..end]));
    (is_known && name[end..].starts_with(closed)).then(|| {
        let length = text.len() - name.len() + end + closed.len_utf8();
        (name.len() < inner.len(), length)
    })
}

/// Returns where an aside ends that began before `from`. Thoughts may hold thoughts.
fn end_of(answer: &str, from: usize, kind: Kind, which: Which) -> Option<usize> {
    if kind == Kind::Comment {
        return answer[from..].find(COMMENT_END).map(|at| from + at + COMMENT_END.len());
    }
    let mut depth = 1;
    for (at, _) in answer[from..].match_indices(['<', '[', '\u{25c1}']) {
        match thought_tag(&answer[from + at..], which) {
            Some((true, length)) if depth == 1 => return Some(from + at + length),
            Some((true, _)) => depth -= 1,
            Some((false, _)) => depth += 1,
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thoughts_and_comments_are_left_out_and_code_is_not() {
        for (answer, expected) in [
            ("<think>\ndraft\n</think>\n\nplan", "\n\nplan"),
            ("<THINKING>a</Thinking>b", "b"),
            ("[THINK]a[/THINK]b", "b"),
            ("\u{25c1}think\u{25b7}a\u{25c1}/think\u{25b7}b", "b"),
            ("Well <think>\n```\ndraft\n</think>\nplan", "Well \nplan"),
            ("<think>a<think>b</think>c</think>d", "d"),
            // A template removed the beginning, or the agent never closed the tag.
            ("draft\n</think>\nplan", "\nplan"),
            ("plan\n<think>\ndraft", "plan\n"),
            ("a <!-- draft\n\nmore --> b", "a  b"),
            ("a\n<!-- draft", "a\n"),
            ("use <!-- here\nb", "use <!-- here\nb"),
            // Text about tags contains no thoughts.
            ("drop `<think>` and `</think>`", "drop `<think>` and `</think>`"),
            ("drop <think> and </think> tags", "drop <think> and </think> tags"),
            ("```\n<think>\n<!-- a -->\n```\n", "```\n<think>\n<!-- a -->\n```\n"),
            ("<thinker>a</thinker>", "<thinker>a</thinker>"),
        ] {
            assert_eq!(without_asides(answer).0, expected, "{answer}");
        }
    }

    #[test]
    fn omitted_parts_are_counted() {
        let (_, asides) = without_asides("<think>a</think>\n<!-- b -->\n<!-- c -->\nd");
        assert_eq!(asides.words(), ["1 block of thinking", "2 HTML comments"]);
        assert_eq!(without_asides("plan").1.words(), [""; 0]);
        assert_eq!(without_asides("a\n<think>b").1.unended, Some(2));
    }

    proptest! {
        #[test]
        fn any_answer_is_read(
            answer in "((</?think>|<!--|-->|```|`|[a-z\u{25c1}<\\[])[ \n]?){0,20}|\\PC*",
        ) {
            let (kept, asides) = without_asides(&answer);
            prop_assert!(kept.len() <= answer.len());
            prop_assert_eq!(asides == Asides::default(), kept == answer.as_str());
        }
    }

    #[test]
    fn a_long_answer_costs_its_length() {
        let slips = "a <!-- b\n".repeat(100_000);
        assert_eq!(without_asides(&slips).0.len(), 900_000);
        assert_eq!(without_asides(&"<think>".repeat(100_000)).0, "");
    }
}
