//! The `[store]` section, which only a user's own file may have: a project that comes from somewhere
//! must not choose where its user's memory is kept.

use convoke_store::StoreLocation;
use toml::Value;

use super::wrong;
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "store";

/// Returns where the store is: from the environment, else the user's file, else the default place;
/// `None` if there is no home to have it.
pub fn location(session: &Session) -> Result<Option<StoreLocation>, Failure> {
    if let Some(named) = session.environment.store() {
        return Ok(Some(StoreLocation::parse(named)));
    }
    let default = || session.environment.default_store().map(StoreLocation::file);
    Ok(configured(session)?.or_else(default))
}

fn configured(session: &Session) -> Result<Option<StoreLocation>, Failure> {
    let files = session.settings.files();
    let Some(file) = files.user(session) else { return Ok(None) };
    let Some(section) = file.table()?.get(SECTION) else { return Ok(None) };
    let file = &file.path;
    let place = |name: &str| format!("{name}` in `{}", file.display());
    let Value::Table(values) = section else { return Err(wrong(place(SECTION), "a table")) };
    if let Some(name) = values.keys().find(|name| *name != "path") {
        return Err(super::unknown(&format!("{SECTION}.{name}"), file, "key", &["path"]));
    }
    let Some(value) = values.get("path") else { return Ok(None) };
    let location = value.as_str().map(StoreLocation::parse);
    let location = location.filter(|location| !location.is_relative());
    location.map(Some).ok_or_else(|| wrong(place("store.path"), "an absolute path"))
}
