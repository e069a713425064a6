//! Which calls showed a demanded file.

use std::sync::Arc;

use super::coverage::is_shown;
use super::{Contents, Lines, Read, Seen};

/// How many calls a receipt names.
const MOST_CALLS: usize = 8;

/// One call that showed lines of a demanded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowingCall {
    /// The command, or the tool with its file; `None` if the client showed the file without a call.
    pub call: Option<Arc<str>>,
    /// The lines that it showed.
    pub lines: Lines,
}

/// Returns the calls among these reads that showed lines of the file, in order. If one call showed
/// all of it, its other parts say no more.
pub(super) fn showing_calls(path: &str, now: &Contents<'_>, reads: &[&Read]) -> Vec<ShowingCall> {
    let mut found: Vec<ShowingCall> = Vec::new();
    for read in reads {
        let has_room = found.len() < MOST_CALLS;
        let Some(lines) = shown_lines(path, now, &read.seen) else { continue };
        let call = &read.call;
        let says_no_more = |known: &&mut ShowingCall| {
            let is_whole = [known.lines, lines].contains(&Lines::Whole);
            known.call == *call && (is_whole || known.lines == lines)
        };
        match found.iter_mut().find(says_no_more) {
            Some(known) if lines == Lines::Whole => known.lines = lines,
            None if has_room => {
                found.push(ShowingCall { call: call.clone(), lines });
            }
            Some(_) | None => {}
        }
    }
    found
}

fn shown_lines(path: &str, now: &Contents<'_>, seen: &Seen) -> Option<Lines> {
    match seen {
        Seen::Lines { path: shown, lines, text } => {
            (shown == path && !text.is_nothing_of(now)).then_some(*lines)
        }
        Seen::Maybe { path: shown, lines, text, .. } => {
            (shown == path && is_shown(*lines, text, now)).then_some(*lines)
        }
        Seen::Nothing { .. } | Seen::Perhaps { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receipt::{Demanded, FileReader, ShownText, receipts};

    /// Ten lines.
    const NOW: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

    #[test]
    fn a_receipt_names_the_calls_that_showed_the_file() {
        let read = |step: usize, by, call: &str, lines, path: &str| Read {
            step,
            by,
            seen: Seen::Lines { path: path.to_owned(), lines, text: ShownText::Unknown },
            forgotten: None,
            call: Some(Arc::from(call)),
        };
        let (own, sent) = (FileReader::Answerer, FileReader::Subagent);
        let (first, rest) =
            (Lines::Range { first: 1, last: 6 }, Lines::Range { first: 7, last: Lines::END });
        let spec = "/p/spec.md";
        for (reads, expected) in [
            (
                vec![
                    read(0, own, "head -6", first, spec),
                    read(1, own, "head -6", first, spec),
                    read(2, own, "cat other.md", Lines::Whole, "/p/other.md"),
                    read(3, own, "tail +7", rest, spec),
                ],
                vec![("head -6", first), ("tail +7", rest)],
            ),
            // One call that showed all of it needs no second line.
            (
                vec![
                    read(0, own, "grep . spec.md", Lines::Some, spec),
                    read(0, own, "grep . spec.md", Lines::Whole, spec),
                ],
                vec![("grep . spec.md", Lines::Whole)],
            ),
            (
                vec![read(0, sent, "read spec.md", Lines::Whole, spec)],
                vec![("read spec.md", Lines::Whole)],
            ),
            (
                vec![read(9, own, "cat spec.md", Lines::Whole, spec)],
                vec![("cat spec.md", Lines::Whole)],
            ),
            // A subagent's call proves nothing beside one of the agent itself.
            (
                vec![
                    read(0, sent, "read spec.md", Lines::Whole, spec),
                    read(1, own, "head -6", first, spec),
                ],
                vec![("head -6", first)],
            ),
            (vec![], vec![]),
        ] {
            let demanded = [Demanded { name: "spec", path: spec, now: Contents::Text(NOW) }];
            let receipt = receipts(&demanded, &reads, Some(5)).remove(0);
            let calls: Vec<_> =
                receipt.shown_by.iter().map(|by| (by.call.as_deref().unwrap(), by.lines)).collect();
            assert_eq!(calls, expected, "{reads:?}");
        }
    }

    #[test]
    fn a_receipt_names_only_a_few_calls() {
        let read = |step: usize| Read {
            step,
            by: FileReader::Answerer,
            seen: Seen::Lines {
                path: "/p/spec.md".to_owned(),
                lines: Lines::Range { first: 1, last: step + 1 },
                text: ShownText::Unknown,
            },
            forgotten: None,
            call: Some(Arc::from(format!("head -{step}"))),
        };
        let reads: Vec<_> = (0..99).map(read).collect();
        let demanded = [Demanded { name: "spec", path: "/p/spec.md", now: Contents::Text(NOW) }];
        assert_eq!(receipts(&demanded, &reads, None)[0].shown_by.len(), 8);
    }
}
