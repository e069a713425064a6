//! The state of a session while its record is read.

mod conversation;

use std::collections::HashMap;
use std::sync::Arc;

use convoke_domain::receipt::path::{base_name, within};
use convoke_domain::receipt::shell::{self, Reach, ShellOutput, ShellRun, could_mean};
use convoke_domain::receipt::sought::{About, Sought};
use convoke_domain::receipt::{FileReader, Lines, Read, Seen, ShownText};
use serde_json::Value;

use self::conversation::Place;
use super::thread::Thread;
use super::tool::{Call, Outcome, Tool, files_found};
use super::{FinalAnswer, LineCount, LinePlace, RecordEnding, SessionRecord, WantedReads};

/// The largest file whose text is compared.
const MOST_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// All texts together.
const MOST_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// The longest kept part of an answer.
const MOST_ANSWER_BYTES: usize = 1024 * 1024;

/// Calls without a result yet. Clients wait for results, so there are few.
const MOST_CALLS: usize = 4096;

/// Takes in what happens, in order.
pub(crate) struct Recorder<'a> {
    wanted: &'a WantedReads<'a>,
    folder: Option<String>,
    calls: HashMap<String, Call>,
    /// The words of the call whose result is read.
    answered_call: Option<Arc<str>>,
    reads: Vec<Read>,
    /// The position of each read in the record.
    places: Vec<Place>,
    /// The message whose line is read.
    message: Option<String>,
    /// The step before each message, where a client may go back to one.
    begun: HashMap<String, usize>,
    /// The step before each turn of the user's in the conversation, for clients that count turns in
    /// a rollback.
    turns: Vec<usize>,
    /// The order of messages, if the client records it.
    thread: Thread,
    /// The number of the line that is read, and the places of damaged lines.
    line: usize,
    unreadable: Vec<LinePlace>,
    step: usize,
    last_call: usize,
    kept_bytes: usize,
    answer: Option<FinalAnswer>,
    /// The last text, and its message; it may or may not be the answer.
    said: Option<(Option<String>, FinalAnswer)>,
    /// The record's line with the last text, and the one with the answer.
    said_in: Option<String>,
    answered_in: Option<String>,
    /// Whether another answer follows the one that is judged.
    has_later_answer: bool,
    has_main: bool,
    has_side: bool,
    shell: Shell,
    printed: Option<String>,
}

