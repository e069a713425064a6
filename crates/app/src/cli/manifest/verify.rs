//! `convoke manifest verify`.

use std::path::{Path, PathBuf};

use convoke_domain::design::rules::RulesVersion;
use convoke_domain::manifest::{MANIFEST_FILE, Rejection};
use convoke_engine::manifest::read::read_export;
use convoke_engine::manifest::record::RECORD_FILE;
use convoke_engine::manifest::verify::{Unverifiable, Verdict, verify};
use serde::Serialize;

use super::place;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A manifest, or a folder that holds one: of a run (`manifest.json`), of a bundle
    /// (`manifest.env`), or of both
    path: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    /// Why the bundle is refused.
    refused: Option<String>,
    /// Whether contents were compared.
    compared: bool,
    run: Option<&'a str>,
    /// The version of the rules that this program counts by.
    rules: u32,
    /// The version that the run began under.
    written_under: Option<u32>,
    files: usize,
    changed: &'a [String],
    missing: &'a [String],
    extra: &'a [String],
}

/// What is known of a place.
struct Found {
    /// What was said of the bundle: how many files it has.
    bundle: Option<Result<usize, Rejection>>,
    verdict: Option<Verdict>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let found = Found::look(&self.path)?;
        match app.format {
            Format::Json => output.json(&found.report())?,
            Format::Text => {
                output.data(&found.lines())?;
                if found.verdict.is_none() {
                    output.say("note: there is no `manifest.json`, so contents cannot be compared");
                }
                let rules = found.written_under().filter(|rules| *rules != RulesVersion::PRESENT);
                if let Some(rules) = rules {
                    output.say(&format!(
                        "note: the run was written under rules {rules}, and this program counts by \
                         rules {}; Convoke compared the files alone",
                        RulesVersion::PRESENT
                    ));
                }
            }
        }
        Ok(if found.is_ok() { Exit::Done } else { Exit::No })
    }
}

impl Found {
    fn look(path: &Path) -> Result<Self, Failure> {
        let (folder, manifest) = place(path);
        let is_record = path.is_file() && path.extension().is_some_and(|it| it == "json");
        let record = if is_record { path.to_owned() } else { folder.join(RECORD_FILE) };
        let manifest = if is_record { folder.join(MANIFEST_FILE) } else { manifest };
        let verdict = match verify(&record) {
            Ok(verdict) => Some(verdict),
            // A bundle need not have one.
            Err(Unverifiable::Absent { .. }) if manifest.symlink_metadata().is_ok() => None,
            Err(error) => {
                let hint = "a manifest is written by `convoke manifest write`";
                return Err(Failure::new(ErrorClass::Prerequisite, error).hint(hint));
            }
        };
        let bundle = manifest
            .symlink_metadata()
            .is_ok()
            .then(|| read_export(&folder, &manifest).map(|bundle| bundle.files.len()));
        Ok(Self { bundle, verdict })
    }

    fn is_ok(&self) -> bool {
        self.bundle.as_ref().is_none_or(Result::is_ok)
            && self.verdict.as_ref().is_none_or(Verdict::is_same)
    }

    /// Returns the rules that the run began under.
    fn written_under(&self) -> Option<RulesVersion> {
        let rules = self.verdict.as_ref()?.record.rules;
        Some(rules.map_or(RulesVersion::UNNUMBERED, RulesVersion::new))
    }

    fn files(&self) -> usize {
        match (&self.verdict, &self.bundle) {
            (Some(verdict), _) => verdict.record.files.len(),
            (None, Some(Ok(files))) => *files,
            (None, _) => 0,
        }
    }

    fn lines(&self) -> String {
        let mut lines = Vec::new();
        if let Some(Err(rejection)) = &self.bundle {
            lines.push(format!("refused: {rejection}"));
        }
        if let Some(verdict) = &self.verdict {
            let Verdict { changed, missing, extra, .. } = verdict;
            for (word, names) in [("changed", changed), ("missing", missing), ("extra", extra)] {
                let shown = |name: &String| format!("{word}: {}", name.escape_debug());
                lines.extend(names.iter().map(shown));
            }
        }
        if lines.is_empty() {
            let of_run = self.verdict.as_ref().map(|it| format!(" of run {}", it.record.run));
            let so = if of_run.is_some() { "as they were" } else { "in order" };
            lines.push(format!("{} files{}: {so}", self.files(), of_run.unwrap_or_default()));
        }
        lines.join("\n") + "\n"
    }

    fn report(&self) -> Report<'_> {
        let verdict = self.verdict.as_ref();
        Report {
            ok: self.is_ok(),
            refused: self.bundle.as_ref().and_then(|it| it.as_ref().err()).map(ToString::to_string),
            compared: verdict.is_some(),
            run: verdict.map(|it| it.record.run.as_str()),
            rules: RulesVersion::PRESENT.number(),
            written_under: self.written_under().map(RulesVersion::number),
            files: self.files(),
            changed: verdict.map_or(&[], |it| &it.changed),
            missing: verdict.map_or(&[], |it| &it.missing),
            extra: verdict.map_or(&[], |it| &it.extra),
        }
    }
}
