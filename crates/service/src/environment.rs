//! The environment as a front end found it. Every variable that Convoke reads is here.

pub(crate) mod agent_variable;
mod state_folder;
mod telemetry;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::client::Client;
use convoke_domain::compat::ledger::place::NamedPlaces;
use convoke_domain::lane::around::SurroundingLane;
use convoke_domain::scope::AgentName;
use convoke_engine::ancestry::last_set;
use convoke_engine::client::adapter;
use convoke_engine::lane::supervisor::LANE_MARK;
use convoke_engine::program::{ProgramSearch, absolute, search};
use convoke_engine::transcript::own::ClientHomes;

use self::agent_variable::AGENT_VARIABLE;

/// The environment of the process: variables, folder and program. A front end captures it once.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: Arc<HashMap<OsString, OsString>>,
    /// The folder that the process started in, if it still has one.
    folder: Option<PathBuf>,
    program: PathBuf,
}

/// The variable with the filter of the log.
pub const LOG_FILTER: &str = "CONVOKE_LOG";

/// The variable with the file of the log.
const LOG_FILE: &str = "CONVOKE_LOG_FILE";

/// The variable with the token of the MCP server over HTTP.
pub const MCP_TOKEN: &str = "CONVOKE_MCP_TOKEN";

/// The variable with the place of the store.
pub(crate) const STORE: &str = "CONVOKE_STORE";

/// The variable with the password of the store's server.
pub const STORE_PASSWORD: &str = "CONVOKE_STORE_PASSWORD";

/// The start of every variable that is a setting.
const PREFIX: &str = "CONVOKE_";

