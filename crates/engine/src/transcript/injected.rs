//! Which injected texts an agent still has, by its client's record.

use std::path::Path;

use convoke_domain::client::Client;
use jiff::Timestamp;
use serde_json::Value;

use super::each_line;
use crate::client::adapter;

/// The beginning of every text of Convoke's.
pub(crate) const MARK: &str = "[convoke wake-up ";

/// The injected texts in a record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InjectedTexts {
    /// Every text with Convoke's mark that the agent still has.
    texts: Vec<String>,
    /// The time up to which the record is complete: a text that was injected before and is not here
    /// did not arrive.
    complete_until: Option<Timestamp>,
    /// Every text with Convoke's mark that the agent had and lost to a compaction.
    forgotten: Vec<String>,
    /// Whether the agent's memory was compacted.
    compacted: bool,
    /// The place behind the last complete line of the record.
    read_until: u64,
}

impl InjectedTexts {
    pub(crate) fn of(texts: Vec<String>, complete_until: Option<Timestamp>) -> Self {
        Self { texts, complete_until, ..Self::default() }
    }

    /// Adds texts that the agent received.
    pub(crate) fn gave(&mut self, texts: Vec<String>) {
        self.texts.extend(texts);
    }

    /// Tells whether a part of a wake-up is there, whole. A client that cuts texts keeps both marks
    /// or an excerpt, so all of it is compared.
    pub fn has(&self, part: &str) -> bool {
        let part = plain(part.trim_end());
        self.texts.iter().any(|text| text.contains(&part))
    }

    /// Tells whether the agent had a part of a wake-up, whole, and lost it to a compaction.
    pub fn has_forgotten(&self, part: &str) -> bool {
        let is_gone = !self.has(part);
        let part = plain(part.trim_end());
        is_gone && self.forgotten.iter().any(|text| text.contains(&part))
    }

    /// Tells whether the agent's memory was compacted in what was read of the record.
    pub const fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// Returns the place in the record behind the last complete line.
    pub const fn read_until(&self) -> u64 {
        self.read_until
    }

    /// Takes in that the agent's memory was compacted: it has no text that came before.
    pub(crate) fn forget(&mut self) {
        self.forgotten.append(&mut self.texts);
        self.complete_until = None;
        self.compacted = true;
    }

    /// Takes in that the agent answered, and when.
    pub(crate) fn answered(&mut self, at: Option<Timestamp>) {
        self.complete_until = at.or(self.complete_until);
    }

    /// Tells whether a text injected then would be here.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.complete_until.is_some_and(|until| until > at)
    }
}

/// Reads a client's record of a session; `None` if it is missing, or Convoke cannot read it. `from`
/// is the record's length when the last text was made; later injections come behind it.
pub fn injected(client: Client, transcript: &Path, from: u64) -> Option<InjectedTexts> {
    (adapter(client).transcript?.injected?)(transcript, from)
}

/// Reads a record whose lines do not depend on each other.
pub(crate) fn read_lines(
    transcript: &Path,
    from: u64,
    take: fn(&mut InjectedTexts, &str),
) -> Option<InjectedTexts> {
    let mut found = InjectedTexts::default();
    found.read_until = each_line(transcript, from, |line| take(&mut found, line))?;
    Some(found)
}

/// Gemini escapes these two, and nothing else.
pub(crate) fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">")
}

/// Tells whether a line of JSON has a text at a place.
pub(crate) fn is(line: &str, pointer: &str, expected: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(line).ok();
    value.as_ref().and_then(|value| value.pointer(pointer)).and_then(Value::as_str)
        == Some(expected)
}

/// Tells whether a line of Claude Code's is about one of its subagents, whose memory is its own.
pub(crate) fn is_aside(line: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(line).ok();
    value.as_ref().and_then(|value| value.get("isSidechain")) == Some(&Value::Bool(true))
}

/// Returns the time of an answer, if the line is one.
pub(crate) fn answered_at(line: &str, pointer: &str, expected: &str) -> Option<Timestamp> {
    let value: Value = serde_json::from_str(line).ok()?;
    let is_answer = value.pointer(pointer).and_then(Value::as_str) == Some(expected);
    value.get("timestamp").filter(|_| is_answer)?.as_str()?.parse().ok()
}

/// Returns the texts at a place of a line of JSON.
pub(crate) fn texts(line: &str, pointer: &str) -> Vec<String> {
    let value: Option<Value> = serde_json::from_str(line).ok();
    let content = value.as_ref().and_then(|value| value.pointer(pointer));
    content.map(strings).unwrap_or_default().iter().map(|text| plain(text)).collect()
}

/// Returns the texts of a content, which is a text, or a list of texts or of parts with one.
pub(crate) fn strings(content: &Value) -> Vec<String> {
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

    fn found(client: Client, record: &[Value]) -> InjectedTexts {
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

    /// A user's message that quotes a text.
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
            // A hook's output has not yet reached the agent.
            (vec![printed, claude_answered()], false, true),
            (vec![claude_gave(PART), claude_answered(), boundary.clone()], false, false),
            (vec![boundary, claude_gave(PART), claude_answered()], true, true),
            // A text that only mentions Convoke, or compactions, is neither.
            (vec![claude_gave(PART), said(PART), said("\"compact_boundary\"")], true, false),
            (vec![said(PART), claude_answered()], false, true),
            (vec![], false, false),
        ] {
            let found = found(Client::Claude, &record);
            assert_eq!((found.has(PART), found.covers(at(4))), (has, covers), "{record:?}");
            assert!(!found.covers(at(6)), "nothing was answered since");
        }
    }

    // W-21: a compaction after a text took it away; one before the text, or of a subagent, did not.
    #[test]
    fn claudes_record_tells_what_was_forgotten() {
        let boundary = json!({"type": "system", "subtype": "compact_boundary"});
        let aside = json!({"type": "system", "subtype": "compact_boundary", "isSidechain": true});
        for (record, forgotten, compacted) in [
            (vec![claude_gave(PART)], false, false),
            (vec![claude_gave(PART), boundary.clone()], true, true),
            (vec![boundary.clone(), claude_gave(PART)], false, true),
            (vec![claude_gave(PART), boundary.clone(), claude_gave(PART)], false, true),
            (vec![claude_gave(PART), aside, claude_answered()], false, false),
            (vec![claude_gave("other"), boundary], false, true),
        ] {
            let found = found(Client::Claude, &record);
            let facts = (found.has_forgotten(PART), found.is_compacted());
            assert_eq!(facts, (forgotten, compacted), "{record:?}");
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
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("record.jsonl");
            std::fs::write(&path, line).unwrap();
            for client in Client::ALL {
                injected(client, &path, 0);
            }
        }
    }
}
