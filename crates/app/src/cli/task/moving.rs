//! Giving tasks another parent or another branch.

use convoke_domain::task::id::TaskId;
use convoke_service::failure::Failure;
use convoke_service::task::{BranchMove, TaskDesk, filled_line, move_below, move_to_branch};

use super::print_changed;
use crate::app::{App, Format};
use crate::exit::Exit;
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
    /// Runs the command. A branch that is named with `--branch` is where the tasks go, unless they get
    /// a parent, which is then looked for there.
    pub(super) fn run(
        &self,
        desk: &TaskDesk<'_>,
        app: &App,
        branch: Option<&str>,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let is_of_branch = self.from_branch.is_some() || branch.is_some() && self.under.is_none();
        if is_of_branch {
            return self.to_branch(desk, app, output);
        }
        for id in &self.ids {
            let task = move_below(desk, id, self.under.as_ref())?;
            print_changed(task.as_ref(), app, output)?;
        }
        Ok(Exit::Done)
    }

    fn to_branch(
        &self,
        desk: &TaskDesk<'_>,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
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
