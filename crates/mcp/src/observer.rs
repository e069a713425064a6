//! What a use case tells while it runs, collected for the result of the call.

use std::sync::{Mutex, PoisonError};

use convoke_service::observer::{Observer, Progress};

use crate::twins::with_tools;

/// The most notes that a result shows.
const MOST: usize = 5;

/// The longest note, in characters.
const LONGEST: usize = 300;

/// Keeps what every front end shows.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    lines: Mutex<Vec<String>>,
}

impl Notes {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Notes {
    fn observe(&self, _source: Option<&str>, progress: &Progress) {
        let line: String = match progress {
            Progress::Message(text) => text.clone(),
            Progress::Remark(text) => format!("note: {text}"),
            Progress::Warning(text) | Progress::TelemetryLost(text) => format!("warning: {text}"),
            Progress::Hint(_)
            | Progress::Note(_)
            | Progress::Aside(_)
            | Progress::Lane(_)
            | Progress::LaneOver
            | Progress::Waiting(_) => return,
        };
        let line = with_tools(&line).chars().take(LONGEST).collect();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // A tool that calls two use cases hears the same twice.
        if lines.len() < MOST && !lines.contains(&line) {
            lines.push(line);
        }
    }
}
