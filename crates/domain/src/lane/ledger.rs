//! The ledger of lanes: the record of each, and sums over many.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::Offset;

use super::counted::{UsageExtent, UsageScope};
use super::event::{FailureKind, Usage};
use super::outcome::{LaneOutcome, ProcessEnd};
use crate::owner::Owner;
use crate::scope::Scope;

/// A lane's purpose, as far as its caller states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purpose {
    /// The run that the lane is part of.
    pub run: Option<String>,
    /// The role of its agent.
    pub role: Option<String>,
    /// The phase of the run.
    pub phase: Option<String>,
}

/// A lane's record when it begins. Of the prompt only its length and its hash are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneStart {
    /// The agent's name.
    pub agent: String,
    /// The lane's purpose.
    pub purpose: Purpose,
    /// The requested model.
    pub asked_model: Option<String>,
    /// Whether it may change files.
    pub writes: bool,
    /// The resumed session.
    pub resumed_from: Option<String>,
    /// The process that runs the lane.
    pub owner: Owner,
    /// The folder that will keep the client's output.
    pub kept_in: Option<String>,
    /// How long its prompt is, in characters.
    pub prompt_chars: u64,
    /// The prompt's hash.
    pub prompt_hash: String,
    /// When it began.
    pub at: Timestamp,
}

/// The end of a lane, as the client reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneEnding {
    /// The lane's outcome.
    pub outcome: LaneOutcome,
    /// How its process ended, in a word.
    pub end: String,
    /// Why there is no answer, if the client or Convoke gave a reason.
    pub why: Option<String>,
    /// The kind of failure.
    pub failure: Option<FailureKind>,
    /// The client's id of the session, by which it can be resumed.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// How much the client printed, in bytes.
    pub bytes: u64,
    /// The client's own counters.
    pub said: Option<Usage>,
    /// The scope of those counters.
    pub counts: UsageScope,
    /// When it ended.
    pub at: Timestamp,
}

/// The end of a lane, as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEnding {
    /// The outcome; `None` if the process that ran the lane was gone before it ended.
    pub outcome: Option<LaneOutcome>,
    /// How its process ended, in a word.
    pub end: Option<String>,
    /// Why there is no answer, if the client or Convoke gave a reason.
    pub why: Option<String>,
    /// The kind of failure.
    pub failure: Option<FailureKind>,
    /// The client's id of the session, by which it can be resumed.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<u64>,
    /// How much the client printed, in bytes.
    pub bytes: Option<u64>,
    /// The usage of this run; `None` if unknown.
    pub spent: Option<Usage>,
    /// When it ended, or was found to have.
    pub at: Timestamp,
}

/// One lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneEntry {
    /// The lane's number, which is never reused.
    pub id: i64,
    /// The project and branch that the lane worked for.
    pub scope: Scope,
    /// How it began.
    pub begun: LaneStart,
    /// How it ended, if it did.
    pub over: Option<RecordedEnding>,
}

impl LaneEntry {
    /// Returns the outcome, in the code that programs read.
    pub fn state(&self) -> &'static str {
        self.state_by(LaneOutcome::name)
    }

    /// Returns the outcome, in the words that a person reads.
    pub fn shown_state(&self) -> &'static str {
        self.state_by(LaneOutcome::state)
    }

    fn state_by(&self, of_outcome: fn(LaneOutcome) -> &'static str) -> &'static str {
        match &self.over {
            None => "running",
            Some(over) => over.outcome.map_or("lost", of_outcome),
        }
    }

    /// Tells whether the lane ended with an answer.
    pub fn has_answered(&self) -> bool {
        self.over.as_ref().and_then(|over| over.outcome) == Some(LaneOutcome::Answered)
    }

    /// Returns the usage, if known.
    pub fn spent(&self) -> Option<Usage> {
        self.over.as_ref()?.spent
    }

    /// Tells whether the client never started: then its usage is zero, without a report.
    pub fn never_ran(&self) -> bool {
        let end = self.over.as_ref().and_then(|over| over.end.as_deref());
        end.and_then(ProcessEnd::parse) == Some(ProcessEnd::NotStarted)
    }

    /// Returns the model that answered, else the requested one.
    pub fn model(&self) -> Option<&str> {
        let answered = self.over.as_ref().and_then(|over| over.model.as_deref());
        answered.or(self.begun.asked_model.as_deref())
    }
}

/// The key by which lanes are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneGrouping {
    /// The day they began.
    Day,
    /// The agent that worked.
    Agent,
    /// The role that the agent had; lanes without one are a group.
    Role,
    /// The phase of a run.
    Phase,
    /// The run they were part of; lanes without one are a group.
    Run,
    /// The model that answered.
    Model,
}

impl LaneGrouping {
    /// Every key.
    pub const ALL: [Self; 6] =
        [Self::Day, Self::Agent, Self::Role, Self::Phase, Self::Run, Self::Model];

