//! Which lines of a file were shown, and whether they equal the present ones.

use super::sought::{comparable, says_enough, visible_lines};
use super::{Contents, Lines, Read, ReadState, Seen, ShownText};

/// Lines of a file, both ends included; they count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First line of the span, from one.
    pub first: usize,
    /// Last line of the span, included in it; never before `first`.
    pub last: usize,
}

/// The lines of one file that some reads showed.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Lines that equal the present ones, or whose text the record does not hold.
    current: Vec<Span>,
    /// Lines that differ; empty if unknown.
    older: Option<Vec<Span>>,
    /// How many lines the file has now.
    total: Option<usize>,
    /// All of it was shown, without its lines having to be added up.
    is_whole: bool,
    /// Some lines were shown, and which ones is unknown.
    has_unknown: bool,
    /// Something was shown of a file that is not UTF-8, and it cannot be compared.
    is_unclear: bool,
    shown_whole: Option<String>,
}

impl Coverage {
    /// Adds up the reads of the file at `path`, which now has these contents.
    pub(super) fn of(path: &str, now: &Contents<'_>, reads: &[&Read]) -> Self {
        let total = now.readings().first().map(|text| text.lines().count());
        let mut coverage = Self { total, ..Self::default() };
        for read in reads {
            match &read.seen {
                // An output without a word of the file shows none of its lines, for any request.
                Seen::Lines { path: shown, lines, text }
                    if shown == path && !text.is_nothing_of(now) =>
                {
                    coverage.add(*lines, text, now);
                }
                Seen::Maybe { path: shown, lines, text, .. }
                    if shown == path && is_shown(*lines, text, now) =>
                {
                    coverage.add(*lines, text, now);
                }
                Seen::Maybe { path: shown, text: ShownText::Among(output), .. }
                    if shown == path =>
                {
                    now.text().iter().for_each(|now| coverage.add_visible(output, now));
                }
                Seen::Lines { .. }
                | Seen::Maybe { .. }
                | Seen::Nothing { .. }
                | Seen::Perhaps { .. } => {}
            }
        }
        coverage
    }

    /// Returns the file's state, if any of it was shown.
    pub(super) fn standing(&self) -> Option<ReadState> {
        let current = merged(&self.current);
        if self.is_whole || self.total.is_some_and(|total| covers(&current, total)) {
            return Some(ReadState::Whole);
        }
        if let Some(older) = &self.older {
            return Some(ReadState::Older { lines: merged(older) });
        }
        if self.is_unclear {
            return Some(ReadState::Unsure);
        }
        let has_any = self.has_unknown || !current.is_empty();
        has_any.then_some(ReadState::Part { lines: current, of: self.total })
    }

    /// Returns the file as it was last shown, whole.
    pub(super) fn shown_whole(&self) -> Option<String> {
        self.shown_whole.clone()
    }

    fn add(&mut self, lines: Lines, text: &ShownText, now: &Contents<'_>) {
        let span = self.resolved(lines);
        let differs = differs(text, lines, span, now);
        if let (ShownText::Cut(shown), true) = (text, differs || span.is_none()) {
            return self.add_kept(span, shown, now);
        }
        // Bytes that are not UTF-8 are shown in many ways; only a known one is proof.
        if matches!(now, Contents::Other(_)) && (differs || *text == ShownText::Unknown) {
            self.is_unclear = true;
            return;
        }
        if let (Lines::Whole, ShownText::Exactly(shown)) = (lines, text) {
            // A client may drop the last line's end; the file's own text is the truer one.
            let truer = now.text().filter(|_| !differs).unwrap_or(shown);
            self.shown_whole = Some(truer.to_owned());
        }
        match (span, differs) {
            (span, true) => self.older.get_or_insert_default().extend(span),
            (Some(span), false) => self.current.push(span),
            (None, false) if lines == Lines::Whole => self.is_whole = true,
            (None, false) => self.has_unknown |= !self.is_beyond(lines),
        }
    }

    /// Adds those of some lines that were left as they are when the others were cut.
    fn add_kept(&mut self, span: Option<Span>, shown: &str, now: &Contents<'_>) {
        let before = self.current.len();
        if let (None, Some(now)) = (span, now.text()) {
            self.add_visible(shown, now);
        }
        if let (Some(Span { first, last }), Some(now)) = (span, now.text()) {
            let lines = now.lines().skip(first - 1).take(last + 1 - first);
            let both = lines.zip(shown.lines()).enumerate();
            let kept = both.filter(|(_, (line, shown))| line.trim_end() == shown.trim_end());
            let kept = kept.map(|(at, _)| Span { first: first + at, last: first + at });
            self.current.extend(kept);
        }
        self.has_unknown |= self.current.len() == before;
    }

