//! Claude Code: its transcript, and what `--output-format stream-json` prints.

use std::borrow::Cow;

use convoke_domain::receipt::shell::{Ended, Output, without_numbers};
use convoke_domain::receipt::{Lines, Reader};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::recorder::{Recorder, Shell};
use super::tool::{Outcome, Tool, asked, foreign, shown};
use crate::json::{content_text, number, parse, string};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<bool>,
    #[serde(borrow)]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolUseResult", alias = "tool_use_result")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    output_mode: Option<&'a RawValue>,
}

/// What a file's result holds beside what the agent saw.
#[derive(Deserialize)]
struct Shown<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    file: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(borrow, rename = "filePath")]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    num_lines: Option<&'a RawValue>,
    #[serde(borrow)]
    start_line: Option<&'a RawValue>,
    #[serde(borrow)]
    total_lines: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// Takes in a line; `None` if it is none of this client's.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    // Others print lines of the same kinds, but none of theirs has a number of its own.
    line.uuid.filter(|_| {
        matches!(line.kind.as_ref(), "user" | "assistant" | "attachment" | "system" | "result")
    })?;
    if let Some(folder) = &line.cwd {
        recorder.enter(folder);
    }
    // What is printed names the folder once, and then the agent goes where it likes.
    let is_told = line.cwd.is_some() && line.kind != "system";
    recorder.has_shell(if is_told { Shell::IsNew } else { Shell::GoesOn });
    match line.kind.as_ref() {
        "user" => user(&line, recorder),
        "assistant" => assistant(&line, recorder),
        "attachment" => attachment(&line, recorder),
        "result" => recorder.ends_turn(),
        _ => {}
    }
    Some(())
}

fn reader(line: &Line<'_>, recorder: &mut Recorder<'_>) -> Reader {
    let is_sent = line.is_sidechain == Some(true) || line.parent_tool_use_id.is_some();
    let reader = if is_sent { Reader::Subagent } else { Reader::Answerer };
    recorder.line_of(reader);
    reader
}

fn assistant(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    let by = reader(line, recorder);
    let Some(message) = parse::<Message<'_>>(line.message) else { return };
    let blocks: Vec<Block<'_>> = parse(message.content).unwrap_or_default();
    for block in &blocks {
        match block.kind.as_ref() {
            "tool_use" => {
                let id = block.id.as_deref().unwrap_or_default();
                recorder.calls(id, by, tool(block), message.id.as_deref());
            }
            // A record of a subagent's own is told from a line about one only at its end.
            "text" if line.parent_tool_use_id.is_none() => {
                let text = string(block.text).unwrap_or_default();
                recorder.says(message.id.as_deref(), &text);
            }
            _ => {}
        }
    }
    if message.stop_reason.is_some_and(|reason| reason != "tool_use") {
        recorder.ends_turn();
    }
}

fn tool(block: &Block<'_>) -> Tool {
    let name = block.name.as_deref().unwrap_or_default();
    let Some(input) = parse::<Input<'_>>(block.input) else { return Tool::Other };
    let owned = |value| string(value).map(Cow::into_owned);
    match (name, owned(input.file_path), owned(input.command)) {
        ("Read", Some(path), _) => {
            Tool::File { path, lines: asked(number(input.offset), number(input.limit)) }
        }
        ("Bash", _, Some(command)) => Tool::Shell { command, folder: None },
        ("Grep", ..) if string(input.output_mode).as_deref() == Some("content") => {
            Tool::Search { path: owned(input.path) }
        }
        ("Grep" | "Glob" | "NotebookEdit", ..) => Tool::Other,
        _ => foreign(name, block.input.map_or("", RawValue::get)),
    }
}

fn user(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    reader(line, recorder);
    let Some(message) = parse::<Message<'_>>(line.message) else { return };
    let blocks: Vec<Block<'_>> = parse(message.content).unwrap_or_default();
    let results = blocks.iter().filter(|block| block.kind == "tool_result");
    results.for_each(|block| result(block, line.result, recorder));
}

