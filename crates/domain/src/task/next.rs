//! What to begin next.

use super::tree::{TaskNode, by_priority};
use super::{TaskState, TaskStatus};
use crate::scope::AgentName;

/// Returns the task to begin next: the first of the highest priority that is not begun, waits for no
/// other, has no open parts, and is held by `reader` or by no agent. A person may begin what any agent
/// holds.
pub fn next_to_begin<'a>(nodes: &'a [TaskNode], reader: &AgentName) -> Option<&'a TaskNode> {
    by_priority(nodes).filter(|node| node.is_ready()).find_map(|node| {
        if node.children.iter().any(|part| !part.is_closed()) {
            return next_to_begin(&node.children, reader);
        }
        let holder = node.task.agent.as_ref();
        let may_begin = reader.is_human() || holder.is_none_or(|holder| holder == reader);
        (may_begin && node.state == TaskState::Stored(TaskStatus::Pending)).then_some(node)
    })
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
}

impl Obstacles {
    /// Counts what is open.
    pub fn among(nodes: &[TaskNode]) -> Self {
        let mut found = Self::default();
        for node in nodes.iter().filter(|node| !node.is_closed()) {
            if node.state == TaskState::Waiting {
                found.waiting += 1;
            } else if node.children.iter().any(|part| !part.is_closed()) {
                let below = Self::among(&node.children);
                found.begun += below.begun;
                found.waiting += below.waiting;
                found.held += below.held;
            } else if node.state == TaskState::Stored(TaskStatus::InProgress) {
                found.begun += 1;
            } else {
                found.held += 1;
            }
        }
        found
    }

    /// Says it in a sentence.
    pub fn words(self) -> String {
        let counts = [
            (self.begun, "in progress"),
            (self.waiting, "waiting for an open task"),
            (self.held, "held by other agents"),
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
            let next = next_to_begin(&roots, &AgentName::known(reader));
            assert_eq!(next.map(|node| node.task.id.as_str()), expected, "{reader}: {lines}");
        }
    }

    #[test]
    fn why_nothing_can_be_begun_is_counted() {
        let lines = "1 - 1 - in_progress a\n1a 1 1 - in_progress x\n2 - 2 max pending b";
        let roots = trees(tasks(lines), |task| TaskState::among(&[], task));
        let found = Obstacles::among(&roots);
        assert_eq!(found.words(), "1 in progress, 1 held by other agents");
        assert_eq!(Obstacles::default().words(), "every task is closed");
    }
}
