//! The `[lane.http.NAME]` sections: models' APIs. Only a user's own file may have them: a foreign
//! project must not choose where its user's prompts and keys are sent.

use std::path::{Path, PathBuf};

use convoke_engine::file;
use convoke_engine::lane::agent_ref::is_name;
use convoke_engine::lane::http::endpoint::{Api, ApiKey, BaseUrl, Endpoint, UrlError};
use toml::{Table, Value};

use super::lane::SECTION;
use super::{unknown, whole, wrong};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

/// The key of the table of APIs.
pub const HTTP: &str = "http";

/// No key is longer.
const MAX_KEY: u64 = 64 * 1024;

/// Every setting of an API: its name, what its value must be, and what it is for.
const KEYS: [(&str, &str, &str); 8] = [
    ("api", "`chat`, `responses` or `messages`", "the protocol; required"),
    ("url", "an address", "the base URL, such as `http://127.0.0.1:11434/v1`; required"),
    ("model", "a name", "the model to use when no flag names one; required"),
    ("key_env", "a variable's name", "the variable that holds the key"),
    (
        "key_file",
        "an absolute path",
        "the file that holds the key; only you may have permission to read it",
    ),
    (
        "max_tokens",
        "a whole number from 1 up",
        "the limit of an answer in tokens; 8192 if the API requires a limit",
    ),
    ("effort", "a word", "the model's reasoning effort, in the API's own words"),
    (
        "allow_plain",
        "true or false",
        "whether Convoke may send the key unencrypted to another machine; the default is false",
    ),
];

/// An API that the user configured.
#[derive(Debug)]
pub struct Configured {
    /// The address and kind of the API.
    pub endpoint: Endpoint,
    /// The model to ask when no flag names one.
    pub model: String,
    /// The model's effort when no flag sets it.
    pub effort: Option<String>,
}

/// An API as configured, whether or not Convoke can use it.
#[derive(Debug)]
pub struct Listed {
    /// The API's name.
    pub name: String,
    /// Its address, if that is one.
    pub url: Option<String>,
    /// The model to ask when no flag names one.
    pub model: Option<String>,
    /// Whether its key is set; `None` if unknown.
    pub key: Option<KeyState>,
    /// The usable configuration, or its error.
    pub configured: Result<Configured, Failure>,
}

/// Whether a key is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It needs no key.
    Unneeded,
    /// Its key is set.
    Present,
    /// It is not configured, or Convoke may not use it.
    Missing,
}

#[derive(Debug, thiserror::Error)]
enum EndpointError {
    #[error("cannot find `[lane.http.{name}]` in your configuration")]
    Unknown { name: String },
    #[error("cannot use `{place}`: {key} is missing")]
    Missing { place: String, key: &'static str },
    #[error("cannot use `{place}`")]
    Url { place: String, source: UrlError },
    #[error("cannot find a key for `{place}`: {why}")]
    NoKey { place: String, why: String },
}

/// Returns all APIs of the user's configuration.
pub fn listed(session: &Session) -> Result<Vec<Listed>, Failure> {
    let (file, table) = users_file(session)?;
    let all = section(&table, &file)?;
    let list = |(name, values): (&String, &Value)| {
        let words = |key: &str| values.get(key).and_then(words);
        let configured = endpoint(session, name);
        let wants_key = ["key_env", "key_file"].iter().any(|key| values.get(key).is_some());
        let error = configured.as_ref().err().map(|failure| failure.error.downcast_ref());
        let key = match error {
            _ if !wants_key => Some(KeyState::Unneeded),
            None => Some(KeyState::Present),
            Some(Some(EndpointError::NoKey { .. })) => Some(KeyState::Missing),
            Some(_) => None,
        };
        // An invalid address may hold a secret, so it is not shown.
        let url = words("url").and_then(|url| Some(BaseUrl::parse(&url).ok()?.to_string()));
        Listed { name: name.clone(), url, model: words("model"), key, configured }
    };
    Ok(all.into_iter().flatten().map(list).collect())
}

/// Returns the only file that may name APIs, and what it says.
fn users_file(session: &Session) -> Result<(PathBuf, Table), Failure> {
    let files = session.settings.files();
    let Some(file) = files.user(session) else { return Ok((PathBuf::new(), Table::new())) };
    Ok((file.path.clone(), file.table()?.clone()))
}

/// Refuses an API that the user's configuration does not have. Its key may be missing.
pub fn must_be_configured(session: &Session, name: &str) -> Result<(), Failure> {
    let (file, table) = users_file(session)?;
    values_of(section(&table, &file)?, name, &file).map(drop)
}

/// Returns an API of the user's configuration, with its key.
pub fn endpoint(session: &Session, name: &str) -> Result<Configured, Failure> {
    let (file, table) = users_file(session)?;
    let values = values_of(section(&table, &file)?, name, &file)?;
    let place = format!("{SECTION}.{HTTP}.{name}");
    let Value::Table(values) = values else { return Err(wrong(place, "a table")) };
    Section { place, file: &file, values }.read(session)
}

/// Returns what a file says of an API.
fn values_of<'a>(all: Option<&'a Table>, name: &str, file: &Path) -> Result<&'a Value, Failure> {
    if let Some(values) = all.and_then(|all| all.get(name)) {
        return Ok(values);
    }
    let known: Vec<_> = all.into_iter().flat_map(Table::keys).map(String::as_str).collect();
    let failure = Failure::new(ErrorClass::Usage, EndpointError::Unknown { name: name.to_owned() });
    let hint = format!("put it into `{}`", file.display());
    Err(failure.maybe_hint(did_you_mean(name, known)).hint(hint))
}

