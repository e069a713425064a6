//! `convoke dispatch audit`.

use std::path::PathBuf;

use convoke_domain::dispatch::role::PromptProfile;
use convoke_service::dispatch::{PasteReport, audit_prompts};
use convoke_service::failure::Failure;

use super::{profile, read};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The files that hold the prompts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The style of the prompts [default: seed]; `all-reference` also forbids pasting the artifact
    /// under review
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let prompt = |path: &PathBuf| Ok((path.display().to_string(), read(path)?));
        let prompts = self.files.iter().map(prompt).collect::<Result<Vec<_>, Failure>>()?;
        let report = audit_prompts(&app.session, &prompts, self.profile)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                report.found.iter().try_for_each(|paste| output.lines(&line(paste), 4))?;
                let violations = report.violations();
                let allowed = report.found.len() - violations;
                output.data(&format!("{violations} pasted, {allowed} allowed\n"))?;
            }
        }
        Ok(report.class().map_or(Exit::Done, Exit::from))
    }
}

fn line(report: &PasteReport) -> String {
    let PasteReport { file, line, patterns, text, allowed } = report;
    let verdict = allowed.map_or(String::new(), |why| format!("  (allowed: {why})"));
    format!("{file}:{line}: {} {text}{verdict}\n", patterns.join(" "))
}
