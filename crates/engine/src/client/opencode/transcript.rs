//! opencode: what `run --format json` prints. It keeps its sessions in a database, not in a record.

use std::borrow::Cow;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput, without_numbers};
use convoke_domain::receipt::{FileReader, Lines};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{number, owned, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, Tool, asked, foreign};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "callID")]
    call: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow, rename = "messageID")]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, rename = "filePath")]
    file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    workdir: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Metadata {
    exit: Option<i64>,
    truncated: Option<bool>,
}

/// Takes in a line; `None` if this client did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    line.session?;
    let part = parse::<Part<'_>>(line.part);
    match (line.kind.as_ref(), part) {
        ("tool_use", Some(part)) => used(&part, recorder),
        ("text", Some(part)) => {
            recorder.says(part.message.as_deref(), &string(part.text).unwrap_or_default());
        }
        ("step_finish", Some(part)) if part.reason.as_deref() != Some("tool-calls") => {
            recorder.ends_turn();
        }
        ("step_start" | "step_finish" | "reasoning" | "error", _) => {}
        _ => return None,
    }
    Some(())
}

/// A call comes with its result.
fn used(part: &Part<'_>, recorder: &mut Recorder<'_>) {
    let Some(state) = parse::<State<'_>>(part.state) else { return };
    let id = part.call.as_deref().unwrap_or_default();
    let name = part.tool.as_deref().unwrap_or_default();
    recorder.calls(id, FileReader::Answerer, tool(name, state.input), part.message.as_deref());
    if state.status.as_deref() != Some("completed") {
        return recorder.returns(id, &Outcome::FAILED);
    }
    let text = string(state.output).unwrap_or_default();
    if matches!(recorder.called(id), Some(Tool::File { .. })) {
        return file_result(id, &text, recorder);
    }
    let metadata = parse::<Metadata>(state.metadata);
    let is_cut = metadata.as_ref().is_some_and(|data| data.truncated == Some(true));
    let ended = CommandEnd::of_code(metadata.and_then(|data| data.exit));
    let output = if is_cut { ShellOutput::Cut(&text) } else { ShellOutput::Framed(&text) };
    recorder.returns(id, &Outcome::of(ended, output));
}

fn tool(name: &str, input: Option<&RawValue>) -> Tool {
    let Some(given) = parse::<Input<'_>>(input) else { return Tool::Other };
    match (name, owned(given.file_path), owned(given.command)) {
        ("read", Some(path), _) => {
            Tool::File { path, lines: asked(number(given.offset), number(given.limit)) }
        }
        ("bash", _, Some(command)) => Tool::Shell { command, folder: owned(given.workdir) },
        ("grep", ..) => Tool::Search { path: owned(given.path) },
        _ => foreign(name, input.map_or("", RawValue::get)),
    }
}

/// Numbered lines between tags, with a note on how far they go.
pub(in crate::client) fn file_result(id: &str, text: &str, recorder: &mut Recorder<'_>) {
    let body = ["<content>\n", "<file>\n"].iter().find_map(|tag| text.split_once(tag));
    let body = body.map_or(text, |(_, body)| body);
    let body = ["\n</content>", "\n</file>"].iter().find_map(|tag| body.rsplit_once(tag));
    let body = body.map_or(text, |(body, _)| body);
    let (numbered, note) = body.rsplit_once("\n\n(").unwrap_or((body, ""));
    let is_end = note.starts_with("End of file");
    let Some((first, shown)) = without_numbers(numbered) else {
        let outcome = if is_end && numbered.trim().is_empty() {
            Outcome::file(Some(Lines::Whole), Some(""))
        } else if text.trim_start().starts_with("Image read") {
            Outcome::IMAGE
        } else {
            Outcome::cut_file(Some(Lines::Some), text)
        };
        return recorder.returns(id, &outcome);
    };
    let lines = match (first, is_end) {
        (0 | 1, true) => Lines::Whole,
        (_, true) => Lines::Range { first, last: Lines::END },
        (_, false) => {
            let count = numbered.lines().count();
            Lines::Range { first, last: (first + count).saturating_sub(1) }
        }
    };
    let outcome = if shown.contains("(line truncated to ") {
        Outcome::cut_file(Some(lines), &shown)
    } else {
        Outcome::file(Some(lines), Some(&shown))
    };
    recorder.returns(id, &outcome);
}
