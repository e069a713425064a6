//! What was done to tasks, and taking it back.

use convoke_domain::scope::AgentName;
use convoke_domain::task::history::TaskChange;
use convoke_domain::task::id::TaskId;
use convoke_store::task_history::RemovedTask;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::Serialize;

use super::report::TaskReport;
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// So many tasks of an undone step are named.
const NAMED: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// The removed task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,
}

#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Only the changes of this task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,

    /// Show at most so many changes
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

#[derive(Serialize)]
struct RemovedReport<'a> {
    removed_at: String,
    #[serde(flatten)]
    task: TaskReport<'a>,
}

#[derive(Serialize)]
struct ChangeReport<'a> {
    step: i64,
    at: String,
    actor: &'a str,
    task: &'a str,
    title: &'a str,
    what: String,
    undo: bool,
    undone: bool,
}

fn report(change: &TaskChange) -> ChangeReport<'_> {
    ChangeReport {
        step: change.step,
        at: change.at.to_string(),
        actor: change.actor.as_str(),
        task: change.task.as_str(),
        title: &change.after.content,
        what: change.words(),
        undo: change.is_undo,
        undone: change.is_undone,
    }
}

impl LogArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let most = self.limit.saturating_add(1);
        let more = store.task_log(scope, self.id.as_ref(), most).map_err(refused)?;
        let changes = store.task_log(scope, self.id.as_ref(), self.limit).map_err(refused)?;
        if more.len() > changes.len() {
            output.say(&format!(
                "note: listed the last {} changes; `--limit N` lists more",
                changes.len()
            ));
        }
        match app.format {
            Format::Json => output.json(&changes.iter().map(report).collect::<Vec<_>>())?,
            Format::Text if changes.is_empty() => output.data("No changes.\n")?,
            Format::Text => {
                let clock = wake::settings(app)?.clock;
                for change in &changes {
                    output.data(&format!("{}\n", line(change, clock)))?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn line(change: &TaskChange, clock: Offset) -> String {
    let undo = if change.is_undo { "undo: " } else { "" };
    let undone = if change.is_undone { "  (undone)" } else { "" };
    format!("{}  @{}  {undo}{}{undone}", time(change.at, clock), change.actor, deed(change))
}

/// Says what was done to which task.
fn deed(change: &TaskChange) -> String {
    format!("{}  {} {}", change.words(), change.task, change.after.content)
}

fn time(moment: Timestamp, clock: Offset) -> String {
    clock.to_datetime(moment).strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn undo(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let changes = store.undo_task_step(scope, now()).map_err(refused)?;
    if let Some(first) = changes.first() {
        let more = changes.len() - 1;
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("undid: {} {}{others}", first.words(), first.after.content);
        store.record_event(scope, actor, &what, now()).map_err(refused)?;
    }
    match app.format {
        Format::Json => output.json(&changes.iter().map(report).collect::<Vec<_>>())?,
        Format::Text => {
            let clock = wake::settings(app)?.clock;
            print_undone(&changes, clock, output)?;
        }
    }
    Ok(if changes.is_empty() { Exit::No } else { Exit::Done })
}

fn print_undone(changes: &[TaskChange], clock: Offset, output: &mut Output) -> Result<(), Failure> {
    let Some(first) = changes.first() else { return output.data("Nothing to undo.\n") };
    let when = time(first.at, clock);
    output.data(&format!("undid what @{} did at {when}:\n", first.actor))?;
    for change in changes.iter().take(NAMED) {
        output.data(&format!("  {}\n", deed(change)))?;
    }
    match changes.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => output.data(&format!("  and {more} more\n")),
    }
}

impl RestoreArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        actor: &AgentName,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let removed = store.removed_tasks(scope).map_err(refused)?;
        let Some(id) = &self.id else { return list_removed(&removed, app, output) };
        let restored = store.restore_task(scope, id, now()).map_err(refused)?;
        let found = removed.iter().find(|removed| removed.task.id == *id);
        if let Some(RemovedTask { task, .. }) = found {
            let deed = format!("restored {}", task.content);
            store.record_event(scope, actor, &deed, now()).map_err(refused)?;
        }
        match app.format {
            Format::Json => output.json(&serde_json::json!({ "restored": restored }))?,
            Format::Text => output.data(&format!("restored {restored}\n"))?,
        }
        Ok(Exit::Done)
    }
}

fn removed_report(removed: &RemovedTask) -> RemovedReport<'_> {
    RemovedReport {
        removed_at: removed.removed_at.to_string(),
        task: TaskReport::new(&removed.task, false, Vec::new()),
    }
}

fn list_removed(removed: &[RemovedTask], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => {
            output.json(&removed.iter().map(removed_report).collect::<Vec<_>>())?;
        }
        Format::Text if removed.is_empty() => output.data("No removed tasks.\n")?,
        Format::Text => {
            let clock = wake::settings(app)?.clock;
            for RemovedTask { task, removed_at } in removed {
                let when = time(*removed_at, clock);
                output.data(&format!("{}  {}  removed {when}\n", task.id, task.content))?;
            }
        }
    }
    Ok(Exit::Done)
}
