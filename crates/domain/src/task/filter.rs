//! Which tasks a list shows.

use super::{Task, TaskStatus};
use crate::scope::AgentName;

/// A stage of tasks, for a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Exactly so far.
    At(TaskStatus),
    /// Not closed.
    Open,
    /// Not begun, and behind an open task.
    Waiting,
}

impl Stage {
    /// Every stage, by the word that is typed.
    pub const ALL: [(&'static str, Self); 6] = [
        ("open", Self::Open),
        ("waiting", Self::Waiting),
        ("pending", Self::At(TaskStatus::Pending)),
        ("in_progress", Self::At(TaskStatus::InProgress)),
        ("completed", Self::At(TaskStatus::Completed)),
        ("skipped", Self::At(TaskStatus::Skipped)),
    ];

    /// Returns the stage called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(word, _)| *word == name).map(|(_, stage)| stage)
    }

    fn includes(self, task: &Task) -> bool {
        match self {
            Self::At(status) => task.status == status,
            Self::Open => !task.status.is_closed(),
            Self::Waiting => task.is_waiting(),
        }
    }
}

/// The conditions on a listed task. An empty filter lists everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFilter {
    /// At any of these stages.
    pub stages: Vec<Stage>,
    /// Held by this agent.
    pub agent: Option<AgentName>,
    /// From this plan.
    pub plan: Option<String>,
    /// With all of these in its title, body, note, id or section of its plan, in lower case.
    pub words: Vec<String>,
}

impl TaskFilter {
    /// Demands every word of `text`, in any case and order.
    #[must_use]
    pub fn with_words(mut self, text: &str) -> Self {
        self.words.extend(text.split_whitespace().map(str::to_lowercase));
        self
    }

    /// Tells whether it lists everything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether it lists a task.
    pub fn lists(&self, task: &Task) -> bool {
        self.lists_with(task, None)
    }

    /// Tells whether it lists a task, whose section of its plan is given.
    pub fn lists_with(&self, task: &Task, section: Option<&str>) -> bool {
        let stage = self.stages.is_empty() || self.stages.iter().any(|stage| stage.includes(task));
        let agent = self.agent.is_none() || self.agent == task.agent;
        let plan = self.plan.is_none() || self.plan == task.plan_file;
        stage && agent && plan && self.finds(task, section)
    }

    fn finds(&self, task: &Task, section: Option<&str>) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let texts =
            [Some(task.content.as_str()), task.body.as_deref(), task.notes.as_deref(), section];
        let mut text = texts.into_iter().flatten().map(|text| text.to_lowercase() + "\n");
        let text = text.by_ref().chain([task.id.to_string()]).collect::<String>();
        self.words.iter().all(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::task;
    use super::*;
    use crate::task::id::TaskId;

    #[test]
    fn a_task_is_listed_if_it_meets_every_condition() {
        let mut found = task("t-1 - 1 june pending Add LOGIN endpoint");
        found.body = Some("Über den Dienst".to_owned());
        found.waits_for = vec![TaskId::parse("t-2").unwrap()];
        let words = |text: &str| TaskFilter::default().with_words(text);
        let stages = |stages: &[Stage]| TaskFilter { stages: stages.to_vec(), ..words("") };
        let agent = |name| TaskFilter { agent: Some(AgentName::known(name)), ..words("login") };
        let plan = |name: &str| TaskFilter { plan: Some(name.to_owned()), ..words("") };
        for (filter, expected) in [
            (words(""), true),
            (words("login add"), true),
            (words("ÜBER"), true),
            (words("t-1"), true),
            (words("login logout"), false),
            (stages(&[Stage::Open]), true),
            (stages(&[Stage::Waiting]), true),
            (stages(&[Stage::At(TaskStatus::Completed)]), false),
            (stages(&[Stage::At(TaskStatus::Completed), Stage::Open]), true),
            (agent("june"), true),
            (agent("max"), false),
            (plan("docs/plans/2025-12-24-authentication.md"), true),
            (plan("other.md"), false),
        ] {
            assert_eq!(filter.lists(&found), expected, "{filter:?}");
        }
    }
}
