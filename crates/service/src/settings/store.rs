//! The `[store]` section, which only a user's own file may have: a project that comes from somewhere
//! must not choose where its user's memory is kept.

use std::path::PathBuf;

use toml::Value;

use super::{read_file, wrong};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "store";

/// Returns the store's file: from the environment, else the user's file, else the default place;
/// `None` if there is no home to have it.
pub fn path(session: &Session) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = session.environment.store() {
        return Ok(Some(path));
    }
    Ok(configured(session)?.or_else(|| session.environment.default_store()))
}

fn configured(session: &Session) -> Result<Option<PathBuf>, Failure> {
    let user = session.environment.user_config().filter(|path| !super::is_out_of_reach(path));
    let Some(file) = user else { return Ok(None) };
    let Some(section) = read_file(&file)?.remove(SECTION) else { return Ok(None) };
    let place = |name: &str| format!("{name}` in `{}", file.display());
    let Value::Table(values) = section else { return Err(wrong(place(SECTION), "a table")) };
    if let Some(name) = values.keys().find(|name| *name != "path") {
        return Err(super::unknown(&format!("{SECTION}.{name}"), &file, "key", &["path"]));
    }
    let Some(value) = values.get("path") else { return Ok(None) };
    let path = value.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
    path.map(Some).ok_or_else(|| wrong(place("store.path"), "an absolute path"))
}
