//! `convoke hooks`: writing hook entries into clients' settings, and taking them out again.

use std::io;
use std::path::PathBuf;

use clap::Subcommand;
use convoke_domain::finding::{Finding, Unreadable};
use convoke_domain::hook::Client;
use convoke_engine::file;
use convoke_engine::hooks::{SettingsError, count, install, replace, settings_file, uninstall};
use convoke_store::install::{Install, InstallStore};
use serde::Serialize;

use super::hook::client;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{open_store, refused};

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
    /// Tell whether hooks are installed and when they last delivered
    Status(Target),
    /// Take the entries out; an unchanged file gets its old bytes back
    Uninstall(Target),
}

#[derive(Debug, clap::Args)]
struct Target {
    /// The client
    #[arg(value_parser = client())]
    client: Client,

    /// The user's settings instead of the project's
    #[arg(long)]
    user: bool,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    target: Target,

    /// How many entries share a long wake-up
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    entries: u8,
}

#[derive(Debug, thiserror::Error)]
enum HooksError {
    #[error("cannot find settings of `{client}` to write into")]
    NoSettings { client: &'static str },
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
    last_delivery: Option<String>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Install(args) => args.run(app, output),
            Command::Status(target) => target.status(app, output),
            Command::Uninstall(target) => target.uninstall(app, output),
        }
    }
}

impl InstallArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let target = &self.target;
        let path = target.path(app)?;
        let original = read(&path)?;
        let program = app.environment.program();
        let installed = install(original.as_deref(), target.client, &program, self.entries.into());
        let installed = installed.map_err(|source| malformed(&path, source))?;
        if target.dry_run {
            output.data(&installed)?;
            return Ok(Exit::Done);
        }
        // What the file was is safe before the file changes.
        let install = Install { original, installed, installed_at: now() };
        let known = path.display().to_string();
        open_store(app)?.remember_install(&known, target.client, &install).map_err(refused)?;
        write(&path, &install.installed)?;
        if target.client == Client::Codex {
            output.say("note: Codex skips hooks until you trust them: run `/hooks` in it once");
        }
        target.status(app, output)
    }
}

impl Target {
    fn path(&self, app: &App) -> Result<PathBuf, Failure> {
        let home = app.environment.home();
        let base = if self.user { home } else { Some(app.project.clone()) };
        base.and_then(|base| settings_file(self.client, &base)).ok_or_else(|| {
            Failure::new(Exit::No, HooksError::NoSettings { client: self.client.name() })
                .hint("docs/reference/wake.md shows what a plugin has to call")
        })
    }

    fn status(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let path = self.path(app)?;
        let entries = match read(&path)? {
            Some(text) => count(&text, self.client).map_err(|source| malformed(&path, source))?,
            None => 0,
        };
        let last = open_store(app)?.last_delivery(self.client).map_err(refused)?;
        let last_delivery = last.map(|at| at.to_string());
        let path = path.display().to_string();
        match app.format {
            Format::Json => {
                let installed = entries > 0;
                output.json(&Report { path, installed, entries, last_delivery })?;
            }
            Format::Text => {
                let state = match entries {
                    0 => "not installed".to_owned(),
                    count => format!("installed ({count} entries)"),
                };
                let last = last_delivery.map_or("never".to_owned(), |at| format!("at {at}"));
                output.data(&format!(
                    "{path}  {state}\nlast delivery to {}: {last}\n",
                    self.client.name()
                ))?;
            }
        }
        Ok(if entries > 0 { Exit::Done } else { Exit::No })
    }

    fn uninstall(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let path = self.path(app)?;
        let Some(current) = read(&path)? else { return self.status_after_removal(app, output) };
        let store = open_store(app)?;
        let known = path.display().to_string();
        let before = store.install(&known).map_err(refused)?;
        let restored = match before {
            // Nobody has changed it since: it becomes what it was, byte for byte.
            Some(before) if before.installed == current => before.original,
            Some(_) | None => {
                Some(uninstall(&current, self.client).map_err(|source| malformed(&path, source))?)
            }
        };
        if self.dry_run {
            output.data(&restored.unwrap_or_default())?;
            return Ok(Exit::Done);
        }
        match restored {
            Some(text) => write(&path, &text)?,
            None => std::fs::remove_file(&path).map_err(|source| unwritable(&path, source))?,
        }
        store.forget_install(&known).map_err(refused)?;
        self.status_after_removal(app, output)
    }

    /// Here it is good news that nothing is installed.
    fn status_after_removal(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        self.status(app, output).map(|_| Exit::Done)
    }
}

fn read(path: &std::path::Path) -> Result<Option<String>, Failure> {
    match file::read(path, MAX_BYTES) {
        Finding::Absent => Ok(None),
        Finding::Text(text) => Ok(Some(text)),
        Finding::Unreadable(reason) => {
            let error = HooksError::Unreadable { path: path.to_owned(), reason };
            Err(Failure::new(Exit::Surroundings, error))
        }
    }
}

fn write(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    replace(path, text).map_err(|source| unwritable(path, source))
}

fn unwritable(path: &std::path::Path, source: io::Error) -> Failure {
    Failure::new(Exit::Surroundings, HooksError::Write { path: path.to_owned(), source })
}

fn malformed(path: &std::path::Path, source: SettingsError) -> Failure {
    let error = HooksError::Settings { path: path.to_owned(), source };
    Failure::new(Exit::No, error).hint("nothing was changed; mend the file and try again")
}
