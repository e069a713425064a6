//! Forgetting the rounds of a feature.

use std::path::Path;

use convoke_engine::dispatch::next::write_state;
use serde::Serialize;

use super::next_failed;
use super::post::find_feature;
use crate::failure::Failure;
use crate::session::Session;
use crate::settings::dispatch::settings;
use crate::workspace::{Workspace, refused};

/// The result of `dispatch reset`: all roles begin afresh.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenRoundsReport {
    /// How many roles had rounds.
    pub forgotten: usize,
}

/// Forgets every round of a feature, or of the whole project, so that all roles begin afresh.
pub fn forget_rounds(
    session: &Session,
    feature: Option<&Path>,
) -> Result<ForgottenRoundsReport, Failure> {
    let feature = find_feature(feature, session, &settings(session)?)?;
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let forgotten = store.forget_rounds(&scope, &feature.name()).map_err(refused)?;
    write_state(&*store, &scope, &feature).map_err(next_failed)?;
    Ok(ForgottenRoundsReport { forgotten })
}
