//! Which injected texts an agent still has, by its client's record.

use std::path::Path;

use convoke_domain::hook::Client;
use jiff::Timestamp;
use serde_json::Value;

use super::read_end;

/// No session's end that matters is longer. What was injected before is not looked for.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

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

    /// Tells whether something injected then would be here.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.complete_until.is_some_and(|until| until > at)
    }
}

/// Reads a client's record of a session; `None` if there is none, or none that we can read.
pub fn injected(client: Client, transcript: &Path) -> Option<Injected> {
    let read: fn(&str) -> Injected = match client {
        Client::Claude => in_claude,
        Client::Codex => in_codex,
        Client::Gemini => in_gemini,
        Client::Cursor | Client::Opencode => return None,
    };
    read_end(transcript, MOST_BYTES).map(|text| read(&text))
}

/// Gemini escapes these two, and nothing else.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">")
}

/// Claude Code: what hooks gave is an attachment; a compaction leaves a boundary behind which the
/// agent has nothing of what was before. From the end backwards, because only that matters.
fn in_claude(record: &str) -> Injected {
    let mut found = Injected::default();
    for line in record.lines().rev() {
        if line.contains("\"compact_boundary\"") && is(line, "/subtype", "compact_boundary") {
            break;
        }
        if found.complete_until.is_none() && line.contains("\"assistant\"") {
            found.complete_until = answered_at(line, "/type", "assistant");
        }
        if line.contains(MARK) && is(line, "/attachment/type", "hook_additional_context") {
            found.texts.extend(texts(line, "/attachment/content"));
        }
    }
    found
}

/// Codex: what hooks gave is a developer's message of its own kind; a compaction leaves a record.
fn in_codex(record: &str) -> Injected {
    const KIND: &str = "/payload/internal_chat_message_metadata_passthrough/content_item_kinds/0";
    let mut found = Injected::default();
    for line in record.lines().rev() {
        if line.contains("\"compacted\"") && is(line, "/type", "compacted") {
            break;
        }
        if found.complete_until.is_none() && line.contains("\"assistant\"") {
            found.complete_until = answered_at(line, "/payload/role", "assistant");
        }
        if line.contains(MARK) && is(line, KIND, "hooks.additional_context") {
            found.texts.extend(texts(line, "/payload/content"));
        }
    }
    found
}

/// Gemini: every line adds a message, changes one, or replaces all of them; what is there at the end
/// is what the agent has.
fn in_gemini(record: &str) -> Injected {
    let mut messages: Vec<Value> = Vec::new();
    for line in record.lines() {
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { continue };
        if let Some(all) = value.pointer_mut("/$set/messages").and_then(Value::as_array_mut) {
            messages = std::mem::take(all);
        } else if let Some(id) = value.get("$rewindTo") {
            let place = messages.iter().position(|message| message.get("id") == Some(id));
            messages.truncate(place.unwrap_or(messages.len()));
        } else if let Some(id) = value.get("id") {
            match messages.iter().position(|message| message.get("id") == Some(id)) {
                Some(place) => messages[place] = value,
                None => messages.push(value),
            }
        }
    }
    let users = messages.iter().filter(|message| message["type"] == "user");
    let texts = users.flat_map(|message| strings(&message["content"]));
    let ours = texts.filter(|text| text.contains(MARK)).map(|text| plain(&text));
    // A record that says nothing at all is not understood.
    let complete_until = (!messages.is_empty()).then_some(Timestamp::MAX);
    Injected { texts: ours.collect(), complete_until }
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

    fn lines(values: &[Value]) -> String {
        values.iter().map(|value| format!("{value}\n")).collect::<Vec<_>>().concat()
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
            (vec![], false, false),
        ] {
            let found = in_claude(&lines(&record));
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
        // It cuts in the middle, so both marks are there.
        let cut = PART.replace("<this>", "…5 tokens truncated…");
        for (record, has) in [
            (vec![gave(PART), answered.clone()], true),
            (vec![gave(&cut), answered.clone()], false),
            (vec![gave(PART), compacted.clone(), answered.clone()], false),
            (vec![compacted, gave(PART), answered], true),
        ] {
            let found = in_codex(&lines(&record));
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
            let found = in_gemini(&lines(&record));
            assert_eq!((found.has(PART), found.covers(at(9))), (has, true), "{record:?}");
        }
        assert!(!in_gemini("nonsense\n").covers(at(0)));
    }

    proptest! {
        #[test]
        fn any_record_is_read(record in any::<String>(), mark in any::<bool>()) {
            let record = if mark { format!("{MARK}{record}\n\"assistant\"") } else { record };
            for read in [in_claude, in_codex, in_gemini] {
                read(&record);
            }
        }
    }
}
