//! Tasks as three earlier programs kept them, and what their words mean here.

use super::Status;

/// What an earlier program kept about how far a task is. Each kept only some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForeignState<'a> {
    /// A status in words.
    pub status: Option<&'a str>,
    /// How it ended.
    pub result: Option<&'a str>,
    /// Whether somebody was to do it.
    pub assigned: bool,
    /// Whether it has a time of completion.
    pub completed: bool,
}

impl ForeignState<'_> {
    /// Returns the status that this amounts to: by its word, else by how it ended, else by who had
    /// it and whether it was done.
    pub fn status(self) -> Status {
        match (self.status, self.result) {
            (Some("open"), _) => Status::Pending,
            (Some("in_progress"), _) => Status::InProgress,
            (Some("closed"), _) | (_, Some("completed")) => Status::Completed,
            (_, Some("skipped")) => Status::Skipped,
            _ if self.completed => Status::Completed,
            _ if self.assigned => Status::InProgress,
            _ => Status::Pending,
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
            // No status at all: who has it, and whether it is done.
            (state(None, None, false, false), Status::Pending),
            (state(None, None, true, false), Status::InProgress),
            (state(None, None, true, true), Status::Completed),
            (state(None, None, false, true), Status::Completed),
            // A result, else as before.
            (state(None, Some("completed"), false, true), Status::Completed),
            (state(None, Some("skipped"), true, true), Status::Skipped),
            (state(None, Some(""), true, false), Status::InProgress),
            // A status in words.
            (state(Some("open"), None, true, false), Status::Pending),
            (state(Some("in_progress"), None, false, false), Status::InProgress),
            (state(Some("closed"), None, false, false), Status::Completed),
        ] {
            assert_eq!(found, expected);
        }
    }
}
