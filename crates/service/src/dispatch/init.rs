//! A feature's folder and a reviewer of the project's own, to begin with.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::feature_name::FeatureName;
use convoke_engine::dispatch::scaffold::{Scaffold, scaffold};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::settings;

/// The files that `dispatch init` created, and the next commands.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchInitReport {
    /// The feature's folder, below the project.
    pub feature: String,
    /// Files that were made.
    pub created: Vec<String>,
    /// Files that were there, which Convoke left as they are.
    pub kept: Vec<String>,
    /// Lines to add to `convoke.toml`, which was there without them.
    pub add_to_configuration: Option<String>,
    /// Commands that make sense next.
    pub next: Vec<String>,
}

/// Creates the missing files of a feature's folder and of the project's own reviewer. It never
/// changes a file that exists, and a second call creates nothing more.
pub fn init_dispatch(session: &Session, name: &FeatureName) -> Result<DispatchInitReport, Failure> {
    let root = settings(session)?.artifacts_root;
    let made = scaffold(&session.project, &root, name).map_err(|error| {
        Failure::new(ErrorClass::Prerequisite, error)
            .hint("make the folder writable, or set `artifacts_root` under `[dispatch]`")
    })?;
    let shown = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    Ok(DispatchInitReport {
        feature: made.feature.display().to_string(),
        created: shown(&made.created),
        kept: shown(&made.kept),
        next: next(&made),
        add_to_configuration: made.missing_role,
    })
}

fn next(made: &Scaffold) -> Vec<String> {
    let name = made.feature.file_name().map_or(made.feature.as_path(), Path::new).display();
    vec![
        format!("convoke dispatch prompt specify/spec-reviewer --feature {name}"),
        format!("convoke dispatch run specify/spec-reviewer --feature {name} --client claude"),
        "convoke dispatch loop review --client claude --changed-since HEAD".to_owned(),
    ]
}
