//! Which files an agent was shown, by the updates that the bridge passed on.
//!
//! Content proves a read. A path alone does not: two agents name the file and show nothing of it,
//! and what a terminal prints may be more than the agent was given.

use std::borrow::Cow;

use convoke_domain::receipt::FileReader;
use convoke_domain::receipt::shell::{CommandEnd, ShellOutput};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::{claude, opencode};
use crate::json::{content_text, number, owned, parse, string};
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::reads::tool::{Outcome, Tool, asked};

/// The answer's message, for the recorder.
const ANSWER: Option<&str> = Some("answer");

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    acp: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    answer: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Notified<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    form: Cow<'a, str>,
    #[serde(borrow, rename = "toolCallId")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow, rename = "rawInput")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "rawOutput")]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    locations: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow, rename = "filePath")]
    file_path_of_opencode: Option<&'a RawValue>,
    #[serde(borrow)]
    absolute_path: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    offset: Option<&'a RawValue>,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "claudeCode")]
    claude: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ClaudeMeta<'a> {
    #[serde(borrow, rename = "toolName")]
    tool: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    exit_code: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// Takes in a line; `None` if the bridge did not write it.
pub(super) fn line(text: &str, recorder: &mut Recorder<'_>) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    match line.acp.as_ref() {
        "update" => {
            let params = parse::<Notified<'_>>(line.message)?.params;
            if let Some(update) =
                parse::<Params<'_>>(params).and_then(|params| parse(params.update))
            {
                take(&update, recorder);
            }
        }
        "end" => {
            if let Some(answer) = line.answer {
                recorder.says(ANSWER, &answer);
            }
            recorder.ends_turn();
        }
        "session" => recorder.is_printed_by(&line.id?),
        "text" | "replay" | "stray" | "answer" | "request" | "failed" | "long_line"
        | "unreadable" => {}
        _ => return None,
    }
    Some(())
}

/// An agent tells of a call in several updates: its tool, its input, its result.
fn take(update: &Update<'_>, recorder: &mut Recorder<'_>) {
    let Some(id) = string(update.id) else { return };
    let told = update.tool();
    match update.form.as_ref() {
        "tool_call" => {
            let tool = told.unwrap_or(Tool::Other);
            recorder.calls(&id, FileReader::Answerer, tool, ANSWER);
        }
        "tool_call_update" => {
            let is_news = |tool: &Tool| recorder.called(&id).is_some_and(|known| known != tool);
            if let Some(tool) = told.filter(is_news) {
                recorder.calls(&id, FileReader::Answerer, tool, ANSWER);
            }
        }
        _ => return,
    }
    match string(update.status).as_deref() {
        Some("completed") => update.returns(&id, recorder),
        Some("failed") => recorder.returns(&id, &Outcome::FAILED),
        _ => {}
    }
}

impl Update<'_> {
    /// Returns the tool, if this update tells what it is about.
    fn tool(&self) -> Option<Tool> {
        let kind = string(self.kind);
        if matches!(kind.as_deref(), Some("edit" | "delete" | "move" | "think" | "switch_mode")) {
            return None;
        }
        let input = parse::<Input<'_>>(self.input);
        if let Some(command) = input.as_ref().and_then(|input| command(input.command)) {
            let folder = input.and_then(|input| owned(input.cwd));
            return Some(Tool::Shell { command, folder });
        }
        let path = input.as_ref().and_then(Input::path);
        // Of these two the form of a result is known, and with it the lines that were shown.
        if let (Some(path), Some(input)) = (&path, &input)
            && (self.is_claudes_read() || input.file_path_of_opencode.is_some())
        {
            let lines = asked(number(input.offset), number(input.limit));
            return Some(Tool::File { path: path.clone(), lines });
        }
        let words = path.or_else(|| self.location())?;
        Some(Tool::Foreign { words })
    }

    fn is_claudes_read(&self) -> bool {
        let meta = parse::<Meta<'_>>(self.meta).and_then(|meta| meta.claude);
        let tool = parse::<ClaudeMeta<'_>>(meta).and_then(|meta| string(meta.tool));
        tool.as_deref() == Some("Read")
    }

    fn location(&self) -> Option<String> {
        let locations: Vec<&RawValue> = parse(self.locations)?;
        let first = parse::<Location<'_>>(locations.first().copied())?;
        owned(first.path)
    }

    fn returns(&self, id: &str, recorder: &mut Recorder<'_>) {
        let text = self.text();
        let lines = match recorder.called(id) {
            Some(Tool::File { lines, .. }) => Some(*lines),
            _ => None,
        };
        match (lines, text) {
            (Some(lines), Some(text)) if self.is_claudes_read() => {
                claude::file_result(id, lines, &text, recorder);
            }
            (Some(_), Some(text)) => opencode::file_result(id, &text, recorder),
            // The file was named, and nothing of it was shown.
            (Some(_), None) => {
                let Some(Tool::File { path, .. }) = recorder.called(id).cloned() else { return };
                let tool = Tool::Foreign { words: path };
                recorder.calls(id, FileReader::Answerer, tool, ANSWER);
                recorder.returns(id, &Outcome::of(CommandEnd::Well, ShellOutput::Unknown));
            }
            (None, text) => {
                let output = text.as_deref().map_or(ShellOutput::Unknown, ShellOutput::Framed);
                recorder.returns(id, &Outcome::of(self.ended(), output));
            }
        }
    }

    /// Returns the result as the agent got it, else as a person is shown it.
    fn text(&self) -> Option<Cow<'_, str>> {
        let output = parse::<Output<'_>>(self.output).and_then(|output| string(output.output));
        output.or_else(|| content_text(self.output)).or_else(|| {
            let blocks: Vec<&RawValue> = parse(self.content)?;
            let text = |raw: &RawValue| {
                let content = parse::<Block<'_>>(Some(raw))?.content;
                owned(parse::<Text<'_>>(content)?.text)
            };
            let texts: Vec<_> = blocks.into_iter().filter_map(text).collect();
            (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
        })
    }

    fn ended(&self) -> CommandEnd {
        let code = parse::<Output<'_>>(self.output)
            .and_then(|output| output.exit_code?.get().parse::<i64>().ok());
        code.map_or(CommandEnd::Well, |code| CommandEnd::of_code(Some(code)))
    }
}

impl Input<'_> {
    fn path(&self) -> Option<String> {
        let named = [self.file_path, self.file_path_of_opencode, self.absolute_path, self.path];
        named.into_iter().find_map(owned)
    }
}

/// Returns a command, which is a text or a list of words.
fn command(value: Option<&RawValue>) -> Option<String> {
    owned(value).or_else(|| parse::<Vec<String>>(value).map(|words| words.join(" ")))
}
