//! `convoke task pass` and `fail`: verdicts that are recorded, not read from words.

use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_service::task::{TaskDesk, VerdictRequest, filled_line, judge_task};

use crate::app::{App, Format};
use crate::exit::{CommandResult, Exit};
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: TaskId,

    /// The role that judged the task, such as `spec-reviewer`
    #[arg(long, value_name = "ROLE", value_parser = DeedRole::parse)]
    by: DeedRole,

    /// The reason, on one line
    #[arg(long, value_name = "TEXT", value_parser = filled_line)]
    because: Option<String>,
}

impl Args {
    pub(super) fn run(
        &self,
        kind: DeedKind,
        desk: &TaskDesk<'_>,
        app: &App,
        output: &mut Output,
    ) -> CommandResult {
        let request = VerdictRequest {
            task: self.id.clone(),
            kind,
            role: self.by.clone(),
            because: self.because.clone(),
        };
        let judged = judge_task(desk, &request)?;
        match app.format {
            Format::Json => output.json(&judged.deed)?,
            Format::Text => {
                let (task, deed) = (&judged.task, judged.deed.line());
                output.data(&format!("{}  {}  {deed}\n", task.id, task.content))?;
            }
        }
        Ok(Exit::Done)
    }
}
