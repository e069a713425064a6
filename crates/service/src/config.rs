//! The settings that hold here, where each comes from, and changing one.

mod literal;

use std::path::{Path, PathBuf};

use convoke_engine::brief::design_yaml::PATH as DESIGN_YAML;
use convoke_engine::file::{FileEdit, stays_inside};
use convoke_engine::git::refusal;
use convoke_engine::git::tracked::{GitTracking, is_shown, tracking};
use convoke_engine::toml_text::{TomlKey, TomlTextError, set_value, unset_value};
use serde::Serialize;
use toml::Value;

use self::literal::{literal, typed, without_secrets};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::hooks::git_remedy;
use crate::session::Session;
use crate::settings::catalog::{CatalogKey, Places, catalog};
use crate::settings::{LOCAL_FILE, PROJECT_FILE, store, wake};
use crate::settings_file::edit;
use crate::user_only::{UserOnly, refuse_agents};

pub use crate::settings::catalog::ConfigOrigin;

/// An effective setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigEntry {
    /// The key with its section.
    pub key: String,
    /// The value, with its type; a text that looks like a secret is hidden. Null where no place sets it
    /// and the default is not one value.
    pub value: serde_json::Value,
    /// The default, in words.
    pub default: &'static str,
    /// The source of the value.
    pub origin: ConfigOrigin,
    /// The file or variable; none for a default.
    pub place: Option<String>,
    /// The expected form of the value.
    pub expected: &'static str,
    /// The purpose of the setting.
    pub meaning: &'static str,
    /// The value as it is written in a file, or the default in words.
    #[serde(skip)]
    pub literal: String,
}

impl ConfigEntry {
    /// Returns the value without quotes, or the default in words.
    pub fn plain(&self) -> &str {
        self.value.as_str().unwrap_or(&self.literal)
    }
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
    /// `convoke.toml`: committed, for all who work on the project.
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
    /// The value, with its type.
    pub value: serde_json::Value,
    /// The path of the file.
    pub path: String,
    /// Whether the file was changed; it may have had that value already.
    pub is_changed: bool,
    /// The stronger place that sets another value, so that this one does not hold.
    pub overridden_by: Option<String>,
    /// The value as it is in the file.
    #[serde(skip)]
    pub literal: String,
}

/// A setting that was removed from a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnsetConfigReport {
    /// The path of the file.
    pub path: String,
    /// Whether the file was changed; it may not have set the value.
    pub is_changed: bool,
    /// The setting as it holds now.
    pub now: ConfigEntry,
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
        session.reporter().remark(format!("{DESIGN_YAML}: {remark}"));
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
    let found = places.find(key);
    let value = match &found {
        Some(found) => Some(without_secrets(&found.value)),
        None => parse(key, key.default),
    };
    ConfigEntry {
        key: key.full_name(),
        literal: value.as_ref().map_or_else(|| key.default.to_owned(), literal),
        value: value.as_ref().map_or(serde_json::Value::Null, typed),
        default: key.default,
        origin: found.as_ref().map_or(ConfigOrigin::Default, |found| found.origin),
        place: found.map(|found| found.place),
        expected: key.expected,
        meaning: key.meaning,
    }
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
    let same = same.map(|known| format!("did you mean `{known}`?"));
    let nearest = same
        .or_else(|| by_one_word(name, &known))
        .or_else(|| did_you_mean(name, known.iter().map(String::as_str)));
    Err(Failure::new(ErrorClass::Usage, ConfigError::Unknown(name.to_owned()))
        .maybe_hint(nearest)
        .hint("`convoke config list` shows all settings"))
}

/// Finds the key of the same section of which the user typed one word, right or wrong: `wake.budgt` for
/// `wake.wake_budget`.
fn by_one_word(name: &str, known: &[String]) -> Option<String> {
    let (section, bare) = name.rsplit_once('.')?;
    let words = known.iter().filter_map(|known| {
        let (other, key) = known.rsplit_once('.')?;
        (other == section).then(|| key.split('_').map(move |word| (word, known)))
    });
    let (_, key) = words
        .flatten()
        .map(|(word, key)| (strsim::damerau_levenshtein(bare, word), key))
        .filter(|(distance, _)| distance * 4 <= bare.len())
        .min()?;
    Some(format!("did you mean `{key}`?"))
}

