//! Writing hook entries into clients' settings, looking after them, and taking them out again.

mod arrival;
mod binding;
mod install;
mod status;

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::client::claude::plugin::{PluginSwitch, plugin_switch};
use convoke_engine::client::codex::trust::{HookTrust, trust, trusts_folder};
use convoke_engine::client::{SettingsOwner, SettingsPlace};
use convoke_engine::file::{self, stays_inside};
use convoke_engine::git::checkout;
use convoke_engine::hooks::{HooksLevel, SettingsError, settings_place};

pub use self::arrival::WakeArrival;
pub(crate) use self::arrival::arrival_in;
pub use self::binding::rebind;
pub(crate) use self::binding::{git_remedy, release_binding};
pub use self::install::{
    HooksChange, HooksDryRunReport, InstallHooksRequest, RemovedHooksReport, install_hooks,
    is_same, uninstall_hooks,
};
pub(crate) use self::install::{
    bind_sessions, named_program, remember_folders, remove_folders, take_hooks_back,
};

pub use self::status::{
    DeliveryObstacle, FailedHook, HooksReport, hooks_status, is_there, obstacle,
};
pub(crate) use self::status::{agent_of_sessions, last_failed};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings_file::MAX_BYTES;

/// Whether files are changed, or only shown as they would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    /// They are changed.
    No,
    /// They stay as they are.
    DryRun,
}

/// Names the settings of a client.
#[derive(Debug, Clone)]
pub struct HooksTarget {
    /// The client whose settings are meant.
    pub client: Client,
    /// The project's settings, or the user's.
    pub level: HooksLevel,
}

#[derive(Debug, thiserror::Error)]
enum HooksError {
    #[error("cannot find your settings: HOME is not set")]
    NoHome,
    #[error("the plugin `{name}` already provides the hooks; Convoke wrote no entries")]
    Plugin { name: String },
    #[error("cannot use `{}`", path.display())]
    Settings { path: PathBuf, source: SettingsError },
    #[error("cannot change `{}`: it leads out of the project", path.display())]
    Outside { path: PathBuf },
}

impl HooksTarget {
    /// Returns the settings, and the folder that they are below.
    fn place(&self, session: &Session) -> Result<SettingsPlace, Failure> {
        let place = with_owner(session, self.level, |owner| settings_place(self.client, owner));
        match place {
            Ok(Some(place)) => Ok(place),
            Ok(None) => Err(Failure::new(ErrorClass::Prerequisite, HooksError::NoHome)),
            Err(source) => {
                let path = session.absolute_project();
                Err(Failure::new(ErrorClass::Prerequisite, HooksError::Settings { path, source }))
            }
        }
    }

    pub(crate) fn path(&self, session: &Session) -> Result<PathBuf, Failure> {
        Ok(self.place(session)?.path)
    }

    /// Returns the file to change.
    fn path_to_change(&self, session: &Session) -> Result<PathBuf, Failure> {
        refuse_outside(self.level, self.place(session)?)
    }

    /// Returns the trust in Convoke's entries; only Codex asks its user first.
    fn trust(&self, settings: &str, path: &Path, session: &Session) -> Option<HookTrust> {
        if self.client != Client::Codex {
            return None;
        }
        trust(settings, path, &codex_config(session))
    }

    /// Tells whether Codex reads the settings in this project.
    pub(crate) fn folder_trust(&self, session: &Session) -> FolderTrust {
        if self.client != Client::Codex || self.level == HooksLevel::User {
            return FolderTrust::Given;
        }
        if trusts_folder(&codex_config(session), &project_roots(session)) {
            FolderTrust::Given
        } else {
            FolderTrust::Missing
        }
    }
}

/// Calls a function with the owner of the settings of a level.
pub(crate) fn with_owner<T>(
    session: &Session,
    level: HooksLevel,
    call: impl FnOnce(SettingsOwner<'_>) -> T,
) -> T {
    match level {
        // The record of a file must not depend on the current folder.
        HooksLevel::Project => call(SettingsOwner::Project(&session.absolute_project())),
        HooksLevel::User => call(SettingsOwner::User(&|name| session.environment.variable(name))),
    }
}

/// Returns the paths under which a client may have recorded the project's folder: as it is called, as it
/// is without links, and that of its repository.
pub(crate) fn project_roots(session: &Session) -> Vec<PathBuf> {
    let project = session.absolute_project();
    let real = project.canonicalize().unwrap_or_else(|_| project.clone());
    let repository = checkout(&real);
    let repository = repository.and_then(|found| Some(found.common_dir.parent()?.to_owned()));
    [project, real].into_iter().chain(repository).collect()
}

/// Returns the file to change. A project's settings that lead out of it are refused: a link that came
/// with the project must not reach the user's own.
pub(crate) fn refuse_outside(level: HooksLevel, place: SettingsPlace) -> Result<PathBuf, Failure> {
    let SettingsPlace { base, path } = place;
    // A link to nothing cannot be written through, and says so then.
    let leads_nowhere = path.is_symlink() && !path.exists();
    let is_inside = |name: &Path| leads_nowhere || stays_inside(&base, name);
    if level == HooksLevel::User || path.strip_prefix(&base).is_ok_and(is_inside) {
        return Ok(path);
    }
    Err(Failure::new(ErrorClass::Refused, HooksError::Outside { path }).hint(
        "nothing was changed; replace the link with a file, or use `--user` for your own settings",
    ))
}

/// Returns what a user does once so that Codex calls hooks, in order.
pub(crate) const fn codex_trust_steps(folder: FolderTrust) -> &'static str {
    match folder {
        FolderTrust::Missing => {
            "start `codex` here and trust the folder, then run `/hooks` in it and trust the hooks"
        }
        FolderTrust::Given => "start `codex` here, run `/hooks` in it and trust the hooks",
    }
}

/// Whether Codex reads settings in a project's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderTrust {
    /// Its user trusts the folder.
    Given,
    /// Its user has not trusted the folder.
    Missing,
}

fn codex_config(session: &Session) -> String {
    let path = session.environment.codex_home().map(|home| home.join("config.toml"));
    path.and_then(|path| file::text(&path, MAX_BYTES)).unwrap_or_default()
}

/// Returns Convoke's plugin for Claude Code, which includes the hooks, if it is enabled in its
/// user's settings, or for a project in those of the project.
pub fn plugin(session: &Session, level: HooksLevel) -> Option<String> {
    let user = HooksTarget { client: Client::Claude, level: HooksLevel::User };
    let user = user.path(session).ok();
    let local = session.project.join(".claude/settings.local.json");
    let project = [local, session.project.join(".claude/settings.json")];
    let project = project.into_iter().filter(|_| level == HooksLevel::Project);
    let mut places = project.chain(user);
    // The strongest settings that name it decide.
    match places.find_map(|path| plugin_switch(&file::text(&path, MAX_BYTES)?))? {
        PluginSwitch::On(name) => Some(name),
        PluginSwitch::Off => None,
    }
}

fn malformed(path: &Path, source: SettingsError) -> Failure {
    let error = HooksError::Settings { path: path.to_owned(), source };
    Failure::new(ErrorClass::Refused, error)
        .hint("nothing was changed; correct the file and try again")
}
