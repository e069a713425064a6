//! `convoke agent rm`: an agent that is no longer there.

use convoke_domain::scope::AgentName;
use convoke_store::agent::{Left, Removal};
use serde::Serialize;

use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake::{AgentPlace, settings};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct RmArgs {
    /// The agent
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// Remove it even if it has open tasks, unread messages, or the sessions of this project
    #[arg(long)]
    force: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot remove @{name}: {place} gives it the sessions of this project")]
struct StillBound {
    name: AgentName,
    place: &'static str,
}

#[derive(Serialize)]
struct Report<'a> {
    removed: &'a str,
    /// Open tasks that it had, which are assigned to no agent from now on.
    freed_tasks: usize,
    /// Messages that it had not read; they stay readable.
    unread: usize,
}

impl RmArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let bound = settings(app)?.agent.filter(|(agent, _)| *agent == self.name);
        if let Some((_, place)) = bound.filter(|_| !self.force) {
            return Err(self.still_bound(place));
        }
        let removal = if self.force { Removal::Anyway } else { Removal::IfIdle };
        let Workspace { store, scope } = workspace;
        let Left { tasks, unread } =
            store.remove_agent(scope, &self.name, removal, now()).map_err(refused)?;
        let name = self.name.as_str();
        match app.format {
            Format::Json => output.json(&Report { removed: name, freed_tasks: tasks, unread })?,
            Format::Text => output.data(&format!("removed @{name}{}\n", left(tasks, unread)))?,
        }
        Ok(Exit::Done)
    }

    /// A hook would only add it again.
    fn still_bound(&self, place: AgentPlace) -> Failure {
        let error = StillBound { name: self.name.clone(), place: place.words() };
        Failure::new(ErrorClass::Refused, error)
            .hint("`convoke hooks install CLIENT --as NAME` gives them to another agent")
            .hint("`--force` removes it; the next session adds it again")
    }
}

fn left(tasks: usize, unread: usize) -> String {
    let tasks = (tasks > 0).then(|| format!("; open tasks that no agent has now: {tasks}"));
    let unread = (unread > 0).then(|| format!("; messages that it had not read: {unread}"));
    tasks.unwrap_or_default() + &unread.unwrap_or_default()
}
