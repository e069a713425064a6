//! `convoke dispatch task`.

use std::path::PathBuf;

use convoke_service::dispatch::{TaskPromptRequest, task_prompt};
use convoke_service::failure::Failure;

use super::{HandoverArgs, say_remarks};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task's number in `tasks.md`, such as `2.1`
    number: String,

    /// The feature's folder, or the name or number of a folder in `docs/features`
    #[arg(long, value_name = "DIR")]
    feature: PathBuf,

    /// The files to work on
    #[arg(long, value_name = "FILE", num_args = 1..)]
    files: Vec<String>,

    #[command(flatten)]
    handover: HandoverArgs,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = TaskPromptRequest {
            number: self.number.clone(),
            feature: self.feature.clone(),
            files: self.files.clone(),
            handover: self.handover.terms(),
        };
        let report = task_prompt(&app.session, &request)?;
        say_remarks(app, &report.diagnostics, output);
        match app.format {
            Format::Text => output.data(&report.prompt)?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}