    /// Returns the word that is typed and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Agent => "agent",
            Self::Role => "role",
            Self::Phase => "phase",
            Self::Run => "run",
            Self::Model => "model",
        }
    }

    /// Returns the key called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Returns an entry's value, if it has one. Days are those of a clock.
    pub fn of(self, entry: &LaneEntry, clock: Offset) -> Option<Cow<'_, str>> {
        let LaneStart { purpose, agent, at, .. } = &entry.begun;
        let word = match self {
            Self::Day => return Some(clock.to_datetime(*at).date().to_string().into()),
            Self::Agent => Some(agent.as_str()),
            Self::Role => purpose.role.as_deref(),
            Self::Phase => purpose.phase.as_deref(),
            Self::Run => purpose.run.as_deref(),
            Self::Model => entry.model(),
        };
        word.map(Cow::Borrowed)
    }
}

/// The usage of some lanes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// How many there were.
    pub lanes: u64,
    /// How many of these reported no usage: they still run, were lost, or their clients report none.
    pub without_usage: u64,
    /// Of those, how many still run.
    pub running: u64,
    /// How many of the others did not report their cost.
    pub without_money: u64,
    /// How many of the others reported only a part of their usage.
    pub partial_usage: u64,
    /// The usage of the others, as far as they reported it.
    pub usage: Usage,
}

impl Sum {
    /// Counts one lane.
    pub fn of(entry: &LaneEntry) -> Self {
        let (spent, ran) = (entry.spent(), !entry.never_ran());
        let is_unpriced = spent.is_some_and(|usage| usage.micro_dollars.is_none());
        let is_partial = UsageExtent::of(&entry.begun.agent) == UsageExtent::LastStep;
        Self {
            lanes: 1,
            without_usage: u64::from(ran && spent.is_none()),
            running: u64::from(entry.over.is_none()),
            without_money: u64::from(ran && is_unpriced),
            partial_usage: u64::from(ran && spent.is_some() && is_partial),
            usage: spent.unwrap_or_default(),
        }
    }

    /// Counts many.
    pub fn of_all<'a>(entries: impl IntoIterator<Item = &'a LaneEntry>) -> Self {
        entries.into_iter().map(Self::of).fold(Self::default(), Self::plus)
    }

    /// Adds what others spent.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            lanes: self.lanes.saturating_add(other.lanes),
            without_usage: self.without_usage.saturating_add(other.without_usage),
            running: self.running.saturating_add(other.running),
            without_money: self.without_money.saturating_add(other.without_money),
            partial_usage: self.partial_usage.saturating_add(other.partial_usage),
            usage: self.usage.plus(other.usage),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A lane that ended a second after it began.
    pub(crate) fn entry(id: i64, agent: &str, spent: Option<Usage>) -> LaneEntry {
        let at = Timestamp::from_second(id).unwrap();
        LaneEntry {
            id,
            scope: Scope::new("app", "main"),
            begun: LaneStart {
                agent: agent.to_owned(),
                purpose: Purpose::default(),
                asked_model: None,
                writes: false,
                resumed_from: None,
                owner: Owner { pid: 1, mark: String::new() },
                kept_in: None,
                prompt_chars: 1,
                prompt_hash: String::new(),
                at,
            },
            over: Some(RecordedEnding {
                outcome: Some(LaneOutcome::Answered),
                end: None,
                why: None,
                failure: None,
                session: None,
                model: None,
                took_ms: Some(1000),
                bytes: None,
                spent,
                at,
            }),
        }
    }

    fn sum() -> impl Strategy<Value = Sum> {
        let spent = prop::option::of((any::<u64>(), any::<u64>(), prop::option::of(any::<u64>())));
        spent.prop_map(|spent| {
            let usage = |(input, output, micro_dollars)| Usage {
                input,
                output,
                micro_dollars,
                ..Usage::default()
            };
            Sum::of(&entry(1, "a", spent.map(usage)))
        })
    }

    proptest! {
        // Sums do not depend on the order of addition.
        #[test]
        fn sums_are_associative((a, b, c) in (sum(), sum(), sum())) {
            prop_assert_eq!(a.plus(b).plus(c), a.plus(b.plus(c)));
            prop_assert_eq!(a.plus(b), b.plus(a));
            prop_assert_eq!(a.plus(Sum::default()), a);
        }
    }

    // A client that never started spent nothing, and its usage is not unknown.
    #[test]
    fn lanes_that_never_ran_leave_nothing_unknown() {
        for spent in [None, Some(Usage::default())] {
            let mut lane = entry(1, "claude", spent);
            lane.over.as_mut().unwrap().end = Some(ProcessEnd::NotStarted.to_string());
            assert_eq!(Sum::of(&lane), Sum { lanes: 1, ..Sum::default() });
            lane.over.as_mut().unwrap().end = Some(ProcessEnd::Cancelled.to_string());
            let sum = Sum::of(&lane);
            assert_eq!(sum.without_usage + sum.without_money, 1, "{spent:?}");
        }
    }
}
