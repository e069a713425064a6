//! Codex CLI: its rollout file, and what `exec --json` prints.

use std::borrow::Cow;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput};
use convoke_domain::receipt::{FileReader, Lines};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{content_text, is_json, number, owned, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, Tool, foreign};

/// The events have a command's whole output. The agent is shown about ten thousand tokens of it.
const MOST_SHOWN_BYTES: usize = 40_000;

/// The agent itself may ask for fewer, and the events do not tell. For less than a hundred tokens
/// it does not.
const SURELY_SHOWN_BYTES: usize = 400;

/// Events without an equivalent item.
const WANTED_EVENTS: [&str; 3] = ["task_complete\"", "turn_complete\"", "thread_rolled_back\""];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_id: Option<Cow<'a, str>>,
}

/// The beginning of a conversation after a compaction.
#[derive(Deserialize)]
struct Compacted<'a> {
    #[serde(borrow)]
    replacement_history: Option<Vec<&'a RawValue>>,
}

/// The result of a tool of an MCP server.
#[derive(Deserialize)]
struct McpResult<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    phase: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    num_turns: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow, alias = "command")]
    cmd: Option<&'a RawValue>,
    #[serde(borrow)]
    workdir: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Option<&'a RawValue>,
    exit_code: Option<i64>,
    #[serde(borrow)]
    server: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

/// Takes in a line; `None` if this client did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    if is_mere_event(text) {
        return Some(());
    }
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    match (line.kind.as_ref(), line.payload, line.item) {
        ("item.completed", _, Some(item)) => item_completed(item, recorder),
        ("turn.completed" | "turn.failed", ..) => recorder.ends_turn(),
        ("thread.started", ..) => recorder.is_printed_by(&line.thread_id?),
        ("compacted", Some(payload), _) => compacted(payload, recorder),
        ("compacted", None, _) => recorder.forgets(|_| true),
        ("response_item" | "event_msg" | "session_meta" | "turn_context", Some(payload), _) => {
            let payload: Payload<'_> = serde_json::from_str(payload.get()).ok()?;
            rollout(&line.kind, &payload, recorder);
        }
        ("world_state" | "token_usage_record", Some(_), _)
        | ("item.started" | "item.updated", _, Some(_))
        | ("turn.started", ..) => {}
        _ => return None,
    }
    Some(())
}

/// Half of a rollout are events that repeat its items. They are long, and recognized by their
/// bytes: in a text that quotes such a line, the quotation marks are escaped.
fn is_mere_event(text: &str) -> bool {
    let is_wanted = || WANTED_EVENTS.iter().any(|kind| text.contains(kind));
    text.contains("\"type\":\"event_msg\"") && !is_wanted() && is_json(text)
}

fn rollout(kind: &str, payload: &Payload<'_>, recorder: &mut Recorder<'_>) {
    match (kind, payload.kind.as_deref()) {
        ("session_meta", _) => {
            let is_sent =
                payload.source.is_some_and(|source| source.get().contains("\"subagent\""));
            recorder.line_of(if is_sent { FileReader::Subagent } else { FileReader::Answerer });
            payload.cwd.iter().for_each(|folder| recorder.enter(folder));
        }
        ("turn_context", _) => payload.cwd.iter().for_each(|folder| recorder.enter(folder)),
        ("event_msg", Some("task_complete" | "turn_complete")) => recorder.ends_turn(),
        // A nonsensical count may mean all turns.
        ("event_msg", Some("thread_rolled_back")) => {
            recorder.drops_turns(number(payload.num_turns).unwrap_or(usize::MAX));
        }
        ("response_item", Some("function_call" | "local_shell_call")) => called(payload, recorder),
        ("response_item", Some("custom_tool_call")) => {
            let id = payload.call_id.as_deref().unwrap_or_default();
            recorder.calls(id, FileReader::Answerer, Tool::Other, None);
        }
        ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
            returned(payload, recorder);
        }
        ("response_item", Some("message")) => message(payload, recorder),
        _ => {}
    }
}

fn message(payload: &Payload<'_>, recorder: &mut Recorder<'_>) {
    let is_aside = payload.phase.as_deref() == Some("commentary");
    let text = || content_text(payload.content).unwrap_or_default();
    match payload.role.as_deref() {
        Some("assistant") if !is_aside => recorder.says(None, &text()),
        Some(role @ ("user" | "developer")) => {
            let text = text();
            if role == "user" && is_prompt(&text) {
                recorder.begins_turn();
            }
            recorder.given(FileReader::Answerer, &text);
        }
        _ => {}
    }
}

/// The client also writes context around a prompt in the user's name, between tags or under a
/// heading. A prompt that looks like that does not count: then a rollback removes more turns than
/// it did, and never fewer.
fn is_prompt(text: &str) -> bool {
    let text = text.trim_start();
    !text.starts_with('<') && !text.starts_with("# AGENTS.md instructions")
}

