//! `convoke mermaid check`: whether diagrams are safe to publish.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_service::diagram::{
    DiagramCheckReport, DiagramCheckRequest, DiagramRules, DiagramSource, DiagramText,
    MAX_DIAGRAM_BYTES, check_diagrams,
};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;

/// Check Mermaid diagrams before you publish them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Find what breaks published Mermaid diagrams; exits 1 if found
///
/// A text without any diagram also exits 1, and a file that Convoke cannot read exits 2. A file
/// whose name ends in `.md` is Markdown, and so is a text with a `mermaid` fence.
///
/// Rejects a bar in a node's label, a line break or a dollar sign in a participant's alias, and
/// front matter without an end. With `--syntax`, also rejects every diagram that Mermaid cannot
/// draw; the program `convoke-diagram` beside `convoke` parses them, and without it the
/// command exits 3. Convoke never logs the text.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The file to check [default: standard input, which `-` also means]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The file to check; `-` reads stdin [default: stdin]
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    input: Option<PathBuf>,
    /// Treat the text as Markdown and check only the diagrams in it
    #[arg(long)]
    from_md: bool,
    /// Also parse every diagram that passes, and reject syntax errors
    #[arg(long)]
    syntax: bool,
    /// Append a warning to this log if Convoke rejects or cannot read the text
    #[arg(long, value_name = "FILE")]
    warnings_log: Option<PathBuf>,
    /// The step that the warning names
    #[arg(long, value_name = "STEP", default_value = "unknown")]
    warnings_step: String,
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
        let report = check_diagrams(&app.session, &self.request())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&lines(&report, self.file()))?,
        }
        Ok(if report.is_safe { Exit::Done } else { Exit::No })
    }

    /// Returns the named file, or none for standard input.
    fn file(&self) -> Option<&Path> {
        let input = self.file.as_ref().or(self.input.as_ref());
        input.map(PathBuf::as_path).filter(|path| *path != Path::new("-"))
    }

    fn request(&self) -> DiagramCheckRequest {
        let file = self.file().map(|path| DiagramSource::File(path.to_owned()));
        DiagramCheckRequest {
            source: file.unwrap_or_else(|| DiagramSource::Given(standard_input())),
            form: if self.from_md { DiagramText::Markdown } else { DiagramText::Detected },
            rules: if self.syntax { DiagramRules::Syntax } else { DiagramRules::Safety },
            log: self.warnings_log.clone(),
            step: self.warnings_step.clone(),
        }
    }
}

/// Reads diagrams from standard input.
pub(super) fn standard_input() -> Option<String> {
    input::read(MAX_DIAGRAM_BYTES)
}

fn lines(report: &DiagramCheckReport, file: Option<&Path>) -> String {
    let name = file.map_or_else(|| "<stdin>".to_owned(), |path| path.display().to_string());
    let place = |diagram: usize, line: Option<usize>, line_of_text: Option<usize>| {
        let within = line.map(|line| format!(", line {line}")).unwrap_or_default();
        let at = line_of_text.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{name}{at}: diagram {diagram}{within}")
    };
    let hits = report.hits.iter().map(|hit| {
        let place = place(hit.diagram, Some(hit.line), hit.line_of_text);
        format!("{place}: {}\n", hit.reason)
    });
    let faults = report.syntax.iter().flatten().map(|fault| {
        let place = place(fault.diagram, fault.line, fault.line_of_text);
        format!("{place}: does not parse: {}\n", fault.message)
    });
    let verdict = if report.is_safe { "safe to publish" } else { "not safe to publish" };
    let summary = match report.diagrams.len() {
        0 => format!("no diagram found in {}", file.map_or("standard input".to_owned(), quoted)),
        1 => format!("1 diagram: {verdict}"),
        many => format!("{many} diagrams: {verdict}"),
    };
    hits.chain(faults).collect::<String>() + &summary + "\n"
}

fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}
