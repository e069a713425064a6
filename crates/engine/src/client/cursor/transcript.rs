//! Cursor's CLI: what `--output-format stream-json` prints, as its documentation describes it.

use std::borrow::Cow;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput};
use convoke_domain::receipt::{FileReader, Lines};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{content_text, number, owned, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, Tool, asked};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    /// Claude Code's lines have one.
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, rename = "readToolCall")]
    read: Option<&'a RawValue>,
    #[serde(borrow, rename = "shellToolCall")]
    shell: Option<&'a RawValue>,
    #[serde(borrow, rename = "grepToolCall")]
    grep: Option<&'a RawValue>,
    #[serde(borrow, rename = "mcpToolCall", alias = "function")]
    foreign: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Used<'a> {
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    working_directory: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow)]
    success: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    exceeded_limit: Option<bool>,
    exit_code: Option<i64>,
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
}

/// Takes in a line; `None` if this client did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    line.session_id.filter(|_| line.uuid.is_none())?;
    match (line.kind.as_ref(), line.subtype.as_deref()) {
        ("system", _) => line.cwd.iter().for_each(|folder| recorder.enter(folder)),
        ("assistant", _) => {
            let message = parse::<Message<'_>>(line.message);
            let text =
                message.and_then(|message| content_text(message.content)).unwrap_or_default();
            recorder.says(None, &text);
        }
        ("tool_call", Some("completed")) => {
            let id = line.call_id.as_deref().unwrap_or_default();
            let call = parse::<ToolCall<'_>>(line.tool_call)?;
            used(id, &call, recorder);
        }
        ("result", _) => recorder.ends_turn(),
        ("user" | "thinking" | "tool_call", _) => {}
        _ => return None,
    }
    Some(())
}

/// A call comes with its result.
fn used(id: &str, call: &ToolCall<'_>, recorder: &mut Recorder<'_>) {
    let known = call.read.or(call.shell).or(call.grep).or(call.foreign);
    let Some(used) = parse::<Used<'_>>(known) else { return };
    let given = parse::<Arguments<'_>>(used.args);
    let tool = match (call, &given) {
        (ToolCall { read: Some(_), .. }, Some(given)) => match owned(given.path) {
            Some(path) => {
                let lines = asked(number(given.offset), number(given.limit));
                Tool::File { path, lines }
            }
            None => Tool::Other,
        },
        (ToolCall { shell: Some(_), .. }, Some(given)) => match owned(given.command) {
            Some(command) => Tool::Shell { command, folder: owned(given.working_directory) },
            None => Tool::Other,
        },
        (ToolCall { grep: Some(_), .. }, Some(given)) => Tool::Search { path: owned(given.path) },
        (ToolCall { foreign: Some(words), .. }, _) => {
            Tool::Foreign { words: words.get().to_owned() }
        }
        _ => Tool::Other,
    };
    recorder.calls(id, FileReader::Answerer, tool, None);
    returned(id, &used, recorder);
}

fn returned(id: &str, used: &Used<'_>, recorder: &mut Recorder<'_>) {
    let success = parse::<ToolResult<'_>>(used.result).and_then(|result| result.success);
    let Some(success) = success.and_then(|value| parse::<Success<'_>>(Some(value))) else {
        return recorder.returns(id, &Outcome::FAILED);
    };
    if matches!(recorder.called(id), Some(Tool::File { .. })) {
        let text = string(success.content);
        let outcome = if success.exceeded_limit == Some(true) {
            Outcome::cut_file(Some(Lines::Some), text.as_deref().unwrap_or_default())
        } else {
            // Without its text, there is no proof that the file was shown.
            Outcome::file(text.is_none().then_some(Lines::Some), text.as_deref())
        };
        return recorder.returns(id, &outcome);
    }
    let ended = CommandEnd::of_code(success.exit_code);
    let text = string(success.stdout).or_else(|| content_text(success.content));
    let output = text.as_deref().map_or(ShellOutput::Unknown, ShellOutput::Whole);
    recorder.returns(id, &Outcome::of(ended, output));
}
