//! Giving tasks another parent or another branch.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::id::TaskId;
use convoke_store::task::Change;
use convoke_store::task_edit::{Moved, Moving};
use serde::Serialize;

use super::change;
use crate::app::{App, Format};
use crate::cli::elsewhere::quoted;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, checked_out, refused};

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The tasks; their parts move with them
    #[arg(value_name = "ID", required_unless_present = "all", value_parser = TaskId::parse)]
    ids: Vec<TaskId>,

    /// The task they become part of [default: none, they go to the top]
    #[arg(long, value_name = "ID", value_parser = TaskId::parse, conflicts_with = "from_branch")]
    under: Option<TaskId>,

    /// Take the tasks from this branch [default: the checked-out one]
    #[arg(long, value_name = "NAME", value_parser = super::line)]
    from_branch: Option<String>,

    /// Move every task of that branch
    #[arg(long, requires = "from_branch", conflicts_with = "ids")]
    all: bool,
}

#[derive(Serialize)]
struct MovedReport<'a> {
    moved: Vec<&'a str>,
    renamed: Vec<[&'a str; 2]>,
    from_branch: &'a str,
    branch: &'a str,
}

impl MoveArgs {
    /// Runs the command. A branch that is named with `--branch` is where the tasks go, unless they get
    /// a parent, which is then looked for there.
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        actor: &AgentName,
        branch: Option<&str>,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let is_of_branch = self.from_branch.is_some() || branch.is_some() && self.under.is_none();
        if is_of_branch {
            return self.to_branch(workspace, app, output);
        }
        let change = Change::Parent(self.under.as_ref());
        self.ids
            .iter()
            .try_fold(Exit::Done, |_, id| change::apply(workspace, app, actor, id, &change, output))
    }

    fn to_branch(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let from = self.from_branch.clone().unwrap_or_else(|| checked_out(app));
        let moving = if self.all { Moving::All } else { Moving::Tasks(&self.ids) };
        let moved = store.move_tasks(scope, &from, moving, now()).map_err(refused)?;
        let Moved { ids, renamed } = &moved;
        match app.format {
            Format::Json => output.json(&MovedReport {
                moved: ids.iter().map(TaskId::as_str).collect(),
                renamed: renamed.iter().map(|(old, new)| [old.as_str(), new.as_str()]).collect(),
                from_branch: &from,
                branch: &scope.branch,
            })?,
            Format::Text => {
                let count = match ids.len() {
                    1 => "1 task".to_owned(),
                    count => format!("{count} tasks"),
                };
                output.data(&format!("moved {count} from {from} to {}\n", scope.branch))?;
                if ids.is_empty() {
                    output.say(&format!(
                        "note: branch {from} has no tasks; see `convoke task list --all-branches`"
                    ));
                }
                for (old, new) in renamed {
                    output.say(&format!("note: `{old}` is taken there; the task is now `{new}`"));
                }
            }
        }
        let there = Scope { branch: from.clone(), ..scope.clone() };
        let has_agents = || Ok::<_, Failure>(!store.agents(&there).map_err(refused)?.is_empty());
        if self.all && from != scope.branch && has_agents()? {
            output.say(&format!(
                "note: messages and agents stay on {from}: `convoke inbox NAME --branch {}`",
                quoted(&from)
            ));
        }
        Ok(Exit::Done)
    }
}
