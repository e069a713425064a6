//! `convoke hooks`: writing hook entries into clients' settings, and taking them out again.

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::finding::{Finding, Unreadable};
use convoke_domain::hook::Client;
use convoke_engine::file;
use convoke_engine::hooks::claude_plugin::enabled_plugin;
use convoke_engine::hooks::trust::{Trust, trust};
use convoke_engine::hooks::{Level, SettingsError, count, install, original, settings_file};
use convoke_store::delivery::{Activity, DeliveryStore};
use convoke_store::install::{Install, InstallStore};
use convoke_store::sqlite::SqliteStore;
use jiff::Timestamp;
use serde::Serialize;

use super::hook::client;
use super::pin::{self, All, PinReport};
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, open_store, refused};

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
    /// Add hook entries to a client's settings; nothing else in them is touched
    Install(InstallArgs),
    /// Tell whether hooks are installed, trusted and called, and whether their texts arrived
    Status(Target),
    /// Take the entries out; an unchanged file gets its old bytes back
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

#[derive(Debug, clap::Args)]
struct UninstallArgs {
    #[command(flatten)]
    target: Target,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    target: Target,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,

    /// How many entries share a long wake-up
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    entries: u8,
}

#[derive(Debug, thiserror::Error)]
enum HooksError {
    #[error("cannot tell where the user's settings are: HOME is not set")]
    NoHome,
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot change `{}`", path.display())]
    Settings { path: PathBuf, source: SettingsError },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

#[derive(Serialize)]
struct Report {
    path: String,
    installed: bool,
    entries: usize,
    /// The plugin that brings them along, by its name in the client's settings.
    plugin: Option<String>,
    /// Whether the client runs them; only where that depends on its user.
    trust: Option<&'static str>,
    fired_at: Option<String>,
    delivered_at: Option<String>,
    arrived_at: Option<String>,
    /// The user's rules that hold here, with where each arrived last.
    pins: Vec<PinReport>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Install(args) => args.run(app, output),
            Command::Status(target) => target.status(app, output),
            Command::Uninstall(args) => args.target.uninstall(app, args.dry_run, output),
        }
    }
}

impl InstallArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let target = &self.target;
        let path = target.path(app)?;
        let current = read(&path)?;
        let program = app.environment.program();
        let installed = install(current.as_deref(), target.client, &program, self.entries.into());
        let installed = installed.map_err(|source| malformed(&path, source))?;
        if self.dry_run {
            output.data(&installed)?;
            return Ok(Exit::Done);
        }
        let store = open_store(app)?;
        let known = path.display().to_string();
        let original = target.original(&store, &path, current.as_deref())?;
        // What the file was is safe before the file changes.
        let install = Install { original, installed, installed_at: now() };
        store.remember_install(&known, target.client, &install).map_err(refused)?;
        write(&path, &install.installed)?;
        if target.client == Client::Codex {
            output.say("note: Codex skips hooks until you trust them: run `/hooks` in it once");
        }
        if target.client == Client::Gemini {
            output.say(
                "note: Gemini runs hooks only in folders that you trust: run `/permissions` in it",
            );
        }
        target.status(app, output)
    }
}

impl Target {
    fn path(&self, app: &App) -> Result<PathBuf, Failure> {
        if !self.user {
            // What is remembered of a file must not depend on where we were called.
            let project = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
            return Ok(settings_file(self.client, Level::Project, &project));
        }
        let home = app.environment.home();
        let home = home.ok_or_else(|| Failure::new(Exit::Surroundings, HooksError::NoHome))?;
        Ok(settings_file(self.client, Level::User, &home))
    }

