//! Counts of tasks, and the line that replaces hidden ones.

use crate::task::tree::TaskNode;

/// How many tasks there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskCounts {
    /// Those that are open.
    pub open: usize,
    /// Those that are completed or skipped.
    pub closed: usize,
}

impl TaskCounts {
    /// Counts nodes with everything below them.
    pub fn of<'a>(nodes: impl IntoIterator<Item = &'a TaskNode>) -> Self {
        nodes.into_iter().fold(Self::default(), |tally, node| {
            let below = Self::of(&node.children);
            let own = Self {
                open: usize::from(!node.is_closed()),
                closed: usize::from(node.is_closed()),
            };
            tally.plus(below).plus(own)
        })
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { open: self.open + other.open, closed: self.closed + other.closed }
    }

    /// Returns the counts without some tasks.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self {
            open: self.open.saturating_sub(other.open),
            closed: self.closed.saturating_sub(other.closed),
        }
    }

    /// Renders the line that replaces hidden tasks.
    pub(super) fn line(self, which: &str) -> Option<String> {
        let Self { open, closed } = self;
        let number = open + closed;
        let tasks = if number == 1 { "task" } else { "tasks" };
        (number > 0).then(|| {
            format!(
                "- … {number} {which} {tasks} ({open} open, {closed} closed): `convoke task tree`"
            )
        })
    }
}
