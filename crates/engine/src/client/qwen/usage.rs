//! Usage in Qwen Code's records: `projects/FOLDER/chats/SESSION.jsonl`, and those of its subagents.
//!
//! A record has a line for each answer of the service, also for those that are no message, and behind it
//! the message. Early versions have the messages alone. A fork copies all lines with their ids.

use std::collections::VecDeque;
use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{parse, string, tokens};
use crate::transcript::usage::{LineMarks, RecordedAnswer, UsageReader, is_called};

/// Folders of projects, of their chats or subagents, and of sessions among these.
const MOST_FOLDERS_DEEP: usize = 5;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow, rename = "usageMetadata")]
    usage: Option<&'a RawValue>,
    #[serde(borrow, rename = "systemPayload")]
    system: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct System<'a> {
    #[serde(borrow, rename = "uiEvent")]
    event: Option<&'a RawValue>,
}

/// An answer of the service.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "event.name")]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
}

/// The tokens of a message, or of an answer of the service.
#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, rename = "promptTokenCount", alias = "input_token_count")]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, rename = "candidatesTokenCount", alias = "output_token_count")]
    answer: Option<&'a RawValue>,
    #[serde(borrow, rename = "cachedContentTokenCount", alias = "cached_content_token_count")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "thoughtsTokenCount", alias = "thoughts_token_count")]
    thoughts: Option<&'a RawValue>,
    #[serde(borrow, rename = "totalTokenCount", alias = "total_token_count")]
    total: Option<&'a RawValue>,
}

/// How many answers of the service wait for their messages at most: agents work in parallel.
const MOST_WAITING: usize = 64;

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let marks = LineMarks::new(&["\"assistant\"", "api_response\""]);
    let is_record = |name: &str| is_called(name, "", "jsonl");
    for path in reader.find(&home.join("projects"), MOST_FOLDERS_DEEP, &is_record) {
        let mut waiting = VecDeque::new();
        reader.read_lines(&path, &marks, |text, reader| line(text, &mut waiting, reader));
    }
}

/// Takes in a line. The answers of the service that wait for their messages are those before it.
fn line(text: &str, waiting: &mut VecDeque<AnswerTokens>, reader: &mut UsageReader) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    let system: Option<System<'_>> = parse(line.system);
    let event = system.and_then(|system| system.event);
    let said: Option<Event<'_>> = parse(event);
    let is_response = said
        .as_ref()
        .and_then(|said| string(said.name))
        .is_some_and(|name| name.ends_with("api_response"));
    let (usage, model) = match string(line.kind).as_deref() {
        Some("assistant") => (line.usage, line.model),
        Some("system") if is_response => (event, said.and_then(|said| said.model)),
        _ => return Some(()),
    };
    let tokens = parse::<Usage<'_>>(usage).and_then(|usage| usage.tokens());
    if is_response {
        if waiting.len() == MOST_WAITING {
            waiting.pop_front();
        }
        waiting.extend(tokens);
    } else if let Some(place) = waiting.iter().position(|waits| Some(*waits) == tokens) {
        waiting.remove(place);
        return Some(());
    }
    let (session, model, project) = (string(line.session), string(model), string(line.cwd));
    let answer = RecordedAnswer {
        session: session.as_deref().unwrap_or_default(),
        model: model.as_deref(),
        project: project.as_deref(),
        at: string(line.timestamp).and_then(|at| at.parse().ok()),
        tokens,
    };
    reader.count(&[&string(line.uuid)?], &answer);
    Some(())
}

impl Usage<'_> {
    /// Returns the tokens. Thoughts are part of the answer's count with some models' APIs and not with
    /// others, which the total tells.
    fn tokens(&self) -> Option<AnswerTokens> {
        let (input, answer) = (tokens(self.prompt)?, tokens(self.answer)?);
        let thoughts = tokens(self.thoughts);
        let with_thoughts = answer + thoughts.unwrap_or_default();
        let is_apart = tokens(self.total).is_some_and(|total| total >= input + with_thoughts);
        Some(AnswerTokens {
            input,
            cached: tokens(self.cached),
            cache_writes: None,
            output: if is_apart { with_thoughts } else { answer },
            reasoning: thoughts,
            micro_dollars: None,
        })
    }
}
