//! Convoke's entries in a client's settings, and the agent that they wake.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_domain::task::outline::clipped;
use convoke_domain::text::is_disruptive;
use convoke_engine::file::{FileEdit, sweep_drafts};
use convoke_engine::hooks::{commands_of_user, install, original};
use convoke_store::Store;
use convoke_store::install::Install;
use serde::Serialize;

use super::binding::{Binding, release};
use super::{
    DryRun, HooksError, HooksReport, HooksTarget, codex_trust_steps, hooks_status, malformed,
    plugin,
};
use crate::failure::{ErrorClass, Failure};
use crate::hook::failure_file;
use crate::session::Session;
use crate::settings_file::{edit, read, to};
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{open_store, refused};

/// Convoke's name in commands.
const NAME: &str = "convoke";

/// How much of a user's command a note shows, in characters.
const MOST_COMMAND: usize = 200;

/// Hook entries to write.
#[derive(Debug, Clone)]
pub struct InstallHooksRequest {
    /// The settings to write them into.
    pub target: HooksTarget,
    /// The agent whose wake-ups the sessions get; without it, the one that is set, else `me`.
    pub agent: Option<AgentName>,
    /// Whether the settings name the program by its absolute path, even if it is on the PATH.
    pub names_absolute_path: bool,
    /// Whether the entries are written even if the plugin for Claude Code brings them along.
    pub ignores_plugin: bool,
    /// Whether to write or only show the change.
    pub rehearsal: DryRun,
    /// How many entries share a long wake-up.
    pub entries: u8,
}

/// The result of a change to a client's settings.
#[derive(Debug)]
pub enum HooksChange {
    /// The file was changed; this is the new state of the hooks.
    Done(Box<HooksReport>),
    /// The entries were removed.
    Removed(Box<RemovedHooksReport>),
    /// Nothing was written; the file would hold this.
    DryRun(HooksDryRunReport),
}

/// What was removed from a client's settings, and the state of its hooks afterwards.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedHooksReport {
    /// How many entries were removed.
    pub removed_entries: usize,
    /// Whether the settings file was removed, because it held nothing else.
    pub removed_file: bool,
    /// The agent that the sessions here no longer belong to.
    pub removed_agent: Option<String>,
    /// The state of the hooks now.
    #[serde(flatten)]
    pub hooks: HooksReport,
}

/// The new text of a client's settings.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HooksDryRunReport {
    /// The settings file.
    pub path: String,
    /// Its text; empty where there would be no file.
    pub text: String,
}

impl HooksDryRunReport {
    fn new(path: &Path, text: String) -> Self {
        Self { path: path.display().to_string(), text }
    }
}

/// Adds hook entries to a client's settings, and binds its sessions to an agent.
pub fn install_hooks(
    session: &Session,
    request: &InstallHooksRequest,
) -> Result<HooksChange, Failure> {
    let target = &request.target;
    if let Some(plugin) = request.brought_along(session) {
        return request.decline(&plugin, session);
    }
    let path = target.path_to_change(session)?;
    let store = open_store(session)?;
    let (program, remark) = request.program(session);
    let (client, entries) = (target.client, request.entries.into());
    let with_entries = |current: Option<&str>| -> Result<Install, Failure> {
        let original = target.original(&*store, &path, current)?;
        let installed = install(current, original.as_deref(), client, &program, entries);
        let installed = installed.map_err(|source| malformed(&path, source))?;
        Ok(Install { original, installed, installed_at: session.now() })
    };
    let planned = with_entries(read(&path)?.as_deref())?;
    let binding = Binding::plan(target, request.agent.as_ref(), session)?;
    let reporter = session.reporter();
    if let Some(remark) = remark {
        reporter.remark(remark);
    }
    if request.rehearsal == DryRun::DryRun {
        return Ok(HooksChange::DryRun(HooksDryRunReport::new(&path, planned.installed)));
    }
    remember_folders(&*store, &path, &target.place(session)?.base, client, session)?;
    edit(session, &path, |current| {
        let install = with_entries(current)?;
        // The file's earlier text is recorded before the file changes.
        store.remember_install(&path.display().to_string(), client, &install).map_err(refused)?;
        Ok(FileEdit::Write(install.installed))
    })?;
    binding.carry_out()?;
    // A later reason for which hooks deliver nothing may be a full disk.
    if let Some(file) = failure_file(session, client) {
        file.make_room().ok();
    }
    if client == Client::Codex {
        let steps = codex_trust_steps(target.folder_trust(session));
        reporter.remark(format!("Codex skips hooks until you trust them: {steps}"));
    }
    if client == Client::Gemini {
        reporter
            .remark("Gemini runs hooks only in folders that you trust: run `/permissions` in it");
    }
    status(session, target)
}

