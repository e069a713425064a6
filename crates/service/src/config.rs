//! The settings that hold here, where each comes from, and changing one.

mod literal;

use std::path::{Path, PathBuf};

use convoke_engine::brief::design_yaml::PATH as DESIGN_YAML;
use convoke_engine::file::stays_inside;
use convoke_engine::git::tracked::{GitTracking, is_shown, tracking};
use convoke_engine::toml_text::{TomlKey, TomlTextError, set_value};
use serde::Serialize;
use toml::Value;

use self::literal::{literal, shown_value};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::hooks::{read, write};
use crate::session::Session;
use crate::settings::catalog::{CatalogKey, Found, Places, catalog};
use crate::settings::{LOCAL_FILE, PROJECT_FILE};

pub use crate::settings::catalog::ConfigOrigin;

/// An effective setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigEntry {
    /// The key with its section.
    pub key: String,
    /// The value as it is written in a file; a value that looks like a secret is hidden.
    pub value: String,
    /// The source of the value.
    pub origin: ConfigOrigin,
    /// The file or variable; none for a default.
    pub place: Option<String>,
    /// The expected form of the value.
    pub expected: &'static str,
    /// The purpose of the setting.
    pub meaning: &'static str,
}

/// One of the configuration files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigFile {
    /// Which one it is.
    pub origin: ConfigOrigin,
    /// The file's path.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
}

/// A request to write a value.
#[derive(Debug, Clone)]
pub struct SetConfigRequest {
    /// The key with its section.
    pub key: String,
    /// The value, as in a variable or as in a file.
    pub value: String,
    /// The file that it is written to.
    pub file: ConfigTarget,
}

/// A file that a value is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigTarget {
    /// `convoke.local.toml`: yours, for this copy of the project.
    Local,
    /// `convoke.toml`: committed, for everybody who works on the project.
    Project,
    /// Your own `config.toml`, for all projects.
    User,
}

impl ConfigTarget {
    const fn origin(self) -> ConfigOrigin {
        match self {
            Self::Local => ConfigOrigin::Local,
            Self::Project => ConfigOrigin::Project,
            Self::User => ConfigOrigin::User,
        }
    }
}

/// A value that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetConfigReport {
    /// The key with its section.
    pub key: String,
    /// The value as it is in the file.
    pub value: String,
    /// The path of the file.
    pub path: String,
    /// Whether the file was changed; it may have had that value already.
    pub is_changed: bool,
    /// The stronger place that sets another value, so that this one does not hold.
    pub overridden_by: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum ConfigError {
    #[error("there is no setting `{}`", .0.escape_debug())]
    Unknown(String),
    #[error("cannot set `{key}`: the value must be {expected}")]
    Value { key: String, expected: &'static str },
    #[error("cannot set `{key}` in {file}: {reason}")]
    Refused { key: String, file: String, reason: String },
    #[error("cannot change `{}`", path.display())]
    File { path: PathBuf, source: TomlTextError },
    #[error("cannot tell where your own config.toml is: HOME is not set")]
    NoHome,
}

/// Lists every setting with its value and the place that it comes from.
pub fn list_config(session: &Session) -> Result<Vec<ConfigEntry>, Failure> {
    let places = Places::read(session)?;
    for remark in &places.remarks {
        session.reporter().say(format!("note: {DESIGN_YAML}: {remark}"));
    }
    Ok(catalog().iter().map(|key| entry(key, &places)).collect())
}

/// Returns one setting.
pub fn get_config(session: &Session, name: &str) -> Result<ConfigEntry, Failure> {
    let key = find(name)?;
    Ok(entry(&key, &Places::read(session)?))
}

/// Returns the files that settings come from, the strongest first. The file of other tools is among
/// them only if it is there: Convoke never makes it.
pub fn config_files(session: &Session) -> Vec<ConfigFile> {
    let file = |target: ConfigTarget| {
        let path = path_of(session, target).ok()?;
        let exists = path.exists();
        let origin = target.origin();
        Some(ConfigFile { origin, path: path.display().to_string(), exists })
    };
    let foreign = std::path::absolute(session.project.join(DESIGN_YAML)).ok();
    let foreign = foreign.filter(|path| path.exists()).map(|path| ConfigFile {
        origin: ConfigOrigin::DesignYaml,
        path: path.display().to_string(),
        exists: true,
    });
    let own = [file(ConfigTarget::Local), file(ConfigTarget::Project)];
    own.into_iter().chain([foreign, file(ConfigTarget::User)]).flatten().collect()
}

fn entry(key: &CatalogKey, places: &Places<'_>) -> ConfigEntry {
    let (value, origin, place) = match places.find(key) {
        Some(Found { value, origin, place }) => (shown_value(&value), origin, Some(place)),
        None => (key.default.to_owned(), ConfigOrigin::Default, None),
    };
    let (expected, meaning) = (key.expected, key.meaning);
    ConfigEntry { key: key.full_name(), value, origin, place, expected, meaning }
}

fn find(name: &str) -> Result<CatalogKey, Failure> {
    let mut keys = catalog();
    let known: Vec<_> = keys.iter().map(CatalogKey::full_name).collect();
    if let Some(at) = known.iter().position(|known| known == name) {
        return Ok(keys.swap_remove(at));
    }
    // A key without its section, or with a wrong one, is found by its own name.
    let bare = name.rsplit('.').next().unwrap_or(name);
    let same = known.iter().find(|known| known.ends_with(&format!(".{bare}")));
    let nearest = same.map(|known| format!("did you mean `{known}`?"));
    let nearest = nearest.or_else(|| did_you_mean(name, known.iter().map(String::as_str)));
    Err(Failure::new(ErrorClass::Usage, ConfigError::Unknown(name.to_owned()))
        .maybe_hint(nearest)
        .hint("`convoke config list` shows all settings"))
}

fn path_of(session: &Session, target: ConfigTarget) -> Result<PathBuf, Failure> {
    let project =
        || std::path::absolute(&session.project).unwrap_or_else(|_| session.project.clone());
    match target {
        ConfigTarget::Local => Ok(project().join(LOCAL_FILE)),
        ConfigTarget::Project => Ok(project().join(PROJECT_FILE)),
        ConfigTarget::User => {
            let path = session.environment.user_config();
            path.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, ConfigError::NoHome))
        }
    }
}

