//! Documents in the chair's answers: one, or several after markers.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// A requested part that is missing or out of order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer has no part after the marker `=== {name} ===`")]
pub struct MissingPart {
    /// The part's name.
    pub name: &'static str,
}

/// Splits an answer at its markers, each on its own line and in this order. Text before the first
/// is talk.
pub fn split<'a, const N: usize>(
    answer: &'a str,
    names: [&'static str; N],
) -> Result<[&'a str; N], MissingPart> {
    let mut starts = Vec::new();
    let mut offset = 0;
    for line in lines(answer) {
        if names.get(starts.len()).is_some_and(|name| is_marker(bare(line), name)) {
            starts.push((offset, offset + line.len()));
        }
        offset += line.len();
    }
    let mut parts = [""; N];
    for (index, part) in parts.iter_mut().enumerate() {
        let (_, start) = starts.get(index).ok_or(MissingPart { name: names[index] })?;
        let end = starts.get(index + 1).map_or(answer.len(), |(end, _)| *end);
        *part = document(&answer[*start..end]);
        if part.is_empty() {
            return Err(MissingPart { name: names[index] });
        }
    }
    Ok(parts)
}

/// Reads `=== name ===`, with any emphasis around it.
fn is_marker(line: &str, name: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '#' | '`' | '_');
    let inner =
        line.trim_matches(marks).strip_prefix("===").and_then(|rest| rest.strip_suffix("==="));
    inner.is_some_and(|inner| inner.trim_matches(marks).eq_ignore_ascii_case(name))
}

/// Takes off blank lines on both sides. Blanks before the first words may make them code, and stay.
pub(super) fn without_blank_lines(text: &str) -> &str {
    let blank = lines(text).take_while(|line| line.trim().is_empty()).map(str::len).sum::<usize>();
    text[blank..].trim_end()
}

/// Returns a document without the fence that some agents put around the whole of it.
pub fn document(text: &str) -> &str {
    let text = without_blank_lines(text);
    let mut fences = Fences::default();
    let (mut first, mut end, mut offset) = (None, None, 0);
    for line in lines(text) {
        match fences.feed(bare(line)) {
            FenceLine::Opens if offset == 0 => first = Some(line.len()),
            FenceLine::Closes if end.is_none() => end = Some((offset, offset + line.len())),
            FenceLine::Opens | FenceLine::Closes | FenceLine::Outside | FenceLine::Body => {}
        }
        offset += line.len();
    }
    match (first, end) {
        (Some(start), Some((close, end))) if end == text.len() => {
            without_blank_lines(&text[start..close])
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["plan.txt", "resolutions"];

    #[test]
    fn an_answer_is_split_at_its_markers() {
        let cases = [
            ("=== plan.txt ===\n## A\n\n=== resolutions ===\nx\n", Ok(["## A", "x"])),
            ("Sure!\n**=== Plan.txt ===**\na\n### === resolutions ===\nb", Ok(["a", "b"])),
            // Only the first of a kind is a marker; the rest is content.
            (
                "=== plan.txt ===\na\n=== plan.txt ===\nb\n=== resolutions ===\nc\n=== plan.txt ===",
                Ok(["a\n=== plan.txt ===\nb", "c\n=== plan.txt ==="]),
            ),
            ("=== plan.txt ===\n```\na\n```\n=== resolutions ===\nb", Ok(["a", "b"])),
            ("=== resolutions ===\nb\n=== plan.txt ===\na", Err("resolutions")),
            ("=== plan.txt ===\n\n=== resolutions ===\nb", Err("plan.txt")),
            ("text", Err("plan.txt")),
        ];
        for (answer, expected) in cases {
            let expected = expected.map_err(|name| MissingPart { name });
            assert_eq!(split(answer, NAMES), expected, "{answer}");
        }
    }

    #[test]
    fn a_fence_around_the_whole_is_taken_off() {
        for (text, expected) in [
            ("```markdown\n# A\nb\n```\n", "# A\nb"),
            ("````\n```\nx\n```\n````", "```\nx\n```"),
            ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
            ("```\na\n```\nand more", "```\na\n```\nand more"),
            ("```\nopen", "```\nopen"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert_eq!(document(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_can_be_split(
            answer in "((=== (plan\\.txt|resolutions) ===|```|~~~|[a-z#]{0,4})\n){0,9}|\\PC*",
        ) {
            prop_assert!(answer.contains(document(&answer)));
            if let Ok(parts) = split(&answer, NAMES) {
                prop_assert!(parts.iter().all(|part| answer.contains(part) && !part.is_empty()));
            }
        }
    }
}
