//! Changes to tasks, with author and time.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::TaskStatus;
use super::id::TaskId;
use super::priority::TaskPriority;
use crate::scope::AgentName;

/// A task as it was at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskImage {
    /// The task's branch.
    pub branch: String,
    /// The task it was part of.
    pub parent: Option<TaskId>,
    /// The plan it came from.
    pub plan_file: Option<String>,
    /// The task's title.
    pub content: String,
    /// The longer description.
    pub body: Option<String>,
    /// The task's place among its siblings.
    pub order: i64,
    /// The assigned agent.
    pub agent: Option<AgentName>,
    /// The stored status; whether a task waits follows from others.
    pub status: TaskStatus,
    /// The urgency.
    pub priority: TaskPriority,
    /// The tasks that had to be closed before it.
    pub after: Vec<TaskId>,
    /// Remarks.
    pub notes: Option<String>,
    /// Whether it was removed.
    pub is_removed: bool,
}

/// One change to one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    /// The number of the step that it was part of; a step is undone as a whole.
    pub step: i64,
    /// When the step was taken.
    pub at: Timestamp,
    /// The agent that made the change.
    pub actor: AgentName,
    /// The changed task.
    pub task: TaskId,
    /// The earlier state; `None` if the task was added.
    pub before: Option<TaskImage>,
    /// The later state.
    pub after: TaskImage,
    /// Whether the step took an earlier one back.
    pub is_undo: bool,
    /// Whether a later step took this one back.
    pub is_undone: bool,
}

impl TaskChange {
    /// Describes the change of the task, in words that follow a name; empty if a person would not
    /// notice it.
    pub fn words(&self) -> String {
        let Some(before) = &self.before else { return "added".to_owned() };
        let after = &self.after;
        if before.is_removed != after.is_removed {
            return if after.is_removed { "removed" } else { "restored" }.to_owned();
        }
        let words = [
            (before.branch != after.branch).then(|| format!("moved from {}", before.branch)),
            (before.status != after.status).then(|| verb(after.status).to_owned()),
            (before.content != after.content).then(|| format!("renamed from “{}”", before.content)),
            (before.body != after.body).then(|| "edited the body of".to_owned()),
            place(before, after),
            (before.agent != after.agent).then(|| match &after.agent {
                Some(agent) => format!("assigned to @{agent}"),
                None => "unassigned".to_owned(),
            }),
            (before.priority != after.priority)
                .then(|| format!("set to {} priority", after.priority.name())),
            (before.after != after.after).then(|| match &after.after[..] {
                [] => "freed from prerequisites".to_owned(),
                ids => format!("put after {}", list(ids)),
            }),
            (before.notes != after.notes).then(|| "noted".to_owned()),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

const fn verb(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "reopened",
        TaskStatus::InProgress => "started",
        TaskStatus::Completed => "completed",
        TaskStatus::Skipped => "skipped",
    }
}

/// Describes a new place; a new parent implies one, so it is left out then.
fn place(before: &TaskImage, after: &TaskImage) -> Option<String> {
    match &after.parent {
        Some(parent) if before.parent != after.parent => Some(format!("moved below {parent}")),
        None if before.parent.is_some() => Some("moved to the top".to_owned()),
        Some(_) | None => (before.order != after.order).then(|| "reordered".to_owned()),
    }
}

fn list(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

/// Joins the changes of one step to one task, and leaves out what changed nothing. Takes and
/// returns changes in the order in which they happened.
pub fn joined(changes: Vec<TaskChange>) -> Vec<TaskChange> {
    let mut joined: Vec<TaskChange> = Vec::new();
    let mut places = BTreeMap::new();
    for change in changes {
        let place = *places.entry((change.step, change.task.clone())).or_insert(joined.len());
        match joined.get_mut(place) {
            Some(known) => known.after = change.after,
            None => joined.push(change),
        }
    }
    joined.retain(|change| !change.words().is_empty());
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> TaskImage {
        TaskImage {
            branch: "main".to_owned(),
            parent: None,
            plan_file: None,
            content: "Old".to_owned(),
            body: None,
            order: 1,
            agent: None,
            status: TaskStatus::Pending,
            priority: TaskPriority::Normal,
            after: Vec::new(),
            notes: None,
            is_removed: false,
        }
    }

    fn change(before: Option<TaskImage>, after: TaskImage) -> TaskChange {
        TaskChange {
            step: 1,
            at: Timestamp::UNIX_EPOCH,
            actor: AgentName::human(),
            task: TaskId::parse("t-1").unwrap(),
            before,
            after,
            is_undo: false,
            is_undone: false,
        }
    }

    #[test]
    fn a_change_is_described_in_words() {
        let id = |id: &str| TaskId::parse(id).unwrap();
        let june = Some(AgentName::known("june"));
        let some = |text: &str| Some(text.to_owned());
        for (after, words) in [
            (image(), ""),
            (TaskImage { status: TaskStatus::Completed, ..image() }, "completed"),
            (TaskImage { content: "New".into(), ..image() }, "renamed from “Old”"),
            (TaskImage { body: some("x"), ..image() }, "edited the body of"),
            (TaskImage { parent: Some(id("t-2")), order: 7, ..image() }, "moved below t-2"),
            (TaskImage { order: 2, ..image() }, "reordered"),
            (TaskImage { agent: june, ..image() }, "assigned to @june"),
            (TaskImage { priority: TaskPriority::High, ..image() }, "set to high priority"),
            (TaskImage { after: vec![id("a"), id("b")], ..image() }, "put after a, b"),
            (TaskImage { notes: some("x"), ..image() }, "noted"),
            (TaskImage { is_removed: true, ..image() }, "removed"),
            (TaskImage { branch: "x".into(), ..image() }, "moved from main"),
        ] {
            assert_eq!(change(Some(image()), after).words(), words);
        }
        assert_eq!(change(None, image()).words(), "added");
    }

    #[test]
    fn changes_of_one_step_are_one() {
        let renamed = TaskImage { content: "New".into(), ..image() };
        let moved = TaskImage { order: 2, ..renamed.clone() };
        let changes = vec![
            change(Some(image()), renamed.clone()),
            change(Some(renamed), moved.clone()),
            TaskChange { step: 2, ..change(Some(moved.clone()), moved) },
        ];
        let joined = joined(changes);
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].words(), "renamed from “Old”, reordered");
    }
}
