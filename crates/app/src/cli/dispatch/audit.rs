//! `convoke dispatch audit`.

use std::path::PathBuf;

use convoke_domain::dispatch::audit::{PasteHit, Pattern, Strictness, audit};
use convoke_domain::dispatch::role::PromptProfile;
use serde::Serialize;

use super::{profile, read};
use crate::app::{App, Format};
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files with prompts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Under `all-reference` not even the artifact under review may be pasted [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,
}

#[derive(Serialize)]
struct Report {
    file: String,
    line: usize,
    patterns: Vec<&'static str>,
    text: String,
    allowed: Option<&'static str>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let strictness = match self.profile.unwrap_or(settings(app)?.profile) {
            PromptProfile::AllReference => Strictness::AllReference,
            PromptProfile::Seed | PromptProfile::StablePrefix => Strictness::Seed,
        };
        let mut found = Vec::new();
        for path in &self.files {
            let name = path.display().to_string();
            let hits = audit(&name, &read(path)?, strictness);
            found.extend(hits.into_iter().map(|hit| report(&name, hit)));
        }
        let violations = found.iter().filter(|it| it.allowed.is_none()).count();
        match app.format {
            Format::Json => output.json(&found)?,
            Format::Text => {
                found.iter().try_for_each(|it| output.data(&line(it)))?;
                let allowed = found.len() - violations;
                output.data(&format!("{violations} pasted, {allowed} allowed\n"))?;
            }
        }
        Ok(if violations == 0 { Exit::Done } else { Exit::No })
    }
}

fn report(file: &str, hit: PasteHit) -> Report {
    Report {
        file: file.to_owned(),
        line: hit.line,
        patterns: hit.patterns.into_iter().map(Pattern::name).collect(),
        text: hit.text,
        allowed: hit.allowed,
    }
}

fn line(report: &Report) -> String {
    let Report { file, line, patterns, text, allowed } = report;
    let verdict = allowed.map_or(String::new(), |why| format!("  (allowed: {why})"));
    format!("{file}:{line}: {} {text}{verdict}\n", patterns.join(" "))
}
