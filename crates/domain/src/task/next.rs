//! Chooses the task to start next.

use super::tree::{TaskNode, current_path_of, in_turn};
use super::{TaskState, TaskStatus};
use crate::scope::AgentName;

/// The agent or person that starts a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginner<'a> {
    /// A person, or the agent that leads the others: they may begin what any agent holds.
    Leader,
    /// An agent that is offered its own tasks first, then those that no agent holds.
    Agent(&'a AgentName),
}

/// Returns the task to begin next: the first of the highest priority that is not begun, waits for
/// no other, and has no open parts. Parts of a started task come first. A wake-up, `task next` and
/// `task start` all choose by this rule.
pub fn next_to_begin<'a>(nodes: &'a [TaskNode], beginner: Beginner<'_>) -> Option<&'a TaskNode> {
    let Beginner::Agent(agent) = beginner else {
        return first_pending(nodes, &|_| true);
    };
    let own = current_path_of(nodes, agent);
    let own =
        own.last().copied().filter(|leaf| leaf.state == TaskState::Stored(TaskStatus::Pending));
    own.or_else(|| first_pending(nodes, &|holder| holder.is_none_or(|holder| holder == agent)))
}

fn first_pending<'a>(
    nodes: &'a [TaskNode],
    may_begin: &dyn Fn(Option<&AgentName>) -> bool,
) -> Option<&'a TaskNode> {
    in_turn(nodes).filter(|node| node.is_ready()).find_map(|node| {
        if node.children.iter().any(|part| !part.is_closed()) {
            return first_pending(&node.children, may_begin);
        }
        let is_pending = node.state == TaskState::Stored(TaskStatus::Pending);
        (is_pending && may_begin(node.task.agent.as_ref())).then_some(node)
    })
}

/// Splits the roots into those of the plan that is being worked on and all others: tasks of the active
/// plan come first, as in a wake-up.
pub fn of_plan_first(roots: Vec<TaskNode>, plan: Option<&str>) -> (Vec<TaskNode>, Vec<TaskNode>) {
    roots.into_iter().partition(|root| root.task.plan_file.as_deref() == plan)
}

/// Why no task can be begun: how many tasks without open parts are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Obstacles {
    /// Begun and not closed.
    pub begun: usize,
    /// Behind an open task.
    pub waiting: usize,
    /// Open, and held by other agents, or their agents are in trouble.
    pub held: usize,
    /// Open, and their plan is cancelled.
    pub cancelled: usize,
}

impl Obstacles {
    /// Counts the open tasks.
    pub fn among(nodes: &[TaskNode]) -> Self {
        let mut found = Self::default();
        let is_cancelled = |node: &&TaskNode| node.state == TaskState::Cancelled;
        for node in nodes.iter().filter(is_cancelled) {
            found.cancelled += Self::among(&node.children).cancelled.max(1);
        }
        for node in nodes.iter().filter(|node| !node.is_closed()) {
            if node.state == TaskState::Waiting {
                found.waiting += 1;
            } else if node.children.iter().any(|part| !part.is_closed()) {
                let below = Self::among(&node.children);
                found.begun += below.begun;
                found.waiting += below.waiting;
                found.held += below.held;
                found.cancelled += below.cancelled;
            } else if node.state == TaskState::Stored(TaskStatus::InProgress) {
                found.begun += 1;
            } else {
                found.held += 1;
            }
        }
        found
    }

    /// Describes it in a sentence.
    pub fn words(self) -> String {
        let counts = [
            (self.begun, "in progress"),
            (self.waiting, "waiting for an open task"),
            (self.held, "assigned to other agents"),
            (self.cancelled, "of a cancelled plan"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = counts.map(|(count, words)| format!("{count} {words}")).collect();
        if words.is_empty() { "every task is closed".to_owned() } else { words.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::tasks;
    use super::super::id::TaskId;
    use super::super::priority::TaskPriority;
    use super::super::tree::trees;
    use super::*;

    #[test]
    fn next_is_what_can_be_begun_and_nothing_else() {
        for (reader, lines, expected) in [
            ("human", "1 - 1 - pending a\n2 - 2 - pending b", Some("1")),
            ("human", "1 - 1 - in_progress a\n2 - 2 - pending b", Some("2")),
            ("human", "1 - 1 - pending >a\n2 - 2 - pending b", Some("2")),
            ("human", "1 - 1 - pending a\n2 - 2 - pending !b", Some("2")),
            ("human", "1 - 1 - in_progress a\n1a 1 1 - pending x", Some("1a")),
            ("human", "1 - 1 - pending >a\n1a 1 1 - pending x", None),
            ("human", "1 - 1 - pending a\n1a 1 1 - completed x", Some("1")),
            ("june", "1 - 1 max pending a\n2 - 2 june pending b", Some("2")),
            ("human", "1 - 1 max pending a\n2 - 2 june pending b", Some("1")),
            ("june", "1 - 1 max pending a", None),
            ("human", "1 - 1 - completed a", None),
            // An agent continues its own tasks before it takes unassigned ones.
            ("june", "1 - 1 - pending a\n2 - 2 june pending b", Some("2")),
            ("june", "1 - 1 - pending a\n2 - 2 june in_progress b", Some("1")),
            (
                "human",
                "1 - 1 - pending a\n1a 1 1 - in_progress x\n1b 1 2 - pending y\n2 - 2 - pending !b",
                Some("1b"),
            ),
        ] {
            let mut tasks = tasks(lines);
            for task in &mut tasks {
                if task.content.starts_with('!') {
                    task.priority = TaskPriority::High;
                } else if task.content.starts_with('>') {
                    task.waits_for = vec![TaskId::parse("other").unwrap()];
                }
            }
            let roots = trees(tasks, |task| TaskState::among(&[], task));
            let name = AgentName::known(reader);
            let beginner = if name.is_human() { Beginner::Leader } else { Beginner::Agent(&name) };
            let next = next_to_begin(&roots, beginner);
            assert_eq!(next.map(|node| node.task.id.as_str()), expected, "{reader}: {lines}");
        }
    }

    #[test]
    fn why_nothing_can_be_begun_is_counted() {
        let lines = "1 - 1 - in_progress a\n1a 1 1 - in_progress x\n2 - 2 max pending b";
        let roots = trees(tasks(lines), |task| TaskState::among(&[], task));
        let found = Obstacles::among(&roots);
        assert_eq!(found.words(), "1 in progress, 1 assigned to other agents");
        assert_eq!(Obstacles::default().words(), "every task is closed");
    }
}
