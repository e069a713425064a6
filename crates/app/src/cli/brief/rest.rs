//! `convoke brief rest`: the text that a cut left out.

use convoke_engine::brief::Resolved;
use convoke_service::brief::{brief_settings, read_rest};
use convoke_service::failure::Failure;

use super::{BriefOptions, say_diagnostics};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Print a document from a character offset on, cut and marked as before
///
/// Prints a `> source:` line, the untouched text and, if it was cut again, a line break and the
/// `> truncated:` line with the offset to go on from. Reading on until no such line comes yields
/// every character once.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The document, by its bare name
    #[arg(value_name = "TOKEN")]
    name: String,

    /// The offset to read on from, in characters
    #[arg(long, value_name = "N")]
    from: usize,
}

impl Args {
    pub(super) fn run(
        &self,
        options: &BriefOptions,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Resolved { settings, diagnostics } = brief_settings(&app.session, options.layer())?;
        say_diagnostics(app, &diagnostics, output);
        let report = read_rest(&app.session, &settings, &self.name, self.from)?;
        match app.format {
            Format::Text => output.data(&report.cited)?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}
