//! What a background run does, as a command of Convoke's own.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::role::RoleName;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::RunId;
use convoke_domain::task::id::TaskId;
use convoke_engine::client::Rights;
use convoke_engine::file::stays_inside;
use convoke_engine::lane::agent_ref::AgentRef;
use jiff::Timestamp;

use super::BackgroundKind;
use crate::design::MAX_FEATURE;
use crate::dispatch::{PostName, check_post};
use crate::failure::{ErrorClass, Failure};
use crate::lane::check_agent;
use crate::session::Session;

/// What a background run does. Its agents only read.
#[derive(Debug, Clone)]
pub enum RunWork {
    /// Plans a feature with several agents.
    Design(DesignWork),
    /// Sends one role to an agent, and judges the answer.
    Dispatch(DispatchWork),
    /// Asks one agent.
    Lane(LaneWork),
}

/// What a design in the background begins with.
#[derive(Debug, Clone, Default)]
pub struct DesignWork {
    /// What to design; a rehearsal has a feature of its own.
    pub feature: String,
    /// The feature's folder, relative to the project.
    pub folder: Option<PathBuf>,
    /// Whether two sketches are enough.
    pub quick: bool,
    /// Whether the recommended answers are taken, without a question to a person.
    pub auto: bool,
    /// Whether recorded answers are played, which costs nothing.
    pub rehearse: bool,
}

/// A round of one role.
#[derive(Debug, Clone)]
pub struct DispatchWork {
    /// The role that gets the prompt.
    pub role: RoleName,
    /// The feature's folder, relative to the project, or its name.
    pub folder: Option<PathBuf>,
    /// Who answers.
    pub agent: AgentRef,
    /// The task that the verdict is recorded on.
    pub task: Option<TaskId>,
}

/// One question to one agent.
#[derive(Debug, Clone)]
pub struct LaneWork {
    /// The question.
    pub prompt: String,
    /// Who answers; without it, the first usable client.
    pub agent: Option<AgentRef>,
    /// The agent's role, for the ledger.
    pub role: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error("a design needs a sentence that says what to design")]
    NoFeature,
    #[error("the text has {0} bytes, but {MAX_FEATURE} is the most")]
    LongText(usize),
    #[error("a lane needs a prompt")]
    NoPrompt,
    #[error("the path `{}` leads out of the project", .0.display())]
    Outside(PathBuf),
}

impl RunWork {
    /// Returns the kind of the run.
    pub const fn kind(&self) -> BackgroundKind {
        match self {
            Self::Design(_) => BackgroundKind::Design,
            Self::Dispatch(_) => BackgroundKind::Dispatch,
            Self::Lane(_) => BackgroundKind::Lane,
        }
    }

    /// Tells whether it can cost anything: recorded answers do not.
    pub(super) fn is_paid(&self) -> bool {
        match self {
            Self::Design(design) => !design.rehearse,
            Self::Dispatch(_) | Self::Lane(_) => !matches!(self.agent(), Some(AgentRef::Replay(_))),
        }
    }

    /// Refuses what could not begin, or would read outside of the project.
    pub(super) fn check(&self, session: &Session) -> Result<(), Failure> {
        let usage = |error| Err(Failure::new(ErrorClass::Usage, error));
        for path in self.paths() {
            if !stays_inside(&session.project, path) {
                let failure = Failure::new(ErrorClass::Refused, WorkError::Outside(path.clone()));
                return Err(failure.hint("name a path below the project, relative to it"));
            }
        }
        match self {
            Self::Design(design) if design.feature.len() > MAX_FEATURE => {
                usage(WorkError::LongText(design.feature.len()))
            }
            Self::Design(design) if design.feature.trim().is_empty() && !design.rehearse => {
                usage(WorkError::NoFeature)
            }
            // A lane would read `-` from stdin, and there is nothing.
            Self::Lane(lane) if matches!(lane.prompt.trim(), "" | "-") => {
                usage(WorkError::NoPrompt)
            }
            Self::Lane(lane) if lane.prompt.len() > MAX_FEATURE => {
                usage(WorkError::LongText(lane.prompt.len()))
            }
            Self::Design(_) | Self::Dispatch(_) | Self::Lane(_) => Ok(()),
        }
    }

