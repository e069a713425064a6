//! Giving tasks another parent or another branch.

use convoke_domain::task::id::TaskId;
use convoke_service::task::{
    BranchMove, TaskDesk, TaskReport, filled_line, move_below, move_to_branch,
};

use super::list::line;
use crate::app::{App, Format};
use crate::exit::{CommandResult, Exit};
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The tasks; their subtasks move with them
    #[arg(value_name = "ID", required_unless_present = "all", value_parser = TaskId::parse)]
    ids: Vec<TaskId>,

    /// Make them subtasks of this task [default: none, they move to the top level]
    #[arg(long, value_name = "ID", value_parser = TaskId::parse, conflicts_with = "from_branch")]
    under: Option<TaskId>,

    /// Take the tasks from this branch [default: the current one]
    #[arg(long, value_name = "NAME", value_parser = filled_line)]
    from_branch: Option<String>,

    /// Move every task of that branch
    #[arg(long, requires = "from_branch", conflicts_with = "ids")]
    all: bool,
}

impl MoveArgs {
    /// Runs the command. `--branch` names the target of the tasks, unless they get a parent, which
    /// must be on that branch.
    pub(super) fn run(
        &self,
        desk: &TaskDesk<'_>,
        app: &App,
        branch: Option<&str>,
        output: &mut Output,
    ) -> CommandResult {
        let is_of_branch = self.from_branch.is_some() || branch.is_some() && self.under.is_none();
        if is_of_branch {
            return self.to_branch(desk, app, output);
        }
        let moved = move_below(desk, &self.ids, self.under.as_ref())?;
        match app.format {
            Format::Json => {
                output.json(&moved.iter().map(TaskReport::alone).collect::<Vec<_>>())?;
            }
            Format::Text => {
                moved.iter().try_for_each(|task| output.data(&format!("{}\n", line(task))))?;
            }
        }
        Ok(Exit::Done)
    }

    fn to_branch(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let request = BranchMove {
            ids: (!self.all).then(|| self.ids.clone()),
            from_branch: self.from_branch.clone(),
        };
        let moved = move_to_branch(desk, &request)?;
        match app.format {
            Format::Json => output.json(&moved)?,
            Format::Text => {
                let count = match moved.moved.len() {
                    1 => "1 task".to_owned(),
                    count => format!("{count} tasks"),
                };
                let (from, to) = (&moved.from_branch, &moved.branch);
                output.data(&format!("moved {count} from {from} to {to}\n"))?;
            }
        }
        Ok(Exit::Done)
    }
}
