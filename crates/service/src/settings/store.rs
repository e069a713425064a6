//! The `[store]` section, which only a user's own file may have: a foreign project must not choose
//! where its user's data is stored.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use convoke_engine::secret;
use convoke_store::{Password, StoreLocation};
use toml::{Table, Value};

use super::usable::user_table;
use super::wrong;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "store";

/// The key of the store's place.
pub(super) const PATH: &str = "path";

/// The key of the file with a server's password.
pub(super) const PASSWORD_FILE: &str = "password_file";
/// The key of the command that prints a server's password.
pub(super) const PASSWORD_COMMAND: &str = "password_command";

/// The keys that say where a server's password is.
pub(crate) const PASSWORD_KEYS: [&str; 2] = [PASSWORD_FILE, PASSWORD_COMMAND];

/// The key of the time that a server has to answer a hook.
pub(super) const HOOK_LIMIT: &str = "hook_milliseconds";

/// The default of [`HOOK_LIMIT`], in milliseconds.
pub(super) const DEFAULT_HOOK_LIMIT: u64 = 150;

const KEYS: [&str; 4] = [PATH, PASSWORD_FILE, PASSWORD_COMMAND, HOOK_LIMIT];

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

/// A server's password could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the password of the store's server from {from}")]
struct NoPassword {
    from: String,
    source: io::Error,
}

/// Returns a location that can be opened: with the password of its server, which comes from the
/// environment, a file or a command of the user's, in this order.
pub fn with_password(session: &Session, location: StoreLocation) -> Result<StoreLocation, Failure> {
    if !location.wants_password() {
        return Ok(location);
    }
    let environment = &session.environment;
    if let Some(password) = environment.store_password() {
        return Ok(location.with_password(Password::new(password)));
    }
    let table = user_table(session);
    let setting = |key: &str| {
        let variable = environment.setting(SECTION, key);
        let variable = variable.map(|(_, value)| value.to_string_lossy().into_owned());
        let own = || Some(table.get(SECTION)?.get(key)?.as_str()?.to_owned());
        variable.or_else(own)
    };
    let refuse = |from: String| {
        move |source| {
            Failure::new(ErrorClass::Prerequisite, NoPassword { from, source })
                .hint("correct `store.password_file` or `store.password_command`")
        }
    };
    let password = if let Some(file) = setting(PASSWORD_FILE) {
        secret::of_file(&PathBuf::from(&file)).map_err(refuse(format!("`{file}`")))?
    } else if let Some(command) = setting(PASSWORD_COMMAND) {
        let from = "`store.password_command`".to_owned();
        // Not in the project: its files have no say in which program this is.
        let home = environment.home().unwrap_or_else(|| PathBuf::from("/"));
        secret::of_command(&command, &home).map_err(refuse(from))?
    } else {
        return Ok(location);
    };
    Ok(location.with_password(Password::new(password)))
}

/// Returns how long a hook waits for a server before it answers from the copy on this machine. A mistake
/// counts as no word about it.
pub fn hook_limit(session: &Session) -> Duration {
    let variable = session.environment.setting(SECTION, HOOK_LIMIT);
    let variable = variable.and_then(|(_, value)| value.to_str()?.trim().parse().ok());
    let table = user_table(session);
    let own = || table.get(SECTION)?.get(HOOK_LIMIT).and_then(milliseconds);
    Duration::from_millis(
        variable.filter(|limit| *limit > 0).or_else(own).unwrap_or(DEFAULT_HOOK_LIMIT),
    )
}

/// Reads a value of [`HOOK_LIMIT`].
pub(super) fn milliseconds(value: &Value) -> Option<u64> {
    value.as_integer().and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0)
}

fn configured(session: &Session) -> Result<Option<StoreLocation>, Failure> {
    let files = session.settings.files();
    let Some(user) = files.user(session) else { return Ok(None) };
    let (table, file) = (user.table()?, &user.path);
    let place = |name: &str| format!("{name}` in `{}", file.display());
    in_table(table).map_err(|mistake| match mistake {
        StoreMistake::Section => wrong(place(SECTION), "a table"),
        StoreMistake::Key(name) => super::unknown(&format!("{SECTION}.{name}"), file, "key", &KEYS),
        StoreMistake::Path => wrong(place("store.path"), "an absolute path"),
        StoreMistake::Password => {
            let how = "an address without a password, which belongs into `store.password_file`";
            wrong(place("store.path"), how)
        }
        StoreMistake::Text(name) => wrong(place(&format!("{SECTION}.{name}")), "a text"),
        StoreMistake::HookLimit => {
            wrong(place(&format!("{SECTION}.{HOOK_LIMIT}")), "a whole number from 1 up")
        }
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
    /// The address of a server holds its password, which `convoke config` would show.
    Password,
    /// The value is no text.
    Text(String),
    /// The time for an answer to a hook is no positive number.
    HookLimit,
}

/// Returns where the store is by a user's file.
pub(super) fn in_table(table: &Table) -> Result<Option<StoreLocation>, StoreMistake> {
    let Some(section) = table.get(SECTION) else { return Ok(None) };
    let Value::Table(values) = section else { return Err(StoreMistake::Section) };
    if let Some(name) = values.keys().find(|name| !KEYS.contains(&name.as_str())) {
        return Err(StoreMistake::Key(name.clone()));
    }
    let is_text = |key: &&str| values.get(*key).is_none_or(Value::is_str);
    if let Some(name) = [PASSWORD_FILE, PASSWORD_COMMAND].iter().find(|key| !is_text(key)) {
        return Err(StoreMistake::Text((*name).to_owned()));
    }
    if values.get(HOOK_LIMIT).is_some_and(|value| milliseconds(value).is_none()) {
        return Err(StoreMistake::HookLimit);
    }
    let Some(value) = values.get(PATH) else { return Ok(None) };
    let location = value.as_str().map(StoreLocation::parse).ok_or(StoreMistake::Path)?;
    if location.is_relative() {
        return Err(StoreMistake::Path);
    }
    let has_password = location.as_file().is_none() && !location.wants_password();
    // An address that cannot be read has none that Convoke could show; opening it tells the error.
    if has_password && location.is_readable() {
        return Err(StoreMistake::Password);
    }
    Ok(Some(location))
}
