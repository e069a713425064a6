//! Which files changed since a manifest was written.

use std::path::Path;

use convoke_domain::design::rules::RulesVersion;
use convoke_domain::manifest::{MANIFEST_FILE, Rejection};
use convoke_engine::manifest::read::read_export;
use convoke_engine::manifest::record::RECORD_FILE;
use convoke_engine::manifest::verify::{RecordVerdict, VerifyError, verify};
use serde::Serialize;

use super::place;
use crate::failure::{ErrorClass, Failure};

/// The result of verifying a manifest's files.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestVerifyReport {
    /// Whether nothing changed, is missing or was added.
    pub ok: bool,
    /// Why the bundle is refused.
    pub refused: Option<String>,
    /// Whether contents were compared, which needs a `manifest.json`.
    pub compared: bool,
    /// The run whose files they are.
    pub run: Option<String>,
    /// The version of the rules that this program counts such a run by.
    pub rules: u32,
    /// The version that the run began under.
    pub written_under: Option<u32>,
    /// How many files the manifest names.
    pub files: usize,
    /// Files that are not what they were.
    pub changed: Vec<String>,
    /// Files that are not there any more.
    pub missing: Vec<String>,
    /// Files that the manifest does not name.
    pub extra: Vec<String>,
}

/// Compares files with their manifest: a manifest, or a folder that holds one of a run
/// (`manifest.json`), of a bundle (`manifest.env`), or of both.
pub fn verify_manifest(path: &Path) -> Result<ManifestVerifyReport, Failure> {
    let (folder, manifest) = place(path);
    let is_record = path.is_file() && path.extension().is_some_and(|ending| ending == "json");
    let record = if is_record { path.to_owned() } else { folder.join(RECORD_FILE) };
    let manifest = if is_record { folder.join(MANIFEST_FILE) } else { manifest };
    let verdict = match verify(&record) {
        Ok(verdict) => Some(verdict),
        // A bundle need not have a manifest.
        Err(VerifyError::Absent { .. }) if manifest.symlink_metadata().is_ok() => None,
        Err(error) => {
            let hint = "a manifest is written by `convoke manifest write`";
            return Err(Failure::new(ErrorClass::Prerequisite, error).hint(hint));
        }
    };
    let bundle = manifest
        .symlink_metadata()
        .is_ok()
        .then(|| read_export(&folder, &manifest).map(|bundle| bundle.files.len()));
    Ok(report(bundle, verdict))
}

/// A bundle counts its files, or is refused.
fn report(
    bundle: Option<Result<usize, Rejection>>,
    verdict: Option<RecordVerdict>,
) -> ManifestVerifyReport {
    let is_same = verdict.as_ref().is_none_or(RecordVerdict::is_same);
    let (refused, bundled) = match bundle {
        Some(Ok(files)) => (None, files),
        Some(Err(rejection)) => (Some(rejection.to_string()), 0),
        None => (None, 0),
    };
    let mut report = ManifestVerifyReport {
        ok: refused.is_none() && is_same,
        refused,
        compared: verdict.is_some(),
        run: None,
        rules: RulesVersion::PRESENT.number(),
        written_under: None,
        files: bundled,
        changed: Vec::new(),
        missing: Vec::new(),
        extra: Vec::new(),
    };
    if let Some(RecordVerdict { record, changed, missing, extra, .. }) = verdict {
        let rules = record.rules.map_or(RulesVersion::UNNUMBERED, RulesVersion::new);
        report.run = Some(record.run);
        report.rules = rules.counted_by().number();
        report.written_under = Some(rules.number());
        report.files = record.files.len();
        (report.changed, report.missing, report.extra) = (changed, missing, extra);
    }
    report
}
