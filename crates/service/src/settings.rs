//! Layered configuration: flags over environment, over `convoke.local.toml`, over `convoke.toml`,
//! over the user's `config.toml`.
//!
//! These files are Convoke's own, so a mistake in one is an error that names the file, the key and
//! the expected value. A section is a list of [`Key`]s, which serves files, environment and the
//! reference page.

pub mod acp;
pub mod brief;
pub(crate) mod catalog;
pub mod dispatch;
pub mod endpoint;
mod files;
pub mod fleet;
pub mod health;
pub mod lane;
pub mod mcp;
pub mod pack;
pub mod remark;
mod role;
pub mod store;
pub mod task;
pub mod telemetry;
mod trust;
mod usable;
pub mod wake;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use convoke_domain::finding::Unreadable;
use toml::{Table, Value};

use crate::environment::{Environment, setting_name};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

use self::files::ConfigFile;
pub use self::files::SessionSettings;
use self::trust::{Author, Origin, sift};

/// The file for a project, committed with it.
pub const PROJECT_FILE: &str = "convoke.toml";

/// The file for one person's copy of a project, beside the first.
pub const LOCAL_FILE: &str = "convoke.local.toml";

/// No configuration a person writes is larger.
const MAX_BYTES: u64 = 1024 * 1024;

/// One setting of a section.
pub struct Key<L> {
    /// The key's name.
    pub name: &'static str,
    /// The expected value, in words.
    pub expected: &'static str,
    /// The default value, as a user would write it.
    pub default: &'static str,
    /// The purpose of the setting.
    pub meaning: &'static str,
    /// How a variable's text becomes a value.
    pub from_text: fn(&str) -> Option<Value>,
    /// Puts a value into a layer; `None` if the value is invalid.
    pub set: fn(&mut L, &Value) -> Option<()>,
}

