//! Whether a row of a file is one that Convoke could have written. The database checks kinds of
//! values and keys; without the checks here, other errors would appear only when a command reads
//! the row.

use std::path::Path;

use convoke_domain::agent::AgentStatus;
use convoke_domain::message::MessageKind;
use convoke_domain::pin::PinText;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::task::DEEPEST;
use convoke_domain::task::deed::DeedRole;
use convoke_domain::task::id::TaskId;
use convoke_domain::text::is_disruptive;
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Columns whose texts are on one line. Paths are not: folders and files may have any name.
const LINES: [&str; 4] = ["project", "branch", "client", "remote"];

/// Columns with names that Convoke prints as they are, in front of what their bearers said or did.
const NAMES: [&str; 6] = ["name", "agent", "actor", "from_agent", "to_agent", "assigned_agent"];

/// Columns with a time, besides those that end with `_at`.
const TIMES: [&str; 3] = ["at", "last_used", "until"];

/// Returns the error in a row.
pub(super) fn row(table: &str, row: &Map<String, Value>) -> Result<(), String> {
    for (column, value) in row {
        let checked = match value {
            Value::String(text) => cell(table, column, text),
            // The database turns a number into a text where it expects one.
            Value::Number(number) => cell(table, column, &number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Ok(()),
        };
        checked.map_err(|why| format!("`{column}` {why}"))?;
    }
    Ok(())
}

fn cell(table: &str, column: &str, text: &str) -> Result<(), String> {
    let known =
        |is_known: bool| if is_known { Ok(()) } else { Err("has an unexpected value".into()) };
    match (table, column) {
        ("tasks", "id" | "parent_id") | ("task_changes", "task") | (_, "task_id") => {
            TaskId::parse(text).map(drop).map_err(|error| format!("is not an id: {error}"))
        }
        ("tasks", "after_ids") => {
            let parsed = text.split_whitespace().map(TaskId::parse);
            parsed.collect::<Result<Vec<_>, _>>().map(drop).map_err(|error| error.to_string())
        }
        ("tasks", "content") | ("events", "verb_phrase") => one_line(text),
        ("task_deeds", "role") => known(DeedRole::parse(text).is_ok()),
        ("task_changes", "before" | "after") => image(text),
        ("pins", "text") => {
            PinText::parse(text).map(drop).map_err(|error| format!("is not a rule: {error}"))
        }
        ("projects", "path") if !Path::new(text).is_absolute() => {
            Err("is not an absolute path".to_owned())
        }
        (_, "hop" | "answering_hop") => known(text.parse::<u32>().is_ok()),
        ("messages", "kind") => known(MessageKind::parse(text).is_some()),
        ("agents", "status") => known(AgentStatus::parse(text).is_some()),
        ("runs", "id") | ("journal", "run_id") => known(RunId::parse(text).is_ok()),
        ("runs", "state") => known(RunState::parse(text).is_some()),
        (_, name) if LINES.contains(&name) => one_line(text),
        (_, name) if NAMES.contains(&name) && text.contains(is_disruptive) => {
            Err("has control characters".to_owned())
        }
        (_, name) if name.ends_with("_at") || TIMES.contains(&name) => {
            let time = text.parse::<Timestamp>();
            time.map(drop).map_err(|_| "is not a time".to_owned())
        }
        _ => Ok(()),
    }
}

fn one_line(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) { Err("has control characters".to_owned()) } else { Ok(()) }
}

/// Returns an error that several rows cause together: tasks that are parts of themselves or nested
/// too deeply. Merged projects may have more rules than one can add.
pub(super) fn together(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let deepest = i64::try_from(DEEPEST).unwrap_or(i64::MAX);
    let sql = "WITH RECURSIVE above (project, branch, id, depth) AS ( \
                 SELECT project, branch, parent_id, 1 FROM tasks WHERE parent_id IS NOT NULL UNION \
                 SELECT tasks.project, tasks.branch, tasks.parent_id, depth + 1 FROM tasks \
                   JOIN above ON tasks.project = above.project AND tasks.branch = above.branch \
                   AND tasks.id = above.id WHERE tasks.parent_id IS NOT NULL AND depth <= ?1) \
               SELECT EXISTS (SELECT 1 FROM above WHERE depth > ?1)";
    let is_bad: bool = connection.query_row(sql, [deepest], |row| row.get(0))?;
    Ok(is_bad.then(|| "a task contains itself, or is nested too deeply".to_owned()))
}

/// An undo restores a task from this state, so it must be a valid one.
fn image(text: &str) -> Result<(), String> {
    let Ok(Value::Object(image)) = serde_json::from_str(text) else {
        return Err("is not a JSON object".to_owned());
    };
    let is_task = ["id", "branch", "content", "status", "priority"]
        .iter()
        .all(|name| image.get(*name).is_some_and(Value::is_string));
    if !is_task || !image.get("sort_index").is_some_and(Value::is_i64) {
        return Err("is not a task".to_owned());
    }
    row("tasks", &image)
}
