//! The wake-up: the text that puts an agent back where it was.
//!
//! [`WakeFacts`] holds everything known about the agent and [`layout`] orders it. [`deeds`] derives
//! the next action from the records; [`next_step`] guesses it from the message, as the original
//! workflow does. [`fit`] shortens a text that exceeds its budget. [`news`] is the short form for
//! an agent that still has its memory.

pub mod deeds;
pub mod fit;
pub mod frame;
pub mod hop;
pub mod layout;
pub mod news;
pub mod next_step;
mod plan_section;
pub(crate) mod voice;

use std::borrow::Cow;
use std::sync::Arc;

use self::deeds::KnownDeeds;
use self::frame::without_tags;
use crate::finding::Unreadable;
use crate::message::{ActivityLine, QuotationMarks, quote_as_written, quote_lines};
use crate::pin::Pin;
use crate::plan::SearchedPlan;
use crate::scope::AgentName;
use crate::skill::SkillId;
use crate::skill::prune::Forms;
use crate::task::outline::TaskOutline;

/// The kind of agent that the wake-up is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeProfile {
    /// An agent with a task of its own.
    Agent,
    /// The agent that leads the others.
    Orchestrator,
}

impl WakeProfile {
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

/// How much a wake-up tells its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WakeMode {
    /// Everything, always.
    #[default]
    Seed,
    /// Everything the first time and after a compaction; in between, only what is new.
    V0,
}

impl WakeMode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Seed, Self::V0];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::V0 => "v0",
        }
    }

    /// Returns the mode that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns how much to tell an agent with this memory.
    pub const fn extent(self, memory: WakeMemory) -> WakeExtent {
        match (self, memory) {
            (Self::V0, WakeMemory::Kept) => WakeExtent::News,
            (Self::V0, WakeMemory::Empty) | (Self::Seed, WakeMemory::Kept | WakeMemory::Empty) => {
                WakeExtent::Everything
            }
        }
    }
}

/// Whether an agent remembers its last wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeMemory {
    /// It was woken before, and its conversation was not compacted since.
    Kept,
    /// It was never woken, or its conversation was compacted since.
    Empty,
}

/// How much of a wake-up the agent receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeExtent {
    /// Every section, for an agent that lost its memory.
    Everything,
    /// The agent's place in the plan, and its unread messages.
    News,
}

impl WakeExtent {
    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::News => "news",
        }
    }
}

/// In which order a wake-up's sections come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SectionOrder {
    /// As the contract has them: skill, plan, tasks, messages, next action.
    #[default]
    Contract,
    /// The most important sections first, because the client may cut the end of the text.
    CriticalFirst,
}

/// What is shortened when a wake-up costs more than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WakeFit {
    /// Every section except the commands that show the rest, so that the text keeps to the budget.
    #[default]
    Kept,
    /// Only what the contract allows. The task list and the new message stay complete at any cost.
    Seed,
}

impl WakeFit {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Kept, Self::Seed];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Seed => "seed",
        }
    }

    /// Returns the way that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fit| fit.name() == name)
    }

    /// Takes a client's tags out of a text that Convoke did not write; the contract keeps every byte.
    pub fn disarm(self, text: &mut String) {
        if self == Self::Kept
            && let Cow::Owned(harmless) = without_tags(text)
        {
            *text = harmless;
        }
    }

    /// Returns how messages on one line show their own quotation marks.
    pub const fn quotation_marks(self) -> QuotationMarks {
        match self {
            Self::Kept => QuotationMarks::Escaped,
            Self::Seed => QuotationMarks::AsWritten,
        }
    }

    /// Renders the new message: with its lines, or on one line as the contract has it.
    fn quote(self, from: &AgentName, content: &str) -> String {
        match self {
            Self::Kept => quote_lines(from, content),
            Self::Seed => quote_as_written(from, content),
        }
    }
}

/// The agent's skill, or the lines that replace it when its file is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// The skill's id, if one is named.
    pub id: Option<SkillId>,
    /// The skill's text, or the lines that replace it.
    pub forms: Arc<Forms>,
    /// Whether it was found; the line that says it was not is never cut.
    pub found: bool,
    /// Lines above the text: that its version changed.
    pub notices: Vec<String>,
    /// Further skills with the files they are in.
    pub others: Vec<(SkillId, String)>,
}

/// The plan's file, or why it cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanText<'a> {
    /// The file gives a text.
    Found {
        /// Its path, as stored.
        file: &'a str,
        /// Its text, for its opening and the sections of tasks.
        plan: SearchedPlan<'a>,
    },
    /// There is no such file.
    Missing {
        /// Its path, as stored.
        file: &'a str,
    },
    /// There is one, but it gives no text.
    Unreadable {
        /// Its path, as stored.
        file: &'a str,
        /// Why it gives none.
        why: Unreadable,
    },
}

impl PlanText<'_> {
    fn file(&self) -> &str {
        match self {
            Self::Found { file, .. } | Self::Missing { file } | Self::Unreadable { file, .. } => {
                file
            }
        }
    }
}

/// The message that woke the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The sender.
    pub from: AgentName,
    /// The message's text. Shortened last, and never with [`WakeFit::Seed`].
    pub content: String,
}

/// Lines from outside of the agent's plan or branch that it must not miss.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElsewhereLines {
    /// Tasks of high priority that belong to another plan.
    pub urgent: Option<String>,
    /// Unread messages on other branches.
    pub unread: Option<String>,
}

/// Everything that is known about an agent when it wakes.
#[derive(Debug, Clone)]
pub struct WakeFacts<'a> {
    /// The agent that wakes.
    pub reader: AgentName,
    /// Whether the agent works on a task of its own or leads the others.
    pub profile: WakeProfile,
    /// The order in which sections appear.
    pub order: SectionOrder,
    /// What may be shortened.
    pub fit: WakeFit,
    /// The skill that the agent works by.
    pub skill: SkillText,
    /// The tasks of the active plan; `None` without a plan.
    pub outline: Option<TaskOutline<'a>>,
    /// The same list with titles that are cut short.
    pub short_outline: Option<TaskOutline<'a>>,
    /// The lines that replace a missing list: where tasks are instead, and how to get one.
    pub no_task: Option<String>,
    /// Lines from outside of this plan and branch.
    pub elsewhere: ElsewhereLines,
    /// The plan that the task list belongs to.
    pub plan: Option<PlanText<'a>>,
    /// The whole title of the task that the plan describes: the marked line of the list.
    pub plan_task: Option<String>,
    /// Recent activity, oldest first. A line names its message only if that is unread.
    pub activity: Vec<ActivityLine>,
    /// The message that woke it.
    pub message: Option<NewMessage>,
    /// The stored unread message that woke it, if it was one.
    pub message_id: Option<i64>,
    /// How many stored messages to it are unread, including those in the facts.
    pub unread: usize,
    /// Records about the current task and the new message.
    pub known: KnownDeeds,
    /// The user's rules, which come before everything else.
    pub pins: Vec<Pin>,
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-24
    #[test]
    fn only_an_agent_that_remembers_gets_only_the_news() {
        for (mode, memory, expected) in [
            (WakeMode::Seed, WakeMemory::Empty, WakeExtent::Everything),
            (WakeMode::Seed, WakeMemory::Kept, WakeExtent::Everything),
            (WakeMode::V0, WakeMemory::Empty, WakeExtent::Everything),
            (WakeMode::V0, WakeMemory::Kept, WakeExtent::News),
        ] {
            assert_eq!(mode.extent(memory), expected, "{mode:?} {memory:?}");
        }
    }
}
