//! The present state of a project and its machine.

use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::plan::ParsedPlan;
use convoke_engine::file;
use convoke_engine::git::checkout;
use convoke_engine::git::tracked::files;
use serde::Serialize;

use crate::agents::{AgentReport, AgentsRequest, agents};
use crate::failure::Failure;
use crate::session::Session;
use crate::settings::wake::settings;
use crate::skill::count_superpowers;

/// The files that agents read first.
pub(super) const GUIDANCE: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// No plan that a person writes is longer.
const MAX_PLAN: u64 = 1024 * 1024;

/// How many files are searched for plans, and how many plans are reported.
const MOST_READ: usize = 200;
const MOST_PLANS: usize = 10;

/// The state of the project before a setup.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitFindings {
    /// The project's folder.
    pub folder: String,
    /// The branch that is checked out; none without git.
    pub branch: Option<String>,
    /// The clients on the PATH.
    pub clients: Vec<FoundClient>,
    /// Which of AGENTS.md and CLAUDE.md exist.
    pub guidance: Vec<String>,
    /// Documents with tasks that `convoke task import` takes over.
    pub plans: Vec<FoundPlan>,
    /// How many skills of the superpowers collection Convoke finds.
    pub superpowers_skills: usize,
}

/// A client on the PATH.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundClient {
    /// The client's name.
    pub client: String,
    /// Its version, in its own words.
    pub version: Option<String>,
    /// In which settings it has Convoke's hooks.
    pub hooks: String,
}

/// A document with tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundPlan {
    /// The file, relative to the project.
    pub path: String,
    /// How many tasks it has.
    pub tasks: usize,
}

impl InitFindings {
    pub(super) fn look(session: &Session) -> Result<Self, Failure> {
        let known = agents(session, &AgentsRequest::presence())?;
        let is_client = |agent: &AgentReport| Client::parse(&agent.agent).is_some();
        let clients = known.agents.into_iter().filter(is_client);
        let clients = clients.filter(|agent| agent.path.is_some()).map(|agent| FoundClient {
            client: agent.agent,
            version: agent.version,
            hooks: agent.hooks.to_owned(),
        });
        let is_there = |name: &&&str| session.project.join(name).symlink_metadata().is_ok();
        Ok(Self {
            clients: clients.collect(),
            guidance: GUIDANCE.iter().filter(is_there).map(|name| (*name).to_owned()).collect(),
            plans: plans(&session.project),
            superpowers_skills: superpowers(session)?,
            ..Self::of_folder(session)
        })
    }

    /// Returns the project alone, without searching its files.
    pub(super) fn of_folder(session: &Session) -> Self {
        let repository = checkout(&session.project);
        Self {
            folder: session.absolute_project().display().to_string(),
            branch: repository.map(|found| found.branch.unwrap_or_else(|| "(detached)".into())),
            clients: Vec::new(),
            guidance: Vec::new(),
            plans: Vec::new(),
            superpowers_skills: 0,
        }
    }

    /// Returns the clients that hooks can be installed for.
    pub(super) fn hookable(&self) -> Vec<Client> {
        let found = self.clients.iter().filter_map(|found| Client::parse(&found.client));
        found.filter(|client| Client::WITH_HOOKS.contains(client)).collect()
    }
}

fn superpowers(session: &Session) -> Result<usize, Failure> {
    // The step that needs the configuration reports its errors.
    if settings(session).is_err() {
        return Ok(0);
    }
    count_superpowers(session)
}

/// Finds the plans of a project, those with most tasks first.
pub(crate) fn plans(project: &Path) -> Vec<FoundPlan> {
    let is_named_so = |name: &String| {
        let extension = Path::new(name).extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
            && name.to_ascii_lowercase().contains("plan")
    };
    let candidates = files(project).into_iter().filter(is_named_so).take(MOST_READ);
    let mut found: Vec<_> = candidates.filter_map(|path| plan(project, path)).collect();
    found.sort_by(|one, other| (other.tasks, &one.path).cmp(&(one.tasks, &other.path)));
    found.truncate(MOST_PLANS);
    found
}

/// Reads a file of the project, and returns it if its tasks could be imported.
fn plan(project: &Path, path: String) -> Option<FoundPlan> {
    let text = file::text_below(project, &project.join(&path), MAX_PLAN)?;
    let parsed = ParsedPlan::parse(&text);
    let tasks = parsed.tasks.len();
    (tasks > 0 && parsed.repeated_title().is_none()).then_some(FoundPlan { path, tasks })
}
