//! Whether a row of a file is one that Convoke could have written. The database checks kinds of
//! values and keys; without the checks here, other errors would appear only when a command reads
//! the row.

use crate::sql::driver::{self, Connection};
use std::path::Path;

use convoke_domain::agent::AgentStatus;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::message::MessageKind;
use convoke_domain::pin::PinText;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::skill::SkillId;
use convoke_domain::task::DEEPEST;
use convoke_domain::task::deed::DeedRole;
use convoke_domain::task::id::TaskId;
use convoke_domain::text::is_disruptive;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Columns whose texts are on one line. Paths are not: folders and files may have any name.
const LINES: [&str; 4] = ["project", "branch", "client", "remote"];

/// Columns that commands print, or compare with what clients and files say, and that hold a word.
const WORDS: [&str; 25] = [
    "member",
    "session_id",
    "session",
    "plan_file",
    "skill",
    "skill_version",
    "version",
    "role",
    "phase",
    "mode",
    "model",
    "asked_model",
    "resumed_from",
    "run",
    "pid_mark",
    "owner_mark",
    "claim_mark",
    "prompt_hash",
    "sha256",
    "folder_id",
    "merged_into",
    "command",
    "agent_id",
    "task_branch",
    "kind",
];

/// Columns with a small number that is never negative.
const SMALL: [&str; 15] = [
    "pid",
    "owner_pid",
    "claim_pid",
    "hop",
    "answering_hop",
    "entry",
    "entries",
    "heard",
    "delivered",
    "arrived",
    "last",
    "assumed",
    "claimed",
    "loss",
    "iteration",
];

/// Columns with a number that may be negative: a place among siblings, a time and a mark.
const SIGNED: [&str; 3] = ["sort_index", "at_ms", "event"];

/// Ids beyond this leave the database too few for new rows.
const LARGEST_ID: i64 = i64::MAX / 2;

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
            Value::Number(number) => number_fits(column, number.as_i64())
                .and_then(|()| cell(table, column, &number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Ok(()),
        };
        checked.map_err(|why| format!("`{column}` {why}"))?;
    }
    Ok(())
}

fn number_fits(column: &str, number: Option<i64>) -> Result<(), String> {
    // The database refuses what is no whole number.
    let Some(number) = number else { return Ok(()) };
    let is_small = || u32::try_from(number).is_ok();
    if number < 0 && !SIGNED.contains(&column) {
        Err(format!("has an unexpected value: {number} is negative"))
    } else if SMALL.contains(&column) && !is_small() || column == "id" && number > LARGEST_ID {
        Err(format!("has an unexpected value: {number} is too large"))
    } else {
        Ok(())
    }
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
        (_, name) if SMALL.contains(&name) => known(text.parse::<u32>().is_ok()),
        ("lanes", "outcome") => known(LaneOutcome::parse(text).is_some()),
        ("skill_history", "skill") if text.is_empty() => Ok(()),
        ("skill_history" | "skill_uses" | "skill_pins", "skill") => {
            SkillId::parse(text).map(drop).map_err(|error| format!("is not a skill: {error}"))
        }
        ("agents", "name") | (_, "from_agent" | "to_agent" | "actor") if text.is_empty() => {
            Err("is empty".to_owned())
        }
        ("messages", "kind") => known(MessageKind::parse(text).is_some()),
        ("agents", "status") => known(AgentStatus::parse(text).is_some()),
        ("runs", "id") | ("journal", "run_id") => known(RunId::parse(text).is_ok()),
        ("runs", "state") => known(RunState::parse(text).is_some()),
        (_, name) if LINES.contains(&name) || WORDS.contains(&name) => one_line(text),
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
    // Titles of earlier versions may hold separators of lines, which commands print as spaces.
    let is_separator = |c: char| matches!(c, '\u{2028}' | '\u{2029}');
    if text.contains(|c: char| is_disruptive(c) && !is_separator(c)) {
        Err("has control characters".to_owned())
    } else {
        Ok(())
    }
}

/// Returns an error that several rows cause together: tasks that are parts of themselves or nested
/// too deeply. Merged projects may have more rules than one can add.
pub(super) fn together(connection: &Connection) -> driver::Result<Option<String>> {
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
