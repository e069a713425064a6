//! The task tree: tasks, their agents, and their states.

pub mod deed;
pub mod dependency;
pub mod filter;
pub mod foreign;
pub mod history;
pub mod id;
pub mod next;
pub mod order;
pub mod outline;
pub mod priority;
pub mod title;
pub mod tree;

use jiff::Timestamp;

use crate::agent::{Agent, AgentStatus};
use crate::scope::AgentName;
use id::TaskId;
use priority::TaskPriority;

/// The most levels a tree may have; a deeper one is no plan any more.
pub const DEEPEST: usize = 64;

/// A task's stored status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Left out on purpose.
    Skipped,
}

impl TaskStatus {
    /// Every status, in the order of a task's life.
    pub const ALL: [Self; 4] = [Self::Pending, Self::InProgress, Self::Completed, Self::Skipped];

    /// Returns the word that is stored and shown in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Skipped => "skipped",
        }
    }

    /// Returns the status stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Tells whether nothing is left to do.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }
}

/// A task's state, which also depends on its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// As its status says.
    Stored(TaskStatus),
    /// Open, and its agent is blocked.
    Blocked,
    /// Open, and its agent has failed.
    Failed,
    /// Not begun, and a task that comes before it is open.
    Waiting,
    /// Open, and the user cancelled its plan.
    Cancelled,
}

impl TaskState {
    /// Derives the state: closed is closed, otherwise the agent's trouble is the task's.
    pub const fn of(status: TaskStatus, agent: Option<AgentStatus>) -> Self {
        match (status, agent) {
            (TaskStatus::Pending | TaskStatus::InProgress, Some(AgentStatus::Blocked)) => {
                Self::Blocked
            }
            (TaskStatus::Pending | TaskStatus::InProgress, Some(AgentStatus::Failed)) => {
                Self::Failed
            }
            (status, _) => Self::Stored(status),
        }
    }

    /// Derives a task's state from its agent's, if that is among `agents`, and from what it waits for.
    pub fn among(agents: &[Agent], task: &Task) -> Self {
        if task.is_waiting() {
            return Self::Waiting;
        }
        let holder = agents.iter().find(|agent| Some(&agent.name) == task.agent.as_ref());
        Self::of(task.status, holder.map(|agent| agent.status))
    }

    /// Returns the words shown to agents.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Stored(TaskStatus::InProgress) => "in progress",
            Self::Stored(status) => status.name(),
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Cancelled => "cancelled",
        }
    }

    /// Tells whether nothing is left to do.
    pub const fn is_closed(self) -> bool {
        match self {
            Self::Stored(status) => status.is_closed(),
            Self::Cancelled => true,
            Self::Blocked | Self::Failed | Self::Waiting => false,
        }
    }

    /// Returns the state of a task whose plan is cancelled.
    #[must_use]
    pub const fn cancelled(self) -> Self {
        if self.is_closed() { self } else { Self::Cancelled }
    }
}

/// One task. Its children are other tasks that name it as parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Unique in its scope.
    pub id: TaskId,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// The plan it comes from, inherited from the parent.
    pub plan_file: Option<String>,
    /// The task's title, on one line.
    pub content: String,
    /// A longer description, on any number of lines.
    pub body: Option<String>,
    /// The task's place among its siblings.
    pub order: i64,
    /// The assigned agent.
    pub agent: Option<AgentName>,
    /// The stored status.
    pub status: TaskStatus,
    /// Its urgency among its siblings.
    pub priority: TaskPriority,
    /// The tasks that must be closed before it.
    pub after: Vec<TaskId>,
    /// Those of them that are open. A store finds them out; they may belong to another plan.
    pub waits_for: Vec<TaskId>,
    /// The skill to work by; more than one separated by commas.
    pub skill: Option<String>,
    /// The pinned version of that skill.
    pub skill_version: Option<String>,
    /// Remarks.
    pub notes: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
}

impl Task {
    /// Tells whether it is not begun and a task that comes before it is open.
    pub fn is_waiting(&self) -> bool {
        self.status == TaskStatus::Pending && !self.waits_for.is_empty()
    }

    /// Returns the remarks with one more, unless it is among them already: a client may repeat each of
    /// several calls.
    pub fn notes_with(&self, note: &str) -> String {
        match self.notes.as_deref().unwrap_or_default() {
            "" => note.to_owned(),
            notes if format!("; {notes}; ").contains(&format!("; {note}; ")) => notes.to_owned(),
            notes => format!("{notes}; {note}"),
        }
    }

