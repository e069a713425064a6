//! The `[store]` section, which only a user's own file may have: a foreign project must not choose
//! where its user's data is stored.

use convoke_store::StoreLocation;
use toml::{Table, Value};

use super::usable::user_table;
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

/// Returns the same for a hook: a mistake in the user's file counts as no word about the store.
pub fn usable_location(session: &Session) -> Option<StoreLocation> {
    if let Some(named) = session.environment.store() {
        return Some(StoreLocation::parse(named));
    }
    let configured = in_table(&user_table(session)).unwrap_or_default();
    configured.or_else(|| session.environment.default_store().map(StoreLocation::file))
}

fn configured(session: &Session) -> Result<Option<StoreLocation>, Failure> {
    let files = session.settings.files();
    let Some(user) = files.user(session) else { return Ok(None) };
    let (table, file) = (user.table()?, &user.path);
    let place = |name: &str| format!("{name}` in `{}", file.display());
    in_table(table).map_err(|mistake| match mistake {
        StoreMistake::Section => wrong(place(SECTION), "a table"),
        StoreMistake::Key(name) => {
            super::unknown(&format!("{SECTION}.{name}"), file, "key", &["path"])
        }
        StoreMistake::Path => wrong(place("store.path"), "an absolute path"),
    })
}

/// A mistake in a `[store]` section.
pub(super) enum StoreMistake {
    /// It is no table.
    Section,
    /// There is no such key.
    Key(String),
    /// The path is not absolute.
    Path,
}

/// Returns where the store is by a user's file.
pub(super) fn in_table(table: &Table) -> Result<Option<StoreLocation>, StoreMistake> {
    let Some(section) = table.get(SECTION) else { return Ok(None) };
    let Value::Table(values) = section else { return Err(StoreMistake::Section) };
    if let Some(name) = values.keys().find(|name| *name != "path") {
        return Err(StoreMistake::Key(name.clone()));
    }
    let Some(value) = values.get("path") else { return Ok(None) };
    let location = value.as_str().map(StoreLocation::parse);
    location.filter(|location| !location.is_relative()).map(Some).ok_or(StoreMistake::Path)
}
