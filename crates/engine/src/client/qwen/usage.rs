//! Usage in Qwen Code's records: `projects/FOLDER/chats/SESSION.jsonl`, and those of its subagents.

use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{parse, string, tokens};
use crate::transcript::usage::{LineMarks, RecordedAnswer, UsageReader};

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
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, rename = "promptTokenCount")]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, rename = "candidatesTokenCount")]
    answer: Option<&'a RawValue>,
    #[serde(borrow, rename = "cachedContentTokenCount")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "thoughtsTokenCount")]
    thoughts: Option<&'a RawValue>,
    #[serde(borrow, rename = "totalTokenCount")]
    total: Option<&'a RawValue>,
}

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let marks = LineMarks::new(&["\"assistant\""]);
    let is_record = |name: &str| name.ends_with(".jsonl");
    for path in reader.find(&home.join("projects"), MOST_FOLDERS_DEEP, &is_record) {
        reader.read_lines(&path, &marks, line);
    }
}

fn line(text: &str, reader: &mut UsageReader) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    if string(line.kind).as_deref() != Some("assistant") {
        return Some(());
    }
    let (session, model, project) = (string(line.session), string(line.model), string(line.cwd));
    let answer = RecordedAnswer {
        session: session.as_deref().unwrap_or_default(),
        model: model.as_deref(),
        project: project.as_deref(),
        at: string(line.timestamp).and_then(|at| at.parse().ok()),
        tokens: parse::<Usage<'_>>(line.usage).and_then(|usage| usage.tokens()),
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
