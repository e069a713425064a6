//! Which injected texts an agent still has, by its client's record.

use std::collections::HashMap;
use std::path::Path;

use convoke_domain::hook::Client;
use jiff::Timestamp;
use serde_json::Value;

use super::each_line;

/// How every text of ours begins.
const MARK: &str = "[convoke wake-up ";

/// What a record says about injected texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Injected {
    /// Every text with our mark that the agent still has.
    texts: Vec<String>,
    /// Up to when the record is complete: what was injected before and is not here did not arrive.
    complete_until: Option<Timestamp>,
}

impl Injected {
    /// Tells whether a part of a wake-up is there, whole. A client that cuts texts keeps both marks
    /// or an excerpt, so all of it is compared.
    pub fn has(&self, part: &str) -> bool {
        let part = plain(part.trim_end());
        self.texts.iter().any(|text| text.contains(&part))
    }

    fn answered(&mut self, at: Option<Timestamp>) {
        self.complete_until = at.or(self.complete_until);
    }

    /// Tells whether something injected then would be here.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.complete_until.is_some_and(|until| until > at)
    }
}

/// Reads a client's record of a session; `None` if there is none, or none that we can read. `from`
/// is where the record ended when the last text was made; what was injected then comes later.
pub fn injected(client: Client, transcript: &Path, from: u64) -> Option<Injected> {
    match client {
        Client::Claude => read(transcript, from, claude_line),
        Client::Codex => read(transcript, from, codex_line),
        Client::Gemini => {
            let mut replay = Replay::default();
            // Here a later line may bring back what an earlier one took away.
            each_line(transcript, 0, |line| replay.line(line))?;
            Some(replay.finish())
        }
        Client::Cursor | Client::Opencode => None,
    }
}

fn read(transcript: &Path, from: u64, line: fn(&mut Injected, &str)) -> Option<Injected> {
    let mut found = Injected::default();
    each_line(transcript, from, |it| line(&mut found, it))?;
    Some(found)
}

/// Gemini escapes these two, and nothing else.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">")
}

/// Claude Code: what hooks gave is an attachment; a compaction leaves a boundary behind which the
/// agent has nothing of what was before.
fn claude_line(found: &mut Injected, line: &str) {
    if line.contains("\"compact_boundary\"") && is(line, "/subtype", "compact_boundary") {
        *found = Injected::default();
    } else if line.contains(MARK) && is(line, "/attachment/type", "hook_additional_context") {
        found.texts.extend(texts(line, "/attachment/content"));
    } else if line.contains("\"assistant\"") {
        found.answered(answered_at(line, "/type", "assistant"));
    }
}

/// Codex: what hooks gave is a developer's message of its own kind; a compaction leaves a record.
fn codex_line(found: &mut Injected, line: &str) {
    const KIND: &str = "/payload/internal_chat_message_metadata_passthrough/content_item_kinds/0";
    if line.contains("\"compacted\"") && is(line, "/type", "compacted") {
        *found = Injected::default();
    } else if line.contains(MARK) && is(line, KIND, "hooks.additional_context") {
        found.texts.extend(texts(line, "/payload/content"));
    } else if line.contains("\"assistant\"") {
        found.answered(answered_at(line, "/payload/role", "assistant"));
    }
}

/// Gemini: every line adds a message, changes one, or replaces all of them; what is there at the end
/// is what the agent has. Of each message only our own text is kept.
#[derive(Default)]
struct Replay {
    messages: Vec<Option<String>>,
    places: HashMap<String, usize>,
}

impl Replay {
    fn line(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        if let Some(all) = value.pointer("/$set/messages").and_then(Value::as_array) {
            *self = Self::default();
            for message in all {
                self.message(message);
            }
        } else if let Some(id) = value.get("$rewindTo").and_then(Value::as_str) {
            let place = self.places.get(id).copied().unwrap_or(self.messages.len());
            self.messages.truncate(place);
            self.places.retain(|_, other| *other < place);
        } else if value.get("id").is_some() {
            self.message(&value);
        }
    }

    fn message(&mut self, message: &Value) {
        let is_users = message["type"] == "user";
        let texts = strings(&message["content"]);
        let ours = texts.iter().find(|text| is_users && text.contains(MARK)).map(|it| plain(it));
        let id = message["id"].as_str().unwrap_or_default();
        if let Some(place) = self.places.get(id) {
            self.messages[*place] = ours;
        } else {
            self.places.insert(id.to_owned(), self.messages.len());
            self.messages.push(ours);
        }
    }

    fn finish(self) -> Injected {
        // A record that says nothing at all is not understood.
        let complete_until = (!self.messages.is_empty()).then_some(Timestamp::MAX);
        Injected { texts: self.messages.into_iter().flatten().collect(), complete_until }
    }
}

fn is(line: &str, pointer: &str, expected: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(line).ok();
    value.as_ref().and_then(|it| it.pointer(pointer)).and_then(Value::as_str) == Some(expected)
}

/// Returns when an answer was given, if the line is one.
fn answered_at(line: &str, pointer: &str, expected: &str) -> Option<Timestamp> {
    let value: Value = serde_json::from_str(line).ok()?;
    let is_answer = value.pointer(pointer).and_then(Value::as_str) == Some(expected);
    value.get("timestamp").filter(|_| is_answer)?.as_str()?.parse().ok()
}

fn texts(line: &str, pointer: &str) -> Vec<String> {
    let value: Option<Value> = serde_json::from_str(line).ok();
    let content = value.as_ref().and_then(|it| it.pointer(pointer));
    content.map(strings).unwrap_or_default().iter().map(|text| plain(text)).collect()
}

