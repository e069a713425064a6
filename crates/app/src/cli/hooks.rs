//! `convoke hooks`: writing hook entries into clients' settings, and taking them out again.

mod binding;
mod install;
mod status;

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::hook::Client;
use convoke_engine::file;
use convoke_engine::git::checkout;
use convoke_engine::hooks::claude_plugin::{PluginSwitch, plugin_switch};
use convoke_engine::hooks::trust::{Trust, trust, trusts_folder};
use convoke_engine::hooks::{Level, SettingsError, settings_file};

pub(super) use self::binding::rebind;
pub(super) use self::install::is_same;
use self::install::{InstallArgs, UninstallArgs};
pub(super) use self::status::{is_there, obstacle};
use super::hook::client;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// No settings file a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Put hooks into a client's settings, look after them, and take them out
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add hook entries to a client's settings, and bind its sessions to an agent
    ///
    /// Every other byte of the settings stays as it is. The agent is written to
    /// `convoke.local.toml`, which git ignores, or with `--user` to your own `config.toml`.
    Install(InstallArgs),
    /// Tell whether hooks are installed, trusted and called, and whether their texts arrived
    Status(Target),
    /// Take the entries out again, and the agent if it is as `install` wrote it
    Uninstall(UninstallArgs),
}

#[derive(Debug, clap::Args)]
struct Target {
    /// The client
    #[arg(value_parser = client())]
    client: Client,

    /// The user's settings instead of the project's
    #[arg(long)]
    user: bool,
}

#[derive(Debug, thiserror::Error)]
enum HooksError {
    #[error("cannot tell where the user's settings are: HOME is not set")]
    NoHome,
    #[error("the plugin `{name}` brings the hooks along already; no entries were written")]
    Plugin { name: String },
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot change `{}`", path.display())]
    Settings { path: PathBuf, source: SettingsError },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Install(args) => args.run(app, output),
            Command::Status(target) => target.status(app, output),
            Command::Uninstall(args) => args.run(app, output),
        }
    }
}

impl Target {
    const fn level(&self) -> Level {
        if self.user { Level::User } else { Level::Project }
    }

    /// Returns the folder that the settings are below.
    fn base(&self, app: &App) -> Result<PathBuf, Failure> {
        match self.level() {
            // What is remembered of a file must not depend on where we were called.
            Level::Project => {
                Ok(std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone()))
            }
            Level::User => {
                let home = app.environment.home();
                home.ok_or_else(|| Failure::new(Exit::Surroundings, HooksError::NoHome))
            }
        }
    }

    fn path(&self, app: &App) -> Result<PathBuf, Failure> {
        Ok(settings_file(self.client, self.level(), &self.base(app)?))
    }

    /// Codex alone asks its user first.
    fn trust(&self, settings: &str, path: &Path, app: &App) -> Option<Trust> {
        if self.client != Client::Codex {
            return None;
        }
        trust(settings, path, &codex_config(app))
    }

    /// Tells whether Codex reads the settings in this project at all.
    fn is_folder_trusted(&self, app: &App) -> bool {
        if self.client != Client::Codex || self.level() == Level::User {
            return true;
        }
        let project = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
        let real = project.canonicalize().unwrap_or_else(|_| project.clone());
        let repository = checkout(&real);
        let repository = repository.and_then(|found| Some(found.common_dir.parent()?.to_owned()));
        let roots: Vec<_> = [project, real].into_iter().chain(repository).collect();
        trusts_folder(&codex_config(app), &roots)
    }
}

fn codex_config(app: &App) -> String {
    let path = app.environment.codex_home().map(|home| home.join("config.toml"));
    path.and_then(|path| file::text(&path, MAX_BYTES)).unwrap_or_default()
}

/// Returns our plugin for Claude Code, which brings the hooks along, if it is switched on in its
/// user's settings, or for a project in those of the project.
pub(super) fn plugin(app: &App, level: Level) -> Option<String> {
    let user = app.environment.home().map(|home| home.join(".claude/settings.json"));
    let local = app.project.join(".claude/settings.local.json");
    let project = [local, app.project.join(".claude/settings.json")];
    let project = project.into_iter().filter(|_| level == Level::Project);
    let mut places = project.chain(user);
    // The strongest settings that name it decide.
    match places.find_map(|path| plugin_switch(&file::text(&path, MAX_BYTES)?))? {
        PluginSwitch::On(name) => Some(name),
        PluginSwitch::Off => None,
    }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match file::read(path, MAX_BYTES) {
        FileFinding::Absent => Ok(None),
        FileFinding::Text(text) => Ok(Some(text)),
        FileFinding::Unreadable(reason) => {
            let error = HooksError::Unreadable { path: path.to_owned(), reason };
            Err(Failure::new(Exit::Surroundings, error))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    file::replace(path, text).map_err(|source| unwritable(path, source))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(|source| unwritable(path, source)),
    }
}

fn unwritable(path: &Path, source: io::Error) -> Failure {
    Failure::new(Exit::Surroundings, HooksError::Write { path: path.to_owned(), source })
}

fn malformed(path: &Path, source: SettingsError) -> Failure {
    let error = HooksError::Settings { path: path.to_owned(), source };
    Failure::new(Exit::No, error).hint("nothing was changed; mend the file and try again")
}
