//! Which parts of one file are shown, and which lines outline it.

use super::super::definition::{Definition, LineRange, definitions, parts};
use super::super::language::LanguageRules;
use super::super::rank::real;
use super::{FitRequest, PackLayout};
use crate::text::Text;
use crate::token::{Tokenizer, Tokens};

/// Lines of an outline: for agents without tools, and for those who can read on.
const OUTLINE_LINES: usize = 3;
const POINTER_LINES: usize = 6;

/// After so many parts that do not fit, smaller ones are not worth the search.
const MOST_MISSES: usize = 6;

/// One file, cut into its parts.
pub(super) struct SourceText<'a> {
    request: &'a FitRequest<'a>,
    pub(super) lines: Vec<&'a str>,
    definitions: Vec<Definition<'a>>,
}

impl<'a> SourceText<'a> {
    pub(super) fn of(request: &'a FitRequest<'a>, index: usize) -> Self {
        let source = &request.sources[index];
        let lines: Vec<_> = source.text.unwrap_or_default().lines().collect();
        let definitions = definitions(source.path, &lines);
        Self { request, lines, definitions }
    }

    /// Tells how much some text has to do with the feature.
    fn relevance(&self, text: &str) -> f64 {
        let query = self.request.query;
        let mut counts = vec![0_u32; query.terms.len()];
        query.each_term(text, |term| counts[term] += 1);
        let score = |(term, count): (usize, u32)| {
            let count = f64::from(count);
            query.terms[term].weight * self.request.rarity[term] * count / (1.2 + count)
        };
        counts.into_iter().enumerate().map(score).sum()
    }
}

/// Chooses the parts of a file that matter most and fit, in the order of the file. Neighbours become
/// one range.
pub(super) fn choose_parts(
    source: &SourceText<'_>,
    room: Tokens,
    tokenizer: &dyn Tokenizer,
) -> Vec<LineRange> {
    let all = parts(&source.lines, &source.definitions);
    let mut scored: Vec<(f64, LineRange)> = all
        .iter()
        .map(|part| {
            let text = source.lines[part.first - 1..part.last].join("\n");
            let names = source
                .definitions
                .iter()
                .filter(|definition| (part.first..=part.last).contains(&(definition.line + 1)));
            let names: f64 = names.map(|definition| source.relevance(definition.signature)).sum();
            // The beginning of a file tells what it is for.
            let first = if part.first == 1 { 0.5 } else { 0.0 };
            let length = real(part.last - part.first + 1);
            let score = (source.relevance(&text) + names) / (8.0 + length).sqrt();
            (score + first, *part)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.first.cmp(&b.1.first)));
    let (mut used, mut misses, mut kept) = (Tokens::default(), 0, Vec::new());
    for (_, part) in scored {
        let text = source.lines[part.first - 1..part.last].join("\n");
        let cost = tokenizer.count(Text::new(&text)) + Tokens::whole(citation_cost(&kept, part));
        if used + cost <= room {
            used += cost;
            kept.push(part);
        } else {
            misses += 1;
            if misses > MOST_MISSES {
                break;
            }
        }
    }
    merged(kept)
}

/// A part beside one that is in needs no citation of its own.
fn citation_cost(kept: &[LineRange], part: LineRange) -> u64 {
    const CITATION: u64 = 24;
    let touches = |other: &LineRange| other.last + 1 == part.first || part.last + 1 == other.first;
    if kept.iter().any(touches) { 0 } else { CITATION }
}

fn merged(mut ranges: Vec<LineRange>) -> Vec<LineRange> {
    ranges.sort_by_key(|range| range.first);
    let mut whole: Vec<LineRange> = Vec::new();
    for range in ranges {
        match whole.last_mut() {
            Some(before) if before.last + 1 == range.first => before.last = range.last,
            _ => whole.push(range),
        }
    }
    whole
}

/// Chooses the lines of an outline: definitions with words of the feature first, then those at the
/// margin; a text without any begins with its first line.
pub(super) fn choose_outline(source: &SourceText<'_>, layout: PackLayout) -> Vec<usize> {
    let most = match layout {
        PackLayout::Texts => OUTLINE_LINES,
        PackLayout::Pointers => POINTER_LINES,
    };
    let mut scored: Vec<_> = source
        .definitions
        .iter()
        .map(|definition| {
            (source.relevance(definition.signature), definition.indent, definition.line)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut lines: Vec<_> = scored.into_iter().take(most).map(|(_, _, line)| line + 1).collect();
    if lines.is_empty() {
        let first = source.lines.iter().position(|line| !line.trim().is_empty());
        lines.extend(first.map(|line| line + 1));
    }
    lines.sort_unstable();
    lines
}

/// Returns the word for a code fence of a file.
pub(in super::super) fn fence_word(path: &str) -> &'static str {
    LanguageRules::of(path).fence
}
