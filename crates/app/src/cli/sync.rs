//! `convoke sync`: the copy of a server's store that hooks use.

use convoke_domain::text::counted;
use convoke_service::failure::Failure;
use convoke_service::replica::{SyncReport, sync_store};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Refresh the copy of a server's store that hooks use
///
/// Hands to the server what hooks recorded while it did not answer, and copies what the wake-ups of
/// this project's sessions on this machine need. Every command that opens the server does this on the
/// way; run this from a timer if the server is far away. A store that is a file needs no copy.
#[derive(Debug, clap::Args)]
pub struct SyncArgs {}

impl SyncArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = sync_store(&app.session)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&lines(&report))?,
        }
        Ok(Exit::Done)
    }
}

fn lines(report: &SyncReport) -> String {
    let (Some(project), Some(branch)) = (&report.project, &report.branch) else {
        return format!("{} is a file, which needs no copy\n", report.store);
    };
    let mut lines = Vec::new();
    if report.replaced {
        lines.push("made the copy anew: it was damaged".to_owned());
    }
    if report.forwarded > 0 {
        let records = counted(report.forwarded, "record");
        lines.push(format!("handed {records} of hooks to the server"));
    }
    lines.push(format!("copied {project} on {branch}: {}", counted(report.tasks, "task")));
    lines.join("\n") + "\n"
}
