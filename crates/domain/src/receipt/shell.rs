//! Which parts of files a shell command showed.
//!
//! Convoke understands a few well-known programs. It counts a file that they are given by name as
//! shown if they ran and did not fail; their position in the command decides how certain that is.
//! Everything else is in doubt.

mod flow;
mod meaning;
mod program;
mod reach;
mod syntax;

use std::sync::Arc;

use self::flow::{Flow, Showing, flow};
pub(super) use self::meaning::places;
pub use self::meaning::{Reach, could_mean, without_number, without_numbers};
use self::program::{Role, Style, is_mute, program, succeeds};
use self::reach::{compound_reach, reach, word_reach};
use self::syntax::{Joint, Pipeline, Word, pipelines};
use super::sought::without_each_number;
use super::{Lines, Seen, ShownText, path};

/// The longest command that is parsed.
const MOST_BYTES: usize = 64 * 1024;

/// How much of a command is worth repeating.
const MOST_REPEATED: usize = 300;

/// How often a shell may be called by a shell.
const MOST_SHELLS: usize = 4;

/// A command that an agent ran.
#[derive(Debug, Clone, Copy)]
pub struct ShellRun<'a> {
    /// The script of the shell.
    pub command: &'a str,
    /// The working folder; `None` if unknown.
    pub folder: Option<&'a str>,
    /// How it ended.
    pub ended: CommandEnd,
    /// The output that the agent saw.
    pub output: ShellOutput<'a>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With success.
    Well,
    /// With a failure, or it was not allowed to run.
    Badly,
    /// The client does not say how it ended.
    Unknown,
}

impl CommandEnd {
    /// Reads an exit code, where there is one.
    pub const fn of_code(code: Option<i64>) -> Self {
        match code {
            Some(0) => Self::Well,
            Some(_) => Self::Badly,
            None => Self::Unknown,
        }
    }
}

/// The part of a command's output that an agent saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellOutput<'a> {
    /// All of it, and nothing else.
    Whole(&'a str),
    /// All of it, among words of the client's.
    Framed(&'a str),
    /// A part, which is this.
    Cut(&'a str),
    /// At most this: the client keeps all of it, and may have shown less.
    Printed(&'a str),
    /// The record does not hold it.
    Unknown,
}

impl<'a> ShellOutput<'a> {
    /// Returns a text that holds all of it.
    const fn text(self) -> Option<&'a str> {
        match self {
            Self::Whole(text) | Self::Framed(text) | Self::Printed(text) => Some(text),
            Self::Cut(_) | Self::Unknown => None,
        }
    }

    /// Returns what the agent saw, if that is known.
    pub const fn seen(self) -> Option<&'a str> {
        match self {
            Self::Whole(text) | Self::Framed(text) | Self::Cut(text) => Some(text),
            Self::Printed(_) | Self::Unknown => None,
        }
    }
}

/// Tells what a command showed of which files.
pub fn seen(run: &ShellRun<'_>) -> Vec<Seen> {
    seen_within(run, MOST_SHELLS)
}

fn seen_within(run: &ShellRun<'_>, shells: usize) -> Vec<Seen> {
    if run.command.len() > MOST_BYTES {
        return vec![perhaps(run.command, Reach::Anything)];
    }
    let Some(pipelines) = pipelines(run.command) else {
        return vec![perhaps(run.command, Reach::Words)];
    };
    if let ([only], true) = (pipelines.as_slice(), shells > 0)
        && let Some(script) = inner_script(only)
    {
        return seen_within(&ShellRun { command: &script, ..*run }, shells - 1);
    }
    let mut walk = Walk::new(run, &pipelines);
    (0..pipelines.len()).flat_map(|index| walk.pipeline(index)).collect()
}

/// Returns the folder that a command leaves its shell in, for a shell that continues; `None` if
/// unknown.
pub fn folder_after(run: &ShellRun<'_>) -> Option<String> {
    let stays = run.folder.map(str::to_owned);
    let pipelines = pipelines(run.command).filter(|_| run.command.len() <= MOST_BYTES)?;
    let mut walk = Walk::new(run, &pipelines);
    (0..pipelines.len()).for_each(|index| drop(walk.pipeline(index)));
    match (walk.has_moved, run.ended) {
        (false, _) => stays,
        (true, CommandEnd::Well) => walk.folder,
        (true, CommandEnd::Badly | CommandEnd::Unknown) => None,
    }
}

/// Returns the script of `bash -lc '…'`.
fn inner_script(pipeline: &Pipeline) -> Option<String> {
    let [command] = pipeline.commands.as_slice() else { return None };
    let (name, arguments) = program(command);
    let is_flag = |word: &Word| word.text.starts_with('-') && word.text.ends_with('c');
    match arguments {
        [flag, script, ..]
            if matches!(name, "bash" | "sh" | "zsh" | "dash")
                && is_flag(flag)
                && !command.is_output_away =>
        {
            script.literal().map(str::to_owned)
        }
        _ => None,
    }
}

fn perhaps(command: &str, reach: Reach) -> Seen {
    // The possible files of these words are resolved later, which needs all of them.
    let command = if reach == Reach::Words { command.to_owned() } else { short(command) };
    Seen::Perhaps { command, reach }
}

/// Returns as much of a command as is worth repeating.
pub fn short(command: &str) -> String {
    match command.char_indices().nth(MOST_REPEATED) {
        Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
        None => command.to_owned(),
    }
}

/// The state while walking through a command's pipelines.
struct Walk<'a> {
    run: &'a ShellRun<'a>,
    pipelines: &'a [Pipeline],
    folder: Option<String>,
    has_moved: bool,
    /// How many programs wrote the output.
    authors: Authors,
}