fn path_of(session: &Session, target: ConfigTarget) -> Result<PathBuf, Failure> {
    let project = || session.absolute_project();
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
    must_be_free(session, &key)?;
    let path = path_of(session, request.file)?;
    must_be_own(session, request.file, &name)?;
    let at = TomlKey { section: key.section, key: key.name };
    let written = literal(&value);
    let mut is_changed = false;
    edit(session, &path, |before| {
        let after = set_value(before.unwrap_or_default(), at, &written, &value);
        let after = after.map_err(|source| unchangeable(&path, source))?;
        let places = Places::read(session)?;
        let table = after.parse().unwrap_or_default();
        if let Some(reason) = places.refusal(request.file.origin(), table, &key) {
            return Err(refused(&name, request.file, reason)
                .hint(format!("`convoke config set {name} VALUE --user` sets it for you alone")));
        }
        is_changed = before != Some(after.as_str());
        Ok(FileEdit::Write(after))
    })?;
    session.settings.forget();
    if request.file == ConfigTarget::Local && is_shown(&session.project, LOCAL_FILE) {
        let words = "git does not ignore convoke.local.toml; do not commit it";
        session.reporter().remark(words);
    }
    let holds = Places::read(session)?.find(&key);
    let overridden =
        holds.filter(|found| found.origin != request.file.origin() && found.value != value);
    Ok(SetConfigReport {
        key: name,
        value: typed(&without_secrets(&value)),
        path: path.display().to_string(),
        is_changed,
        overridden_by: overridden.map(|found| found.place),
        literal: literal(&without_secrets(&value)),
    })
}

/// Removes one value from a file, so that a weaker place or the default holds. Every other byte of
/// the file stays.
pub fn unset_config(
    session: &Session,
    name: &str,
    file: ConfigTarget,
) -> Result<UnsetConfigReport, Failure> {
    let key = find(name)?;
    must_be_free(session, &key)?;
    let path = path_of(session, file)?;
    must_be_own(session, file, &key.full_name())?;
    let at = TomlKey { section: key.section, key: key.name };
    let mut is_changed = false;
    edit(session, &path, |before| {
        let Some(before) = before else { return Ok(FileEdit::Keep) };
        let after = unset_value(before, at, None).map_err(|source| unchangeable(&path, source))?;
        is_changed = before != after;
        Ok(FileEdit::Write(after))
    })?;
    session.settings.forget();
    let now = entry(&key, &Places::read(session)?);
    Ok(UnsetConfigReport { path: path.display().to_string(), is_changed, now })
}

/// Refuses an agent that wants to change what wake-ups deliver: the user's rules come with them.
fn must_be_free(session: &Session, key: &CatalogKey) -> Result<(), Failure> {
    let decides_delivery = match key.section {
        // The clock changes only how times are shown.
        wake::SECTION => key.name != "clock",
        section => section == store::SECTION,
    };
    if decides_delivery { refuse_agents(session, UserOnly::WakeSettings) } else { Ok(()) }
}

fn unchangeable(path: &Path, source: TomlTextError) -> Failure {
    Failure::new(ErrorClass::Refused, ConfigError::File { path: path.to_owned(), source })
        .hint("nothing was changed; correct the file, then try again")
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
        if let Some(refusal) = refusal(&session.project) {
            let reason = format!("git refuses to work here: {}", refusal.why);
            return Err(refused(key, target, &reason)
                .hint(git_remedy(&refusal))
                .hint("`--user` sets it for you alone"));
        }
        return Err(refused(key, target, "git tracks the file, or cannot be asked")
            .hint("`--user` sets it for you alone, `--shared` for the whole team"));
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