    /// Returns what people call the task: `Task 2` of `Task 2: Add login endpoint`.
    pub fn label(&self) -> &str {
        match self.content.split_once(':') {
            Some((label, _)) if starts_like_a_task(&self.content, |_| true) => label,
            _ => &self.content,
        }
    }

    /// Tells whether the content reads `Task 2 …`.
    pub fn is_numbered(&self) -> bool {
        starts_like_a_task(&self.content, |c| c.is_ascii_digit())
    }
}

/// Tells whether a text reads `Task`, blanks, and then a filled character that `next` accepts.
fn starts_like_a_task(text: &str, next: impl Fn(char) -> bool) -> bool {
    let Some(rest) =
        text.get(..4).filter(|word| word.eq_ignore_ascii_case("task")).map(|_| &text[4..])
    else {
        return false;
    };
    let number = rest.trim_start();
    number.len() < rest.len() && number.starts_with(|c: char| c != ':' && next(c))
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    /// Makes a task from `id parent order agent status content`, with `-` for nothing.
    pub(crate) fn task(line: &str) -> Task {
        let mut words = line.splitn(6, ' ');
        let mut word = || words.next().filter(|word| *word != "-");
        let id = TaskId::parse(word().unwrap()).unwrap();
        let parent = word().map(|id| TaskId::parse(id).unwrap());
        let order = word().unwrap().parse().unwrap();
        let agent = word().map(|name| AgentName::parse(name).unwrap());
        let status = TaskStatus::parse(word().unwrap()).unwrap();
        Task {
            id,
            parent,
            plan_file: Some("docs/plans/2025-12-24-authentication.md".to_owned()),
            content: word().unwrap().to_owned(),
            body: None,
            order,
            agent,
            status,
            priority: TaskPriority::Normal,
            after: Vec::new(),
            waits_for: Vec::new(),
            skill: None,
            skill_version: None,
            notes: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            completed_at: None,
        }
    }

    /// The seed's own example.
    pub(crate) const LOGIN: &str = "\
1 - 1 backend completed Task 1: Add user model
2 - 2 backend in_progress Task 2: Add login endpoint
2a 2 1 - completed Implementation
2b 2 2 spec-reviewer in_progress Spec review
2c 2 3 - pending Code quality review
3 - 3 - pending Task 3: Add JWT middleware";

    pub(crate) fn tasks(lines: &str) -> Vec<Task> {
        lines.lines().map(task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-4
    #[test]
    fn an_agents_trouble_is_its_open_tasks_trouble() {
        let cases = [
            (TaskStatus::Pending, None, "pending"),
            (TaskStatus::InProgress, Some(AgentStatus::Busy), "in progress"),
            (TaskStatus::InProgress, Some(AgentStatus::Blocked), "blocked"),
            (TaskStatus::Pending, Some(AgentStatus::Failed), "failed"),
            (TaskStatus::Completed, Some(AgentStatus::Failed), "completed"),
            (TaskStatus::Skipped, Some(AgentStatus::Blocked), "skipped"),
        ];
        for (status, agent, words) in cases {
            assert_eq!(TaskState::of(status, agent).words(), words, "{status:?} {agent:?}");
        }
    }

    // W-4
    #[test]
    fn a_task_is_judged_by_the_agent_that_holds_it() {
        let agent = |name: &str, status| Agent {
            name: AgentName::parse(name).unwrap(),
            client: "claude".to_owned(),
            status,
            session_id: None,
            owner: None,
            compacted_at: None,
            last_seen: None,
            archived_at: None,
        };
        let agents = [agent("a", AgentStatus::Busy), agent("b", AgentStatus::Failed)];
        for (holder, words) in
            [("a", "pending"), ("b", "failed"), ("c", "pending"), ("-", "pending")]
        {
            let task = fixture::task(&format!("1 - 1 {holder} pending x"));
            assert_eq!(TaskState::among(&agents, &task).words(), words, "{holder}");
        }
    }

    // W-33, W-34
    #[test]
    fn a_label_is_what_people_call_a_task() {
        let cases = [
            ("Task 2: Add login", "Task 2", true),
            ("task  12 add", "task  12 add", true),
            ("Task A: x", "Task A", false),
            ("Task: x", "Task: x", false),
            ("Tasks 1: x", "Tasks 1: x", false),
            ("Spec review", "Spec review", false),
            ("Tä", "Tä", false),
        ];
        for (content, label, numbered) in cases {
            let mut task = fixture::task("1 - 1 - pending x");
            task.content = content.to_owned();
            assert_eq!((task.label(), task.is_numbered()), (label, numbered), "{content}");
        }
    }
}
