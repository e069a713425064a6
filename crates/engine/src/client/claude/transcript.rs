//! Claude Code: its transcript, and what `--output-format stream-json` prints.

mod file;

use std::borrow::Cow;
use std::path::Path;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput};
use convoke_domain::receipt::{FileReader, Lines};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub(in crate::client) use self::file::file_result;
use self::file::{File, FileResult, Shown, lines_of};
use crate::json::{content_text, number, owned, parse, string};
use crate::transcript::reads::recorder::{Recorder, Shell};
use crate::transcript::reads::thread::{Follows, Role, Side};
use crate::transcript::reads::tool::{Outcome, Tool, asked, foreign};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    /// `null` where a conversation begins; absent in printed events.
    #[serde(default, rename = "parentUuid", deserialize_with = "follows")]
    parent: Follows,
    /// The message before a compaction.
    #[serde(borrow, rename = "logicalParentUuid")]
    logical_parent: Option<Cow<'a, str>>,
    #[serde(rename = "isMeta")]
    is_meta: Option<bool>,
    #[serde(rename = "isCompactSummary")]
    is_summary: Option<bool>,
    /// Only printed events spell it this way.
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "compactMetadata", alias = "compact_metadata")]
    compaction: Option<&'a RawValue>,
    #[serde(borrow, rename = "microcompactMetadata", alias = "microcompact_metadata")]
    clearing: Option<&'a RawValue>,
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

/// The messages that a compaction preserves.
#[derive(Deserialize)]
struct Compaction<'a> {
    #[serde(borrow, rename = "preservedMessages", alias = "preserved_messages")]
    preserved: Option<Preserved<'a>>,
}

#[derive(Deserialize)]
struct Preserved<'a> {
    #[serde(borrow)]
    uuids: Vec<Cow<'a, str>>,
}

/// Results that a client removes from the conversation without compacting it.
#[derive(Deserialize)]
struct Clearing<'a> {
    #[serde(borrow, rename = "compactedToolIds", alias = "compacted_tool_ids")]
    calls: Vec<Cow<'a, str>>,
}

/// A command's output.
#[derive(Deserialize)]
struct Printed<'a> {
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
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

#[derive(Deserialize)]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

fn follows<'de, D: Deserializer<'de>>(value: D) -> Result<Follows, D::Error> {
    let parent = Option::<String>::deserialize(value)?;
    Ok(parent.map_or(Follows::Nothing, Follows::Named))
}

impl Line<'_> {
    fn side(&self) -> Side {
        let is_sent = self.is_sidechain == Some(true) || self.parent_tool_use_id.is_some();
        if is_sent { Side::Subagent } else { Side::Main }
    }

    fn follows(&self) -> Follows {
        let is_boundary = self.subtype.as_deref() == Some("compact_boundary");
        match (&self.parent, &self.logical_parent) {
            (Follows::Nothing | Follows::LineBefore, Some(parent)) if is_boundary => {
                Follows::Named(parent.clone().into_owned())
            }
            (Follows::Nothing, None) if is_boundary => Follows::LineBefore,
            (parent, _) => parent.clone(),
        }
    }

    fn role(&self) -> Role {
        let is_result = || {
            let has_result =
                |message: &RawValue| message.get().contains("\"type\":\"tool_result\"");
            self.result.is_some() || self.message.is_some_and(has_result)
        };
        match self.kind.as_ref() {
            "user"
                if self.is_meta != Some(true) && self.is_summary != Some(true) && !is_result() =>
            {
                Role::Prompt
            }
            "assistant" => {
                let name = parse::<Message<'_>>(self.message).and_then(|message| message.id);
                Role::Reply(name.map(Cow::into_owned))
            }
            _ => Role::Aside,
        }
    }
}

/// Takes in a line; `None` if this client did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    // Messages also follow lines of kinds that say nothing here.
    if let Some(name) = &line.uuid {
        recorder.adds(name, line.follows(), line.role(), line.side());
    }
    // Other clients print lines of the same kinds, but without an id.
    line.uuid.as_ref().filter(|_| {
        matches!(line.kind.as_ref(), "user" | "assistant" | "attachment" | "system" | "result")
    })?;
    if let Some(session) = &line.session_id {
        recorder.is_printed_by(session);
    }
    recorder.message_is(line.uuid.as_deref());
    if let Some(folder) = &line.cwd {
        recorder.enter(folder);
    }
    // Printed events name the folder once, and the agent may change it later.
    let is_told = line.cwd.is_some() && line.kind != "system";
    recorder.has_shell(if is_told { Shell::IsNew } else { Shell::GoesOn });
    match line.kind.as_ref() {
        "user" => user(&line, recorder),
        "assistant" => assistant(&line, recorder),
        "attachment" => attachment(&line, recorder),
        "result" => recorder.ends_turn(),
        "system" if line.is_sidechain != Some(true) => system(&line, recorder),
        _ => {}
    }
    Some(())
}