/// Whether a command's shell continues with the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// Every command has its own.
    IsNew,
    /// It continues in its folder, which the record does not name.
    GoesOn,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(wanted: &'a WantedReads<'a>) -> Self {
        let folder = wanted.folder.and_then(|folder| folder.to_str()).map(str::to_owned);
        Self {
            wanted,
            folder,
            calls: HashMap::new(),
            answered_call: None,
            reads: Vec::new(),
            places: Vec::new(),
            message: None,
            begun: HashMap::new(),
            turns: Vec::new(),
            thread: Thread::default(),
            line: 0,
            unreadable: Vec::new(),
            step: 0,
            last_call: 0,
            kept_bytes: 0,
            answer: None,
            said: None,
            said_in: None,
            answered_in: None,
            has_later_answer: false,
            has_main: false,
            has_side: false,
            shell: Shell::IsNew,
            printed: None,
        }
    }

    /// Takes note that the lines were printed by a session of this name.
    pub(crate) fn is_printed_by(&mut self, session: &str) {
        if self.printed.is_none() {
            self.printed = Some(session.to_owned());
        }
    }

    /// Records whether shells continue.
    pub(crate) fn has_shell(&mut self, shell: Shell) {
        self.shell = shell;
    }

    /// Takes note of whose line it is.
    pub(crate) fn line_of(&mut self, reader: FileReader) {
        self.has_main |= reader == FileReader::Answerer;
        self.has_side |= reader == FileReader::Subagent;
    }

    /// The session is in this folder from now on.
    pub(crate) fn enter(&mut self, folder: &str) {
        let folder = folder.strip_prefix("file://").unwrap_or(folder);
        if folder.starts_with('/') && self.folder.as_deref() != Some(folder) {
            self.folder = Some(folder.to_owned());
        }
    }

    /// A tool is called. `message` is the one that calls it: what it says is not the answer.
    pub(crate) fn calls(&mut self, id: &str, by: FileReader, tool: Tool, message: Option<&str>) {
        self.step += 1;
        self.last_call = self.step;
        if message.is_some() && self.said.as_ref().is_some_and(|(id, _)| id.as_deref() == message) {
            self.said = None;
        }
        if self.calls.len() >= MOST_CALLS {
            self.calls.clear();
        }
        self.calls.insert(id.to_owned(), Call { by, tool, folder: self.folder.clone() });
    }

    /// Returns a call that waits for its result.
    pub(crate) fn called(&self, id: &str) -> Option<&Tool> {
        self.calls.get(id).map(|call| &call.tool)
    }

    /// Takes in the result of a call.
    pub(crate) fn returns(&mut self, id: &str, outcome: &Outcome<'_>) {
        self.step += 1;
        let Some(call) = self.calls.remove(id) else { return };
        self.answered_call = call.words();
        let in_folder = |path: &str| within(call.folder.as_deref(), path);
        match &call.tool {
            Tool::File { path, .. } if outcome.has_failed() => {
                self.keep(call.by, id, Seen::Nothing { path: in_folder(path) });
            }
            Tool::File { path, lines } => {
                let (lines, path) = (outcome.lines.unwrap_or(*lines), in_folder(path));
                self.looks_for(&call, id, outcome, About::Another);
                let text = if self.wants(&path) { outcome.text() } else { ShownText::Unknown };
                self.keep(call.by, id, Seen::Lines { path, lines, text });
            }
            Tool::Search { path } if !outcome.has_failed() => {
                let output = outcome.output.seen().unwrap_or_default();
                for file in files_found(output, path.as_deref()) {
                    let (path, lines) = (in_folder(file), Lines::Some);
                    self.keep(call.by, id, Seen::Lines { path, lines, text: ShownText::Unknown });
                }
                self.looks_for(&call, id, outcome, About::Another);
            }
            Tool::Shell { command, folder } => {
                let folder = folder.as_deref().map(in_folder).or_else(|| call.folder.clone());
                let (ended, output) = (outcome.ended, outcome.output);
                let run = ShellRun { command, folder: folder.as_deref(), ended, output };
                let found = shell::seen(&run);
                // A command that shows no file is about none.
                let about = if found.is_empty() { About::Another } else { About::TheFile };
                self.looks_for(&call, id, outcome, about);
                for seen in found {
                    self.keep(call.by, id, seen);
                }
                if self.shell == Shell::GoesOn && call.by == FileReader::Answerer {
                    self.folder = shell::folder_after(&run);
                }
            }
            Tool::Foreign { words } if !outcome.has_failed() => {
                self.looks_for(&call, id, outcome, About::TheFile);
                let (command, reach) = (words.clone(), Reach::Words);
                self.keep(call.by, id, Seen::Perhaps { command, reach });
            }
            Tool::Other => self.looks_for(&call, id, outcome, About::Another),
            Tool::Search { .. } | Tool::Foreign { .. } => {}
        }
    }

    /// Searches an output of any call for the text of every file. `about` tells whether it can be
    /// about a file that it names.
    fn looks_for(&mut self, call: &Call, id: &str, outcome: &Outcome<'_>, about: About) {
        let (output, is_seen) = match (outcome.output.seen(), outcome.output) {
            (Some(output), _) => (output, true),
            (None, ShellOutput::Printed(output)) => (output, false),
            (None, _) => return,
        };
        let words = match &call.tool {
            Tool::Shell { command: words, .. } | Tool::Foreign { words } => words.as_str(),
            Tool::File { path, .. } => path.as_str(),
            Tool::Search { .. } | Tool::Other => "",
        };
        for sought in found_in(output, words, about, self.wanted.texts) {
            let path = sought.path.clone();
            let seen = if is_seen {
                Seen::Lines {
                    path,
                    lines: Lines::Whole,
                    text: ShownText::Exactly(sought.text.clone()),
                }
            } else {
                let (lines, text, command) = (Lines::Whole, ShownText::Unknown, words.to_owned());
                Seen::Maybe { path, lines, text, command }
            };
            self.push(call.by, Some(id), seen);
        }
    }

    /// Takes in a text without a call: a prompt, or the rest of a conversation.
    pub(crate) fn given(&mut self, by: FileReader, text: &str) {
        self.step += 1;
        for sought in found_in(text, text, About::TheFile, self.wanted.texts) {
            let (path, lines) = (sought.path.clone(), Lines::Whole);
            let text = ShownText::Exactly(sought.text.clone());
            self.push(by, None, Seen::Lines { path, lines, text });
        }
    }

    /// A file is shown without a call.
    pub(crate) fn shown(&mut self, by: FileReader, path: &str, lines: Lines, text: Option<&str>) {
        self.step += 1;
        let path = within(self.folder.as_deref(), path);
        let text = text.map_or(ShownText::Unknown, |text| ShownText::Exactly(text.into()));
        self.keep(by, "", Seen::Lines { path, lines, text });
    }

    /// Takes in a text of the agent, in one piece or in several of the same message.
    pub(crate) fn says(&mut self, message: Option<&str>, text: &str) {
        self.step += 1;
        let same =
            |(id, _): &(Option<String>, FinalAnswer)| message.is_some() && id.as_deref() == message;
        let mut said = match self.said.take().filter(same) {
            Some((_, answer)) => answer.text,
            None => String::new(),
        };
        let room = MOST_ANSWER_BYTES.saturating_sub(said.len()).min(text.len());
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        said.push_str(text.get(..end).unwrap_or_default());
        self.said = Some((message.map(str::to_owned), FinalAnswer { step: self.step, text: said }));
        self.said_in.clone_from(&self.message);
    }

    /// Tells whether the agent has written a text that may be its answer.
    pub(crate) fn has_spoken(&self) -> bool {
        self.said.is_some() || self.answer.is_some()
    }

    /// Ends the agent's turn: its last text is its answer.
    pub(crate) fn ends_turn(&mut self) {
        if let Some((_, answer)) = self.said.take() {
            let is_judged =
                |answer: &FinalAnswer| self.wanted.answer.is_some_and(|text| answer.is_same(text));
            if is_judged(&answer) || !self.answer.as_ref().is_some_and(is_judged) {
                self.answer = Some(answer);
                self.answered_in.clone_from(&self.said_in);
                self.has_later_answer = false;
            } else if !answer.text.trim().is_empty() {
                self.has_later_answer = true;
            }
        }
    }

    pub(crate) fn finish(mut self, lines: LineCount, ending: RecordEnding) -> SessionRecord {
        // An agent that writes a text, continues to work and writes nothing more has not answered.
        if self.said.as_ref().is_some_and(|(_, said)| said.step > self.last_call) {
            self.ends_turn();
        }
        self.leaves_branches();
        let damages = self.damages();
        let is_sent = self.has_side && !self.has_main;
        if is_sent {
            self.reads.iter_mut().for_each(|read| read.by = FileReader::Answerer);
        }
        let of = if is_sent { FileReader::Subagent } else { FileReader::Answerer };
        let (reads, answer, printed) = (self.reads, self.answer, self.printed);
        let has_later_answer = self.has_later_answer;
        SessionRecord { reads, answer, has_later_answer, of, printed, lines, damages, ending }
    }

    /// Tells whether a file may be one of those that matter.
    pub(crate) fn wants(&self, path: &str) -> bool {
        let names = self.wanted.names;
        names.is_empty() || names.iter().any(|name| base_name(path) == base_name(name))
    }

    /// Keeps what matters, in bounds.
    fn keep(&mut self, by: FileReader, call: &str, seen: Seen) {
        let seen = match seen {
            Seen::Lines { path, lines, text } => {
                let text = self.bounded(&path, text);
                Seen::Lines { path, lines, text }
            }
            Seen::Maybe { ref path, ref command, .. }
                if !self.wants(path) && !self.could_matter(command, Reach::Words) =>
            {
                return;
            }
            Seen::Maybe { path, lines, text, command } => {
                let text = self.bounded(&path, text);
                Seen::Maybe { path, lines, text, command }
            }
            Seen::Perhaps { ref command, reach } if !self.could_matter(command, reach) => return,
            Seen::Nothing { .. } | Seen::Perhaps { .. } => seen,
        };
        self.push(by, Some(call), seen);
    }

    fn push(&mut self, by: FileReader, call: Option<&str>, seen: Seen) {
        let call = call.filter(|call| !call.is_empty()).map(str::to_owned);
        let words = call.as_ref().and_then(|_| self.answered_call.clone());
        self.places.push(Place { message: self.message.clone(), call });
        self.reads.push(Read { step: self.step, by, seen, forgotten: None, call: words });
    }

    fn bounded(&mut self, path: &str, text: ShownText) -> ShownText {
        let length = match &text {
            ShownText::Exactly(text) | ShownText::Among(text) | ShownText::Cut(text) => text.len(),
            ShownText::Image | ShownText::Unknown => 0,
        };
        let is_too_long = length > MOST_TEXT_BYTES || self.kept_bytes + length > MOST_KEPT_BYTES;
        if length > 0 && (is_too_long || !self.wants(path)) {
            return ShownText::Unknown;
        }
        self.kept_bytes += length;
        text
    }

    fn could_matter(&self, command: &str, reach: shell::Reach) -> bool {
        let names = self.wanted.names;
        names.is_empty() || names.iter().any(|name| could_mean(command, reach, name))
    }
}

/// Returns the files whose text an output contains. In a JSON output, its strings are searched.
fn found_in<'a>(output: &str, words: &str, about: About, texts: &'a [Sought]) -> Vec<&'a Sought> {
    if texts.is_empty() {
        return Vec::new();
    }
    let inner = inner_texts(output);
    let is_found = |sought: &&Sought| {
        let about = || match about {
            About::TheFile if could_mean(words, Reach::Words, &sought.path) => About::TheFile,
            About::TheFile | About::Another => About::Another,
        };
        sought.is_in(output, about) || inner.iter().any(|text| sought.is_in(text, about))
    };
    texts.iter().filter(is_found).collect()
}

/// Returns every text in a JSON output.
fn inner_texts(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    if output.len() <= MOST_TEXT_BYTES
        && output.trim_start().starts_with(['{', '[', '"'])
        && let Ok(value) = serde_json::from_str(output)
    {
        gather(value, &mut found);
    }
    found
}

fn gather(value: Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| gather(value, found)),
        Value::Object(values) => values.into_iter().for_each(|(_, value)| gather(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