    /// Refuses what would fail before it asked an agent: an unknown role or feature, or an agent that is
    /// not installed or configured.
    pub(super) fn check_agents(&self, session: &Session) -> Result<(), Failure> {
        if let Self::Dispatch(DispatchWork { role, folder, .. }) = self {
            let (role, feature) = (role.clone(), folder.clone());
            check_post(session, &PostName { role, feature })?;
        }
        let Some(agent) = self.agent() else { return Ok(()) };
        // The run's process works in the project.
        let agent = match agent {
            AgentRef::Replay(path) => AgentRef::Replay(session.project.join(path)),
            AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Http(_) | AgentRef::Fleet(_) => {
                agent.clone()
            }
        };
        check_agent(&agent, Rights::ReadOnly, session)
    }

    fn agent(&self) -> Option<&AgentRef> {
        match self {
            Self::Design(_) => None,
            Self::Dispatch(dispatch) => Some(&dispatch.agent),
            Self::Lane(lane) => lane.agent.as_ref(),
        }
    }

    /// Tells whether another machine works on it.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.agent(), Some(AgentRef::Fleet(_)))
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let folder = match self {
            Self::Design(design) => design.folder.as_ref(),
            Self::Dispatch(dispatch) => dispatch.folder.as_ref(),
            Self::Lane(_) => None,
        };
        let recording = self.agent().and_then(|agent| match agent {
            AgentRef::Replay(path) => Some(path),
            AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Http(_) | AgentRef::Fleet(_) => None,
        });
        folder.into_iter().chain(recording)
    }

    /// Returns what two calls with one key must have in common. A rehearsal has a feature of its own;
    /// another text is another request nevertheless.
    pub(super) fn request_words(
        &self,
        project: &Path,
        budget: Option<&WrittenBudget>,
    ) -> Vec<String> {
        let anonymous = RunId::new(Timestamp::UNIX_EPOCH, 0);
        let mut words = self.words(project, &anonymous, budget);
        if let Self::Design(design) = self {
            words.push(design.feature.clone());
        }
        words
    }

    /// Returns the words of the command. Its report is JSON on stdout.
    pub(super) fn words(
        &self,
        project: &Path,
        run: &RunId,
        budget: Option<&WrittenBudget>,
    ) -> Vec<String> {
        let mut words = Words::new(project);
        match self {
            Self::Design(design) => {
                words.add(["design", "--run-id", run.as_str()]);
                words.add(design.quick.then_some("--quick"));
                words.add(design.auto.then_some("--auto"));
                words.add(design.rehearse.then_some("--rehearse"));
                words.option("--feature", design.folder.as_deref().map(shown));
                words.option("--budget", budget.map(|cap| cap.text().to_owned()));
                words.add(["--"]);
                words.add(Some(design.feature.as_str()).filter(|_| !design.rehearse));
            }
            Self::Dispatch(dispatch) => {
                words.add(["dispatch", "run", "--run", run.as_str()]);
                words.option("--budget", budget.map(|cap| cap.text().to_owned()));
                words.option("--client", Some(dispatch.agent.to_string()));
                words.option("--feature", dispatch.folder.as_deref().map(shown));
                words.option("--task", dispatch.task.as_ref().map(ToString::to_string));
                words.add(["--", &dispatch.role.to_string()]);
            }
            Self::Lane(lane) => {
                words.add(["lane", "run", "--run", run.as_str()]);
                words.option("--budget", budget.map(|cap| cap.text().to_owned()));
                words.option("--agent", lane.agent.as_ref().map(ToString::to_string));
                words.option("--role", lane.role.clone());
                words.add(["--", &lane.prompt]);
            }
        }
        words.0
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The words of a command.
pub(super) struct Words(pub(super) Vec<String>);

impl Words {
    /// Begins a command that works on a project and prints JSON.
    pub(super) fn new(project: &Path) -> Self {
        Self(vec!["--json".to_owned(), format!("--project={}", project.display())])
    }

    pub(super) fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(str::to_owned));
    }

    /// No program takes the value for a flag, also if it begins with a dash.
    pub(super) fn option(&mut self, name: &str, value: Option<String>) {
        self.0.extend(value.map(|value| format!("{name}={value}")));
    }
}
