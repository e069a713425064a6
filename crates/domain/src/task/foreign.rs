//! Tasks as three earlier programs kept them, and what their words mean here.

use super::TaskStatus;

/// An earlier program's fields about a task's progress. Each program kept only some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForeignState<'a> {
    /// A status in words.
    pub status: Option<&'a str>,
    /// How it ended.
    pub result: Option<&'a str>,
    /// Whether an agent or person was assigned.
    pub assigned: bool,
    /// Whether it has a time of completion.
    pub completed: bool,
}

impl ForeignState<'_> {
    /// Returns the equivalent status: by its word, else by its result, else by assignment and
    /// completion.
    pub fn status(self) -> TaskStatus {
        match (self.status, self.result) {
            (Some("open"), _) => TaskStatus::Pending,
            (Some("in_progress"), _) => TaskStatus::InProgress,
            (Some("closed"), _) | (_, Some("completed")) => TaskStatus::Completed,
            (_, Some("skipped")) => TaskStatus::Skipped,
            _ if self.completed => TaskStatus::Completed,
            _ if self.assigned => TaskStatus::InProgress,
            _ => TaskStatus::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-3
    #[test]
    fn the_words_of_three_schemas_are_understood() {
        let state = |status, result, assigned, completed| {
            ForeignState { status, result, assigned, completed }.status()
        };
        for (found, expected) in [
            // Without a status: the assignee and the time of completion decide.
            (state(None, None, false, false), TaskStatus::Pending),
            (state(None, None, true, false), TaskStatus::InProgress),
            (state(None, None, true, true), TaskStatus::Completed),
            (state(None, None, false, true), TaskStatus::Completed),
            // A result, else as before.
            (state(None, Some("completed"), false, true), TaskStatus::Completed),
            (state(None, Some("skipped"), true, true), TaskStatus::Skipped),
            (state(None, Some(""), true, false), TaskStatus::InProgress),
            // A status in words.
            (state(Some("open"), None, true, false), TaskStatus::Pending),
            (state(Some("in_progress"), None, false, false), TaskStatus::InProgress),
            (state(Some("closed"), None, false, false), TaskStatus::Completed),
        ] {
            assert_eq!(found, expected);
        }
    }
}