    /// Adds the file's lines that an output contains.
    fn add_visible(&mut self, output: &str, now: &str) {
        let runs = visible_lines(now, output).into_iter();
        self.current.extend(runs.map(|(first, last)| Span { first: first + 1, last: last + 1 }));
    }

    /// A request for lines behind the end shows none.
    fn is_beyond(&self, lines: Lines) -> bool {
        let has_lines = self.total.is_some_and(|total| total > 0);
        has_lines && matches!(lines, Lines::Range { .. } | Lines::Last(_))
    }

    /// Returns the numbers of the requested lines in the present file; `None` if unknown.
    fn resolved(&self, lines: Lines) -> Option<Span> {
        let total = self.total.filter(|total| *total > 0);
        let span = match (lines, total) {
            (Lines::Whole, Some(total)) => Span { first: 1, last: total },
            (Lines::Range { first, last }, Some(total)) => {
                Span { first: first.max(1), last: last.min(total) }
            }
            (Lines::Range { first, last }, None) if last != Lines::END => {
                Span { first: first.max(1), last }
            }
            (Lines::Last(count), Some(total)) => {
                Span { first: total.saturating_sub(count) + 1, last: total }
            }
            (Lines::Whole | Lines::Range { .. } | Lines::Last(_) | Lines::Some, _) => return None,
        };
        (span.first <= span.last).then_some(span)
    }
}

/// Tells whether shown lines are not what the file says now, in any way of reading it.
fn differs(text: &ShownText, lines: Lines, span: Option<Span>, now: &Contents<'_>) -> bool {
    // Lines from a search have no known position.
    if span.is_none() && lines == Lines::Some {
        return false;
    }
    let readings = now.readings();
    let is_other = |now: &&str| {
        let expected = expected(span, now);
        match text {
            ShownText::Exactly(shown) | ShownText::Cut(shown) => {
                comparable(shown) != comparable(&expected)
            }
            ShownText::Among(shown) => !comparable(shown).contains(&comparable(&expected)),
            ShownText::Image | ShownText::Unknown => false,
        }
    };
    !readings.is_empty() && readings.iter().all(is_other)
}

/// Tells whether an output alone proves that it shows these lines: it contains their text, and the
/// text is long enough to rule out chance.
pub(super) fn is_shown(lines: Lines, text: &ShownText, now: &Contents<'_>) -> bool {
    let Some(total) = now.text().map(|text| text.lines().count()) else { return false };
    let span = Coverage { total: Some(total), ..Coverage::default() }.resolved(lines);
    let says_enough =
        span.is_some() && now.text().is_some_and(|now| says_enough(&expected(span, now)));
    let is_known = matches!(text, ShownText::Exactly(_) | ShownText::Among(_));
    says_enough && is_known && !differs(text, lines, span, now)
}

/// Returns how lines of a file read; nothing if it has no such lines now.
fn expected(span: Option<Span>, now: &str) -> String {
    let Some(Span { first, last }) = span else { return String::new() };
    let kept = now.lines().skip(first - 1).take(last + 1 - first);
    kept.collect::<Vec<_>>().join("\n")
}

/// Joins spans that touch.
fn merged(spans: &[Span]) -> Vec<Span> {
    let mut sorted = spans.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for span in sorted {
        match joined.last_mut() {
            Some(last) if span.first <= last.last.saturating_add(1) => {
                last.last = last.last.max(span.last);
            }
            Some(_) | None => joined.push(span),
        }
    }
    joined
}

fn covers(merged: &[Span], total: usize) -> bool {
    matches!(merged, [Span { first: ..=1, last }] if *last >= total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_that_touch_are_one() {
        let span = |(first, last)| Span { first, last };
        for (spans, expected) in [
            (vec![(1, 3), (4, 6)], vec![(1, 6)]),
            (vec![(5, 9), (1, 3)], vec![(1, 3), (5, 9)]),
            (vec![(1, 9), (2, 3), (9, 12)], vec![(1, 12)]),
            (vec![], vec![]),
        ] {
            let spans: Vec<_> = spans.into_iter().map(span).collect();
            let expected: Vec<_> = expected.into_iter().map(span).collect();
            assert_eq!(merged(&spans), expected);
        }
    }

    proptest! {
        // A line is in the joined spans exactly if it is in one of the spans.
        #[test]
        fn joining_keeps_every_line(
            spans in prop::collection::vec((1_usize..20, 0_usize..6), 0..6),
            line in 1_usize..30,
        ) {
            let spans: Vec<Span> =
                spans.iter().map(|(first, more)| Span { first: *first, last: first + more }).collect();
            let holds = |spans: &[Span]| spans.iter().any(|span| (span.first..=span.last).contains(&line));
            prop_assert_eq!(holds(&spans), holds(&merged(&spans)));
        }
    }
}
