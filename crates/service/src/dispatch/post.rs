//! A role on a feature: as a caller names it, and found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::role::{DispatchRole, RoleName};
use convoke_engine::dispatch::feature::{Feature, FeatureNotFound, FeatureNotes};

use super::DispatchFailure;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;
use crate::settings::dispatch::{Settings, settings};

/// A role on a feature, as a caller names them.
#[derive(Debug, Clone)]
pub struct PostName {
    /// The role, such as `implement/security-reviewer`.
    pub role: RoleName,
    /// The feature's folder, or the name or number of one; none for a role that reads no documents
    /// of a feature.
    pub feature: Option<PathBuf>,
}

/// A role on a feature, found once for a whole use case.
pub(super) struct FoundPost<'a> {
    pub(super) session: &'a Session,
    pub(super) settings: &'a Settings,
    pub(super) role: DispatchRole,
    pub(super) feature: Feature,
}

impl PostName {
    /// Finds the role and the feature.
    pub(super) fn find<'a>(
        &self,
        session: &'a Session,
        settings: &'a Settings,
    ) -> Result<FoundPost<'a>, Failure> {
        let role = settings.roles.find(&self.role).cloned();
        let role = role.ok_or_else(|| unknown(&self.role, settings))?;
        if self.feature.is_none() && role.needs_feature() {
            let error = DispatchFailure::NoFeature { name: self.role.clone() };
            return Err(
                Failure::new(ErrorClass::Usage, error).hint("name one with `--feature DIR`")
            );
        }
        let feature = find_feature(self.feature.as_deref(), session, settings)?;
        Ok(FoundPost { session, settings, role, feature })
    }
}

/// Refuses a role or a feature that is unknown.
pub(crate) fn check_post(session: &Session, post: &PostName) -> Result<(), Failure> {
    post.find(session, &settings(session)?).map(drop)
}

/// Finds the feature that is named, else takes the whole project.
pub(super) fn find_feature(
    named: Option<&Path>,
    session: &Session,
    settings: &Settings,
) -> Result<Feature, Failure> {
    let Some(named) = named else { return Ok(Feature::of_project(&session.project)) };
    let from = session.environment.current_dir().unwrap_or_else(|_| session.project.clone());
    let features = session.project.join(&settings.artifacts_root).join("features");
    let mut feature = Feature::find(named, &from, &features).map_err(no_feature)?;
    if settings.state_file {
        feature.beside = FeatureNotes::HistoryAndState;
    }
    Ok(feature)
}

/// Warns of keys that committed files change in some roles, even if a document is printed.
pub(super) fn say_changes<'a>(
    roles: impl IntoIterator<Item = &'a RoleName>,
    settings: &Settings,
    session: &Session,
) {
    let reporter = session.reporter();
    for note in roles.into_iter().flat_map(|role| settings.change_notes(role)) {
        reporter.remark(note);
    }
}

fn no_feature(error: FeatureNotFound) -> Failure {
    let known: Vec<_> = error.known.iter().map(String::as_str).collect();
    let nearest = did_you_mean(&error.given, known.iter().copied());
    let list = match known.as_slice() {
        [] => {
            "this project has no features; `dispatch.artifacts_root` sets their folder".to_owned()
        }
        [one] => format!("the only feature is `{one}`"),
        [.., last] => format!("{} features exist; the newest is `{last}`", known.len()),
    };
    Failure::new(ErrorClass::Prerequisite, error).maybe_hint(nearest).hint(list)
}

/// Refuses a role that the settings do not know.
pub(super) fn unknown(name: &RoleName, settings: &Settings) -> Failure {
    let all = || settings.roles.all().iter().map(|role| &role.name);
    let of_command: Vec<_> = all()
        .filter(|known| known.command == name.command)
        .map(|known| known.role.as_str())
        .collect();
    if of_command.is_empty() {
        let commands: BTreeSet<_> = all().map(|known| known.command.as_str()).collect();
        let list = commands.iter().copied().collect::<Vec<_>>().join(", ");
        let error = DispatchFailure::UnknownCommand { name: name.clone() };
        return Failure::new(ErrorClass::Usage, error)
            .maybe_hint(did_you_mean(&name.command, commands))
            .hint(format!("known commands: {list}"));
    }
    let list = format!("roles of {}: {}", name.command, of_command.join(", "));
    let error = DispatchFailure::UnknownRole { name: name.clone() };
    Failure::new(ErrorClass::Usage, error)
        .maybe_hint(did_you_mean(&name.role, of_command))
        .hint(list)
}