/// Binds the sessions of a client in this project to an agent, and writes no entries.
pub(crate) fn bind_sessions(
    session: &Session,
    target: &HooksTarget,
    agent: &AgentName,
) -> Result<(), Failure> {
    Binding::plan(target, Some(agent), session)?.carry_out()
}

/// Returns the folders between a base and a file in it, the deepest first.
fn folders_between<'a>(path: &'a Path, base: &Path) -> impl Iterator<Item = &'a Path> {
    let base = base.to_owned();
    let above = path.ancestors().skip(1);
    above.take_while(move |folder| folder.starts_with(&base) && *folder != base)
}

/// Remembers the folders that come with a settings file, as files that were not there and hold
/// nothing.
pub(crate) fn remember_folders(
    store: &dyn Store,
    path: &Path,
    base: &Path,
    client: Client,
    session: &Session,
) -> Result<(), Failure> {
    for folder in folders_between(path, base).filter(|folder| !folder.exists()) {
        let made =
            Install { original: None, installed: String::new(), installed_at: session.now() };
        let known = folder.display().to_string();
        store.remember_install(&known, client, &made).map_err(refused)?;
    }
    Ok(())
}

/// Removes the folders that came with a settings file, as far as nothing is in them.
pub(crate) fn remove_folders(store: &dyn Store, path: &Path, base: &Path) -> Result<(), Failure> {
    for folder in folders_between(path, base) {
        let known = folder.display().to_string();
        let Some(made) = store.install(&known).map_err(refused)? else { continue };
        if made.original.is_none() && made.installed.is_empty() {
            // A folder that holds other files stays, and so do those above it.
            if std::fs::remove_dir(folder).is_err() && folder.exists() {
                break;
            }
            store.forget_install(&known).map_err(refused)?;
        }
    }
    Ok(())
}

fn status(session: &Session, target: &HooksTarget) -> Result<HooksChange, Failure> {
    Ok(HooksChange::Done(Box::new(hooks_status(session, target)?)))
}

impl InstallHooksRequest {
    /// Returns the plugin that makes Convoke's entries superfluous.
    fn brought_along(&self, session: &Session) -> Option<String> {
        let is_its_client = self.target.client == Client::Claude && !self.ignores_plugin;
        is_its_client.then(|| plugin(session, self.target.level)).flatten()
    }

    /// Writes no entries, because a plugin brings them along. An agent that was named is bound.
    fn decline(&self, plugin: &str, session: &Session) -> Result<HooksChange, Failure> {
        if self.agent.is_none() || self.rehearsal == DryRun::DryRun {
            let error = HooksError::Plugin { name: plugin.to_owned() };
            return Err(Failure::new(ErrorClass::Refused, error)
                .hint("`convoke hooks install claude --as NAME` binds an agent without writing entries")
                .hint("`--force` writes them; Convoke still delivers each wake-up once"));
        }
        let target = &self.target;
        if let Some(agent) = &self.agent {
            bind_sessions(session, target, agent)?;
        }
        let words = format!("the plugin {plugin} provides the hooks; Convoke wrote none");
        session.reporter().remark(words);
        status(session, target)
    }

