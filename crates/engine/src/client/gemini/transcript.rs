//! Gemini CLI: its transcript, and what `-o stream-json` prints.

use std::borrow::Cow;
use std::collections::HashSet;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput};
use convoke_domain::receipt::{FileReader, Lines};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{content_text, number, owned, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, Tool, asked, foreign, shown};

/// Printed events hold a tool's full output. The agent receives at most this many bytes of it.
const MOST_SHOWN_BYTES: usize = 40_000;

/// A line of either kind: events have a name, messages have a number.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCalls")]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId", alias = "session_id")]
    session: Option<&'a RawValue>,
    #[serde(borrow, rename = "projectHash")]
    project: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Parameters<'a> {
    #[serde(borrow, alias = "absolute_path")]
    file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    start_line: Option<&'a RawValue>,
    #[serde(borrow)]
    end_line: Option<&'a RawValue>,
    #[serde(borrow)]
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow, alias = "directory", alias = "path")]
    dir_path: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResultPart<'a> {
    #[serde(borrow, rename = "functionResponse")]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResponseText<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Replaced<'a> {
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

/// Takes in a line; `None` if this client did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    if let Some(set) = line.set {
        if let Some(messages) = parse::<Replaced<'_>>(Some(set)).and_then(|set| set.messages) {
            replaced(&messages, recorder);
        }
        return Some(());
    }
    match (line.kind.as_deref(), line.tool_id.as_deref()) {
        (Some("tool_use"), Some(id)) => {
            let name = line.tool_name.as_deref().unwrap_or_default();
            recorder.calls(id, FileReader::Answerer, tool(name, line.parameters), None);
        }
        (Some("tool_result"), Some(id)) => printed_result(&line, id, recorder),
        (Some("message"), _) if line.role.is_some() => {
            if line.role.as_deref() == Some("assistant") {
                // Pieces of one answer, until a tool is called or the turn is over.
                recorder.says(Some("printed"), &content_text(line.content).unwrap_or_default());
            }
        }
        (Some("result"), _) if line.status.is_some() => recorder.ends_turn(),
        (Some("init"), _) if line.session.is_some() => {}
        (Some("user" | "gemini" | "info" | "error"), _) if line.id.is_some() => {
            told(&line, recorder);
        }
        _ => {
            if let Some(message) = string(line.rewind) {
                recorder.rewinds(&message);
            }
            return line.rewind.or(line.project).map(|_| ());
        }
    }
    Some(())
}

/// The conversation is these messages from now on. A compression leaves a summary and the newest of
/// them.
fn replaced(messages: &[&RawValue], recorder: &mut Recorder<'_>) {
    let lines: Vec<Line<'_>> = messages.iter().filter_map(|message| parse(Some(message))).collect();
    let kept: HashSet<&str> = lines.iter().filter_map(|line| line.id.as_deref()).collect();
    recorder.forgets(|place| !place.message.as_deref().is_some_and(|id| kept.contains(id)));
    for line in &lines {
        told_again(line, recorder);
    }
}

/// A message of the transcript. It is written again whenever it changes, so a call may come twice.
fn told(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    if let Some(id) = &line.id {
        recorder.begins_message(id);
    }
    if line.kind.as_deref() == Some("user") {
        recorder.ends_turn();
        let text = content_text(line.content).unwrap_or_default();
        return recorder.given(FileReader::Answerer, &text);
    }
    if line.kind.as_deref() != Some("gemini") {
        return;
    }
    let calls: Vec<ToolCall<'_>> = parse(line.tool_calls).unwrap_or_default();
    let text = content_text(line.content).unwrap_or_default();
    if calls.is_empty() && !text.trim().is_empty() {
        recorder.says(None, &text);
    }
    for call in &calls {
        recorder.calls(&call.id, FileReader::Answerer, tool(&call.name, call.args), None);
        kept_result(call, recorder);
    }
}

/// Takes a message that the record repeats. After an answer it ignores repeated messages, or later
/// reads would seem to come before the answer.
fn told_again(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    if line.tool_calls.is_some() || !recorder.has_spoken() {
        told(line, recorder);
    }
}

fn tool(name: &str, parameters: Option<&RawValue>) -> Tool {
    let Some(given) = parse::<Parameters<'_>>(parameters) else { return Tool::Other };
    match (name, owned(given.file_path), owned(given.command)) {
        ("read_file", Some(path), _) => Tool::File { path, lines: lines(&given) },
        ("run_shell_command", _, Some(command)) => {
            Tool::Shell { command, folder: owned(given.dir_path) }
        }
        ("search_file_content" | "grep_search", ..) => Tool::Search { path: owned(given.dir_path) },
        _ => foreign(name, parameters.map_or("", RawValue::get)),
    }
}

