//! What a session did, while its record is read.

use std::collections::HashMap;

use convoke_domain::receipt::path::{base_name, within};
use convoke_domain::receipt::shell::{self, Run, could_mean};
use convoke_domain::receipt::{Lines, Read, Reader, Seen, Text};

use super::tool::{Call, Outcome, Tool, files_found};
use super::{Answer, Ending, LineCount, Session, Wanted};

/// Nobody asks for the text of larger files.
const MOST_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// All texts together.
const MOST_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// An answer is kept up to this.
const MOST_ANSWER_BYTES: usize = 1024 * 1024;

/// Calls without a result yet. Clients wait for results, so there are few.
const MOST_CALLS: usize = 4096;

/// Takes in what happens, in order.
pub(super) struct Recorder<'a> {
    wanted: &'a Wanted<'a>,
    folder: Option<String>,
    calls: HashMap<String, Call>,
    reads: Vec<Read>,
    step: usize,
    last_call: usize,
    kept_bytes: usize,
    answer: Option<Answer>,
    /// What was said last, and in which message; not known to be the answer yet.
    said: Option<(Option<String>, Answer)>,
    has_main: bool,
    has_side: bool,
    shell: Shell,
}

/// What becomes of a shell after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// Every command has its own.
    IsNew,
    /// It goes on where it is, and nothing in the record says where.
    GoesOn,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(wanted: &'a Wanted<'a>) -> Self {
        let folder = wanted.folder.and_then(|it| it.to_str()).map(str::to_owned);
        Self {
            wanted,
            folder,
            calls: HashMap::new(),
            reads: Vec::new(),
            step: 0,
            last_call: 0,
            kept_bytes: 0,
            answer: None,
            said: None,
            has_main: false,
            has_side: false,
            shell: Shell::IsNew,
        }
    }

    /// Takes note of what becomes of shells.
    pub(super) fn has_shell(&mut self, shell: Shell) {
        self.shell = shell;
    }

    /// Takes note of whose line it is.
    pub(super) fn line_of(&mut self, reader: Reader) {
        self.has_main |= reader == Reader::Answerer;
        self.has_side |= reader == Reader::Subagent;
    }

    /// The session is in this folder from now on.
    pub(super) fn enter(&mut self, folder: &str) {
        let folder = folder.strip_prefix("file://").unwrap_or(folder);
        if folder.starts_with('/') && self.folder.as_deref() != Some(folder) {
            self.folder = Some(folder.to_owned());
        }
    }

    /// A tool is called. `message` is the one that calls it: what it says is not the answer.
    pub(super) fn calls(&mut self, id: &str, by: Reader, tool: Tool, message: Option<&str>) {
        self.step += 1;
        self.last_call = self.step;
        if message.is_some() && self.said.as_ref().is_some_and(|(it, _)| it.as_deref() == message) {
            self.said = None;
        }
        if matches!(tool, Tool::Other) {
            return;
        }
        if self.calls.len() >= MOST_CALLS {
            self.calls.clear();
        }
        self.calls.insert(id.to_owned(), Call { by, tool, folder: self.folder.clone() });
    }

    /// Returns a call that waits for its result.
    pub(super) fn called(&self, id: &str) -> Option<&Tool> {
        self.calls.get(id).map(|call| &call.tool)
    }

    /// A call has a result.
    pub(super) fn returns(&mut self, id: &str, outcome: &Outcome<'_>) {
        self.step += 1;
        let Some(call) = self.calls.remove(id) else { return };
        let in_folder = |path: &str| within(call.folder.as_deref(), path);
        match &call.tool {
            Tool::File { path, .. } if outcome.has_failed() => {
                self.keep(call.by, Seen::Nothing { path: in_folder(path) });
            }
            Tool::File { path, lines } => {
                let (lines, path) = (outcome.lines.unwrap_or(*lines), in_folder(path));
                self.shows(call.by, path, lines, outcome.text());
            }
            Tool::Search { path } if !outcome.has_failed() => {
                for file in files_found(outcome.text().unwrap_or_default(), path.as_deref()) {
                    self.shows(call.by, in_folder(file), Lines::Some, None);
                }
            }
            Tool::Shell { command, folder } => {
                let folder = folder.as_deref().map(in_folder).or_else(|| call.folder.clone());
                let (ended, output) = (outcome.ended, outcome.output);
                let run = Run { command, folder: folder.as_deref(), ended, output };
                for seen in shell::seen(&run) {
                    self.keep(call.by, seen);
                }
                if self.shell == Shell::GoesOn && call.by == Reader::Answerer {
                    self.folder = shell::folder_after(&run);
                }
            }
            Tool::Foreign { words } if !outcome.has_failed() => {
                let (command, reach) = (words.clone(), shell::Reach::Words);
                self.keep(call.by, Seen::Perhaps { command, reach });
            }
            Tool::Search { .. } | Tool::Foreign { .. } | Tool::Other => {}
        }
    }

    /// A file is shown without a call.
    pub(super) fn shown(&mut self, by: Reader, path: &str, lines: Lines, text: Option<&str>) {
        self.step += 1;
        self.shows(by, within(self.folder.as_deref(), path), lines, text);
    }

    /// The agent says something, in one piece or in several of the same message.
    pub(super) fn says(&mut self, message: Option<&str>, text: &str) {
        self.step += 1;
        let same =
            |(it, _): &(Option<String>, Answer)| message.is_some() && it.as_deref() == message;
        let mut said = match self.said.take().filter(same) {
            Some((_, answer)) => answer.text,
            None => String::new(),
        };
        let room = MOST_ANSWER_BYTES.saturating_sub(said.len()).min(text.len());
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        said.push_str(text.get(..end).unwrap_or_default());
        self.said = Some((message.map(str::to_owned), Answer { step: self.step, text: said }));
    }

    /// Tells whether the agent has said anything that may be its answer.
    pub(super) fn has_spoken(&self) -> bool {
        self.said.is_some() || self.answer.is_some()
    }

    /// The agent's turn is over: what it said last is its answer.
    pub(super) fn ends_turn(&mut self) {
        if let Some((_, answer)) = self.said.take() {
            self.answer = Some(answer);
        }
    }

    pub(super) fn finish(mut self, lines: LineCount, ending: Ending) -> Session {
        // Whoever says something, goes on working and is never heard again has not answered.
        if self.said.as_ref().is_some_and(|(_, said)| said.step > self.last_call) {
            self.ends_turn();
        }
        let is_sent = self.has_side && !self.has_main;
        if is_sent {
            self.reads.iter_mut().for_each(|read| read.by = Reader::Answerer);
        }
        let of = if is_sent { Reader::Subagent } else { Reader::Answerer };
        Session { reads: self.reads, answer: self.answer, of, lines, ending }
    }

    fn shows(&mut self, by: Reader, path: String, lines: Lines, text: Option<&str>) {
        let is_wanted = self.wants(&path);
        let text = text.filter(|_| is_wanted).map_or(Text::Unknown, |it| Text::Exactly(it.into()));
        self.keep(by, Seen::Lines { path, lines, text });
    }

    fn wants(&self, path: &str) -> bool {
        let names = self.wanted.names;
        names.is_empty() || names.iter().any(|name| base_name(path) == base_name(name))
    }

    /// Keeps what matters, in bounds.
    fn keep(&mut self, by: Reader, seen: Seen) {
        let seen = match seen {
            Seen::Lines { path, lines, text } => {
                let text = if self.wants(&path) { self.bounded(text) } else { Text::Unknown };
                Seen::Lines { path, lines, text }
            }
            Seen::Perhaps { ref command, reach } if !self.could_matter(command, reach) => return,
            Seen::Nothing { .. } | Seen::Perhaps { .. } => seen,
        };
        self.reads.push(Read { step: self.step, by, seen });
    }

    fn bounded(&mut self, text: Text) -> Text {
        let length = match &text {
            Text::Exactly(it) | Text::Among(it) => it.len(),
            Text::Unknown => 0,
        };
        if length > MOST_TEXT_BYTES || self.kept_bytes + length > MOST_KEPT_BYTES {
            return Text::Unknown;
        }
        self.kept_bytes += length;
        text
    }

    fn could_matter(&self, command: &str, reach: shell::Reach) -> bool {
        let names = self.wanted.names;
        names.is_empty() || names.iter().any(|name| could_mean(command, reach, name))
    }
}
