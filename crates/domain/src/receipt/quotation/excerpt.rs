//! The quoted parts of a review, and where they are in a file.

use super::{FEWEST_CHARACTERS, QuotationPlace, Span};

/// A part of a text in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Where it begins, its quote included.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

/// Quotes, and what closes them.
const QUOTES: [(char, char); 3] = [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}')];

/// Finds quotations of sufficient length. Blocks of code are left out.
pub(super) fn excerpts(text: &str) -> Vec<Excerpt> {
    let mut found = Vec::new();
    let mut is_code = false;
    let mut at = 0;
    for paragraph in text.split_inclusive("\n\n") {
        let mut plain = String::new();
        for line in paragraph.split_inclusive('\n') {
            let has_mark = line.trim_start().starts_with("```");
            let is_plain = !is_code && !has_mark;
            is_code ^= has_mark;
            // As long as the replaced line, so that offsets stay valid.
            plain.push_str(&if is_plain { line.to_owned() } else { " ".repeat(line.len()) });
        }
        found.extend(block(&plain, at));
        found.extend(inline(&plain, at));
        at += paragraph.len();
    }
    found.retain(|excerpt| excerpt.text.chars().count() >= FEWEST_CHARACTERS);
    found.sort_by_key(|excerpt| excerpt.start);
    found
}

/// Takes the lines behind `>` in a paragraph.
fn block(paragraph: &str, at: usize) -> Option<Excerpt> {
    let mut lines = Vec::new();
    let (mut start, mut end, mut place) = (None, 0, 0);
    for line in paragraph.split_inclusive('\n') {
        if let Some(quoted) = line.trim_start().strip_prefix('>') {
            lines.push(quoted.trim());
            start = start.or(Some(place));
            end = place + line.len();
        }
        place += line.len();
    }
    Some(Excerpt { start: at + start?, end: at + end, text: lines.join("\n").trim().to_owned() })
}

/// Takes the text between quotes in a paragraph.
fn inline(paragraph: &str, at: usize) -> Vec<Excerpt> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(rest) = paragraph.get(place..).filter(|rest| !rest.is_empty()) {
        let is_open = |c: char| QUOTES.iter().any(|(open, _)| *open == c);
        let Some(open_at) = rest.find(is_open) else { break };
        let start = place + open_at;
        let Some(open) = paragraph.get(start..).and_then(|rest| rest.chars().next()) else { break };
        let close = QUOTES.iter().find(|(mark, _)| *mark == open).map_or(open, |(_, close)| *close);
        let inside = start + open.len_utf8();
        place = inside;
        // A mark of inches or a lone back-tick has no closing mark.
        let Some(length) = paragraph.get(inside..).and_then(|rest| rest.find(close)) else {
            continue;
        };
        let text = paragraph.get(inside..inside + length).unwrap_or_default();
        place = inside + length + close.len_utf8();
        if !is_in_block(paragraph, start) {
            let text = text.trim().to_owned();
            found.push(Excerpt { start: at + start, end: at + place, text });
        }
    }
    found
}

fn is_in_block(paragraph: &str, at: usize) -> bool {
    let before = paragraph.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with('>')
}

/// Looks for quoted words in a file, first on the cited lines. Runs of whitespace, marks of
/// emphasis and the shape of quotes do not matter; `…` matches any text.
pub(super) fn find(quoted: &str, text: &str, cited: Option<Span>) -> QuotationPlace {
    let text = Words::of(text);
    let quoted = Words::of(quoted).joined;
    let without_end = quoted.trim_end_matches([',', '.', ';', ':', '!', '?']);
    let hits = [quoted.as_str(), without_end].map(|words| text.hits(words));
    let Some(hits) = hits.into_iter().find(|hits| !hits.is_empty()) else {
        return QuotationPlace::NotThere;
    };
    let is_cited =
        |hit: &&Span| cited.is_none_or(|cited| hit.first <= cited.last && cited.first <= hit.last);
    match (hits.iter().find(is_cited), hits.first()) {
        (Some(hit), _) => QuotationPlace::There { line: hit.first },
        (None, Some(hit)) => QuotationPlace::Moved { line: hit.first },
        (None, None) => QuotationPlace::NotThere,
    }
}

/// A text as words, one space apart, with the line of each.
struct Words {
    joined: String,
    /// Where each word begins, and its line.
    lines: Vec<(usize, usize)>,
}

impl Words {
    fn of(text: &str) -> Self {
        let (mut joined, mut lines) = (String::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let plain = line.chars().filter(|c| !matches!(c, '*' | '`')).map(|c| match c {
                '\u{201c}' | '\u{201d}' => '"',
                '\u{2018}' | '\u{2019}' => '\'',
                other => other,
            });
            for word in plain.collect::<String>().split_whitespace() {
                if !joined.is_empty() {
                    joined.push(' ');
                }
                lines.push((joined.len(), index + 1));
                joined.push_str(word);
            }
        }
        Self { joined, lines }
    }

    /// Returns the lines of every place where the parts of a quotation follow each other.
    fn hits(&self, quoted: &str) -> Vec<Span> {
        let quoted = quoted.replace("[...]", "…").replace("[…]", "…").replace("...", "…");
        let mut parts = quoted.split('…').map(str::trim).filter(|part| !part.is_empty());
        let Some(first) = parts.next() else { return Vec::new() };
        let rest: Vec<&str> = parts.collect();
        let starts = self.joined.match_indices(first).map(|(at, _)| at);
        let hit = |start: usize| {
            let end = rest.iter().try_fold(start + first.len(), |end, part| {
                Some(end + self.joined.get(end..)?.find(part)? + part.len())
            })?;
            Some(Span { first: self.line_at(start), last: self.line_at(end.saturating_sub(1)) })
        };
        starts.filter_map(hit).collect()
    }

    fn line_at(&self, at: usize) -> usize {
        let index = self.lines.partition_point(|(start, _)| *start <= at);
        self.lines.get(index.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }
}
