//! Which lines of a file were shown, and whether they still read as the file does.

use super::{Lines, Read, Seen, Standing, Text};

/// Lines of a file, both ends included; they count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// What some reads showed of one file.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Lines that read as they do now, or of which nobody kept how they read.
    current: Vec<Span>,
    /// Lines that read differently.
    older: Vec<Span>,
    /// How many lines the file has now.
    total: Option<usize>,
    /// All of it was shown, without its lines having to be added up.
    is_whole: bool,
    /// Something was shown, and nobody knows which lines.
    has_unknown: bool,
    has_older: bool,
    shown_whole: Option<String>,
}

impl Coverage {
    /// Adds up the reads of the file at `path`, whose text now is `now`.
    pub(super) fn of(path: &str, now: Option<&str>, reads: &[&Read]) -> Self {
        let mut coverage = Self { total: now.map(|text| text.lines().count()), ..Self::default() };
        for read in reads {
            match &read.seen {
                // An output without a word of the file shows none of its lines, whatever was asked.
                Seen::Lines { path: shown, lines, text }
                    if shown == path && !text.is_nothing_of(now) =>
                {
                    coverage.add(*lines, text, now);
                }
                Seen::Lines { .. } | Seen::Nothing { .. } | Seen::Perhaps { .. } => {}
            }
        }
        coverage
    }

    /// Returns how the file stands, if anything of it was shown.
    pub(super) fn standing(&self) -> Option<Standing> {
        let current = merged(&self.current);
        if self.is_whole || self.total.is_some_and(|total| covers(&current, total)) {
            return Some(Standing::Whole);
        }
        if self.has_older {
            return Some(Standing::Older { lines: merged(&self.older) });
        }
        let has_any = self.has_unknown || !current.is_empty();
        has_any.then_some(Standing::Part { lines: current, of: self.total })
    }

    /// Returns the file as it was last shown, whole.
    pub(super) fn shown_whole(&self) -> Option<String> {
        self.shown_whole.clone()
    }

    fn add(&mut self, lines: Lines, text: &Text, now: Option<&str>) {
        let span = self.resolved(lines);
        let is_older = now.is_some_and(|now| differs(text, lines, span, now));
        if let (Lines::Whole, Text::Exactly(shown)) = (lines, text) {
            // A client may drop the last line's end; the file's own text is the truer one.
            let truer = now.filter(|_| !is_older).unwrap_or(shown);
            self.shown_whole = Some(truer.to_owned());
        }
        self.has_older |= is_older;
        match (span, is_older) {
            (Some(span), true) => self.older.push(span),
            (Some(span), false) => self.current.push(span),
            (None, true) => {}
            (None, false) if lines == Lines::Whole => self.is_whole = true,
            (None, false) => self.has_unknown |= !self.is_beyond(lines),
        }
    }

    /// Whoever asks for lines behind the end is shown none.
    fn is_beyond(&self, lines: Lines) -> bool {
        let has_lines = self.total.is_some_and(|total| total > 0);
        has_lines && matches!(lines, Lines::Range { .. } | Lines::Last(_))
    }

    /// Returns the lines of the file as it is now; `None` if that cannot be said.
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

/// Tells whether shown lines are not what the file says now.
fn differs(text: &Text, lines: Lines, span: Option<Span>, now: &str) -> bool {
    let expected = match (span, lines) {
        (Some(Span { first, last }), _) => {
            let kept = now.lines().skip(first - 1).take(last + 1 - first);
            kept.collect::<Vec<_>>().join("\n")
        }
        // What a search found cannot be placed.
        (None, Lines::Some) => return false,
        // The file has no such lines now.
        (None, Lines::Whole | Lines::Range { .. } | Lines::Last(_)) => String::new(),
    };
    match text {
        Text::Exactly(shown) => comparable(shown) != comparable(&expected),
        Text::Among(shown) => !comparable(shown).contains(&comparable(&expected)),
        Text::Unknown => false,
    }
}

/// Clients drop empty lines at both ends, ends of lines change on the way, and nobody sees a byte
/// order mark: none of this makes a text another one.
fn comparable(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
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
            let holds = |spans: &[Span]| spans.iter().any(|it| (it.first..=it.last).contains(&line));
            prop_assert_eq!(holds(&spans), holds(&merged(&spans)));
        }
    }
}
