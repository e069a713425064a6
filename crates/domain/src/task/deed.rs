//! Records about a task: the roles that were sent to it, and their verdicts.
//!
//! A verdict is a deed that a person, an agent or `dispatch` recorded on purpose. Words in a
//! message are never one.

use std::fmt;

use jiff::Timestamp;

use super::id::TaskId;
use super::tree::TaskNode;
use super::{TaskState, TaskStatus};
use crate::scope::AgentName;

/// The kind of a deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeedKind {
    /// A role was sent to work on it; what comes of that is for others to judge.
    Work,
    /// A role was sent to judge it.
    Dispatched,
    /// A role found it done.
    Pass,
    /// A role found that it has to be done again.
    Fail,
    /// A role answered, and its answer is neither.
    NoVerdict,
}

impl DeedKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Work, Self::Dispatched, Self::Pass, Self::Fail, Self::NoVerdict];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Dispatched => "dispatched",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NoVerdict => "no_verdict",
        }
    }

    /// Returns the kind stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Describes the deed in words that follow an actor's name: `passed Spec review as
    /// spec-reviewer`.
    pub fn phrase(self, role: &DeedRole, task: &str) -> String {
        match self {
            Self::Work | Self::Dispatched => format!("dispatched {role} subagent"),
            Self::Pass => format!("passed {task} as {role}"),
            Self::Fail => format!("failed {task} as {role}"),
            Self::NoVerdict => format!("reached no verdict on {task} as {role}"),
        }
    }
}

/// The role of a deed: `spec-reviewer`, or a role of `dispatch` such as
/// `implement/security-reviewer`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeedRole(String);

/// A text that is not a role's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a role: it may contain `a-z`, `0-9`, `-`, `_`, `.` and `/`")]
pub struct InvalidDeedRole {
    given: String,
}

impl DeedRole {
    const LONGEST: usize = 128;

    /// Reads a role. A title such as `Task 2: Add login` is not a role.
    pub fn parse(given: &str) -> Result<Self, InvalidDeedRole> {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c);
        let begins = given.starts_with(|c: char| c.is_ascii_lowercase());
        if begins && given.len() <= Self::LONGEST && given.chars().all(word) {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidDeedRole { given: given.chars().take(Self::LONGEST).collect() })
        }
    }

    /// Returns the role as it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One deed, as stored. Deeds of a task are ordered by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDeed {
    /// The deed's number in the store.
    pub id: i64,
    /// The task it is about, and no other.
    pub task: TaskId,
    /// The deed's kind.
    pub kind: DeedKind,
    /// The role of the deed.
    pub role: DeedRole,
    /// The agent that recorded it.
    pub actor: AgentName,
    /// Why, in the recorder's words.
    pub reason: Option<String>,
    /// The message that came with it.
    pub message_id: Option<i64>,
    /// The dispatch that it came from: feature, command and round.
    pub run: Option<String>,
    /// When the deed was recorded.
    pub at: Timestamp,
    /// The member of the team who really recorded it; `None` in a store without a team, and for its
    /// owner.
    pub member: Option<String>,
}

/// The verdict by all deeds of one task. The last deed of each role counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskVerdict {
    /// Nothing is recorded.
    Unjudged,
    /// These roles were sent and have not answered.
    Awaiting(Vec<DeedRole>),
    /// These roles answered without a verdict.
    Undecided(Vec<DeedRole>),
    /// These roles found that it has to be done again.
    Failed(Vec<DeedRole>),
    /// Every role that was sent or judged has passed it; these are they.
    Passed(Vec<DeedRole>),
}

impl TaskVerdict {
    /// Sums up the deeds of one task, oldest first. The worst of all roles counts.
    pub fn of(deeds: &[TaskDeed]) -> Self {
        let mut last: Vec<&TaskDeed> = Vec::new();
        for deed in deeds {
            last.retain(|earlier| earlier.role != deed.role);
            last.push(deed);
        }
        // A role that judged after the work was begun has seen the work.
        let is_verdict = |deed: &&TaskDeed| {
            matches!(deed.kind, DeedKind::Pass | DeedKind::Fail | DeedKind::NoVerdict)
        };
        let judged = deeds.iter().rev().find(is_verdict).map_or(0, |deed| deed.id);
        last.retain(|deed| deed.kind != DeedKind::Work || deed.id > judged);
        let roles = |kind: DeedKind| {
            let of_kind = last.iter().filter(|deed| deed.kind == kind);
            let roles: Vec<_> = of_kind.map(|deed| deed.role.clone()).collect();
            (!roles.is_empty()).then_some(roles)
        };
        let failed = || roles(DeedKind::Fail).map(Self::Failed);
        let undecided = || roles(DeedKind::NoVerdict).map(Self::Undecided);
        let working = || roles(DeedKind::Work).map(Self::Awaiting);
        let awaiting = || roles(DeedKind::Dispatched).map(Self::Awaiting).or_else(working);
        let passed = || roles(DeedKind::Pass).map(Self::Passed);
        let worst = failed().or_else(undecided).or_else(awaiting).or_else(passed);
        worst.unwrap_or(Self::Unjudged)
    }
}

