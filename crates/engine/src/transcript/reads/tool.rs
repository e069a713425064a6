//! Calls of tools and their results, in one form for all clients.

use std::sync::Arc;

use convoke_domain::receipt::shell::{CommandEnd, ShellOutput, short};
use convoke_domain::receipt::{FileReader, Lines, ShownText};

/// A call that waits for its result.
pub(crate) struct Call {
    pub(crate) by: FileReader,
    pub(crate) tool: Tool,
    /// The session's folder at the time of the call.
    pub(crate) folder: Option<String>,
}

impl Call {
    /// Returns the call in a few words, for a receipt.
    pub(crate) fn words(&self) -> Option<Arc<str>> {
        let words = match &self.tool {
            Tool::File { path, .. } => format!("read {path}"),
            Tool::Search { path: Some(path) } => format!("search {path}"),
            Tool::Search { path: None } => "search".to_owned(),
            Tool::Shell { command: words, .. } | Tool::Foreign { words } => words.clone(),
            Tool::Other => return None,
        };
        Some(Arc::from(short(&words)))
    }
}

/// The kind of call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tool {
    /// It shows a file.
    File { path: String, lines: Lines },
    /// It shows matching lines in a file, a folder, or the session's folder.
    Search { path: Option<String> },
    /// It runs a command.
    Shell { command: String, folder: Option<String> },
    /// A third-party tool that may show files.
    Foreign { words: String },
    /// Nothing that shows files.
    Other,
}

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome<'a> {
    pub(crate) ended: CommandEnd,
    pub(crate) output: ShellOutput<'a>,
    /// The lines that were shown, where the result says.
    pub(crate) lines: Option<Lines>,
    pub(crate) is_image: bool,
}

impl<'a> Outcome<'a> {
    /// A failure, about which nothing more need be known.
    pub(crate) const FAILED: Self = Self {
        ended: CommandEnd::Badly,
        output: ShellOutput::Unknown,
        lines: None,
        is_image: false,
    };

    /// A file's text as it was shown.
    pub(crate) const fn file(lines: Option<Lines>, text: Option<&'a str>) -> Self {
        let output = match text {
            Some(text) => ShellOutput::Whole(text),
            None => ShellOutput::Unknown,
        };
        Self { ended: CommandEnd::Well, output, lines, is_image: false }
    }

    /// A file's text of which some lines were cut.
    pub(crate) const fn cut_file(lines: Option<Lines>, text: &'a str) -> Self {
        Self { ended: CommandEnd::Well, output: ShellOutput::Cut(text), lines, is_image: false }
    }

    /// A file that was shown as a picture.
    pub(crate) const IMAGE: Self =
        Self { ended: CommandEnd::Well, output: ShellOutput::Unknown, lines: None, is_image: true };

    /// Returns the result with this output.
    pub(crate) const fn of(ended: CommandEnd, output: ShellOutput<'a>) -> Self {
        Self { ended, output, lines: None, is_image: false }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.ended == CommandEnd::Badly
    }

    /// Returns the shown text of a file.
    pub(crate) fn text(&self) -> ShownText {
        match self.output {
            _ if self.is_image => ShownText::Image,
            ShellOutput::Whole(text) | ShellOutput::Framed(text) => ShownText::Exactly(text.into()),
            ShellOutput::Cut(text) => ShownText::Cut(text.into()),
            ShellOutput::Printed(_) | ShellOutput::Unknown => ShownText::Unknown,
        }
    }
}

/// Returns the lines requested by a first line and a number of lines.
pub(crate) fn asked(first: Option<usize>, count: Option<usize>) -> Lines {
    match (first, count) {
        (None | Some(0 | 1), None) => Lines::Whole,
        (Some(first), None) => Lines::Range { first, last: Lines::END },
        (first, Some(count)) => {
            let first = first.unwrap_or(1).max(1);
            Lines::Range { first, last: first.saturating_add(count).saturating_sub(1) }
        }
    }
}

/// Returns the lines from a first to a last, of so many. Who saw the last has seen the end.
pub(crate) const fn shown(first: usize, last: usize, total: usize) -> Lines {
    match (first, last >= total) {
        (0 | 1, true) => Lines::Whole,
        (_, true) => Lines::Range { first, last: Lines::END },
        (_, false) => Lines::Range { first, last },
    }
}

/// A third-party tool is in doubt if its name suggests reading; its input counts as its words.
pub(crate) fn foreign(name: &str, input: &str) -> Tool {
    let lower = name.to_ascii_lowercase();
    let may_read = lower.starts_with("mcp") || lower.contains("read") || lower.contains("view");
    if may_read { Tool::Foreign { words: format!("{name} {input}") } } else { Tool::Other }
}

/// Returns the files that a search names: above their matches (`File: file`), before each match
/// (`file:3:…`), or not at all if the search was limited to one.
pub(crate) fn files_found<'a>(output: &'a str, target: Option<&'a str>) -> Vec<&'a str> {
    let has_matches = !output.trim().is_empty() && !output.starts_with("No ");
    let mut found: Vec<&str> = target.into_iter().filter(|_| has_matches).collect();
    let above: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("File: ")).collect();
    if above.is_empty() {
        found.extend(output.lines().filter_map(before_match));
    } else {
        found.extend(above);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn before_match(line: &str) -> Option<&str> {
    let (file, _) = line.split_once(':')?;
    let is_name = !file.is_empty() && !file.contains(char::is_whitespace);
    (is_name && file.parse::<usize>().is_err()).then_some(file)
}