impl Environment {
    /// Keeps what a front end found: its variables, the folder it started in, and its program, which
    /// is started again as the guardian of lanes.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        folder: Option<PathBuf>,
        program: PathBuf,
    ) -> Self {
        Self { variables: Arc::new(variables.into_iter().collect()), folder, program }
    }

    /// Returns the folder the process was started in.
    pub fn current_dir(&self) -> io::Result<PathBuf> {
        self.folder.clone().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the path of this program.
    pub fn program(&self) -> PathBuf {
        self.program.clone()
    }

    /// An empty variable counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }

    /// Returns these variables and no others, if set. It drops entries of PATH that depend on the
    /// current folder.
    pub fn only<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<(OsString, OsString)> {
        let value = |name: &str| {
            let value = self.variable(name)?;
            Some(if name == "PATH" { absolute(&value) } else { value })
        };
        names.into_iter().filter_map(|name| Some((name.into(), value(name)?))).collect()
    }

    /// Returns the environment of a front end whose command line sets the log's filter or file. An
    /// option that is absent changes nothing.
    #[must_use]
    pub fn logging(&self, filter: Option<&OsStr>, file: Option<&Path>) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        variables.extend(filter.map(|filter| (LOG_FILTER.into(), filter.to_owned())));
        variables.extend(file.map(|file| (LOG_FILE.into(), file.as_os_str().to_owned())));
        Self { variables: Arc::new(variables), ..self.clone() }
    }

    /// Returns the environment of a front end that acts for an agent, in a folder.
    #[must_use]
    pub fn acting_for(&self, agent: &AgentName, folder: PathBuf) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        variables.insert(AGENT_VARIABLE.into(), agent.as_str().into());
        Self { variables: Arc::new(variables), folder: Some(folder), program: self.program.clone() }
    }

    /// Returns the environment of a program that starts another one for our work.
    #[must_use]
    pub fn with_program(&self, program: PathBuf) -> Self {
        Self { program, ..self.clone() }
    }

    /// Returns the environment of work whose record belongs into a store of its own, on this machine.
    #[must_use]
    pub fn with_store(&self, file: &Path) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        variables.insert(STORE.into(), file.as_os_str().to_owned());
        Self { variables: Arc::new(variables), ..self.clone() }
    }

    /// Returns all variables for a worker process, which starts in another folder and writes to the
    /// same log.
    pub fn for_worker(&self) -> Vec<(OsString, OsString)> {
        let mut variables = HashMap::clone(&self.variables);
        if let (Some(file), Some(folder)) = (self.log_file(), &self.folder) {
            variables.insert(LOG_FILE.into(), folder.join(file).into_os_string());
        }
        variables.into_iter().collect()
    }

    /// Searches PATH for the first of some programs, and leaves out the project's own.
    pub fn search_program(&self, names: &[&str], project: &Path) -> ProgramSearch {
        search(&self.variable("PATH").unwrap_or_default(), names, &[project])
    }

    /// Finds the first of some programs on the PATH, outside of the project.
    pub fn find_program(&self, names: &[&str], project: &Path) -> Option<PathBuf> {
        self.search_program(names, project).found
    }

    /// Returns the user's own folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// Returns Codex's own folder.
    pub fn codex_home(&self) -> Option<PathBuf> {
        self.client_home(Client::Codex)
    }

    pub(crate) fn client_home(&self, client: Client) -> Option<PathBuf> {
        let home = adapter(client).home?;
        let folder = home.variables.iter().find_map(|name| self.variable(name));
        let named = folder.map(|folder| match home.below {
            "" => PathBuf::from(folder),
            below => PathBuf::from(folder).join(below),
        });
        named.or_else(|| Some(self.home()?.join(home.folder)))
    }

    /// Returns where clients keep their own records.
    pub fn client_homes(&self) -> ClientHomes {
        let home = |client| Some((client, self.client_home(client)?));
        Client::ALL.into_iter().filter_map(home).collect()
    }

    /// Returns the user's configuration file: `$XDG_CONFIG_HOME/convoke/config.toml`, or the same
    /// below `~/.config`.
    pub fn user_config(&self) -> Option<PathBuf> {
        let base = self
            .variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            // The XDG rules ignore relative folders.
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".config")))?;
        Some(base.join("convoke").join("config.toml"))
    }

    /// Returns the value that names the agent that this process works for, if it is set.
    pub fn agent(&self) -> Option<OsString> {
        self.variable(AGENT_VARIABLE)
    }

    /// Returns the session that this process was started in, as its client says. Where one client
    /// runs inside another, it is that of the inner one; both, if that cannot be told.
    pub fn client_sessions(&self) -> Vec<(Client, String)> {
        let session = |client: Client| {
            let name = adapter(client).session_variable?;
            Some((client, name, self.variable(name)?.to_string_lossy().into_owned()))
        };
        let mut sessions: Vec<_> = Client::ALL.into_iter().filter_map(session).collect();
        if sessions.len() > 1 {
            let variables: Vec<_> =
                sessions.iter().map(|(_, name, id)| (*name, id.as_str())).collect();
            if let Some(inner) = last_set(&variables) {
                sessions = vec![sessions.swap_remove(inner)];
            }
        }
        sessions.into_iter().map(|(client, _, id)| (client, id)).collect()
    }

    /// Returns the client that this process was started in, also one that does not say in which of its
    /// sessions.
    pub fn around(&self) -> Option<Client> {
        let is_around = |client: &Client| {
            let adapter = adapter(*client);
            let names = [adapter.session_variable, adapter.shell_variable];
            names.into_iter().flatten().any(|name| self.variable(name).is_some())
        };
        Client::ALL.into_iter().find(is_around)
    }

    /// Tells whether this process works for an agent: in a lane, in a client, or under the name of
    /// one.
    pub fn is_agents(&self) -> bool {
        self.is_in_lane() || self.agent().is_some() || self.around().is_some()
    }

    /// Returns the filter of the log, if one is set.
    pub fn log_filter(&self) -> Option<OsString> {
        self.variable(LOG_FILTER)
    }

    /// Returns the file of the log instead of stderr, if one is named.
    pub fn log_file(&self) -> Option<PathBuf> {
        self.variable(LOG_FILE).map(PathBuf::from)
    }

    /// Returns the editor that the user writes with: `VISUAL`, else `EDITOR`.
    pub fn editor(&self) -> Option<OsString> {
        self.variable("VISUAL").or_else(|| self.variable("EDITOR"))
    }

    /// Tells whether this process runs inside a lane: in a client that Convoke started, or in a
    /// process that such a client started.
    pub fn is_in_lane(&self) -> bool {
        self.variable(LANE_MARK).is_some()
    }

    /// Returns what is known about the lane that this process runs in, if it does.
    pub fn surrounding_lane(&self) -> Option<SurroundingLane> {
        self.variable(LANE_MARK).map(|mark| SurroundingLane::parse(&mark.to_string_lossy()))
    }

    /// Returns the environment of a process that a lane around it started without its mark: some
    /// clients pass few variables on to the programs they start.
    #[must_use]
    pub fn marked_as_lane(&self, mark: OsString) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        variables.insert(LANE_MARK.into(), mark);
        Self { variables: Arc::new(variables), ..self.clone() }
    }

    /// Returns the token of the MCP server, if the environment has one.
    pub fn mcp_token(&self) -> Option<String> {
        self.variable(MCP_TOKEN).map(|token| token.to_string_lossy().into_owned())
    }

    /// Returns the store's file or address, if one is named.
    pub fn store(&self) -> Option<PathBuf> {
        self.variable(STORE).map(PathBuf::from)
    }

    /// Returns the password of the store's server, if the environment has it.
    pub fn store_password(&self) -> Option<String> {
        self.variable(STORE_PASSWORD).map(|password| password.to_string_lossy().into_owned())
    }

    /// Returns where it is remembered which agents answered: `convoke/health.json` below
    /// `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn health_cache(&self) -> Option<PathBuf> {
        Some(self.cache()?.join("convoke").join("health.json"))
    }

    /// Returns where excerpts of large plans are remembered: `convoke/plans.json` below
    /// `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn plan_cache(&self) -> Option<PathBuf> {
        Some(self.cache()?.join("convoke").join("plans.json"))
    }

    /// Returns the folders for scripts' sessions: Convoke's first, then the original workflow's.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let names = ["convoke/sessions", "larch/sessions"];
        self.cache().map(|cache| names.map(|name| cache.join(name)).into()).unwrap_or_default()
    }

    fn cache(&self) -> Option<PathBuf> {
        self.variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".cache")))
    }

    /// Returns the folder for temporary files.
    pub fn temp(&self) -> PathBuf {
        let named = self.variable("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// Returns the folder of a design's files, as the workflow around it says.
    pub fn design_folder(&self) -> Option<PathBuf> {
        self.variable("DESIGN_TMPDIR").map(PathBuf::from)
    }

    /// Returns the folder of the calling workflow.
    pub fn implement_folder(&self) -> Option<PathBuf> {
        self.variable("IMPLEMENT_TMPDIR").map(PathBuf::from)
    }

    /// Returns the session that a bundle is written for.
    pub fn session_id(&self) -> Option<String> {
        self.variable("SESSION_ID").map(|text| text.to_string_lossy().into_owned())
    }

    /// Returns where the ledgers of the original workflow may be, by the names its scripts use.
    pub fn ledgers(&self) -> NamedPlaces {
        let path = |name| self.variable(name).map(PathBuf::from);
        NamedPlaces {
            timing: path("LARCH_TIMING_LEDGER"),
            tokens: path("LARCH_TOKEN_LEDGER"),
            implement: self.implement_folder(),
            session_env: path("SESSION_ENV_PATH"),
            design: self.design_folder(),
            review: path("REVIEW_TMPDIR"),
            temp: self.temp(),
        }
    }

    /// Returns the workflow that a row of the timing ledger is of.
    pub fn timing_skill(&self) -> Option<String> {
        self.variable("LARCH_TIMING_SKILL").map(|text| text.to_string_lossy().into_owned())
    }

    /// Returns the id of the session that a token ledger is of.
    pub fn token_session(&self) -> Option<String> {
        self.variable("LARCH_TOKEN_SESSION_ID").map(|text| text.to_string_lossy().into_owned())
    }

    /// Returns the host's own record of the session, for what it used itself.
    pub fn claude_source(&self) -> Option<PathBuf> {
        self.variable("LARCH_CLAUDE_SOURCE_FILE").map(PathBuf::from)
    }

    /// Names the variables for folders that are ignored because they are relative.
    pub fn relative_folders(&self) -> Vec<&'static str> {
        let names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
        let is_relative = |name: &&str| {
            self.variable(name).is_some_and(|path| !PathBuf::from(path).is_absolute())
        };
        names.into_iter().filter(is_relative).collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.variable(name).map(|text| text.to_string_lossy().into_owned())
    }

    /// Returns after how many events a test wants the process to end.
    #[cfg(feature = "faults")]
    pub fn fault_after(&self) -> u64 {
        let text = self.variable("CONVOKE_FAULT_AFTER").unwrap_or_default();
        text.to_string_lossy().parse().unwrap_or_default()
    }

    /// Returns the variable for a setting, such as `CONVOKE_BRIEF_DIR` for `brief` and `dir`.
    pub fn setting(&self, section: &str, key: &str) -> Option<(String, OsString)> {
        let name = setting_name(section, key);
        self.variable(&name).map(|value| (name, value))
    }
}

