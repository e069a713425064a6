//! Output listeners, and their common state: the messages so far, and the additions from stderr and
//! the exit.

use convoke_domain::lane::event::{
    FailureKind, GrantedRights, LaneEvent, LaneFailure, TurnEnd, Usage,
};

use super::failure::{complaint, failure, readable};
use crate::lane::supervisor::LONGEST_LINE;

/// The unit in which messages give the lengths of lines.
const MEGABYTE: u64 = 1024 * 1024;

/// Turns a client's lines into events. A line that is not understood is passed over.
pub trait Listener: Send {
    /// Takes in a line of stdout.
    fn stdout_line(&mut self, line: &str) -> Vec<LaneEvent>;
    /// Takes in that a line of stdout was too long to be read, and how long it was, in bytes.
    fn long_line(&mut self, bytes: u64) -> Vec<LaneEvent>;
    /// Takes in a line of stderr.
    fn stderr_line(&mut self, line: &str) -> Vec<LaneEvent>;
    /// Takes in that the process ended, with a code unless a signal ended it. For some clients,
    /// only this shows how a turn ended. An end reported now replaces an earlier one, because it
    /// knows more.
    fn exited(&mut self, code: Option<i32>) -> Vec<LaneEvent>;
    /// Tells whether the last line only reported trouble that the client tries to get over, such as
    /// a lost connection: the agent made no progress.
    fn only_complains(&self) -> bool;
}

/// One client's output format.
pub(super) trait Dialect: Send {
    /// Takes in a line of stdout; `None` if it means nothing.
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()>;

    /// Forgets the pieces of a message: one of them could not be read.
    fn forget(&mut self) {}

    /// Returns what a line of stderr complains of.
    fn complaint(&self, line: &str) -> Option<LaneFailure> {
        complaint(line)
    }

    /// Takes in the end of the process. A turn that did not end by then has been left.
    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(None)) {
            said.trouble(failure);
        }
    }
}

/// The messages in order, and which of them are still to be passed on.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: Vec<LaneEvent>,
    session: Option<String>,
    model: Option<String>,
    has_ended: bool,
    /// Since the agent last spoke or acted.
    has_known_trouble: bool,
    /// Whether the present line reports trouble, passed on or not.
    has_trouble: bool,
}

impl EventQueue {
    /// The session has this name. Most clients repeat it in every line.
    pub(super) fn session(&mut self, id: &str) {
        if !id.is_empty() && self.session.as_deref() != Some(id) {
            self.session = Some(id.to_owned());
            self.events.push(LaneEvent::Session(id.to_owned()));
        }
    }

    /// This model answers.
    pub(super) fn model(&mut self, name: &str) {
        if !name.is_empty() && self.model.as_deref() != Some(name) {
            self.model = Some(name.to_owned());
            self.events.push(LaneEvent::Model(name.to_owned()));
        }
    }

    /// Records the agent's rights.
    pub(super) fn rights(&mut self, granted: GrantedRights) {
        self.events.push(LaneEvent::Rights(granted));
    }

    /// Records a text of the agent.
    pub(super) fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.has_known_trouble = false;
            self.events.push(LaneEvent::Text(text.to_owned()));
        }
    }

    /// Records the use of a tool.
    pub(super) fn tool(&mut self, name: &str) {
        self.has_known_trouble = false;
        self.events.push(LaneEvent::Tool(name.to_owned()));
    }

    /// This was spent.
    pub(super) fn usage(&mut self, usage: Usage) {
        self.events.push(LaneEvent::Usage(usage));
    }

    /// Records an error. One of unknown kind must not hide one of a known kind.
    pub(super) fn trouble(&mut self, failure: LaneFailure) {
        let is_known = failure.kind != FailureKind::Other;
        // A long line is output.
        self.has_trouble |= failure.kind != FailureKind::LongLine;
        if is_known || !self.has_known_trouble {
            self.has_known_trouble |= is_known;
            self.events.push(LaneEvent::Trouble(failure));
        }
    }

    /// Records that the turn succeeded.
    pub(super) fn ends_well(&mut self, answer: Option<String>) {
        self.ends(TurnEnd { answer, failure: None });
    }

    /// Records that the turn failed.
    pub(super) fn ends_in(&mut self, failure: LaneFailure) {
        self.ends(TurnEnd { answer: None, failure: Some(failure) });
    }

    fn ends(&mut self, ended: TurnEnd) {
        self.has_ended = true;
        self.events.push(LaneEvent::Ended(ended));
    }

    /// Tells whether a turn ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// The end of a process.