/// A compaction leaves a boundary: of the text before it, the agent has only a summary, some named
/// messages, and the files attached again behind it.
fn system(line: &Line<'_>, recorder: &mut Recorder<'_>) {
    match line.subtype.as_deref() {
        Some("compact_boundary") => {
            let kept = parse::<Compaction<'_>>(line.compaction)
                .and_then(|compaction| compaction.preserved);
            let kept = kept.map(|preserved| preserved.uuids).unwrap_or_default();
            let is_kept = |message: &String| kept.iter().any(|uuid| uuid == message);
            recorder.forgets(|place| !place.message.as_ref().is_some_and(is_kept));
        }
        Some("microcompact_boundary") => {
            let cleared = parse::<Clearing<'_>>(line.clearing).map(|clearing| clearing.calls);
            let cleared = cleared.unwrap_or_default();
            let is_cleared = |call: &String| cleared.iter().any(|id| id == call);
            recorder.forgets(|place| place.call.as_ref().is_some_and(is_cleared));
        }
        _ => {}
    }
}

fn reader(line: &Line<'_>, recorder: &mut Recorder<'_>) -> FileReader {
    let reader = match line.side() {
        Side::Main => FileReader::Answerer,
        Side::Subagent => FileReader::Subagent,
    };
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
            // Only at its end is a subagent's own record distinguishable from a line about one.
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
    let by = reader(line, recorder);
    let Some(message) = parse::<Message<'_>>(line.message) else { return };
    if let Some(text) = string(message.content) {
        return given(by, &text, recorder);
    }
    let blocks: Vec<Block<'_>> = parse(message.content).unwrap_or_default();
    for block in &blocks {
        match block.kind.as_ref() {
            "tool_result" => result(block, line.result, recorder),
            "text" => given(by, &string(block.text).unwrap_or_default(), recorder),
            _ => {}
        }
    }
}

/// A text in place of a prompt. A file that a prompt mentions may be in it as a JSON string.
fn given(by: FileReader, text: &str, recorder: &mut Recorder<'_>) {
    let quoted = text.split_once("Result of calling the Read tool: ").map(|(_, rest)| rest);
    let quoted = quoted.and_then(|rest| {
        serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
    });
    recorder.given(by, text);
    if let Some(file) = quoted {
        recorder.given(by, &file);
    }
}

fn result(block: &Block<'_>, shown: Option<&RawValue>, recorder: &mut Recorder<'_>) {
    let Some(id) = block.tool_use_id.as_deref() else { return };
    if block.is_error == Some(true) && !matches!(recorder.called(id), Some(Tool::Shell { .. })) {
        return recorder.returns(id, &Outcome::FAILED);
    }
    let text = content_text(block.content);
    if let Some(Tool::File { path, lines }) = recorder.called(id) {
        // Of other files, only whether they hold a wanted text matters.
        if !recorder.wants(path) {
            let outcome = Outcome::file(Some(Lines::Some), text.as_deref());
            return recorder.returns(id, &outcome);
        }
        let extension = Path::new(path).extension();
        let is_notebook = extension.is_some_and(|name| name.eq_ignore_ascii_case("ipynb"));
        let lines = *lines;
        let file = FileResult { id, asked: lines, is_notebook, text: text.as_deref() };
        let is_image = |content: &RawValue| content.get().contains("\"type\":\"image\"");
        let has_image = block.content.is_some_and(is_image);
        if has_image && text.is_none() {
            recorder.returns(id, &Outcome::IMAGE);
        } else {
            file.judge(shown, recorder);
        }
        return;
    }
    let ended = if block.is_error == Some(true) { CommandEnd::Badly } else { CommandEnd::Well };
    let printed = parse::<Printed<'_>>(shown).and_then(|printed| string(printed.stdout));
    let is_shorter =
        |text: &str| printed.as_ref().is_some_and(|whole| text.len() < whole.trim().len());
    let output = match text.as_deref() {
        // The agent receives the beginning, and the path of the rest.
        Some(text) if text.starts_with("<persisted-output>") => ShellOutput::Cut(text),
        Some(text) if text.starts_with("Command running in background") => ShellOutput::Unknown,
        Some(text) if is_shorter(text) => ShellOutput::Cut(text),
        // A failure begins with its code.
        Some(text) if ended == CommandEnd::Badly => ShellOutput::Framed(text),
        Some(text) => ShellOutput::Whole(text),
        None => ShellOutput::Unknown,
    };
    let ended = if output == ShellOutput::Unknown { CommandEnd::Unknown } else { ended };
    recorder.returns(id, &Outcome::of(ended, output));
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