/// How many programs wrote an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Authors {
    One,
    Several,
}

/// Whether a pipeline is known to have succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// It ran, and succeeded.
    Succeeded,
    /// It ran, and only its complaints can tell how it went.
    Ran,
    /// It ran and failed.
    Failed,
    /// It may have run.
    Unknown,
}

impl<'a> Walk<'a> {
    fn new(run: &'a ShellRun<'a>, pipelines: &'a [Pipeline]) -> Self {
        let speaks = |pipeline: &&Pipeline| !pipeline.commands.last().is_some_and(is_mute);
        let is_one = pipelines.iter().filter(speaks).count() == 1;
        let authors = if is_one { Authors::One } else { Authors::Several };
        let folder = run.folder.map(str::to_owned);
        Self { run, pipelines, folder, has_moved: false, authors }
    }

    fn pipeline(&mut self, index: usize) -> Vec<Seen> {
        let Some(pipeline) = self.pipelines.get(index) else { return Vec::new() };
        if pipeline.follows_subshell && self.has_moved {
            self.folder = None;
        }
        if pipeline.is_compound {
            return vec![perhaps(&pipeline.text, compound_reach(pipeline))];
        }
        if let [command] = pipeline.commands.as_slice()
            && let Role::Moves { to } = Role::of(command)
        {
            self.move_to(to.as_ref());
            return Vec::new();
        }
        match flow(pipeline) {
            Flow::Nothing => Vec::new(),
            Flow::Doubt => vec![perhaps(&pipeline.text, reach(pipeline))],
            Flow::Files(showing) => self.shown(pipeline, &showing, self.certainty(index)),
        }
    }

    fn move_to(&mut self, to: Option<&Word>) {
        self.has_moved = true;
        self.folder = match (to.and_then(Word::literal), self.folder.take()) {
            (Some(to), folder) if to.starts_with('/') || folder.is_some() => {
                Some(path::within(folder.as_deref(), to))
            }
            _ => None,
        };
    }

    fn shown(&self, pipeline: &Pipeline, showing: &Showing, certainty: Certainty) -> Vec<Seen> {
        if showing.is_search && showing.files.iter().all(|file| file.literal().is_some()) {
            return self.found(showing, certainty, pipeline);
        }
        let of_file = |word: &Word| match word.literal() {
            Some(file) => self.of_file(file, pipeline, showing, certainty),
            None => perhaps(&pipeline.text, word_reach(word)),
        };
        showing.files.iter().map(of_file).collect()
    }

    fn of_file(
        &self,
        file: &str,
        pipeline: &Pipeline,
        showing: &Showing,
        certainty: Certainty,
    ) -> Seen {
        let path = path::within(self.folder.as_deref(), file);
        let hides_errors = pipeline.commands.iter().any(|command| command.are_errors_away);
        let (has_others, complaint) = (showing.files.len() > 1, self.complains(pipeline, file));
        match (certainty, complaint) {
            (Certainty::Succeeded, _) => self.lines(path, showing, pipeline),
            (Certainty::Failed, _) if !has_others => Seen::Nothing { path },
            (Certainty::Failed | Certainty::Ran, Some(true)) => Seen::Nothing { path },
            (Certainty::Failed | Certainty::Ran, Some(false)) if !hides_errors => {
                self.lines(path, showing, pipeline)
            }
            _ => self.maybe(path, showing, pipeline),
        }
    }

    /// The command may not have run, but the text in the output was shown.
    fn maybe(&self, path: String, showing: &Showing, pipeline: &Pipeline) -> Seen {
        let text = match self.run.output.seen() {
            Some(output) => text_of(output, showing.style, Authors::Several),
            None => ShownText::Unknown,
        };
        Seen::Maybe { path, lines: showing.lines, text, command: pipeline.text.clone() }
    }

