//! `tasks` and `task_update`.

use convoke_domain::task::Task;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::filter::Stage;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::task::{
    TaskDesk, TaskListRequest, TaskPlace, TaskReport, TaskStep, VerdictRequest, change_task,
    filled_line, judge_task_once, list_tasks, start_task,
};
use serde_json::{Map, Value};

use super::Desk;
use crate::arguments::{ArgumentError, Arguments};
use crate::page::{PAGE_BYTES, bytes_of};
use crate::reply::{Reply, in_words, known};

/// How much of a description a list shows, in characters.
const LISTED_BODY: usize = 200;

/// How much of a description is shown of a task alone.
const WHOLE_BODY: usize = 4000;

/// The facts that the first line of a task has; the others have lines of their own.
const FIRST_LINE: [&str; 5] = ["id", "status", "content", "agent", "waits_for"];

/// Lists tasks in pages; a page begins at a number of tasks.
pub(super) fn list(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let stage = Stage::parse(arguments.maybe_text("state").unwrap_or("open"));
    let request = TaskListRequest {
        stages: stage.into_iter().collect(),
        words: arguments.maybe_text("search").map(str::to_owned).into_iter().collect(),
        ..TaskListRequest::default()
    };
    let place = TaskPlace {
        branch: arguments.maybe_text("branch").map(str::to_owned),
        actor: Some(desk.agent.clone()),
    };
    let reports: Vec<_> = TaskDesk::open(&desk.session, &place, |tasks| {
        let listing = list_tasks(tasks, &request)?;
        Ok(listing.listed().into_iter().map(TaskReport::of_node_alone).collect())
    })?;
    let body = if reports.len() == 1 { WHOLE_BODY } else { LISTED_BODY };
    let (mut text, mut facts, mut bytes) = (String::new(), Vec::new(), 0);
    let mut next_from = None;
    for (place, report) in reports.iter().enumerate().skip(arguments.from()) {
        let fact = fact(report, body);
        let lines = lines(report, &fact);
        bytes += fact.to_string().len().max(bytes_of(&lines));
        if bytes > PAGE_BYTES && !facts.is_empty() {
            next_from = Some(place);
            break;
        }
        text += &lines;
        facts.push(fact);
    }
    if facts.is_empty() {
        text.push_str("no such tasks\n");
    }
    let facts = Map::from_iter([("tasks".to_owned(), Value::Array(facts))]);
    let mut reply = Reply::of_facts(text, facts);
    reply.go_on(next_from);
    Ok(reply)
}

/// Says a task with all its facts.
fn lines(task: &TaskReport, fact: &Value) -> String {
    let agent = task.agent.as_ref().map(|agent| format!(" (@{agent})")).unwrap_or_default();
    let waits = match task.waits_for.as_slice() {
        [] => String::new(),
        ids => format!(" (waits for {})", ids.join(", ")),
    };
    let others = fact.as_object().into_iter().flatten();
    let others = others.filter(|(name, _)| !FIRST_LINE.contains(&name.as_str()));
    let others = others.map(|(name, value)| {
        let words = in_words(value).replace('\n', "\n        ");
        format!("    {name}: {words}\n")
    });
    let others: String = others.collect();
    format!("{} {} {}{agent}{waits}\n{others}", task.id, task.status, task.content)
}

/// Returns the task for programs, without what a model has no use for.
fn fact(task: &TaskReport, body: usize) -> Value {
    let mut fact = serde_json::to_value(task).map(known).unwrap_or_default();
    if let Value::Object(fact) = &mut fact {
        for name in ["created_at", "updated_at", "completed_at"] {
            fact.remove(name);
        }
        if task.priority == TaskPriority::Normal.name() {
            fact.remove("priority");
        }
        if let Some(text) = &task.body {
            let is_cut = text.chars().count() > body;
            let end = if is_cut { " […] (`search` this id)" } else { "" };
            let shown: String = text.chars().take(body).collect();
            fact.insert("body".to_owned(), format!("{shown}{end}").into());
        }
    }
    fact
}

/// Changes one task, and shows it as it is then.
pub(super) fn update(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let id = arguments.required("id", TaskId::parse)?;
    let note = arguments.parsed("note", filled_line)?;
    let action = arguments.text("action")?;
    let actor = desk.actor(arguments)?;
    let role = DeedRole::parse(actor.as_str());
    let place = TaskPlace { branch: None, actor: Some(actor) };
    let task = TaskDesk::open(&desk.session, &place, |tasks| {
        let verdict = match action {
            "pass" => Some(DeedKind::Pass),
            "fail" => Some(DeedKind::Fail),
            _ => None,
        };
        if let Some(kind) = verdict {
            let role = role.map_err(|error| Failure::new(ErrorClass::Usage, error))?;
            let request = VerdictRequest { task: id.clone(), kind, role, because: note };
            return Ok(judge_task_once(tasks, &request)?.task);
        }
        // A note of the user's stays.
        let noted =
            note.map(|note| change_task(tasks, &id, &TaskStep::AddNote(note))).transpose()?;
        match (action, noted) {
            ("start", _) => start_task(tasks, Some(&id)),
            ("done", _) => change_task(tasks, &id, &TaskStep::Done),
            ("skip", _) => change_task(tasks, &id, &TaskStep::Skip),
            (_, Some(task)) => Ok(task),
            (_, None) => Err(no_note()),
        }
    })?;
    Ok(shown(&task))
}

fn shown(task: &Task) -> Reply {
    let report = TaskReport::alone(task);
    let fact = fact(&report, WHOLE_BODY);
    Reply::new(lines(&report, &fact), &fact)
}

fn no_note() -> Failure {
    let error = ArgumentError::Missing { tool: "task_update", name: "note" };
    Failure::new(ErrorClass::Usage, error)
}
