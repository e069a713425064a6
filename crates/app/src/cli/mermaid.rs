//! `convoke mermaid check`: whether diagrams are safe to publish.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::design::mermaid::{Fault, Report, check, unchecked_log_entry};
use convoke_domain::execution_log::Category;
use convoke_engine::{execution_log, file, mermaid};
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::input;
use crate::output::Output;

/// The longest text that is checked.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Check diagrams before they are published
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Look for what is known to break published Mermaid diagrams; exits 1 if there is any
///
/// A bar within a node's label, a line break or a dollar sign in a participant's other name, and
/// front matter that does not end are refused. With `--syntax`, so is every diagram that Mermaid
/// could not draw. Nothing of the text is ever logged.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The file to check [default: standard input, which `-` also means]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Take the text for Markdown and check the diagrams in it, also if it does not begin with one
    #[arg(long)]
    from_md: bool,
    /// Also parse every diagram that passes, and refuse what is not written in Mermaid's language
    #[arg(long)]
    syntax: bool,
    /// Add an entry to this log, under its warnings, if the text is refused or cannot be read
    #[arg(long, value_name = "FILE")]
    warnings_log: Option<PathBuf>,
    /// Which step the log's entry names
    #[arg(long, value_name = "STEP", default_value = "unknown")]
    warnings_step: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the diagrams")]
struct Unreadable;

#[derive(Serialize)]
struct CheckReport {
    is_safe: bool,
    diagrams: Vec<DiagramReport>,
    hits: Vec<HitReport>,
    /// There only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    syntax: Option<Vec<FaultReport>>,
}

#[derive(Serialize)]
struct DiagramReport {
    heading: Option<String>,
}

#[derive(Serialize)]
struct HitReport {
    reason: &'static str,
    diagram: usize,
    line: usize,
}

#[derive(Serialize)]
struct FaultReport {
    diagram: usize,
    line: Option<usize>,
    message: String,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Command::Check(args) = &self.command;
        args.run(app, output)
    }
}

impl CheckArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let input = self.input.as_deref().filter(|path| *path != Path::new("-"));
        let Some(text) = read(input) else {
            self.log(Some(unchecked_log_entry(&self.warnings_step)), output);
            return Err(Failure::new(ErrorClass::Usage, Unreadable)
                .hint("name a text file of at most 16 MB, or give it on standard input"));
        };
        let check = if self.syntax { mermaid::check_syntax } else { check };
        let report = check(&text, self.from_md);
        self.log(report.log_entry(&self.warnings_step), output);
        match app.format {
            Format::Json => output.json(&CheckReport::new(&report, self.syntax))?,
            Format::Text => output.data(&lines(&report))?,
        }
        Ok(if report.is_safe() { Exit::Done } else { Exit::No })
    }

    fn log(&self, entry: Option<String>, output: &Output) {
        if let (Some(path), Some(entry)) = (&self.warnings_log, entry) {
            log(path, &entry, output);
        }
    }
}

/// Reads what is to be checked: a file, or standard input.
pub(super) fn read(input: Option<&Path>) -> Option<String> {
    match input {
        Some(path) => file::text(path, MAX_BYTES),
        None => input::read(MAX_BYTES),
    }
}

/// Adds an entry to a log. A check is no worse for a log that cannot be written.
pub(super) fn log(path: &Path, entry: &str, output: &Output) {
    if let Err(error) = execution_log::append(path, Category::Warnings, entry) {
        output.say(&format!("warning: {error}"));
    }
}

fn lines(report: &Report) -> String {
    let hits = report
        .hits
        .iter()
        .map(|hit| format!("diagram {}, line {}: {}\n", hit.fence, hit.line, hit.reason.token()));
    let faults = report.faults.iter().map(|fault| {
        let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("diagram {}{line}: does not parse: {}\n", fault.fence, fault.words)
    });
    let count = match report.fences {
        1 => "1 diagram".to_owned(),
        many => format!("{many} diagrams"),
    };
    let verdict = if report.is_safe() { "safe to publish" } else { "not safe to publish" };
    hits.chain(faults).collect::<String>() + &format!("{count}: {verdict}\n")
}

impl CheckReport {
    fn new(report: &Report, syntax: bool) -> Self {
        let heading = |index| report.kinds.get(index).map(ToString::to_string);
        Self {
            is_safe: report.is_safe(),
            diagrams: (0..report.fences).map(|it| DiagramReport { heading: heading(it) }).collect(),
            hits: report
                .hits
                .iter()
                .map(|it| HitReport { reason: it.reason.token(), diagram: it.fence, line: it.line })
                .collect(),
            syntax: syntax.then(|| report.faults.iter().map(FaultReport::new).collect()),
        }
    }
}

impl FaultReport {
    fn new(fault: &Fault) -> Self {
        let Fault { fence, line, words } = fault;
        Self { diagram: *fence, line: *line, message: words.clone() }
    }
}
