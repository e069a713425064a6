//! The roles and what each must read.

use convoke_domain::dispatch::role::DispatchRole;
use serde::Serialize;

use crate::failure::Failure;
use crate::session::Session;
use crate::settings::dispatch::settings;

/// A role, as commands print it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchRoleReport {
    /// The role's command and name.
    pub role: String,
    /// The documents of a feature that it reads.
    pub reads: Vec<String>,
    /// Other files that it must read.
    pub required: Vec<String>,
    /// Whether it must read the files that changed.
    pub diff: bool,
    /// The document that it reviews.
    pub target: Option<String>,
    /// Whether it reviews or works.
    pub noun: &'static str,
    /// Whether its prompt lists files.
    pub takes_files: bool,
    /// Whether its later rounds may resume its session.
    pub resumes: bool,
}

/// Lists all roles that the settings know.
pub fn roles(session: &Session) -> Result<Vec<DispatchRoleReport>, Failure> {
    Ok(settings(session)?.roles.all().iter().map(report).collect())
}

fn report(role: &DispatchRole) -> DispatchRoleReport {
    DispatchRoleReport {
        role: role.name.to_string(),
        reads: role.reads.iter().map(ToString::to_string).collect(),
        required: role.required.iter().map(ToString::to_string).collect(),
        diff: role.reads_diff,
        target: role.target.as_ref().map(ToString::to_string),
        noun: role.noun.word(),
        takes_files: role.takes_files,
        resumes: role.resumes,
    }
}
