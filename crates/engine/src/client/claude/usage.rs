//! Usage in Claude Code's records: `projects/FOLDER/SESSION.jsonl`, and those of its subagents below.

use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{micro_dollars, parse, string, tokens};
use crate::transcript::usage::{LineMarks, RecordedAnswer, UsageReader, is_called};

/// Folders of projects, of sessions, of their subagents, and of workflows among these.
const MOST_FOLDERS_DEEP: usize = 6;

/// The model of messages that no model wrote, such as an error of the API.
const NO_MODEL: &str = "<synthetic>";

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestId")]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    /// Early versions wrote what an answer cost.
    #[serde(borrow, rename = "costUSD")]
    cost: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    read: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_creation_input_tokens")]
    written: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens_details")]
    details: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OutputDetails<'a> {
    #[serde(borrow, rename = "thinking_tokens")]
    thinking: Option<&'a RawValue>,
}

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let marks = LineMarks::new(&["\"assistant\""]);
    let is_record = |name: &str| is_called(name, "", "jsonl");
    for path in reader.find(&home.join("projects"), MOST_FOLDERS_DEEP, &is_record) {
        reader.read_lines(&path, &marks, line);
    }
}

fn line(text: &str, reader: &mut UsageReader) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    if string(line.kind).as_deref() != Some("assistant") {
        return Some(());
    }
    let message: Message<'_> = parse(line.message)?;
    let model = string(message.model);
    if model.as_deref() == Some(NO_MODEL) {
        return Some(());
    }
    let session = string(line.session).unwrap_or_default();
    let project = string(line.cwd);
    let tokens = parse::<Usage<'_>>(message.usage).and_then(|usage| usage.tokens(line.cost));
    let answer = RecordedAnswer {
        session: &session,
        model: model.as_deref(),
        project: project.as_deref(),
        at: string(line.timestamp).and_then(|at| at.parse().ok()),
        tokens,
    };
    // A fork copies lines under another session. Some gateways pass on no number of the request.
    let request = string(line.request).unwrap_or_default();
    match string(message.id) {
        Some(id) => reader.count(&[&id, &request], &answer),
        None => reader.count(&["line", &string(line.uuid)?], &answer),
    }
    Some(())
}

impl Usage<'_> {
    /// Returns the tokens. Those of a cache are not part of Claude's `input_tokens`; thinking is part of its
    /// `output_tokens`. The client writes that there was no thinking if the service does not say.
    fn tokens(&self, cost: Option<&RawValue>) -> Option<AnswerTokens> {
        let (cached, cache_writes) = (tokens(self.read), tokens(self.written));
        let thinking =
            parse::<OutputDetails<'_>>(self.details).and_then(|said| tokens(said.thinking));
        let from_cache = cached.unwrap_or_default() + cache_writes.unwrap_or_default();
        Some(AnswerTokens {
            input: tokens(self.input)? + from_cache,
            cached,
            cache_writes,
            output: tokens(self.output)?,
            reasoning: thinking.filter(|thinking| *thinking > 0),
            micro_dollars: micro_dollars(cost),
        })
    }
}