/// A summary and a few kept messages replace the conversation.
fn compacted(payload: &RawValue, recorder: &mut Recorder<'_>) {
    recorder.forgets(|_| true);
    let kept =
        parse::<Compacted<'_>>(Some(payload)).and_then(|compacted| compacted.replacement_history);
    for item in kept.unwrap_or_default() {
        let Some(item) = parse::<Payload<'_>>(Some(item)) else { continue };
        let texts = [content_text(item.content), content_text(item.output)];
        let is_users = item.role.as_deref() == Some("user");
        if is_users && texts.iter().flatten().any(|text| is_prompt(text)) {
            recorder.begins_turn();
        }
        texts.iter().flatten().for_each(|text| recorder.given(FileReader::Answerer, text));
    }
}

fn called(payload: &Payload<'_>, recorder: &mut Recorder<'_>) {
    let (Some(id), Some(name)) = (payload.call_id.as_deref(), payload.name.as_deref()) else {
        return;
    };
    let written = string(payload.arguments).unwrap_or_default();
    let arguments: Option<Arguments<'_>> = serde_json::from_str(&written).ok();
    let folder = arguments.as_ref().and_then(|given| owned(given.workdir));
    let command = arguments.as_ref().and_then(|given| command(given.cmd));
    let path = arguments.as_ref().and_then(|given| owned(given.path));
    let tool = match (name, command, path) {
        ("exec_command" | "shell" | "shell_command" | "container.exec", Some(command), _) => {
            Tool::Shell { command, folder }
        }
        ("view_image", _, Some(path)) => Tool::File { path, lines: Lines::Whole },
        _ => foreign(name, &written),
    };
    recorder.calls(id, FileReader::Answerer, tool, None);
}

/// A command is a text, or the words of a call; of those, the last of `bash -lc …` is one.
fn command(value: Option<&RawValue>) -> Option<String> {
    if let Some(text) = string(value) {
        return Some(text.into_owned());
    }
    let words: Vec<String> = parse(value)?;
    let is_shell = |word: &str| word.ends_with("sh");
    match words.as_slice() {
        [shell, flag, script] if is_shell(shell) && flag.starts_with('-') => Some(script.clone()),
        _ => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn returned(payload: &Payload<'_>, recorder: &mut Recorder<'_>) {
    let Some(id) = payload.call_id.as_deref() else { return };
    let text = content_text(payload.output).unwrap_or_default();
    if matches!(recorder.called(id), Some(Tool::File { .. })) {
        return recorder.returns(id, &Outcome::IMAGE);
    }
    let (head, body) = text.split_once("Output:\n").unwrap_or(("", &text));
    let code = head.split_once("exited with code ").map(|(_, rest)| rest.trim());
    let code = code.and_then(|rest| rest.split_whitespace().next());
    let ended = match code {
        Some("0") => CommandEnd::Well,
        Some(_) => CommandEnd::Badly,
        None => CommandEnd::Unknown,
    };
    let is_cut = body.starts_with("Warning: truncated output")
        || body.starts_with("Total output lines:")
        || body.contains(" tokens truncated…")
        || body.contains(" chars truncated…")
        || head.contains("running with session ID");
    let output = match (is_cut, head.is_empty()) {
        (true, _) => ShellOutput::Cut(body),
        (false, true) => ShellOutput::Framed(body),
        (false, false) => ShellOutput::Whole(body),
    };
    recorder.returns(id, &Outcome::of(ended, output));
}

fn item_completed(item: &RawValue, recorder: &mut Recorder<'_>) {
    let Some(item) = parse::<Item<'_>>(Some(item)) else { return };
    let id = item.id.as_deref().unwrap_or_default();
    let (tool, output) = match item.kind.as_ref() {
        "agent_message" => return recorder.says(None, &string(item.text).unwrap_or_default()),
        "command_execution" => {
            let command = string(item.command).unwrap_or_default().into_owned();
            (Tool::Shell { command, folder: None }, string(item.aggregated_output))
        }
        "mcp_tool_call" => {
            let (server, tool) = (item.server.as_deref(), item.tool.as_deref());
            let name = format!("mcp {} {}", server.unwrap_or_default(), tool.unwrap_or_default());
            let result = parse::<McpResult<'_>>(item.result);
            let text = result.and_then(|result| content_text(result.content));
            (foreign(&name, item.arguments.map_or("", RawValue::get)), text)
        }
        _ => return,
    };
    let ended = match (item.exit_code, item.status.as_deref()) {
        (Some(0), _) => CommandEnd::Well,
        (Some(_), _) | (None, Some("failed" | "declined")) => CommandEnd::Badly,
        (None, _) => CommandEnd::Unknown,
    };
    let output = match output.as_deref() {
        // The record does not tell which part was shown.
        Some(text) if text.len() > MOST_SHOWN_BYTES => ShellOutput::Cut(""),
        Some(text) if text.len() > SURELY_SHOWN_BYTES => ShellOutput::Printed(text),
        Some(text) => ShellOutput::Whole(text),
        None => ShellOutput::Unknown,
    };
    recorder.calls(id, FileReader::Answerer, tool, None);
    recorder.returns(id, &Outcome::of(ended, output));
}
