//! `convoke mermaid check`: whether diagrams are safe to publish.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_service::diagram::{
    DiagramCheckReport, DiagramCheckRequest, DiagramRules, DiagramText, MAX_DIAGRAM_BYTES,
    check_diagrams, read_diagrams,
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
    /// Treat the text as Markdown and check the diagrams in it, even if it does not begin with one
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
            Format::Text => output.data(&lines(&report))?,
        }
        Ok(if report.is_safe { Exit::Done } else { Exit::No })
    }

    fn request(&self) -> DiagramCheckRequest {
        let input = self.file.as_ref().or(self.input.as_ref());
        let input = input.map(PathBuf::as_path).filter(|path| *path != Path::new("-"));
        DiagramCheckRequest {
            text: input.map_or_else(standard_input, read_diagrams),
            form: if self.from_md { DiagramText::Markdown } else { DiagramText::Guessed },
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

fn lines(report: &DiagramCheckReport) -> String {
    let hits = report
        .hits
        .iter()
        .map(|hit| format!("diagram {}, line {}: {}\n", hit.diagram, hit.line, hit.reason));
    let faults = report.syntax.iter().flatten().map(|fault| {
        let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("diagram {}{line}: does not parse: {}\n", fault.diagram, fault.message)
    });
    let count = match report.diagrams.len() {
        1 => "1 diagram".to_owned(),
        many => format!("{many} diagrams"),
    };
    let verdict = if report.is_safe { "safe to publish" } else { "not safe to publish" };
    hits.chain(faults).collect::<String>() + &format!("{count}: {verdict}\n")
}
