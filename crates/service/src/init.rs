//! Sets up a project in one step, and reverts all of it.
//!
//! [`plan_init`] changes nothing; its plan lists every file that will change. [`carry_out`] makes
//! all these changes or none: it records each step in the store before its file changes, and
//! reverts the steps after a failure or an interrupt. [`undo_init`] does the same later.

mod apply;
mod configuration;
mod findings;
mod guidance;
mod own_files;
mod plan;
mod undo;

use convoke_domain::scope::AgentName;
use serde::Serialize;

pub use self::apply::carry_out;
pub(crate) use self::findings::plans;
pub use self::findings::{FoundClient, FoundPlan, InitFindings};
pub(crate) use self::own_files::own_files;
pub use self::plan::{InitPlan, plan_init};
pub use self::undo::undo_init;
use crate::next_command::NextCommand;

/// Options of a project's setup.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// The agent whose wake-ups the sessions get; without it, the one that is set, else `me`.
    pub agent: Option<AgentName>,
    /// Whether the line for agents is left out of AGENTS.md.
    pub leaves_out_guidance: bool,
}

/// The report on a project's setup.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitReport {
    /// The state of the steps.
    pub state: InitState,
    /// The files that exist already.
    pub found: InitFindings,
    /// The changes, file by file.
    pub steps: Vec<InitStep>,
    /// The commands that make sense next.
    pub next: Vec<NextCommand>,
}

/// The state of a setup's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InitState {
    /// There is no step: the project is set up, or every step is impossible.
    Nothing,
    /// They are planned, and nothing has changed.
    Planned,
    /// They are done.
    Done,
    /// They are reverted.
    Undone,
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitStep {
    /// The kind of change.
    pub kind: InitStepKind,
    /// The file, relative to the project.
    pub path: String,
    /// The step's effect, in words that follow "Convoke will".
    pub what: String,
    /// The step's state.
    pub state: StepState,
    /// Why it is not done, if it is not.
    pub why: Option<String>,
    /// A note for the user.
    pub note: Option<String>,
    /// The line that the step adds to the file.
    #[serde(skip)]
    pub adds: Option<&'static str>,
    /// Whether git tracks the file, so that the change shows up in `git diff`.
    pub is_tracked: bool,
}

/// The kind of change of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InitStepKind {
    /// Hook entries in a client's settings.
    Hooks,
    /// The agent that the project's sessions belong to.
    Agent,
    /// The line for agents in AGENTS.md.
    Guidance,
    /// `convoke.toml`.
    Configuration,
}

/// What becomes of a step of `init` or `init --undo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// It will be done, or reverted.
    Planned,
    /// It is done.
    Done,
    /// No change is needed.
    Unchanged,
    /// It is left out on purpose.
    Skipped,
    /// It cannot be done until the user corrects a mistake.
    Blocked,
    /// It is reverted.
    Undone,
    /// It cannot be reverted: the user has changed the file.
    Kept,
}

impl InitReport {
    /// Tells whether a step waits for a correction by the user.
    pub fn is_blocked(&self) -> bool {
        self.steps.iter().any(|step| step.state == StepState::Blocked)
    }
}
