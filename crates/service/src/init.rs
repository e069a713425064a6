//! Setting up a project in one step, and taking all of it back.
//!
//! [`plan_init`] only looks; its plan says every file that will change. [`carry_out`] does exactly that
//! or nothing: each step is remembered in the store before its file changes, and a failure or an
//! interrupt takes the steps back. [`undo_init`] does the same later.

mod apply;
mod configuration;
mod findings;
mod guidance;
mod plan;
mod undo;

use convoke_domain::scope::AgentName;
use serde::Serialize;

pub use self::apply::carry_out;
pub(crate) use self::findings::plans;
pub use self::findings::{FoundClient, FoundPlan, InitFindings};
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
    /// They are taken back.
    Undone,
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitStep {
    /// What kind of change it is.
    pub kind: InitStepKind,
    /// The file, relative to the project.
    pub path: String,
    /// What the step does, in words that follow "Convoke will".
    pub what: String,
    /// The step's state.
    pub state: StepState,
    /// Why it is not done, if it is not.
    pub why: Option<String>,
    /// A note for the user.
    pub note: Option<String>,
    /// Whether git tracks the file, so that the change shows up in `git diff`.
    pub is_tracked: bool,
}

/// What kind of change a step makes.
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

/// The state of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// It will be done, or taken back.
    Planned,
    /// It is done.
    Done,
    /// No change is needed.
    Unchanged,
    /// It is left out on purpose.
    Skipped,
    /// It cannot be done until the user corrects something.
    Blocked,
    /// It is reverted.
    Undone,
    /// It cannot be taken back: the file is the user's by now.
    Kept,
}

impl InitReport {
    /// Tells whether a step waits for the user to correct something.
    pub fn is_blocked(&self) -> bool {
        self.steps.iter().any(|step| step.state == StepState::Blocked)
    }
}