    /// Returns what the user should know about the program that the settings will name.
    pub(crate) fn program_remark(&self, session: &Session) -> Option<String> {
        self.program(session).1
    }

    /// Returns the program as the settings are to name it, and what its user should know.
    fn program(&self, session: &Session) -> (PathBuf, Option<String>) {
        if self.names_absolute_path {
            return (session.environment.program(), None);
        }
        named_program(session)
    }
}

/// Returns our program by its name where the PATH leads to it, else by its path, and what its user
/// should know.
pub(crate) fn named_program(session: &Session) -> (PathBuf, Option<String>) {
    let own = session.environment.program();
    let here = "so the settings hold an absolute path, which works on this machine only";
    match session.environment.find_program(&[NAME], &session.project) {
        Some(found) if is_same(&found, &own) => (PathBuf::from(NAME), None),
        Some(found) => {
            let found = found.display();
            (own, Some(format!("`{NAME}` on the PATH is another program, {found}, {here}")))
        }
        None => (own, Some(format!("`{NAME}` is not on the PATH, {here}"))),
    }
}

/// Tells whether two paths lead to the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

impl HooksTarget {
    /// Returns the file's text without Convoke's entries.
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

/// Names the commands that call Convoke and stay, because Convoke did not write them.
fn note_commands_of_user(
    session: &Session,
    target: &HooksTarget,
    path: &Path,
    left: Option<&str>,
) -> Result<(), Failure> {
    let kept = commands_of_user(left.unwrap_or_default(), target.client);
    for command in kept.map_err(|source| malformed(path, source))? {
        let line = command.replace(is_disruptive, " ");
        session.reporter().remark(format!(
            "{} keeps a hook that Convoke did not write: `{}`; remove it by hand if you do \
             not need it",
            path.display(),
            clipped(&line, MOST_COMMAND)
        ));
    }
    Ok(())
}

/// Removes the entries from a client's settings, and the agent if it is unchanged. Only the user may
/// do this.
pub fn uninstall_hooks(
    session: &Session,
    target: &HooksTarget,
    rehearsal: DryRun,
) -> Result<HooksChange, Failure> {
    if rehearsal == DryRun::No {
        refuse_agents(session, UserOnly::HookRemoval)?;
    }
    take_hooks_back(session, target, rehearsal)
}

/// Removes the entries as [`uninstall_hooks`] does, for the process that wrote them, too.
pub(crate) fn take_hooks_back(
    session: &Session,
    target: &HooksTarget,
    rehearsal: DryRun,
) -> Result<HooksChange, Failure> {
    let path = target.path_to_change(session)?;
    let (current, store) = (read(&path)?, open_store(session)?);
    let without_entries = |current: Option<&str>| target.original(&*store, &path, current);
    let restored = without_entries(current.as_deref())?;
    note_commands_of_user(session, target, &path, restored.as_deref())?;
    if rehearsal == DryRun::DryRun {
        let report = HooksDryRunReport::new(&path, restored.unwrap_or_default());
        return Ok(HooksChange::DryRun(report));
    }
    let before = hooks_status(session, target)?;
    edit(session, &path, |current| Ok(to(without_entries(current)?)))?;
    store.forget_install(&path.display().to_string()).map_err(refused)?;
    let base = target.place(session)?.base;
    sweep_drafts(&base);
    if !path.exists() {
        remove_folders(&*store, &path, &base)?;
    }
    release(target, &*store, session)?;
    let hooks = hooks_status(session, target)?;
    Ok(HooksChange::Removed(Box::new(RemovedHooksReport {
        removed_entries: before.entries.saturating_sub(hooks.entries),
        removed_file: current.is_some() && !path.exists(),
        removed_agent: before.agent.filter(|_| hooks.agent.is_none()),
        hooks,
    })))
}
