//! A use case's messages to its front end while it runs.

use std::sync::Arc;

use convoke_domain::lane::event::LaneEvent;

/// A message for the user. A command's result is in its report, not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Good to know while waiting; a front end that only prints data leaves it out.
    Note(String),
    /// A step of the work that every front end shows.
    Message(String),
    /// Something to know that every front end shows as a remark.
    Remark(String),
    /// A remark that a front end which only prints data leaves out.
    Aside(String),
    /// Something went wrong that does not end the use case.
    Warning(String),
    /// The warning that a collector did not take all telemetry.
    TelemetryLost(String),
    /// The remedy for the last warning or note.
    Hint(String),
    /// An event of a client; a terminal shows it as a note.
    Lane(LaneEvent),
    /// The client of these events has ended.
    LaneOver,
    /// How long a wait still lasts; a terminal draws it on one line.
    Waiting(String),
}

/// Receives what use cases tell while they run, from any thread.
pub trait Observer: Send + Sync {
    /// Receives one message; `source` names who it is about where several work in parallel, such as
    /// an agent's name.
    fn observe(&self, source: Option<&str>, progress: &Progress);
}

/// An observer that drops all messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn observe(&self, _source: Option<&str>, _progress: &Progress) {}
}

/// An observer that leaves out notes.
pub struct QuietObserver {
    observer: Arc<dyn Observer>,
}

impl QuietObserver {
    /// Passes the rest on to this observer.
    pub fn new(observer: Arc<dyn Observer>) -> Self {
        Self { observer }
    }
}

impl Observer for QuietObserver {
    fn observe(&self, source: Option<&str>, progress: &Progress) {
        match progress {
            Progress::Note(_)
            | Progress::Aside(_)
            | Progress::Lane(_)
            | Progress::LaneOver
            | Progress::Waiting(_) => {}
            Progress::Message(_)
            | Progress::Remark(_)
            | Progress::Warning(_)
            | Progress::TelemetryLost(_)
            | Progress::Hint(_) => {
                self.observer.observe(source, progress);
            }
        }
    }
}

/// Tells an observer about one of several that work in parallel, or about the whole use case.
#[derive(Clone)]
pub struct Reporter {
    source: Option<String>,
    observer: Arc<dyn Observer>,
}

impl Reporter {
    /// Returns the reporter of a whole use case.
    pub fn new(observer: Arc<dyn Observer>) -> Self {
        Self { source: None, observer }
    }

    /// Returns a reporter whose every message carries a name.
    pub fn named(observer: Arc<dyn Observer>, source: impl Into<String>) -> Self {
        Self { source: Some(source.into()), observer }
    }

    /// Sends a note to the observer.
    pub fn note(&self, text: impl Into<String>) {
        self.tell(&Progress::Note(text.into()));
    }

    /// Tells a step of the work.
    pub fn say(&self, text: impl Into<String>) {
        self.tell(&Progress::Message(text.into()));
    }

    /// Tells something to know. The front end marks it as a remark.
    pub fn remark(&self, text: impl Into<String>) {
        self.tell(&Progress::Remark(text.into()));
    }

    /// Tells something to know, beside text only.
    pub fn aside(&self, text: impl Into<String>) {
        self.tell(&Progress::Aside(text.into()));
    }

    /// Reports a problem that does not end the use case.
    pub fn warn(&self, text: impl Into<String>) {
        self.tell(&Progress::Warning(text.into()));
    }

    /// Tells what the user can do.
    pub fn hint(&self, text: impl Into<String>) {
        self.tell(&Progress::Hint(text.into()));
    }

    /// Passes on a client's event.
    pub fn lane(&self, event: &LaneEvent) {
        self.tell(&Progress::Lane(event.clone()));
    }

    /// Tells that no more events of the client follow.
    pub fn lane_over(&self) {
        self.tell(&Progress::LaneOver);
    }

    /// Tells how long a wait still lasts.
    pub fn waiting(&self, text: impl Into<String>) {
        self.tell(&Progress::Waiting(text.into()));
    }

    /// Tells a message that is there already.
    pub fn tell(&self, progress: &Progress) {
        self.observer.observe(self.source.as_deref(), progress);
    }
}
