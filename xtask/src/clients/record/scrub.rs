//! Scrubs a record: keeps the lines and fields that show reads, and removes who recorded it, when,
//! and with which prompts.

use serde_json::{Map, Value, json};

use super::super::user::User;

/// Fields that are kept, at any depth.
const KEPT: [&str; 47] = [
    "type",
    "session_id",
    "sessionId",
    "subtype",
    "cwd",
    "isSidechain",
    "parent_tool_use_id",
    "message",
    "id",
    "role",
    "content",
    "stop_reason",
    "name",
    "input",
    "text",
    "tool_use_id",
    "is_error",
    "toolUseResult",
    "tool_use_result",
    "file",
    "filePath",
    "numLines",
    "startLine",
    "totalLines",
    "file_path",
    "offset",
    "limit",
    "command",
    "stdout",
    "stderr",
    "interrupted",
    "payload",
    "source",
    "arguments",
    "call_id",
    "output",
    "item",
    "aggregated_output",
    "exit_code",
    "status",
    "thread_id",
    "phase",
    "last_agent_message",
    "result",
    "mode",
    "filenames",
    "filename",
];

/// Returns the lines that are kept.
pub(super) fn scrubbed(record: &str, user: &User) -> String {
    let lines = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines = lines.filter(is_kept).enumerate().map(|(number, line)| {
        let text = numbered(kept(line), number).to_string();
        anonymous(&text, user) + "\n"
    });
    with_plain_calls(&lines.collect::<Vec<_>>().concat())
}

/// Calls have names that are different every time; here they are counted.
fn with_plain_calls(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for rest in text.split(":\"call_").skip(1) {
        let name = rest.split('"').next().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let numbered = names.iter().enumerate();
    numbered.fold(text.to_owned(), |text, (number, name)| {
        text.replace(&format!(":\"call_{name}\""), &format!(":\"call-{number}\""))
    })
}

/// Prompts, settings and other texts of the vendors are not needed.
fn is_kept(line: &Value) -> bool {
    let payload = line["payload"]["type"].as_str().unwrap_or_default();
    match line["type"].as_str().unwrap_or_default() {
        "user" | "assistant" | "result" | "thread.started" | "turn.started" | "turn.completed"
        | "session_meta" | "turn_context" => true,
        "system" => line["subtype"] == "init",
        "item.started" | "item.completed" => line["item"]["type"] != "error",
        "event_msg" => payload == "task_complete",
        "response_item" => {
            payload.starts_with("function_call") || line["payload"]["role"] == "assistant"
        }
        _ => false,
    }
}

fn kept(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str()));
            // A name can be a number in one place and a vendor's text in another.
            let fields = fields.map(|(name, value)| (name, kept(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(kept).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// Claude Code numbers its lines; others have a number for the whole session.
fn numbered(mut line: Value, number: usize) -> Value {
    if line.get("thread_id").is_some() {
        line["thread_id"] = json!("session");
    }
    let kind = line["type"].as_str().unwrap_or_default().to_owned();
    if matches!(kind.as_str(), "user" | "assistant" | "result" | "system") {
        line["uuid"] = json!(format!("line-{number}"));
    }
    if let Some(item) =
        line.get_mut("payload").and_then(Value::as_object_mut).filter(|_| kind == "response_item")
    {
        item.remove("id");
    }
    if matches!(kind.as_str(), "session_meta" | "turn_context") {
        let folder = line["payload"]["cwd"].clone();
        line["payload"] = json!({ "cwd": folder });
    }
    line
}

/// Replaces folders, and values that differ in every run.
fn anonymous(text: &str, user: &User) -> String {
    let text = text.replace(&user.project().display().to_string(), "/project");
    let text = text.replace(&user.home().display().to_string(), "/home");
    let text = without(&text, "Chunk ID: ", |c| c.is_ascii_hexdigit(), "000000");
    without(&text, "Wall time: ", |c| c.is_ascii_digit() || c == '.', "0.0000")
}

/// Replaces what follows a mark.
fn without(text: &str, mark: &str, is_part: fn(char) -> bool, instead: &str) -> String {
    let mut parts = text.split(mark);
    let start = parts.next().unwrap_or_default().to_owned();
    parts.fold(start, |all, part| all + mark + instead + part.trim_start_matches(is_part))
}
