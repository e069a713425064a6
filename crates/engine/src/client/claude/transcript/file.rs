//! Files that Claude Code shows: lines behind their numbers, and what it keeps beside them.

use std::borrow::Cow;

use convoke_domain::receipt::Lines;
use convoke_domain::receipt::shell::{without_number, without_numbers};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{number, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, shown};

/// Fields of a file's result beside the shown content.
#[derive(Deserialize)]
pub(super) struct Shown<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) file: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct File<'a> {
    #[serde(borrow, rename = "filePath")]
    pub(super) path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    num_lines: Option<&'a RawValue>,
    #[serde(borrow)]
    start_line: Option<&'a RawValue>,
    #[serde(borrow)]
    total_lines: Option<&'a RawValue>,
}

/// The result of a call that shows a file. The content is what the agent saw; fields beside it may
/// hold more.
pub(super) struct FileResult<'a> {
    pub(super) id: &'a str,
    /// The requested lines.
    pub(super) asked: Lines,
    pub(super) is_notebook: bool,
    pub(super) text: Option<&'a str>,
}

impl FileResult<'_> {
    pub(super) fn judge(&self, beside: Option<&RawValue>, recorder: &mut Recorder<'_>) {
        let beside = parse::<Shown<'_>>(beside);
        let file = beside.as_ref().and_then(|shown| parse::<File<'_>>(shown.file));
        match (beside.as_ref().map(|shown| shown.kind.as_ref()), &file) {
            (None, _) => self.of_content(None, recorder),
            (Some("text"), Some(file)) => self.of_content(Some(file), recorder),
            (Some("image"), _) => recorder.returns(self.id, &Outcome::IMAGE),
            (Some("notebook"), _) if self.is_notebook => {
                recorder.returns(self.id, &Outcome::file(None, None));
            }
            // It was shown before, and is not shown again.
            (Some("file_unchanged"), _) => recorder.returns(self.id, &Outcome::FAILED),
            (Some(_), _) => recorder.returns(self.id, &Outcome::file(Some(Lines::Some), None)),
        }
    }

    /// Lines behind their numbers, and notes.
    fn of_content(&self, file: Option<&File<'_>>, recorder: &mut Recorder<'_>) {
        let text = self.text.unwrap_or_default();
        let (body, note) = split_note(text);
        let whole = file.and_then(|file| string(file.content));
        let nothing = file.is_some_and(|file| lines_of(file).is_none());
        if note.contains("contents are empty") {
            return recorder.returns(self.id, &Outcome::file(None, Some("")));
        }
        if note.contains("shorter than the provided offset") || nothing {
            return recorder.returns(self.id, &Outcome::FAILED);
        }
        // Without numbers, only the same text is the file's.
        let same = whole.as_deref().filter(|whole| whole.trim() == body.trim());
        if let Some(lines) = same.and(file.and_then(lines_of)) {
            return recorder.returns(self.id, &Outcome::file(Some(lines), whole.as_deref()));
        }
        let Some((first, shown, has_more)) = numbered_head(body) else {
            let outcome = Outcome::cut_file(Some(Lines::Some), text);
            return recorder.returns(self.id, &outcome);
        };
        let last = first + shown.split('\n').count() - 1;
        let is_less = whole.is_some_and(|whole| whole.trim_end() != shown.trim_end());
        let outcome = if is_less || has_more {
            Outcome::cut_file(Some(Lines::Range { first, last }), &shown)
        } else {
            let lines = file.and_then(lines_of).unwrap_or_else(|| self.without_end(first, last));
            Outcome::file(Some(lines), Some(&shown))
        };
        recorder.returns(self.id, &outcome);
    }

    /// A subagent's record does not give the file's length. A read without a limit goes to the end.
    const fn without_end(&self, first: usize, last: usize) -> Lines {
        match self.asked {
            Lines::Whole if first <= 1 => Lines::Whole,
            Lines::Range { last: Lines::END, .. } | Lines::Whole => {
                Lines::Range { first, last: Lines::END }
            }
            Lines::Range { .. } | Lines::Last(_) | Lines::Some => Lines::Range { first, last },
        }
    }
}

/// Splits off what the client says about a file. Lines of the file have numbers before them.
fn split_note(text: &str) -> (&str, &str) {
    const NOTE: &str = "<system-reminder>";
    let at = if text.starts_with(NOTE) { Some(0) } else { text.find(&format!("\n{NOTE}")) };
    text.split_at_checked(at.unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Returns the number of the first line, the numbered lines without their numbers, and whether
/// other text follows.
fn numbered_head(body: &str) -> Option<(usize, String, bool)> {
    let body = body.trim_end_matches('\n');
    if let Some((first, text)) = without_numbers(body) {
        return Some((first, text, false));
    }
    let (first, _) = without_number(body.lines().next()?)?;
    let bare = |(at, line)| {
        without_number(line).filter(|(number, _)| *number == first + at).map(|(_, bare)| bare)
    };
    let lines: Vec<&str> = body.lines().enumerate().map_while(bare).collect();
    Some((first, lines.join("\n"), true))
}

/// `None` if nothing was shown: the file ends before.
pub(super) fn lines_of(file: &File<'_>) -> Option<Lines> {
    let first = number(file.start_line).unwrap_or(1);
    let count = number(file.num_lines).filter(|count| *count > 0)?;
    let total = number(file.total_lines).unwrap_or(Lines::END);
    Some(shown(first, first.saturating_add(count).saturating_sub(1), total))
}

/// Takes in the result of a call that shows a file, where nothing but the shown text is known.
pub(in crate::client) fn file_result(
    id: &str,
    asked: Lines,
    text: &str,
    recorder: &mut Recorder<'_>,
) {
    let result = FileResult { id, asked, is_notebook: false, text: Some(text) };
    result.judge(None, recorder);
}