fn result(block: &Block<'_>, shown: Option<&RawValue>, recorder: &mut Recorder<'_>) {
    let Some(id) = block.tool_use_id.as_deref() else { return };
    if block.is_error == Some(true) && !matches!(recorder.called(id), Some(Tool::Shell { .. })) {
        return recorder.returns(id, &Outcome::FAILED);
    }
    if let Some(Tool::File { lines, .. }) = recorder.called(id) {
        let lines = *lines;
        return file_result(id, lines, block, shown, recorder);
    }
    let ended = if block.is_error == Some(true) { Ended::Badly } else { Ended::Well };
    let text = content_text(block.content);
    let output = match text.as_deref() {
        // The agent is given the beginning, and told where the rest is.
        Some(text) if text.starts_with("<persisted-output>") => Output::Cut,
        Some(text) if text.starts_with("Command running in background") => Output::Unknown,
        // A failure begins with its code.
        Some(text) if ended == Ended::Badly => Output::Framed(text),
        Some(text) => Output::Whole(text),
        None => Output::Unknown,
    };
    let ended = if output == Output::Unknown { Ended::Unknown } else { ended };
    recorder.returns(id, &Outcome { ended, output, lines: None });
}

fn file_result(
    id: &str,
    asked: Lines,
    block: &Block<'_>,
    shown: Option<&RawValue>,
    recorder: &mut Recorder<'_>,
) {
    let Some(shown) = parse::<Shown<'_>>(shown) else {
        let text = content_text(block.content).unwrap_or_default();
        return numbered_result(id, asked, &text, recorder);
    };
    match (shown.kind.as_ref(), parse::<File<'_>>(shown.file)) {
        ("text", Some(file)) => match lines_of(&file) {
            Some(lines) => {
                let text = string(file.content);
                recorder.returns(id, &Outcome::file(Some(lines), text.as_deref()));
            }
            None => recorder.returns(id, &Outcome::FAILED),
        },
        ("image" | "notebook", _) => recorder.returns(id, &Outcome::file(None, None)),
        _ => recorder.returns(id, &Outcome::file(Some(Lines::Some), None)),
    }
}

/// `None` if nothing was shown: the file ends before.
fn lines_of(file: &File<'_>) -> Option<Lines> {
    let first = number(file.start_line).unwrap_or(1);
    let count = number(file.num_lines).filter(|count| *count > 0)?;
    let total = number(file.total_lines).unwrap_or(Lines::END);
    Some(shown(first, first.saturating_add(count).saturating_sub(1), total))
}

/// A subagent's record has only what it saw: lines behind their numbers.
fn numbered_result(id: &str, asked: Lines, text: &str, recorder: &mut Recorder<'_>) {
    let note = text.find("<system-reminder>").unwrap_or(text.len());
    let (body, note) = text.split_at_checked(note).unwrap_or((text, ""));
    let outcome = match without_numbers(body.trim_end_matches('\n')) {
        Some((first, shown)) => {
            let last = first + shown.lines().count().saturating_sub(1);
            // What was not limited goes to the end.
            let lines = match asked {
                Lines::Whole if first <= 1 => Lines::Whole,
                Lines::Range { last: Lines::END, .. } | Lines::Whole => {
                    Lines::Range { first, last: Lines::END }
                }
                Lines::Range { .. } | Lines::Last(_) | Lines::Some => Lines::Range { first, last },
            };
            return recorder.returns(id, &Outcome::file(Some(lines), Some(&shown)));
        }
        None if note.contains("contents are empty") => Outcome::file(None, Some("")),
        None if note.contains("shorter than the provided offset") => Outcome::FAILED,
        None => Outcome::file(Some(Lines::Some), None),
    };
    recorder.returns(id, &outcome);
}

/// Files that a prompt mentions, and those that come back after a compaction.
fn attachment(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    let by = reader(line, recorder);
    let Some(attachment) = parse::<Attachment<'_>>(line.attachment) else { return };
    let shown = parse::<Shown<'_>>(attachment.content).filter(|_| attachment.kind == "file");
    let Some(file) = shown.and_then(|shown| parse::<File<'_>>(shown.file)) else { return };
    let path = string(file.path).or(attachment.filename).unwrap_or_default();
    if let (Some(lines), false) = (lines_of(&file), path.is_empty()) {
        recorder.shown(by, &path, lines, string(file.content).as_deref());
    }
}
