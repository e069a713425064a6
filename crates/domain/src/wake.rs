//! The wake-up: the text that puts an agent back where it was.
//!
//! [`Facts`] is everything known about the agent, [`layout`] how it reads, [`next_step`] what the
//! newest message means for it, and [`fit`] how it is shortened when there is too little room.

pub mod fit;
pub mod layout;
pub mod next_step;

use crate::plan::Plan;
use crate::scope::AgentName;
use crate::skill::SkillId;
use crate::task::outline::Outline;

/// Whom the wake-up is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// An agent with a task of its own.
    Agent,
    /// The agent that leads the others.
    Orchestrator,
}

impl Profile {
    /// Both profiles.
    pub const ALL: [Self; 2] = [Self::Agent, Self::Orchestrator];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Orchestrator => "orchestrator",
        }
    }

    /// Returns the profile that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// In which order a wake-up's sections come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As the contract has them: skill, plan, tasks, messages, next action.
    #[default]
    Contract,
    /// What must not be missed first, because whatever carries the text may cut its end.
    CriticalFirst,
}

/// The skill as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// Which skill.
    pub id: SkillId,
    /// Its text, or a line that says it was not found.
    pub text: String,
    /// Whether it was found; the line that says it was not is never cut.
    pub found: bool,
    /// Lines above the text: that its version changed.
    pub notices: Vec<String>,
    /// Further skills with the files they are in.
    pub others: Vec<(SkillId, String)>,
}

/// The plan as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanText<'a> {
    /// The file, taken apart.
    Found {
        /// Its path, as stored.
        file: &'a str,
        /// Its text.
        plan: Plan<'a>,
    },
    /// There is no such file.
    Missing {
        /// Its path, as stored.
        file: &'a str,
    },
}

impl PlanText<'_> {
    fn file(&self) -> &str {
        match self {
            Self::Found { file, .. } | Self::Missing { file } => file,
        }
    }
}

/// The message that woke the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Who said it.
    pub from: AgentName,
    /// What was said. Never shortened.
    pub content: String,
}

/// Everything that is known about an agent when it wakes.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// Who wakes.
    pub reader: AgentName,
    /// As what.
    pub profile: Profile,
    /// In which order.
    pub order: Order,
    /// The skill to work by.
    pub skill: SkillText,
    /// The task list.
    pub outline: Option<Outline<'a>>,
    /// The plan behind it.
    pub plan: Option<PlanText<'a>>,
    /// Recent activity, oldest first.
    pub activity: Vec<String>,
    /// What woke it.
    pub message: Option<NewMessage>,
}
