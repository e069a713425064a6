//! `convoke manifest verify`.

use convoke_domain::text::counted;
use std::path::PathBuf;

use convoke_service::failure::Failure;
use convoke_service::manifest::{ManifestVerifyReport, verify_manifest};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A manifest, or a folder that holds one: of a run (`manifest.json`), of a bundle
    /// (`manifest.env`), or of both
    path: PathBuf,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = verify_manifest(&self.path)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&lines(&report))?;
                for note in notes(&report) {
                    output.say(&note);
                }
            }
        }
        Ok(if report.ok { Exit::Done } else { Exit::No })
    }
}

fn lines(report: &ManifestVerifyReport) -> String {
    let ManifestVerifyReport { changed, missing, extra, .. } = report;
    let mut lines: Vec<_> =
        report.refused.iter().map(|rejection| format!("refused: {rejection}")).collect();
    for (word, names) in [("changed", changed), ("missing", missing), ("extra", extra)] {
        let shown = |name: &String| format!("{word}: {}", name.escape_debug());
        lines.extend(names.iter().map(shown));
    }
    if lines.is_empty() {
        let of_run = report.run.as_ref().map(|run| format!(" of run {run}"));
        let so = if of_run.is_some() { "as they were" } else { "in order" };
        lines.push(format!(
            "{}{}: {so}",
            counted(report.files, "file"),
            of_run.unwrap_or_default()
        ));
    }
    lines.join("\n") + "\n"
}

/// Renders which files could not be compared.
fn notes(report: &ManifestVerifyReport) -> Vec<String> {
    let mut notes = Vec::new();
    if !report.compared {
        notes.push("note: there is no `manifest.json`, so contents cannot be compared".to_owned());
    }
    if let Some(rules) = report.written_under.filter(|rules| *rules != report.rules) {
        notes.push(format!(
            "note: the run was written under rules {rules}, and this program counts by rules {}; \
             Convoke compared the files alone",
            report.rules
        ));
    }
    notes
}
