//! Agents on other machines: the companion program that has a worker run them.

use std::ffi::OsString;
use std::path::PathBuf;

use super::LaneError;
use super::agent::COMMON;
use crate::environment::{STORE, STORE_PASSWORD};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::{fleet, store};

/// The companion, which lies beside `convoke`.
pub(crate) const COMPANION: &str = "convoke-fleet";

pub(super) const READS_ONLY: &str = "files to change: workers run readers only";

#[derive(Debug, thiserror::Error)]
#[error("cannot reach other machines: `fleet.temporal` is not set")]
struct NoFleet;

/// Finds the companion, and makes sure that there is a fleet.
pub(crate) fn fleet_program(session: &Session) -> Result<PathBuf, Failure> {
    if fleet::settings(session)?.temporal.is_none() {
        return Err(Failure::new(ErrorClass::Usage, NoFleet)
            .hint("name the address of your Temporal server in `[fleet]` of your config.toml"));
    }
    let beside = session.environment.program().with_file_name(COMPANION);
    if beside.is_file() {
        return Ok(beside);
    }
    let search = session.environment.search_program(&[COMPANION], &session.project);
    let remark = search.remark();
    search.found.ok_or_else(|| {
        let error = LaneError::NotInstalled { program: COMPANION.to_owned() };
        Failure::new(ErrorClass::Prerequisite, error)
            .hint("install it beside convoke: `cargo install --locked --path crates/fleet`")
            .maybe_hint(remark)
    })
}

/// Returns what the companion may see: the way to the store and to the server, and no vendor's keys.
pub(super) fn fleet_variables(session: &Session) -> Vec<(OsString, OsString)> {
    let environment = &session.environment;
    let mut variables = environment.only(COMMON.into_iter().chain([STORE, STORE_PASSWORD]));
    let keys = fleet::KEYS.iter().map(|key| (fleet::SECTION, key.name));
    let keys = keys.chain(store::PASSWORD_KEYS.map(|key| (store::SECTION, key)));
    let set = keys.filter_map(|(section, key)| environment.setting(section, key));
    variables.extend(set.map(|(name, value)| (name.into(), value)));
    variables
}