/// Writes one value. Every other byte of the file stays.
pub fn set_config(
    session: &Session,
    request: &SetConfigRequest,
) -> Result<SetConfigReport, Failure> {
    let key = find(&request.key)?;
    let name = key.full_name();
    let value = parse(&key, &request.value).ok_or_else(|| {
        let error = ConfigError::Value { key: name.clone(), expected: key.expected };
        Failure::new(ErrorClass::Usage, error)
    })?;
    let path = path_of(session, request.file)?;
    must_be_own(session, request.file, &name)?;
    let before = read(&path)?;
    let text = before.clone().unwrap_or_default();
    let at = TomlKey { section: key.section, key: key.name };
    let written = literal(&value);
    let failed = |source| {
        let error = ConfigError::File { path: path.clone(), source };
        Failure::new(ErrorClass::Refused, error)
            .hint("nothing was changed; correct the file, then try again")
    };
    let after = set_value(&text, at, &written, &value).map_err(failed)?;
    let places = Places::read(session)?;
    let table = after.parse().unwrap_or_default();
    if let Some(reason) = places.refusal(request.file.origin(), table, &key) {
        return Err(refused(&name, request.file, reason)
            .hint(format!("`convoke config set {name} VALUE --user` sets it for you alone")));
    }
    let is_changed = before.as_deref() != Some(after.as_str());
    if is_changed {
        write(&path, &after)?;
        session.settings.forget();
    }
    if request.file == ConfigTarget::Local && is_shown(&session.project, LOCAL_FILE) {
        let words = "note: git does not ignore convoke.local.toml; do not commit it";
        session.reporter().say(words);
    }
    let holds = Places::read(session)?.find(&key);
    let overridden =
        holds.filter(|found| found.origin != request.file.origin() && found.value != value);
    Ok(SetConfigReport {
        key: name,
        value: shown_value(&value),
        path: path.display().to_string(),
        is_changed,
        overridden_by: overridden.map(|found| found.place),
    })
}

fn refused(key: &str, target: ConfigTarget, reason: &str) -> Failure {
    let file = match target {
        ConfigTarget::Local => LOCAL_FILE,
        ConfigTarget::Project => PROJECT_FILE,
        ConfigTarget::User => "your config.toml",
    };
    let (key, file, reason) = (key.to_owned(), file.to_owned(), reason.to_owned());
    Failure::new(ErrorClass::Refused, ConfigError::Refused { key, file, reason })
}

/// Refuses a local file that is committed, and files behind links that lead out of the project.
fn must_be_own(session: &Session, target: ConfigTarget, key: &str) -> Result<(), Failure> {
    let name = match target {
        ConfigTarget::Local => LOCAL_FILE,
        ConfigTarget::Project => PROJECT_FILE,
        ConfigTarget::User => return Ok(()),
    };
    if !stays_inside(&session.project, Path::new(name)) {
        return Err(refused(key, target, "it leads out of the project"));
    }
    let is_committed = tracking(&session.project, LOCAL_FILE) == GitTracking::Tracked;
    if target == ConfigTarget::Local && is_committed {
        return Err(refused(key, target, "git tracks the file, or cannot be asked")
            .hint("`--user` sets it for you alone, `--shared` for everybody"));
    }
    Ok(())
}

/// Parses a value as in a file if it has that form, else as in a variable.
fn parse(key: &CatalogKey, text: &str) -> Option<Value> {
    let as_written = || text.trim().parse::<Value>().ok();
    let as_text = || (key.from_text)(text);
    let is_written = text.trim_start().starts_with(['[', '{', '"', '\'']);
    let values = if is_written { [as_written(), as_text()] } else { [as_text(), as_written()] };
    values.into_iter().flatten().find(|value| key.accepts(value))
}