/// Lines count from one as `start_line`, and from none as `offset`.
fn lines(given: &Parameters<'_>) -> Lines {
    let (start, end) = (number(given.start_line), number(given.end_line));
    if start.is_some() || end.is_some() {
        let first = start.unwrap_or(1).max(1);
        let count = end.map(|end| (end + 1).saturating_sub(first));
        return asked(Some(first), count);
    }
    asked(number(given.offset).map(|line| line.saturating_add(1)), number(given.limit))
}

/// A printed result is for people: a line about the result, not what the agent saw.
fn printed_result(line: &Line<'_>, id: &str, recorder: &mut Recorder<'_>) {
    if line.status.as_deref() != Some("success") {
        return recorder.returns(id, &Outcome::FAILED);
    }
    let text = string(line.output).unwrap_or_default();
    let outcome = match recorder.called(id) {
        Some(Tool::File { .. }) if text.starts_with("Skipped ") => Outcome::FAILED,
        Some(Tool::File { .. }) if text.contains("lines were shortened") => {
            Outcome::file(Some(Lines::Some), None)
        }
        Some(Tool::File { .. }) if text.starts_with("Read image") => Outcome::IMAGE,
        Some(Tool::File { .. }) if text.is_empty() => Outcome::file(None, None),
        Some(Tool::File { .. }) => match range_in(&text, "Read lines ") {
            Some(lines) => Outcome::file(Some(lines), None),
            // Any other words are the file's own, or it was not read.
            None => Outcome::file(None, Some(&text)),
        },
        _ if text.len() > MOST_SHOWN_BYTES => {
            Outcome::of(CommandEnd::Unknown, ShellOutput::Printed(&text))
        }
        _ => framed(&text),
    };
    recorder.returns(id, &outcome);
}

fn kept_result(call: &ToolCall<'_>, recorder: &mut Recorder<'_>) {
    match call.status.as_deref() {
        Some("success") => {}
        Some("error" | "cancelled") => return recorder.returns(&call.id, &Outcome::FAILED),
        // It is still at work; its result comes with the same message.
        _ => return,
    }
    let parts: Vec<ResultPart<'_>> = parse(call.result).unwrap_or_default();
    let response = parts.iter().find_map(|part| parse::<Response<'_>>(part.response));
    let response = response.and_then(|part| parse::<ResponseText<'_>>(part.response));
    let text = response.and_then(|said| owned(said.output));
    let has_data = call.result.is_some_and(|result| result.get().contains("\"inlineData\""));
    let outcome = match (recorder.called(&call.id), text.as_deref()) {
        (Some(Tool::File { .. }), _) if has_data => Outcome::IMAGE,
        (Some(Tool::File { .. }), Some(text)) => file(text),
        (Some(Tool::File { .. }), None) => Outcome::file(Some(Lines::Some), None),
        (_, Some(text)) => framed(text),
        (_, None) => Outcome::of(CommandEnd::Unknown, ShellOutput::Unknown),
    };
    recorder.returns(&call.id, &outcome);
}

/// A part of a file comes with a note above it; lines that were too long are cut.
fn file(text: &str) -> Outcome<'_> {
    let body = text.split_once("--- FILE CONTENT (truncated) ---\n");
    let (lines, body) = match body {
        Some((note, body)) => (range_in(note, "Showing lines ").or(Some(Lines::Some)), body),
        None => (None, text),
    };
    if text.starts_with("Cannot display content of binary file") {
        return Outcome::FAILED;
    }
    if body.contains("... [truncated]") {
        return Outcome::cut_file(lines, body);
    }
    Outcome::file(lines, Some(body))
}

/// The shell's output is among other words, without a mark at its end. Of a long output the agent
/// receives the beginning and the end.
fn framed(text: &str) -> Outcome<'_> {
    let is_cut = text.starts_with("Output too large") || text.contains(" characters omitted] ...");
    let text = text.strip_prefix("Output: ").unwrap_or(text);
    let output = if is_cut { ShellOutput::Cut(text) } else { ShellOutput::Framed(text) };
    Outcome::of(CommandEnd::Unknown, output)
}

/// Reads `A-B of N` behind a mark.
fn range_in(text: &str, mark: &str) -> Option<Lines> {
    let (_, rest) = text.split_once(mark)?;
    let (range, rest) = rest.split_once(" of ")?;
    let (first, last) = range.split_once('-')?;
    let total = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(shown(first.parse().ok()?, last.parse().ok()?, total.parse().ok()?))
}