/// Describes a task's state in words that follow its name and a colon.
pub const fn state_words(state: TaskState) -> &'static str {
    match state {
        TaskState::Stored(TaskStatus::Pending) => "not started",
        TaskState::Stored(TaskStatus::InProgress | TaskStatus::Completed | TaskStatus::Skipped)
        | TaskState::Blocked
        | TaskState::Failed
        | TaskState::Waiting
        | TaskState::Cancelled => state.words(),
    }
}

/// Tells whether a task is open and has parts, all of them closed.
pub fn has_only_closed_parts(node: &TaskNode) -> bool {
    !node.is_closed() && !node.children.is_empty() && node.children.iter().all(TaskNode::is_closed)
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    /// Makes deeds of one task from words such as `pass spec-reviewer`.
    pub(crate) fn deeds(task: &str, lines: &[&str]) -> Vec<TaskDeed> {
        let deed = |(line, id): (&&str, i64)| {
            let (kind, role) = line.split_once(' ').unwrap();
            TaskDeed {
                id,
                task: TaskId::parse(task).unwrap(),
                kind: DeedKind::parse(kind).unwrap(),
                role: DeedRole::parse(role).unwrap(),
                actor: AgentName::human(),
                reason: None,
                message_id: None,
                run: None,
                at: Timestamp::UNIX_EPOCH,
                member: None,
            }
        };
        lines.iter().zip(1..).map(deed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::deeds;
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let names =
            |roles: Vec<DeedRole>| roles.iter().map(DeedRole::as_str).collect::<Vec<_>>().join(" ");
        let found = match TaskVerdict::of(&deeds("2b", lines)) {
            TaskVerdict::Unjudged => "unjudged".to_owned(),
            TaskVerdict::Awaiting(roles) => format!("awaiting {}", names(roles)),
            TaskVerdict::Undecided(roles) => format!("undecided {}", names(roles)),
            TaskVerdict::Failed(roles) => format!("failed {}", names(roles)),
            TaskVerdict::Passed(roles) => format!("passed {}", names(roles)),
        };
        assert_eq!(found, expected, "{lines:?}");
    }

    // W-38: a pass needs every role that was sent or judged; the last deed of a role counts.
    #[test]
    fn the_worst_of_all_roles_counts() {
        check(&[], "unjudged");
        check(&["dispatched spec"], "awaiting spec");
        check(&["dispatched spec", "pass spec"], "passed spec");
        check(&["pass spec", "pass quality"], "passed spec quality");
        check(&["pass spec", "dispatched quality"], "awaiting quality");
        check(&["pass spec", "fail quality"], "failed quality");
        check(&["fail spec", "pass spec"], "passed spec");
        check(&["pass spec", "dispatched spec"], "awaiting spec");
        check(&["pass spec", "no_verdict spec"], "undecided spec");
        check(&["work implementer"], "awaiting implementer");
        check(&["work implementer", "dispatched spec"], "awaiting spec");
        check(&["work implementer", "dispatched spec", "pass spec"], "passed spec");
        check(&["work implementer", "fail spec", "work implementer"], "failed spec");
        check(&["pass spec", "work implementer"], "awaiting implementer");
        check(&["dispatched quality", "pass spec"], "awaiting quality");
        check(&["pass a", "no_verdict b", "fail c", "dispatched d"], "failed c");
        check(&["pass a", "no_verdict b", "dispatched d"], "undecided b");
    }

    #[test]
    fn a_title_is_no_role() {
        for role in ["spec-reviewer", "implement/security-reviewer", "qa_2", "a"] {
            assert_eq!(DeedRole::parse(role).unwrap().as_str(), role);
        }
        let long = "x".repeat(129);
        for role in ["", "Task 2: Add login", "task-2:-add-login", "a b", "-x", "É", "a\nb", &long]
        {
            assert!(DeedRole::parse(role).is_err(), "{role}");
        }
    }
}
