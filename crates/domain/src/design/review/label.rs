//! Labels within a remark, and the title that is made of its first words.

use super::after_word;

/// The parts of a remark that a label can begin.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Focus,
    Concern,
    Revision,
}

const LABELS: [(&str, Part); 9] = [
    ("focus area", Part::Focus),
    ("focus-area", Part::Focus),
    ("concern", Part::Concern),
    ("suggested revision", Part::Revision),
    ("suggested change", Part::Revision),
    ("suggested fix", Part::Revision),
    ("suggestion", Part::Revision),
    ("recommendation", Part::Revision),
    ("revision", Part::Revision),
];

/// Reads a label at the start of a line, as a bullet, in bold or bare.
pub(super) fn labelled(line: &str) -> Option<(Part, &str)> {
    let text = line.trim_start();
    let text =
        text.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(text);
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    LABELS.iter().find_map(|(label, part)| {
        let rest = after_word(text, label)?.trim_start_matches(['*', '_', ' ']);
        let rest = rest.strip_prefix(':')?.trim_start_matches(['*', '_', ' ']);
        Some((*part, rest))
    })
}

/// Splits a line at a label in its middle, which reviewers write when they keep to one line.
pub(super) fn split_at_revision(line: &str) -> (&str, Option<&str>) {
    const LABEL: &str = "suggested revision";
    let Some(at) = line.to_ascii_lowercase().find(LABEL).filter(|at| *at > 0) else {
        return (line, None);
    };
    let rest = line[at + LABEL.len()..].trim_start_matches(['*', '_', ' ']);
    let Some(rest) = rest.strip_prefix(':') else { return (line, None) };
    let before = line[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    (before, Some(rest.trim_start_matches(['*', '_', ' '])))
}

/// Makes a title of the first words: those in bold, the first sentence, or as many as fit.
pub(super) fn title(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let bold = line.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let line = without_emphasis(bold.map_or(line, |(words, _)| words));
    let sentence = line.split_once(". ").map_or(&*line, |(first, _)| first);
    let sentence = sentence.trim_end_matches([':', '.']);
    if sentence.chars().count() <= MOST {
        return sentence.to_owned();
    }
    let end = sentence.char_indices().nth(MOST).map_or(sentence.len(), |(at, _)| at);
    let cut = sentence[..end].rfind(' ').unwrap_or(end);
    format!("{}\u{2026}", &sentence[..cut])
}

pub(super) fn without_emphasis(text: &str) -> String {
    text.replace("**", "").trim().to_owned()
}