/// A mistake in a file or variable.
#[derive(Debug, Clone, thiserror::Error)]
enum ConfigError {
    #[error("cannot read configuration `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    // The line itself may hold a key that was pasted into the wrong place.
    #[error("cannot read configuration `{}`: line {line}: {why}", path.display())]
    Syntax { path: PathBuf, line: usize, why: String },
    #[error("cannot use `{place}`: it must be {expected}")]
    Value { place: String, expected: Cow<'static, str> },
    #[error("cannot use `{}` in `{}`: there is no such {kind}", key.escape_debug(), path.display())]
    Unknown { key: String, path: PathBuf, kind: &'static str },
}

/// Every section that a file may have.
const SECTIONS: [&str; 12] = [
    brief::SECTION,
    wake::SECTION,
    dispatch::SECTION,
    lane::SECTION,
    health::SECTION,
    store::SECTION,
    task::SECTION,
    acp::SECTION,
    mcp::SECTION,
    telemetry::SECTION,
    pack::SECTION,
    fleet::SECTION,
];

/// Reads one section from everywhere, strongest first: environment, local, project, user.
///
/// A user's file out of reach counts as missing: agents run in sandboxes that hide it. What a
/// project's file may not set is left out; [`remark::remarks`] tells the user so.
pub fn read_layers<L: Default>(
    session: &Session,
    section: &str,
    keys: &[Key<L>],
) -> Result<[L; 4], Failure> {
    read_authored(session, section, keys).map(|(layers, _)| layers)
}

/// Reads one section from everywhere, and says who wrote the local file.
fn read_authored<L: Default>(
    session: &Session,
    section: &str,
    keys: &[Key<L>],
) -> Result<([L; 4], Author), Failure> {
    let files = session.settings.files();
    let user_file = files.user(session);
    let mut user = user_file.map(ConfigFile::table).transpose()?.cloned().unwrap_or_default();
    let local_file = files.local(session);
    let mut local = local_file.table()?.clone();
    let author = files.local_author(session, &local);
    let origin = |author| Origin { author, project: &session.project, user: &user };
    sift(&mut local, origin(author));
    let project_file = files.project(session);
    let mut project = project_file.table()?.clone();
    sift(&mut project, origin(Author::Committer));
    // The APIs below it are read by themselves.
    if let Some(Value::Table(lane)) = user.get_mut(lane::SECTION) {
        lane.remove(endpoint::HTTP);
    }
    let user_path = user_file.map_or(Path::new(""), |file| &file.path);
    let layers = [
        read_environment(&session.environment, section, keys)?,
        read_section(&local, &local_file.path, section, keys)?,
        read_section(&project, &project_file.path, section, keys)?,
        read_section(&user, user_path, section, keys)?,
    ];
    tracing::debug!(section, local_author = ?author, "resolved the settings of a section");
    Ok((layers, author))
}

/// Reads one section of a file into a layer.
fn read_section<L: Default>(
    table: &Table,
    path: &Path,
    section: &str,
    keys: &[Key<L>],
) -> Result<L, Failure> {
    let mut layer = L::default();
    let Some(value) = table.get(section) else { return Ok(layer) };
    let place = |name: &str| format!("{name}` in `{}", path.display());
    let Value::Table(values) = value else {
        return Err(wrong(place(section), "a table"));
    };
    for (name, value) in values {
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            let known: Vec<_> = keys.iter().map(|key| key.name).collect();
            return Err(unknown(&format!("{section}.{name}"), path, "key", &known));
        };
        (key.set)(&mut layer, value).ok_or_else(|| {
            let (inside, expected) = explain(section, key, value);
            wrong(place(&format!("{section}.{name}{inside}")), expected)
        })?;
    }
    Ok(layer)
}

/// Returns the place of a mistake inside a value, if it is not the whole value, and the expected
/// form.
fn explain<L>(section: &str, key: &Key<L>, value: &Value) -> (String, Cow<'static, str>) {
    let explained = match (section, key.name) {
        (dispatch::SECTION, "roles") => role::explain_roles(value),
        _ => None,
    };
    explained.map_or((String::new(), key.expected.into()), |(inside, expected)| {
        (inside, Cow::Owned(expected))
    })
}

/// Reads one section's variables into a layer.
fn read_environment<L: Default>(
    environment: &Environment,
    section: &str,
    keys: &[Key<L>],
) -> Result<L, Failure> {
    let mut layer = L::default();
    for key in keys {
        let Some((name, text)) = environment.setting(section, key.name) else { continue };
        let Some(value) = text.to_str().and_then(key.from_text) else {
            return Err(wrong(name, key.expected));
        };
        (key.set)(&mut layer, &value).ok_or_else(|| {
            let (inside, expected) = explain(section, key, &value);
            wrong(name + &inside, expected)
        })?;
    }
    Ok(layer)
}

fn wrong(place: String, expected: impl Into<Cow<'static, str>>) -> Failure {
    Failure::new(ErrorClass::Usage, ConfigError::Value { place, expected: expected.into() })
}

fn unknown(key: &str, path: &Path, kind: &'static str, known: &[&str]) -> Failure {
    let error = ConfigError::Unknown { key: key.to_owned(), path: path.to_owned(), kind };
    let list = format!("known {kind}s: {}", known.join(", "));
    let word = key.rsplit('.').next().unwrap_or(key);
    let nearest = did_you_mean(word, known.iter().copied());
    Failure::new(ErrorClass::Usage, error).maybe_hint(nearest).hint(list)
}

/// Renders a section's part of the reference page.
pub fn reference<L>(section: &str, keys: &[Key<L>]) -> String {
    let row = |Key { name, expected, default, meaning, .. }: &Key<L>| {
        let variable = setting_name(section, name);
        format!("| `{name}` | `{variable}` | {expected} | `{default}` | {meaning} |")
    };
    let mut page = vec![
        format!("## `[{section}]`"),
        String::new(),
        "| key | variable | value | default | meaning |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    page.extend(keys.iter().map(row));
    page.join("\n") + "\n"
}

fn whole(value: &Value) -> Option<u64> {
    u64::try_from(value.as_integer()?).ok()
}

#[expect(clippy::unnecessary_wraps, reason = "one shape for every kind of value")]
fn text(text: &str) -> Option<Value> {
    Some(Value::String(text.to_owned()))
}

fn truth(text: &str) -> Option<Value> {
    text.parse().ok().map(Value::Boolean)
}

fn number(text: &str) -> Option<Value> {
    text.parse().ok().map(Value::Integer)
}

#[expect(clippy::unnecessary_wraps, reason = "one shape for every kind of value")]
fn list(text: &str) -> Option<Value> {
    Some(Value::Array(text.split(',').map(|entry| Value::String(entry.to_owned())).collect()))
}

/// Reads a table in either form that TOML has: `{ a = 1 }`, or lines.
fn table(text: &str) -> Option<Value> {
    let inline = text.trim().parse::<Value>().ok().filter(Value::is_table);
    inline.or_else(|| text.parse().ok().map(Value::Table))
}