    fn lines(&self, path: String, showing: &Showing, pipeline: &Pipeline) -> Seen {
        match self.run.output {
            ShellOutput::Printed(_) => self.maybe(path, showing, pipeline),
            ShellOutput::Cut(output) => {
                let text = if output.is_empty() {
                    ShownText::Unknown
                } else {
                    ShownText::Cut(output.into())
                };
                Seen::Lines { path, lines: Lines::Some, text }
            }
            ShellOutput::Unknown => {
                Seen::Lines { path, lines: showing.lines, text: ShownText::Unknown }
            }
            ShellOutput::Whole(output) => {
                let authors =
                    if showing.files.len() == 1 { self.authors } else { Authors::Several };
                let text = text_of(output, showing.style, authors);
                Seen::Lines { path, lines: showing.lines, text }
            }
            ShellOutput::Framed(output) => {
                let text = text_of(output, showing.style, Authors::Several);
                Seen::Lines { path, lines: showing.lines, text }
            }
        }
    }

    /// Reads the matches of a search from its output: by the file's name if it searched several.
    fn found(&self, showing: &Showing, certainty: Certainty, pipeline: &Pipeline) -> Vec<Seen> {
        let Some(output) = self.run.output.text() else {
            let doubt = !showing.files.is_empty() && certainty != Certainty::Failed;
            return doubt.then(|| perhaps(&pipeline.text, Reach::Words)).into_iter().collect();
        };
        let in_folder = |file: &str| path::within(self.folder.as_deref(), file);
        let mut paths: Vec<String> = match showing.files.as_slice() {
            [only] => {
                let has_matches = certainty != Certainty::Failed && !output.trim().is_empty();
                let complains = self.complains(pipeline, &only.text) == Some(true);
                (has_matches && !complains).then(|| in_folder(&only.text)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        paths.extend(named_in(output).map(in_folder));
        paths.sort_unstable();
        paths.dedup();
        let seen = |path| Seen::Lines { path, lines: Lines::Some, text: ShownText::Unknown };
        paths.into_iter().map(seen).collect()
    }

    /// Tells whether the output reports that a file could not be read; `None` if unknown.
    fn complains(&self, pipeline: &Pipeline, file: &str) -> Option<bool> {
        const PHRASES: [&str; 6] = [
            "No such file",
            "ermission denied",
            "Is a directory",
            "Not a directory",
            "command not found",
            "not permitted",
        ];
        let output = self.run.output.text()?;
        let names: Vec<&str> = pipeline.commands.iter().map(|command| program(command).0).collect();
        Some(output.lines().any(|line| {
            let is_said = line.contains("sh: ")
                || names.iter().any(|name| line.starts_with(&format!("{name}: ")));
            let is_meant = line.contains(file) || line.contains("command not found");
            is_said && is_meant && PHRASES.iter().any(|phrase| line.contains(phrase))
        }))
    }

    /// Tells what the end of the whole command says about one pipeline.
    fn certainty(&self, index: usize) -> Certainty {
        let joint =
            |at: usize| self.pipelines.get(at).map_or(Joint::Then, |pipeline| pipeline.joint);
        let start = (0..=index).rev().find(|at| joint(*at) == Joint::Then).unwrap_or(0);
        let end = (index + 1..self.pipelines.len()).find(|at| joint(*at) == Joint::Then);
        let has_or =
            (start + 1..end.unwrap_or(self.pipelines.len())).any(|at| joint(at) == Joint::Or);
        let is_single =
            self.pipelines.get(index).is_some_and(|pipeline| pipeline.commands.len() == 1);
        let before = self.pipelines.get(start..index).unwrap_or_default();
        let is_last = end.is_none() && index + 1 == self.pipelines.len();
        let runs_always = !before.iter().any(|pipeline| !pipeline.commands.iter().all(succeeds));
        let runs_always = runs_always && joint(index) != Joint::Or;
        match self.run.ended {
            CommandEnd::Well if end.is_none() && !has_or && is_single => Certainty::Succeeded,
            CommandEnd::Well if end.is_none() && !has_or => Certainty::Ran,
            CommandEnd::Badly if is_last && runs_always && is_single => Certainty::Failed,
            CommandEnd::Well | CommandEnd::Badly | CommandEnd::Unknown if runs_always => {
                Certainty::Ran
            }
            CommandEnd::Well | CommandEnd::Badly | CommandEnd::Unknown => Certainty::Unknown,
        }
    }
}

fn text_of(output: &str, style: Style, authors: Authors) -> ShownText {
    match (style, authors) {
        (Style::Plain, Authors::One) => ShownText::Exactly(Arc::from(output)),
        (Style::Plain, Authors::Several) => ShownText::Among(Arc::from(output)),
        (Style::Numbered, Authors::One) => without_numbers(output)
            .map_or(ShownText::Unknown, |(_, text)| ShownText::Exactly(Arc::from(text))),
        (Style::Numbered, Authors::Several) => {
            ShownText::Among(Arc::from(without_each_number(output)))
        }
        (Style::Altered, _) => ShownText::Unknown,
    }
}

/// Returns the files that a search names before its matches.
fn named_in(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (file, _) = line.split_once(':')?;
        let looks_so = !file.is_empty() && !file.contains(char::is_whitespace);
        (looks_so && file.parse::<usize>().is_err()).then_some(file)
    })
}

#[cfg(test)]
mod tests;
