//! `convoke brief rest`: the text that a cut left out.

use convoke_engine::brief::ResolvedBriefSettings;
use convoke_service::brief::{brief_settings, read_rest};
use convoke_service::failure::Failure;

use super::{BriefOptions, say_diagnostics};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Print the rest of a document from a character offset
///
/// Prints a `> source:` line and the unchanged text. If the text exceeds the budget, a `>
/// truncated:` line follows with the offset for the next call. Calls that continue until no such
/// line comes yield every character once.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The document's name without `.md`
    #[arg(value_name = "TOKEN")]
    name: String,

    /// Start at this offset, in characters
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
        let ResolvedBriefSettings { settings, diagnostics } =
            brief_settings(&app.session, options.layer())?;
        say_diagnostics(app, &diagnostics, output);
        let report = read_rest(&app.session, &settings, &self.name, self.from)?;
        match app.format {
            Format::Text => output.data(&report.cited)?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}