#[derive(Debug)]
pub(super) struct Exit {
    /// Its code; none if a signal ended it.
    pub(super) code: Option<i32>,
    /// The complaint on stderr since the agent's last message.
    pub(super) complaint: Option<LaneFailure>,
    /// Other text on stderr.
    words: Option<String>,
}

impl Exit {
    /// Returns what went wrong: by the code where that tells, else by what stderr complained of,
    /// else by its words. A signal says nothing about the client.
    pub(super) fn failure(&self, by_code: Option<FailureKind>) -> Option<LaneFailure> {
        let code = self.code.filter(|code| *code != 0)?;
        let kind = by_code.or(self.complaint.as_ref().map(|failure| failure.kind));
        let message = self.complaint.as_ref().map(|failure| failure.message.clone());
        let message = message.or_else(|| self.words.clone());
        let message = message.unwrap_or_else(|| format!("the client exited with code {code}"));
        Some(failure(kind.unwrap_or(FailureKind::Other), &message))
    }
}

/// Listens to a client's output in a dialect.
#[derive(Debug, Default)]
pub(super) struct DialectListener<D> {
    dialect: D,
    said: EventQueue,
    complaint: Option<LaneFailure>,
    words: Option<String>,
    understood: bool,
    /// How many lines were not understood, and the first of them.
    strange: Option<(u64, String)>,
    only_complains: bool,
}

impl<D: Dialect> DialectListener<D> {
    /// A client whose output was never understood must not look silent.
    fn wonder(&mut self) {
        let Some((count, first)) = self.strange.take().filter(|_| !self.understood) else { return };
        if self.complaint.is_none() {
            let words = format!(
                "the client printed {count} lines that Convoke cannot read; the first: {first}"
            );
            self.said.trouble(failure(FailureKind::Other, &words));
        }
    }

    fn pass_on(&mut self) -> Vec<LaneEvent> {
        let events = std::mem::take(&mut self.said.events);
        let is_trouble = |event: &LaneEvent| matches!(event, LaneEvent::Trouble(_));
        self.only_complains =
            std::mem::take(&mut self.said.has_trouble) && events.iter().all(is_trouble);
        // A client that writes or acts has recovered from earlier complaints on stderr.
        if events.iter().any(|event| matches!(event, LaneEvent::Text(_) | LaneEvent::Tool(_))) {
            (self.complaint, self.words) = (None, None);
        }
        events
    }

    /// The first line that mentions an error is more useful than the last of a stack trace.
    fn remember(&mut self, line: &str) {
        let speaks_of_error = |line: &str| line.to_lowercase().contains("error");
        let is_kept = self.words.as_deref().is_some_and(speaks_of_error);
        if !is_kept && !line.trim().is_empty() {
            self.words = Some(readable(line));
        }
    }
}

impl<D: Dialect> Listener for DialectListener<D> {
    fn stdout_line(&mut self, line: &str) -> Vec<LaneEvent> {
        // A line that means nothing is passed over.
        if self.dialect.line(line, &mut self.said).is_some() {
            self.understood = true;
        } else if !self.understood && !line.trim().is_empty() {
            let (count, _) = self.strange.get_or_insert_with(|| (0, readable(line)));
            *count += 1;
        }
        self.pass_on()
    }

    fn long_line(&mut self, bytes: u64) -> Vec<LaneEvent> {
        let most = LONGEST_LINE as u64 / MEGABYTE;
        // Never rounded down to a readable length.
        let tenths = bytes.saturating_mul(10).div_ceil(MEGABYTE);
        let (whole, part) = (tenths / 10, tenths % 10);
        let words = format!(
            "the client printed a line of {whole}.{part} MB; Convoke reads lines of at most {most} MB"
        );
        self.dialect.forget();
        self.said.trouble(failure(FailureKind::LongLine, &words));
        self.pass_on()
    }

    fn stderr_line(&mut self, line: &str) -> Vec<LaneEvent> {
        self.remember(line);
        if let Some(complaint) = self.dialect.complaint(line) {
            self.complaint = Some(complaint.clone());
            self.said.trouble(complaint);
        }
        self.pass_on()
    }

    fn exited(&mut self, code: Option<i32>) -> Vec<LaneEvent> {
        self.wonder();
        let exit = Exit { code, complaint: self.complaint.take(), words: self.words.take() };
        self.dialect.exits(&exit, &mut self.said);
        self.pass_on()
    }

    fn only_complains(&self) -> bool {
        self.only_complains
    }
}
