//! The display of a running lane: on a terminal one moving line, elsewhere plain lines.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use convoke_domain::lane::event::LaneEvent;
use convoke_domain::text::one_line;
use convoke_service::lane::LaneProgress;
use convoke_service::session::Session;
use jiff::Timestamp;

use crate::output::Voice;
use crate::terminal::activity::LaneActivity;
use crate::terminal::repeats::LaneLines;

/// How often the line moves without a new event.
const TICK: Duration = Duration::from_secs(1);

/// How much of a tool's name is shown, so that the line stays one line.
const MOST_SHOWN: usize = 30;

/// The state of a running lane.
#[derive(Debug)]
struct Status {
    since: Timestamp,
    activity: LaneActivity,
    lines: LaneLines,
    /// Whether it waits for the end of a limit, which has a line of its own.
    is_parked: bool,
}

/// One line of the terminal that is drawn again and again.
pub(super) struct Live<'a> {
    voice: &'a Voice,
    session: &'a Session,
    status: Mutex<Status>,
}

/// Moves the line until it is dropped.
pub(super) struct Ticking {
    _until: Sender<()>,
}

impl Status {
    fn new(since: Timestamp) -> Self {
        Self {
            since,
            activity: LaneActivity::default(),
            lines: LaneLines::default(),
            is_parked: false,
        }
    }

    fn line(&self, now: Timestamp) -> String {
        let seconds = now.duration_since(self.since).as_secs().max(0);
        let LaneActivity { usage, tool, tools } = &self.activity;
        let tokens = usage.map_or(String::new(), |usage| format!(", {} tokens", usage.tokens()));
        let tool = tool.as_ref().map_or(String::new(), |name| {
            let name: String = one_line(name).chars().take(MOST_SHOWN).collect();
            format!(", tool {tools}: {name}")
        });
        format!("{seconds} s{tokens}{tool}")
    }
}

impl<'a> Live<'a> {
    pub(super) fn new(voice: &'a Voice, session: &'a Session) -> Self {
        Self { voice, session, status: Mutex::new(Status::new(session.now())) }
    }

    /// Takes in what happens to the lane.
    pub(super) fn hear(&self, progress: &LaneProgress<'_>) {
        match progress {
            LaneProgress::Said(event) => self.notice(event),
            LaneProgress::Parked => self.status().is_parked = true,
            LaneProgress::Began(_) => *self.status() = Status::new(self.session.now()),
        }
    }

    /// Shows an event.
    fn notice(&self, event: &LaneEvent) {
        let mut status = self.status();
        status.activity.take(event);
        // The line itself shows the last tool.
        let tool = progress_line(event).filter(|_| matches!(event, LaneEvent::Tool(_)));
        let lines = status.lines.take(event);
        drop(status);
        for line in lines.iter().filter(|line| Some(*line) != tool.as_ref()) {
            self.voice.say(line);
        }
        self.draw();
    }

    /// Draws the line every second, until the returned value is dropped.
    pub(super) fn tick<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Ticking {
        let (sender, receiver) = channel::<()>();
        scope.spawn(move || {
            self.draw();
            while matches!(receiver.recv_timeout(TICK), Err(error) if is_tick(error)) {
                self.draw();
            }
        });
        Ticking { _until: sender }
    }

    /// Draws the line once more, where it stays.
    pub(super) fn end(&self) {
        let repeated = self.status().lines.end();
        if let Some(line) = repeated {
            self.voice.say(&line);
        }
        self.draw();
    }

    fn draw(&self) {
        let status = self.status();
        if status.is_parked {
            return;
        }
        let line = status.line(self.session.now());
        drop(status);
        self.voice.draw(&line);
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_tick(error: std::sync::mpsc::RecvTimeoutError) -> bool {
    error == std::sync::mpsc::RecvTimeoutError::Timeout
}

/// Returns the line for an event that is worth showing while the agent works.
pub(crate) fn progress_line(event: &LaneEvent) -> Option<String> {
    let line = match event {
        LaneEvent::Session(id) => format!("session {id}"),
        LaneEvent::Tool(name) => format!("uses {name}"),
        LaneEvent::Trouble(failure) => format!("trouble: {failure}"),
        LaneEvent::Model(_)
        | LaneEvent::Rights(_)
        | LaneEvent::Text(_)
        | LaneEvent::Usage(_)
        | LaneEvent::Ended(_) => {
            return None;
        }
    };
    Some(one_line(&line))
}

#[cfg(test)]
mod tests {
    use convoke_domain::lane::event::Usage;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_line_says_how_long_how_much_and_what_last() {
        let mut status = Status::new(at(100));
        assert_eq!(status.line(at(100)), "0 s");
        assert_eq!(status.line(at(90)), "0 s", "a clock that was set");
        status.activity.take(&LaneEvent::Tool("Read".to_owned()));
        status.activity.take(&LaneEvent::Usage(Usage {
            input: 2400,
            output: 84,
            ..Usage::default()
        }));
        status.activity.take(&LaneEvent::Tool("Grep\u{1b}[2J\nanswered".to_owned()));
        status.activity.take(&LaneEvent::Text("Let me see.".to_owned()));
        assert_eq!(status.line(at(112)), "12 s, 2484 tokens, tool 2: Grep [2J answered");
    }

    #[test]
    fn every_event_is_one_short_line() {
        for name in ["", "\r\n\t\0", "\u{1b}]0;x\u{7}", "a\u{2028}b\u{85}c", &"ü".repeat(500)] {
            let mut status = Status::new(at(0));
            status.activity.take(&LaneEvent::Tool(name.to_owned()));
            let line = status.line(at(1));
            assert!(!line.contains(char::is_control) && line.chars().count() < 70, "{line:?}");
            let said = progress_line(&LaneEvent::Tool(name.to_owned())).unwrap();
            let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
            assert!(!said.contains(breaks), "{said:?}");
        }
    }
}
