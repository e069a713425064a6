//! Whether a row of a file is one that Convoke could have written. The database checks kinds of values
//! and keys; what is here would otherwise only be noticed when somebody reads the row.

use convoke_domain::agent::AgentStatus;
use convoke_domain::message::MessageKind;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Columns whose texts are names on one line.
const NAMES: [&str; 12] = [
    "project",
    "branch",
    "name",
    "agent",
    "actor",
    "from_agent",
    "to_agent",
    "assigned_agent",
    "client",
    "plan_file",
    "path",
    "remote",
];

/// Columns with a time, besides those that end with `_at`.
const TIMES: [&str; 2] = ["at", "last_used"];

/// Says what is wrong with a row.
pub(super) fn row(table: &str, row: &Map<String, Value>) -> Result<(), String> {
    for (column, value) in row {
        let Value::String(text) = value else { continue };
        cell(table, column, text).map_err(|why| format!("`{column}` {why}"))?;
    }
    Ok(())
}

fn cell(table: &str, column: &str, text: &str) -> Result<(), String> {
    let known = |is_known: bool| if is_known { Ok(()) } else { Err("has a strange value".into()) };
    match (table, column) {
        ("tasks", "id" | "parent_id") | ("task_changes", "task") | (_, "task_id") => {
            TaskId::parse(text).map(drop).map_err(|error| format!("is no id: {error}"))
        }
        ("tasks", "after_ids") => {
            let parsed = text.split_whitespace().map(TaskId::parse);
            parsed.collect::<Result<Vec<_>, _>>().map(drop).map_err(|error| error.to_string())
        }
        ("tasks", "content") => one_line(text),
        ("task_changes", "before" | "after") => image(text),
        ("messages", "kind") => known(MessageKind::parse(text).is_some()),
        ("agents", "status") => known(AgentStatus::parse(text).is_some()),
        ("runs", "id") | ("journal", "run_id") => known(RunId::parse(text).is_ok()),
        ("runs", "state") => known(RunState::parse(text).is_some()),
        (_, name) if NAMES.contains(&name) => one_line(text),
        (_, name) if name.ends_with("_at") || TIMES.contains(&name) => {
            let time = text.parse::<Timestamp>();
            time.map(drop).map_err(|_| "is no time".to_owned())
        }
        _ => Ok(()),
    }
}

fn one_line(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) { Err("has control characters".to_owned()) } else { Ok(()) }
}

/// What a step left becomes a task again when the step is undone, so it must be fit for one.
fn image(text: &str) -> Result<(), String> {
    let Ok(Value::Object(image)) = serde_json::from_str(text) else {
        return Err("is no JSON object".to_owned());
    };
    let is_task = ["id", "branch", "content", "status", "priority"]
        .iter()
        .all(|name| image.get(*name).is_some_and(Value::is_string));
    if !is_task || !image.get("sort_index").is_some_and(Value::is_i64) {
        return Err("is no task".to_owned());
    }
    row("tasks", &image)
}
