//! `convoke hooks install` and `uninstall`: our entries in a client's settings, and whose sessions
//! they wake.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_engine::hooks::{install, original};
use convoke_store::Store;
use convoke_store::install::Install;

use super::binding::{Binding, release};
use super::{HooksError, Target, malformed, plugin, read, remove, write};
use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{open_store, refused};

/// What users call us.
const NAME: &str = "convoke";

#[derive(Debug, clap::Args)]
pub(super) struct UninstallArgs {
    #[command(flatten)]
    target: Target,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    #[command(flatten)]
    target: Target,

    /// The agent whose wake-ups the sessions get [default: the one that is set, else me]
    #[arg(long = "as", value_name = "NAME", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Name the program by its absolute path, even if it is on the PATH
    #[arg(long)]
    absolute: bool,

    /// Write the entries even if the plugin for Claude Code brings them along
    #[arg(long)]
    force: bool,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,

    /// How many entries share a long wake-up
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    entries: u8,
}

impl InstallArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let target = &self.target;
        if let Some(plugin) = self.brought_along(app) {
            return self.decline(&plugin, app, output);
        }
        let path = target.path(app)?;
        let current = read(&path)?;
        let store = open_store(app)?;
        let original = target.original(&*store, &path, current.as_deref())?;
        let (program, remark) = self.program(app);
        let (client, entries) = (target.client, self.entries.into());
        let installed = install(current.as_deref(), original.as_deref(), client, &program, entries);
        let installed = installed.map_err(|source| malformed(&path, source))?;
        let binding = Binding::plan(target, self.agent.as_ref(), app)?;
        if let Some(remark) = remark {
            output.say(&format!("note: {remark}"));
        }
        if self.dry_run {
            output.data(&installed)?;
            return Ok(Exit::Done);
        }
        let known = path.display().to_string();
        // What the file was is safe before the file changes.
        let install = Install { original, installed, installed_at: now() };
        store.remember_install(&known, client, &install).map_err(refused)?;
        write(&path, &install.installed)?;
        binding.carry_out(target, app, output)?;
        if client == Client::Codex {
            output.say(
                "note: Codex skips hooks until you trust them: run `/hooks` in it once; it reads no \
                 settings in a folder that you have not trusted",
            );
        }
        if client == Client::Gemini {
            output.say(
                "note: Gemini runs hooks only in folders that you trust: run `/permissions` in it",
            );
        }
        target.status(app, output)
    }

    /// Returns the plugin that makes our entries superfluous.
    fn brought_along(&self, app: &App) -> Option<String> {
        let is_its_client = self.target.client == Client::Claude && !self.force;
        is_its_client.then(|| plugin(app, self.target.level())).flatten()
    }

    /// Writes no entries, because a plugin brings them along. An agent that was named is bound.
    fn decline(&self, plugin: &str, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.agent.is_none() || self.dry_run {
            let error = HooksError::Plugin { name: plugin.to_owned() };
            return Err(Failure::new(ErrorClass::Refused, error)
                .hint("`convoke hooks install claude --as NAME` binds an agent, and writes no entries")
                .hint("`--force` writes them; a wake-up is delivered once even so"));
        }
        let target = &self.target;
        Binding::plan(target, self.agent.as_ref(), app)?.carry_out(target, app, output)?;
        output.say(&format!("note: the plugin {plugin} brings the hooks along; none were written"));
        target.status(app, output)
    }

    /// Returns the program as the settings are to name it, and what its user should know.
    fn program(&self, app: &App) -> (PathBuf, Option<String>) {
        let own = app.environment.program();
        if self.absolute {
            return (own, None);
        }
        let here = "so the settings hold an absolute path, which works on this machine only";
        match app.environment.find_program(&[NAME], &app.project) {
            Some(found) if is_same(&found, &own) => (PathBuf::from(NAME), None),
            Some(found) => {
                let found = found.display();
                (own, Some(format!("`{NAME}` on the PATH is another program, {found}, {here}")))
            }
            None => (own, Some(format!("`{NAME}` is not on the PATH, {here}"))),
        }
    }
}

pub(in crate::cli) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

impl Target {
    /// Returns what the file would hold without us.
    fn original(
        &self,
        store: &dyn Store,
        path: &Path,
        current: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let known = store.install(&path.display().to_string()).map_err(refused)?;
        let known = known.as_ref();
        let known = known.map(|known| (known.original.as_deref(), known.installed.as_str()));
        original(current, known, self.client).map_err(|source| malformed(path, source))
    }
}

impl UninstallArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let target = &self.target;
        let path = target.path(app)?;
        let (current, store) = (read(&path)?, open_store(app)?);
        let restored = target.original(&*store, &path, current.as_deref())?;
        if self.dry_run {
            output.data(&restored.unwrap_or_default())?;
            return Ok(Exit::Done);
        }
        match restored {
            Some(text) if current.as_ref() != Some(&text) => write(&path, &text)?,
            None if current.is_some() => remove(&path)?,
            Some(_) | None => {}
        }
        store.forget_install(&path.display().to_string()).map_err(refused)?;
        release(target, &*store, app, output)?;
        // Here it is good news that nothing is installed.
        target.status(app, output).map(|_| Exit::Done)
    }
}
