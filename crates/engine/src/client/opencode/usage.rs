//! Usage in opencode's records: the messages in its database, and in the files of earlier versions.

use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use convoke_store::foreign::{ForeignMessage, each_message};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::file;
use crate::json::{micro_dollars, parse, string, tokens};
use crate::transcript::usage::{RecordedAnswer, UsageReader, is_called};

/// The longest file of one message.
const LONGEST_MESSAGE: u64 = 32 * 1024 * 1024;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<&'a RawValue>,
    #[serde(borrow, rename = "modelID")]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Time<'a> {
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    #[serde(borrow)]
    completed: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Folder<'a> {
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    cache: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cache<'a> {
    #[serde(borrow)]
    read: Option<&'a RawValue>,
    #[serde(borrow)]
    write: Option<&'a RawValue>,
}

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let is_database = |name: &str| is_called(name, "opencode", "db");
    for path in reader.find(home, 0, &is_database) {
        let read = each_message(&path, |ForeignMessage { session, folder, data }| {
            if data.and_then(|data| count(data, session, folder, reader)).is_none() {
                reader.note_broken();
            }
        });
        reader.note_file(read.ok());
    }
    let is_message = |name: &str| is_called(name, "msg_", "json");
    for path in reader.find(&home.join("storage/message"), 1, &is_message) {
        let text = file::lossy_text(&path, LONGEST_MESSAGE);
        if text.as_deref().is_some_and(|text| count(text, "", None, reader).is_none()) {
            reader.note_broken();
        }
        reader.note_file(text.map(|_| ()));
    }
}

fn count(text: &str, session: &str, folder: Option<&str>, reader: &mut UsageReader) -> Option<()> {
    let message: Message<'_> = serde_json::from_str(text).ok()?;
    if string(message.role).as_deref() != Some("assistant") {
        return Some(());
    }
    let time: Option<Time<'_>> = parse(message.time);
    let created = time.as_ref().and_then(|time| time.created);
    let completed = time.as_ref().and_then(|time| time.completed);
    let own = string(message.session);
    let cwd = parse::<Folder<'_>>(message.path).and_then(|path| string(path.cwd));
    let model = string(message.model);
    let answer = RecordedAnswer {
        session: own.as_deref().unwrap_or(session),
        model: model.as_deref(),
        project: cwd.as_deref().or(folder),
        at: parse(created).and_then(|at| Timestamp::from_millisecond(at).ok()),
        tokens: parse::<Tokens<'_>>(message.tokens).and_then(|used| used.answer(message.cost)),
    };
    // A fork copies a message under another id, with its times and counts.
    let raw = |value: Option<&'_ RawValue>| value.map_or("", |value| value.get()).to_owned();
    let identity = [created, completed, message.tokens].map(raw);
    let [created, completed, tokens] = &identity;
    let model = model.as_deref().unwrap_or_default();
    reader.count(&[created, completed, tokens, model], &answer);
    Some(())
}

impl Tokens<'_> {
    /// Returns the tokens; `None` if all are zero: opencode writes zeros before an answer, and after one
    /// that failed. Those of a cache are not part of its `input`, nor reasoning of its `output`.
    fn answer(&self, cost: Option<&RawValue>) -> Option<AnswerTokens> {
        let cache: Option<Cache<'_>> = parse(self.cache);
        let cached = cache.as_ref().and_then(|cache| tokens(cache.read));
        let cache_writes = cache.as_ref().and_then(|cache| tokens(cache.write));
        let reasoning = tokens(self.reasoning);
        let from_cache = cached.unwrap_or_default() + cache_writes.unwrap_or_default();
        let input = tokens(self.input)? + from_cache;
        let output = tokens(self.output)? + reasoning.unwrap_or_default();
        // Without a price of the model, opencode writes that it cost nothing.
        let micro_dollars = micro_dollars(cost).filter(|cost| *cost > 0);
        (input + output > 0).then_some(AnswerTokens {
            input,
            cached,
            cache_writes,
            output,
            reasoning,
            micro_dollars,
        })
    }
}
