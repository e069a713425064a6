//! Usage in Gemini CLI's records: `tmp/PROJECT/chats/session-*.jsonl`, and those of its subagents below.
//!
//! A record repeats a message each time it changes, and whole conversations after a compression.
//! Versions before 0.30 kept a session as one document, `session-*.json`.

use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::file;
use crate::json::{more_tokens, parse, string, tokens};
use crate::transcript::usage::{LineMarks, RecordedAnswer, UsageReader, is_called};

/// Folders of projects, of their chats, and of the subagents of a chat.
const MOST_FOLDERS_DEEP: usize = 4;

/// The longest session that is kept as one document.
const LONGEST_DOCUMENT: u64 = 256 * 1024 * 1024;

/// The longest path of a project.
const LONGEST_PATH: u64 = 64 * 1024;

/// A line of any kind, or a whole document.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a RawValue>,
    #[serde(borrow, rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    cached: Option<&'a RawValue>,
    #[serde(borrow)]
    thoughts: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
}

/// A record's session and project.
struct Record {
    session: String,
    project: Option<String>,
}

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let marks = LineMarks::new(&["\"gemini\"", "\"sessionId\""]);
    let is_record = |name: &str| is_called(name, "", "jsonl") || is_document(name);
    for path in reader.find(&home.join("tmp"), MOST_FOLDERS_DEEP, &is_record) {
        if !path.components().any(|part| part.as_os_str() == "chats") {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut record = Record { session: name.clone(), project: project(&path) };
        if is_document(&name) {
            let text = file::lossy_text(&path, LONGEST_DOCUMENT);
            let read = text.and_then(|text| line(&text, &mut record, reader));
            reader.note_file(read);
        } else {
            reader.read_lines(&path, &marks, |text, reader| line(text, &mut record, reader));
        }
    }
}

fn is_document(name: &str) -> bool {
    is_called(name, "session-", "json")
}

/// Returns the folder that a record's project is in, which is in a file beside the chats.
fn project(path: &Path) -> Option<String> {
    let chats = path.ancestors().find(|folder| folder.ends_with("chats"))?;
    let text = file::text(&chats.parent()?.join(".project_root"), LONGEST_PATH)?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn line(text: &str, record: &mut Record, reader: &mut UsageReader) -> Option<()> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    if let Some(session) = string(line.session) {
        record.session = session.into_owned();
    }
    let set: Option<Line<'_>> = parse(line.set);
    let messages = [line.messages.as_ref(), set.as_ref().and_then(|set| set.messages.as_ref())];
    for message in messages.into_iter().flatten().flatten() {
        let message: Line<'_> = parse(Some(message))?;
        // A compression adds words that no model said, and repeats answers without their tokens.
        if message.tokens.is_some() || set.is_none() {
            count(&message, record, reader);
        }
    }
    count(&line, record, reader);
    Some(())
}

fn count(line: &Line<'_>, record: &Record, reader: &mut UsageReader) {
    let (Some(id), Some("gemini")) = (string(line.id), string(line.kind).as_deref()) else {
        return;
    };
    let model = string(line.model);
    let answer = RecordedAnswer {
        session: &record.session,
        model: model.as_deref(),
        project: record.project.as_deref(),
        at: string(line.timestamp).and_then(|at| at.parse().ok()),
        tokens: parse::<Tokens<'_>>(line.tokens).and_then(|tokens| tokens.answer()),
    };
    reader.count(&[&id], &answer);
}

impl Tokens<'_> {
    /// Returns the tokens. Those of a cache are part of Gemini's `input`; thoughts are not part of its
    /// `output`, nor what tools added to the prompt of its `input`.
    fn answer(&self) -> Option<AnswerTokens> {
        let thoughts = tokens(self.thoughts);
        Some(AnswerTokens {
            input: tokens(self.input)? + more_tokens(self.tool)?,
            cached: tokens(self.cached),
            cache_writes: None,
            output: tokens(self.output)? + thoughts.unwrap_or_default(),
            reasoning: thoughts,
            micro_dollars: None,
        })
    }
}