/// Returns the texts of a content, which is a text, or a list of texts or of parts with one.
fn strings(content: &Value) -> Vec<String> {
    fn of_part(part: &Value) -> Option<&str> {
        part.as_str().or_else(|| part.get("text")?.as_str())
    }
    let parts = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    parts.iter().filter_map(of_part).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PART: &str = "[convoke wake-up 1/1 ab]\nDo <this>.\n[end of convoke wake-up 1/1 ab]\n";

    fn found(client: Client, record: &[Value]) -> Injected {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        let lines = record.iter().map(|value| format!("{value}\n")).collect::<Vec<_>>();
        std::fs::write(&path, lines.concat()).unwrap();
        injected(client, &path, 0).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn claude_gave(text: &str) -> Value {
        json!({"type": "attachment", "timestamp": "1970-01-01T00:00:01Z",
               "attachment": {"type": "hook_additional_context", "content": ["other", text]}})
    }

    fn claude_answered() -> Value {
        json!({"type": "assistant", "timestamp": "1970-01-01T00:00:05Z",
               "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}})
    }

    /// A user quotes something.
    fn said(words: &str) -> Value {
        json!({"type": "user", "timestamp": "1970-01-01T00:00:09Z",
               "message": {"role": "user", "content": words}})
    }

    // W-21
    #[test]
    fn claudes_record_tells_what_arrived() {
        let cut = "<persisted-output>\nOutput too large.\n[convoke wake-up 1/1 ab]\nDo";
        let printed = json!({"type": "attachment",
            "attachment": {"type": "hook_success", "stdout": PART, "content": PART}});
        let boundary = json!({"type": "system", "subtype": "compact_boundary"});
        for (record, has, covers) in [
            (vec![claude_gave(PART), claude_answered()], true, true),
            (vec![claude_gave(PART)], true, false),
            (vec![claude_gave(cut), claude_answered()], false, true),
            // What a hook printed is not yet what the agent was given.
            (vec![printed, claude_answered()], false, true),
            (vec![claude_gave(PART), claude_answered(), boundary.clone()], false, false),
            (vec![boundary, claude_gave(PART), claude_answered()], true, true),
            // What only talks about us, or about compactions, is neither.
            (vec![claude_gave(PART), said(PART), said("\"compact_boundary\"")], true, false),
            (vec![said(PART), claude_answered()], false, true),
            (vec![], false, false),
        ] {
            let found = found(Client::Claude, &record);
            assert_eq!((found.has(PART), found.covers(at(4))), (has, covers), "{record:?}");
            assert!(!found.covers(at(6)), "nothing was answered since");
        }
    }

    #[test]
    fn codexs_record_tells_what_arrived() {
        let gave = |text: &str| {
            json!({"type": "response_item", "payload": {"type": "message", "role": "developer",
                "content": [{"type": "input_text", "text": text}],
                "internal_chat_message_metadata_passthrough":
                    {"content_item_kinds": ["hooks.additional_context"]}}})
        };
        let answered = json!({"timestamp": "1970-01-01T00:00:05Z", "type": "response_item",
            "payload": {"type": "message", "role": "assistant", "content": []}});
        let compacted = json!({"type": "compacted", "payload": {"replacement_history": []}});
        let quoted = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": format!("\"compacted\" {PART}")}]}});
        // It cuts in the middle, so both marks are there.
        let cut = PART.replace("<this>", "…5 tokens truncated…");
        for (record, has) in [
            (vec![gave(PART), answered.clone()], true),
            (vec![gave(&cut), answered.clone()], false),
            (vec![gave(PART), compacted.clone(), answered.clone()], false),
            (vec![compacted, gave(PART), answered.clone()], true),
            (vec![quoted, answered], false),
        ] {
            let found = found(Client::Codex, &record);
            assert_eq!((found.has(PART), found.covers(at(4))), (has, true), "{record:?}");
        }
    }

    #[test]
    fn geminis_record_is_replayed() {
        let gave = json!({"id": "1", "type": "user", "content": [{"text": "hello"},
            {"text": format!("<hook_context>{}</hook_context>", PART.replace('<', "&lt;").replace('>', "&gt;"))}]});
        let answered = json!({"id": "2", "type": "gemini", "content": "ok"});
        let compressed = json!({"$set": {"messages": [
            {"id": "3", "type": "user", "content": [{"text": "a summary of [convoke wake-up 1/1 ab]"}]}]}});
        let restored = json!({"$set": {"messages": [gave.clone(), answered.clone()]}});
        for (record, has) in [
            (vec![gave.clone(), answered.clone()], true),
            (vec![gave.clone(), answered.clone(), compressed.clone()], false),
            (vec![compressed, restored], true),
            (vec![answered.clone(), gave.clone(), json!({"$rewindTo": "1"})], false),
            (
                vec![gave, json!({"id": "1", "type": "user", "content": [{"text": "edited"}]})],
                false,
            ),
        ] {
            let found = found(Client::Gemini, &record);
            assert_eq!((found.has(PART), found.covers(at(9))), (has, true), "{record:?}");
        }
        assert!(!found(Client::Gemini, &[json!("nonsense")]).covers(at(0)));
    }

    // A long session is replayed in one go.
    #[test]
    fn many_messages_are_replayed() {
        let message = |n: usize| json!({"id": n.to_string(), "type": "gemini", "content": "x"});
        let many: Vec<_> = (0..50_000).map(message).collect();
        assert!(!found(Client::Gemini, &many).has(PART));
    }

    proptest! {
        #[test]
        fn any_record_is_read(record in any::<String>(), mark in any::<bool>()) {
            let line = if mark { format!("{MARK}{record} \"assistant\"") } else { record };
            claude_line(&mut Injected::default(), &line);
            codex_line(&mut Injected::default(), &line);
            Replay::default().line(&line);
        }
    }
}
