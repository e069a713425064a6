//! What a worker process says on its standard output: a JSON document on each line.
//!
//! A worker is the same program as the process that reads it, so this form is for no other reader.

use std::sync::Arc;

use convoke_domain::design::heavy::{GiveUpReason, WorkerResult};
use serde::{Deserialize, Serialize};

use crate::observer::{Observer, Progress};

/// Prints one line of a worker and flushes it, so that it is there even if the worker is killed.
pub type PrintLine = Arc<dyn Fn(&str) + Send + Sync>;

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkerLevel {
    Note,
    Message,
    Remark,
    Aside,
    Warning,
    TelemetryLost,
    Hint,
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
enum WorkerEndBody {
    Complete,
    Failed { reason: String },
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkerLine {
    Told {
        level: WorkerLevel,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        text: String,
    },
    Ended(WorkerEndBody),
}

impl WorkerLine {
    fn print(&self, print: &PrintLine) {
        // None of these types can fail.
        print(&serde_json::to_string(self).unwrap_or_default());
    }
}

/// Passes on what a worker tells.
pub(super) struct WorkerObserver {
    pub(super) print: PrintLine,
}

impl Observer for WorkerObserver {
    fn observe(&self, source: Option<&str>, progress: &Progress) {
        let (level, text) = match progress {
            Progress::Note(text) => (WorkerLevel::Note, text),
            Progress::Message(text) => (WorkerLevel::Message, text),
            Progress::Remark(text) => (WorkerLevel::Remark, text),
            Progress::Aside(text) => (WorkerLevel::Aside, text),
            Progress::Warning(text) => (WorkerLevel::Warning, text),
            Progress::TelemetryLost(text) => (WorkerLevel::TelemetryLost, text),
            Progress::Hint(text) => (WorkerLevel::Hint, text),
            // The process that started the worker shows its lanes from the store, and no worker waits for a limit.
            Progress::Lane(_) | Progress::LaneOver | Progress::Waiting(_) => return,
        };
        let source = source.map(str::to_owned);
        WorkerLine::Told { level, source, text: text.clone() }.print(&self.print);
    }
}

/// Prints how a worker ended, as its last line.
pub(super) fn print_end(result: &WorkerResult, print: &PrintLine) {
    let body = match result {
        WorkerResult::Complete => WorkerEndBody::Complete,
        WorkerResult::Failed(reason) => {
            WorkerEndBody::Failed { reason: reason.as_str().to_owned() }
        }
    };
    WorkerLine::Ended(body).print(print);
}

/// What a worker said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WorkerReport {
    /// Its messages, each with whom it is about.
    pub(super) told: Vec<(Option<String>, Progress)>,
    /// How it ended; nothing if it did not say so in its last line.
    pub(super) result: Option<WorkerResult>,
}

impl WorkerReport {
    /// Reads a worker's output. Convoke repeats a line that it cannot read as a message.
    pub(super) fn read(said: &str) -> Self {
        let mut report = Self::default();
        for line in said.lines() {
            // Only the last line says how a worker ended.
            report.result = None;
            match serde_json::from_str(line) {
                Ok(WorkerLine::Told { level, source, text }) => {
                    report.told.push((source, level.progress(text)));
                }
                Ok(WorkerLine::Ended(WorkerEndBody::Complete)) => {
                    report.result = Some(WorkerResult::Complete);
                }
                Ok(WorkerLine::Ended(WorkerEndBody::Failed { reason })) => {
                    report.result = GiveUpReason::parse(&reason).map(WorkerResult::Failed);
                }
                Err(_) => report.told.push((None, Progress::Message(line.to_owned()))),
            }
        }
        report
    }

    /// Tells whether the worker has warned that a collector did not take all telemetry.
    pub(super) fn has_lost_telemetry(&self) -> bool {
        self.told.iter().any(|(_, progress)| matches!(progress, Progress::TelemetryLost(_)))
    }
}

impl WorkerLevel {
    const fn progress(self, text: String) -> Progress {
        match self {
            Self::Note => Progress::Note(text),
            Self::Message => Progress::Message(text),
            Self::Remark => Progress::Remark(text),
            Self::Aside => Progress::Aside(text),
            Self::Warning => Progress::Warning(text),
            Self::TelemetryLost => Progress::TelemetryLost(text),
            Self::Hint => Progress::Hint(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    fn printed(tell: impl FnOnce(&PrintLine)) -> String {
        let lines = Arc::new(Mutex::new(String::new()));
        let kept = lines.clone();
        let print: PrintLine = Arc::new(move |line: &str| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_str(line);
            kept.push('\n');
        });
        tell(&print);
        let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.clone()
    }

    #[test]
    fn messages_keep_their_level_and_their_source() {
        let texts = |text: &str| text.to_owned();
        let all = [
            Progress::Note(texts("n")),
            Progress::Message(texts("two\nlines: cannot send all telemetry")),
            Progress::Remark(texts("r")),
            Progress::Aside(texts("a")),
            Progress::Warning(texts("w \u{2028}\"")),
            Progress::Hint(texts("h")),
        ];
        let said = printed(|print| {
            let observer = WorkerObserver { print: print.clone() };
            for progress in &all {
                observer.observe(Some("codex"), progress);
            }
            observer.observe(None, &Progress::LaneOver);
            print_end(&WorkerResult::gave_up("dirty-tree"), print);
        });
        let report = WorkerReport::read(&said);
        let expected: Vec<_> =
            all.into_iter().map(|progress| (Some(texts("codex")), progress)).collect();
        assert_eq!(report.told, expected);
        assert_eq!(report.result, Some(WorkerResult::gave_up("dirty-tree")));
        assert!(!report.has_lost_telemetry(), "the words of a message decide nothing");
    }

    #[test]
    fn telemetry_that_was_lost_is_known_by_its_type() {
        let said = printed(|print| {
            let observer = WorkerObserver { print: print.clone() };
            observer.observe(None, &Progress::TelemetryLost("in other words".to_owned()));
        });
        assert!(WorkerReport::read(&said).has_lost_telemetry());
    }

    #[test]
    fn only_the_last_line_says_how_a_worker_ended() {
        let complete = printed(|print| print_end(&WorkerResult::Complete, print));
        let result = |said: &str| WorkerReport::read(said).result;
        assert_eq!(result(&complete), Some(WorkerResult::Complete));
        let failed = printed(|print| print_end(&WorkerResult::gave_up("x"), print));
        assert_eq!(result(&format!("{complete}{failed}")), Some(WorkerResult::gave_up("x")));
        for said in [
            "",
            "DESIGN_HEAVY=complete\n",
            &format!("{complete}more\n"),
            &format!("{complete}\n"),
            r#"{"ended":{"result":"failed","reason":"two words"}}"#,
            r#"{"ended":{"result":"failed"}}"#,
            r#"{"ended":{"result":"done"}}"#,
        ] {
            assert_eq!(result(said), None, "{said:?}");
        }
        let broken = WorkerReport::read("thread panicked\n");
        assert_eq!(broken.told, [(None, Progress::Message("thread panicked".to_owned()))]);
    }
}
