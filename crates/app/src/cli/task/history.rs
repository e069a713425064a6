//! The history of tasks, and undo.

use std::num::NonZeroUsize;

use convoke_domain::message::day_and_hours;
use convoke_domain::task::history::TaskChange;
use convoke_domain::task::id::TaskId;
use convoke_service::failure::Failure;
use convoke_service::settings::wake;
use convoke_service::task::{
    JudgedTask, RemovedTaskReport, TaskChangeReport, TaskDesk, UndoneStep, removed_tasks,
    restore_task, task_log, undo_task_step,
};
use convoke_store::task_history::RemovedTask;
use jiff::tz::Offset;

use crate::app::{App, Format};
use crate::cli::at_least_one;
use crate::exit::{CommandResult, Exit};
use crate::output::Output;

/// So many tasks of an undone step are named.
const NAMED: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// The removed task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,
}

impl RestoreArgs {
    /// Tells whether this lists the removed tasks.
    pub(super) const fn only_lists(&self) -> bool {
        self.id.is_none()
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Show only changes to this task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,

    /// Show at most this many changes
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    limit: NonZeroUsize,
}

fn reports(changes: &[TaskChange]) -> Vec<TaskChangeReport> {
    changes.iter().map(TaskChangeReport::new).collect()
}

impl LogArgs {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let changes = task_log(desk, self.id.as_ref(), self.limit.get())?;
        match app.format {
            Format::Json => output.json(&reports(&changes))?,
            Format::Text if changes.is_empty() => output.data("No changes.\n")?,
            Format::Text => {
                let clock = wake::settings(&app.session)?.clock;
                for change in &changes {
                    output.lines(&format!("{}\n", line(change, clock)), 4)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn line(change: &TaskChange, clock: Offset) -> String {
    let undo = if change.is_undo { "undo: " } else { "" };
    let undone = if change.is_undone { "  (undone)" } else { "" };
    format!(
        "{}  @{}  {undo}{}{undone}",
        day_and_hours(change.at, clock),
        change.actor,
        deed(change)
    )
}

/// Describes a change of a task.
fn deed(change: &TaskChange) -> String {
    format!("{}  {} {}", change.words(), change.task, change.after.content)
}

pub(super) fn undo(desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let changes = match undo_task_step(desk)? {
        UndoneStep::Changes(changes) => changes,
        UndoneStep::Verdict(judged) => return print_verdict(&judged, app, output),
    };
    match app.format {
        Format::Json => output.json(&reports(&changes))?,
        Format::Text => print_undone(&changes, wake::settings(&app.session)?.clock, output)?,
    }
    Ok(if changes.is_empty() { Exit::No } else { Exit::Done })
}

fn print_verdict(judged: &JudgedTask, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&[TaskChangeReport::of_verdict(judged)])?,
        Format::Text => {
            let JudgedTask { task, deed } = judged;
            let text =
                format!("undid a verdict:\n  {}  {} {}\n", deed.line(), task.id, task.content);
            output.data(&text)?;
        }
    }
    Ok(Exit::Done)
}

fn print_undone(changes: &[TaskChange], clock: Offset, output: &mut Output) -> Result<(), Failure> {
    let Some(first) = changes.first() else { return output.data("Nothing to undo.\n") };
    let when = day_and_hours(first.at, clock);
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
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let Some(id) = &self.id else { return list_removed(&removed_tasks(desk)?, app, output) };
        let count = restore_task(desk, id)?;
        match app.format {
            Format::Json => output.json(&count)?,
            Format::Text => output.data(&format!("restored {}\n", count.restored))?,
        }
        Ok(Exit::Done)
    }
}

fn list_removed(removed: &[RemovedTask], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => {
            output.json(&removed.iter().map(RemovedTaskReport::new).collect::<Vec<_>>())?;
        }
        Format::Text if removed.is_empty() => output.data("No removed tasks.\n")?,
        Format::Text => {
            let clock = wake::settings(&app.session)?.clock;
            for RemovedTask { task, removed_at } in removed {
                let when = day_and_hours(*removed_at, clock);
                output.data(&format!("{}  {}  removed {when}\n", task.id, task.content))?;
            }
        }
    }
    Ok(Exit::Done)
}