    fn status(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = self.report(app)?;
        let installed = report.installed;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&lines(&report))?,
        }
        Ok(if installed { Exit::Done } else { Exit::No })
    }

    fn report(&self, app: &App) -> Result<Report, Failure> {
        let path = self.path(app)?;
        let settings = read(&path)?;
        let entries = match &settings {
            Some(text) => count(text, self.client).map_err(|source| malformed(&path, source))?,
            None => 0,
        };
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let Activity { fired_at, delivered_at, arrived_at } =
            store.activity(self.client, &scope.project).map_err(refused)?;
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let plugin = (self.client == Client::Claude).then(|| plugin(app, self.user)).flatten();
        Ok(Report {
            installed: entries > 0 || plugin.is_some(),
            entries,
            plugin,
            trust: settings.and_then(|text| self.trust(&text, &path, app)).map(Trust::words),
            fired_at: time(fired_at),
            delivered_at: time(delivered_at),
            arrived_at: time(arrived_at),
            path: path.display().to_string(),
            pins: pin::reports(&Workspace::open(app, None)?, All::Here)?,
        })
    }

    /// Codex alone asks its user first.
    fn trust(&self, settings: &str, path: &Path, app: &App) -> Option<Trust> {
        if self.client != Client::Codex {
            return None;
        }
        let config = app.environment.codex_home()?.join("config.toml");
        let config = file::text(&config, MAX_BYTES).unwrap_or_default();
        trust(settings, path, &config)
    }

    /// Returns what the file would hold without us.
    fn original(
        &self,
        store: &SqliteStore,
        path: &Path,
        current: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let known = store.install(&path.display().to_string()).map_err(refused)?;
        let known = known.as_ref().map(|it| (it.original.as_deref(), it.installed.as_str()));
        original(current, known, self.client).map_err(|source| malformed(path, source))
    }

    fn uninstall(&self, app: &App, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
        let path = self.path(app)?;
        let (current, store) = (read(&path)?, open_store(app)?);
        let restored = self.original(&store, &path, current.as_deref())?;
        if dry_run {
            output.data(&restored.unwrap_or_default())?;
            return Ok(Exit::Done);
        }
        match restored {
            Some(text) if current.as_ref() != Some(&text) => write(&path, &text)?,
            None if current.is_some() => {
                std::fs::remove_file(&path).map_err(|source| unwritable(&path, source))?;
            }
            Some(_) | None => {}
        }
        store.forget_install(&path.display().to_string()).map_err(refused)?;
        self.status_after_removal(app, output)
    }

    /// Here it is good news that nothing is installed.
    fn status_after_removal(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        self.status(app, output).map(|_| Exit::Done)
    }
}

/// Returns our plugin for Claude Code, which brings the hooks along, if it is switched on in its
/// user's settings, or in the project's.
pub(super) fn plugin(app: &App, only_user: bool) -> Option<String> {
    let user = app.environment.home().map(|home| home.join(".claude/settings.json"));
    let local = app.project.join(".claude/settings.local.json");
    let project = (!only_user).then(|| [local, app.project.join(".claude/settings.json")]);
    let mut places = project.into_iter().flatten().chain(user);
    places.find_map(|path| enabled_plugin(&file::text(&path, MAX_BYTES)?))
}

/// Says what is known, from the settings to the agent.
fn lines(report: &Report) -> String {
    let state = match (report.entries, report.trust) {
        (0, _) if report.plugin.is_some() => "installed".to_owned(),
        (0, _) => "not installed".to_owned(),
        (count, None) => format!("installed ({count} entries)"),
        (count, Some(trust)) => format!("installed ({count} entries), {trust}"),
    };
    let plugin = report.plugin.as_ref();
    let plugin = plugin.map_or_else(String::new, |name| match report.entries {
        0 => format!(" by the plugin {name}"),
        _ => format!(", and by the plugin {name}"),
    });
    let when =
        |at: &Option<String>| at.as_ref().map_or("never".to_owned(), |at| format!("at {at}"));
    let arrived = match (&report.delivered_at, &report.arrived_at) {
        (None, _) => String::new(),
        (Some(_), Some(at)) => format!(", arrived: seen in the client's record at {at}"),
        (Some(_), None) => ", not seen in the client's record yet".to_owned(),
    };
    format!(
        "{}  {state}{plugin}\nfired: {}\ndelivered: {}{arrived}\n",
        report.path,
        when(&report.fired_at),
        when(&report.delivered_at)
    ) + &report.pins.iter().map(PinReport::status).collect::<String>()
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match file::read(path, MAX_BYTES) {
        Finding::Absent => Ok(None),
        Finding::Text(text) => Ok(Some(text)),
        Finding::Unreadable(reason) => {
            let error = HooksError::Unreadable { path: path.to_owned(), reason };
            Err(Failure::new(Exit::Surroundings, error))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    file::replace(path, text).map_err(|source| unwritable(path, source))
}

fn unwritable(path: &Path, source: io::Error) -> Failure {
    Failure::new(Exit::Surroundings, HooksError::Write { path: path.to_owned(), source })
}

fn malformed(path: &Path, source: SettingsError) -> Failure {
    let error = HooksError::Settings { path: path.to_owned(), source };
    Failure::new(Exit::No, error).hint("nothing was changed; mend the file and try again")
}