/// Returns the APIs of a file, as far as they are what they should be.
fn section<'a>(table: &'a Table, file: &Path) -> Result<Option<&'a Table>, Failure> {
    let Some(lane) = table.get(SECTION) else { return Ok(None) };
    let place = |name: &str| format!("{name}` in `{}", file.display());
    let lane = lane.as_table().ok_or_else(|| wrong(place(SECTION), "a table"))?;
    let Some(http) = lane.get(HTTP) else { return Ok(None) };
    let http = http.as_table().ok_or_else(|| wrong(place("lane.http"), "a table"))?;
    match http.keys().find(|name| !is_name(name)) {
        Some(name) => Err(wrong(
            place(&format!("lane.http.{name}")),
            "named with letters, digits, `-` and `_`",
        )),
        None => Ok(Some(http)),
    }
}

/// One API's table.
struct Section<'a> {
    place: String,
    file: &'a Path,
    values: &'a Table,
}

impl Section<'_> {
    fn read(&self, session: &Session) -> Result<Configured, Failure> {
        let names: Vec<_> = KEYS.iter().map(|(name, ..)| *name).collect();
        if let Some(name) = self.values.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(unknown(name, self.file, "key", &names));
        }
        let api = self.needed("api", |value| Api::parse(value.as_str()?))?;
        let url = self.needed("url", words)?;
        let url = BaseUrl::parse(&url).map_err(|source| self.bad_url(source))?;
        let key = self.key(session)?;
        let allow_plain = self.value("allow_plain", Value::as_bool)?.unwrap_or(false);
        if key.is_some() && url.is_open() && !allow_plain {
            return Err(self.bad_url(UrlError::KeyInTheOpen));
        }
        let max_tokens = self.value("max_tokens", |value| whole(value).filter(|most| *most > 0))?;
        Ok(Configured {
            endpoint: Endpoint { api, url, key, max_tokens },
            model: self.needed("model", words)?,
            effort: self.value("effort", words)?,
        })
    }

    fn value<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.values.get(name) else { return Ok(None) };
        let expected =
            KEYS.iter().find(|(key, ..)| *key == name).map_or("", |(_, expected, _)| expected);
        let place = format!("{}.{name}` in `{}", self.place, self.file.display());
        read(value).map(Some).ok_or_else(|| wrong(place, expected))
    }

    fn needed<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, Failure> {
        self.value(name, read)?.ok_or_else(|| {
            let error = EndpointError::Missing { place: self.place.clone(), key: name };
            Failure::new(ErrorClass::Usage, error)
                .hint(format!("add it in `{}`", self.file.display()))
        })
    }

    fn bad_url(&self, source: UrlError) -> Failure {
        let place = format!("{}.url", self.place);
        Failure::new(ErrorClass::Usage, EndpointError::Url { place, source })
    }

    /// The key is never in the configuration itself, which people show to each other.
    fn key(&self, session: &Session) -> Result<Option<ApiKey>, Failure> {
        let no_key = |why: String| {
            let error = EndpointError::NoKey { place: self.place.clone(), why };
            Failure::new(ErrorClass::Usage, error)
        };
        if let Some(name) = self.value("key_env", words)? {
            let found = session.environment.only([name.as_str()]).pop();
            let (_, value) = found.ok_or_else(|| no_key(format!("`{name}` is not set")))?;
            let key = value.to_str().and_then(ApiKey::new);
            return key.map(Some).ok_or_else(|| no_key(format!("`{name}` holds no key")));
        }
        let absolute = |value: &Value| words(value).filter(|path| Path::new(path).is_absolute());
        let Some(path) = self.value("key_file", absolute)? else { return Ok(None) };
        let is_private = is_private(Path::new(&path));
        let key = file::text(Path::new(&path), MAX_KEY).as_deref().and_then(ApiKey::new);
        let key = key.ok_or_else(|| no_key(format!("`{path}` holds no key")))?;
        if is_private {
            return Ok(Some(key));
        }
        Err(no_key(format!("other users can read `{path}`")).hint(format!("chmod 600 {path}")))
    }
}

fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// Tells whether only the owner may read a file.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode().trailing_zeros() >= 6)
}

/// On other systems there is no mode to check.
#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

/// Renders the section's part of the reference page.
pub fn reference() -> String {
    let rows =
        KEYS.map(|(name, expected, meaning)| format!("| `{name}` | {expected} | {meaning} |\n"));
    format!(
        "## `[lane.http.NAME]`\n\n\
         A model's API, for `--agent http:NAME`. Only your own `config.toml` may have these sections: a project must not choose where your prompts and keys go.\n\n\
         | key | value | meaning |\n|---|---|---|\n{}",
        rows.concat()
    )
}