/// Returns the name of the variable that sets `key` in `section`.
pub fn setting_name(section: &str, key: &str) -> String {
    format!("{PREFIX}{section}_{key}").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A worker starts in the project's folder, which need not be where its parent started.
    #[test]
    fn a_worker_hears_flags_about_the_log_and_finds_the_same_file() {
        let variables = [(LOG_FILTER.into(), "warn".into()), ("A".into(), "b".into())];
        let folder = Some(PathBuf::from("/start"));
        let environment = Environment::new(variables, folder, PathBuf::from("convoke"));
        let of_worker = |environment: &Environment| -> Vec<String> {
            let pair = |(name, value): (OsString, OsString)| {
                format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
            };
            let mut all: Vec<_> = environment.for_worker().into_iter().map(pair).collect();
            all.sort();
            all
        };
        assert_eq!(of_worker(&environment), ["A=b", "CONVOKE_LOG=warn"]);
        let told = environment.logging(Some(OsStr::new("debug")), Some(Path::new("my.log")));
        let expected = ["A=b", "CONVOKE_LOG=debug", "CONVOKE_LOG_FILE=/start/my.log"];
        assert_eq!(of_worker(&told), expected);
        assert_eq!(of_worker(&environment.logging(None, None)), of_worker(&environment));
    }
}
