//! Convoke's MCP server: starting it, and its entry in clients' settings.

mod approval;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::client::{SettingsPlace, adapter};
use convoke_engine::file::{FileEdit, sweep_drafts};
use convoke_engine::hooks::server_entry::{
    ServerEntry, ServerNeed, find_server, put_server, server_place, server_trace, take_server,
};
use convoke_engine::hooks::{FormerFile, HooksLevel, SettingsError, count};
use convoke_engine::server_program::{ServerProgram, become_server};
use convoke_store::Store;
use convoke_store::install::Install;
use serde::Serialize;

pub use self::approval::McpApprovalReport;
use crate::failure::{ErrorClass, Failure};
use crate::hooks::{
    DryRun, is_same, is_there, named_program, refuse_outside, remember_folders, remove_folders,
    with_owner,
};
use crate::mcp_listen::McpListenRequest;
use crate::session::Session;
use crate::settings::mcp::{WritingTool, settings};
use crate::settings_file;
use crate::workspace::{open_store, refused};

/// Which settings of which client are meant.
#[derive(Debug, Clone, Copy)]
pub struct McpEntryTarget {
    /// The client's word, such as `claude` or `codex`.
    pub client: Client,
    /// The project's settings, or the user's.
    pub level: HooksLevel,
}

/// Whether a client's settings have the entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpEntryReport {
    /// The client's word, such as `claude` or `codex`.
    pub client: &'static str,
    /// The settings file.
    pub path: String,
    /// Whether it has an entry for Convoke's server.
    pub installed: bool,
    /// The program that the entry names, if it does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_program: Option<String>,
    /// Whether the client starts the server without asking its user, if there is an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<McpApprovalReport>,
}

/// An entry of Convoke's server that a client's settings have.
pub(crate) struct FoundMcpEntry {
    pub(crate) target: McpEntryTarget,
    pub(crate) path: PathBuf,
    program: PathBuf,
}

/// Why a client does not start this program's server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum McpEntryFault {
    #[error("starts `{}` as MCP server, which does not exist", .0.display())]
    Gone(PathBuf),
    #[error("starts another convoke as MCP server: {}", .0.display())]
    Other(PathBuf),
}

/// What a client's settings would hold.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpEntryDryRunReport {
    /// The settings file.
    pub path: String,
    /// Its text; empty where there would be no file.
    pub text: String,
}

/// What came of a change to a client's settings.
#[derive(Debug)]
pub enum McpEntryChange {
    /// The file was changed; this is what it has now.
    Done(McpEntryReport),
    /// Nothing was written; the file would hold this.
    DryRun(McpEntryDryRunReport),
}

#[derive(Debug, thiserror::Error)]
enum McpEntryError {
    #[error("cannot find your settings: HOME is not set")]
    NoHome,
    #[error("cannot change `{}`", path.display())]
    Settings { path: PathBuf, source: SettingsError },
}

impl McpEntryTarget {
    /// Returns the targets of all clients that start MCP servers.
    fn all(level: HooksLevel) -> impl Iterator<Item = Self> {
        let clients = Client::ALL.into_iter();
        clients
            .filter(|client| adapter(*client).server.is_some())
            .map(move |client| Self { client, level })
    }

    /// Returns the command that does this to the entry: `install` or `uninstall`.
    pub(crate) fn command(self, action: &str) -> String {
        let user = match self.level {
            HooksLevel::Project => "",
            HooksLevel::User => " --user",
        };
        format!("convoke mcp {action} {}{user}", self.client.name())
    }

    fn place(self, session: &Session) -> Result<SettingsPlace, Failure> {
        match with_owner(session, self.level, |owner| server_place(self.client, owner)) {
            Ok(Some(place)) => Ok(place),
            Ok(None) => Err(Failure::new(ErrorClass::Prerequisite, McpEntryError::NoHome)),
            Err(source) => {
                let path = session.absolute_project();
                Err(Failure::new(ErrorClass::Usage, McpEntryError::Settings { path, source }))
            }
        }
    }

    fn path(self, session: &Session) -> Result<PathBuf, Failure> {
        Ok(self.place(session)?.path)
    }

    fn path_to_change(self, session: &Session) -> Result<PathBuf, Failure> {
        refuse_outside(self.level, self.place(session)?)
    }
}

fn malformed(path: &Path) -> impl FnOnce(SettingsError) -> Failure {
    let path = path.to_owned();
    |source| {
        let hint = if source == SettingsError::ForeignServer {
            "nothing was changed; rename that server in the file, or remove it, and try again"
        } else if matches!(source, SettingsError::WaitsAnyway { .. }) {
            "nothing was changed; leave out `--wait`"
        } else if matches!(source, SettingsError::InlineTable { .. }) {
            "nothing was changed; write each server as a table, such as `[mcp_servers.NAME]`, and \
             try again"
        } else {
            "nothing was changed; correct the file and try again"
        };
        Failure::new(ErrorClass::Refused, McpEntryError::Settings { path, source }).hint(hint)
    }
}

/// Returns how settings name this program.
fn own_name(session: &Session) -> String {
    named_program(session).0.display().to_string()
}

/// Returns the key of what is remembered of a file. The same file can have hooks, which have a memory of
/// their own.
fn known_as(path: &Path) -> String {
    format!("mcp:{}", path.display())
}

/// Becomes the server for the session's project, with our stdin and stdout, or over HTTP. Returns only
/// why that failed.
pub fn become_mcp_server(session: &Session, listen: Option<&McpListenRequest>) -> Failure {
    if let Some(Err(failure)) = listen.map(McpListenRequest::check) {
        return failure;
    }
    let environment = &session.environment;
    let project = &session.project;
    let project = std::path::absolute(project).unwrap_or_else(|_| project.clone());
    let mut arguments = vec![env!("CARGO_PKG_VERSION").into(), project.clone().into_os_string()];
    if let Some(listen) = listen {
        arguments.push(listen.address.to_string().into());
        arguments.extend(listen.token_file.as_deref().map(absolute_path));
    }
    let variables = environment.for_worker();
    let program = environment.program();
    let error = become_server(ServerProgram::Mcp, &program, &arguments, variables, &project);
    Failure::new(ErrorClass::Prerequisite, error)
        .hint("install it beside `convoke`, from the same release")
}

/// The server runs in the project's folder, which need not be where its user named a file.
fn absolute_path(path: &Path) -> OsString {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string()
}

/// Tells whether a client's settings have the entry.
pub fn mcp_entry_status(
    session: &Session,
    target: McpEntryTarget,
) -> Result<McpEntryReport, Failure> {
    let path = target.path(session)?;
    let current = settings_file::read(&path)?.unwrap_or_default();
    let own = own_name(session);
    let entry = find_server(&current, target.client, &own).map_err(malformed(&path))?;
    let path = path.display().to_string();
    let (installed, program) = match entry {
        None => (false, None),
        Some(ServerEntry::Own { program }) => (true, Some(program)),
        Some(ServerEntry::Foreign) => {
            session.reporter().remark(format!(
                "{path} keeps a server named `convoke` that Convoke did not write"
            ));
            (false, None)
        }
    };
    let missing = program.filter(|program| !is_there(program, session));
    let missing_program = missing.map(|program| program.display().to_string());
    let approval = if installed { target.approval(session) } else { None };
    if installed {
        note_spending(session)?;
    }
    Ok(McpEntryReport { client: target.client.name(), path, installed, missing_program, approval })
}

/// Says that the configuration does not limit what agents spend, if it does not.
fn note_spending(session: &Session) -> Result<(), Failure> {
    let settings = settings(session)?;
    if settings.allows(WritingTool::RunStart) && settings.budgets.is_empty() {
        session.reporter().remark(
            "`mcp.budget` is not set, so an agent may start runs of any budget that it names; \
             `convoke config set --user mcp.budget 500k` limits each run",
        );
    }
    Ok(())
}

/// Returns the entries that clients' settings have at a level. Settings that cannot be read are left out:
/// their client complains about them.
pub(crate) fn mcp_entries(session: &Session, level: HooksLevel) -> Vec<FoundMcpEntry> {
    let own = own_name(session);
    let found = |target: McpEntryTarget| {
        let path = target.path(session).ok()?;
        let text = settings_file::read(&path).ok()??;
        match find_server(&text, target.client, &own).ok()?? {
            ServerEntry::Own { program } => Some(FoundMcpEntry { target, path, program }),
            ServerEntry::Foreign => None,
        }
    };
    McpEntryTarget::all(level).filter_map(found).collect()
}

impl FoundMcpEntry {
    /// Returns why the client does not start this program's server, if it does not.
    pub(crate) fn fault(&self, session: &Session) -> Option<McpEntryFault> {
        let program = self.program.clone();
        if !is_there(&program, session) {
            return Some(McpEntryFault::Gone(program));
        }
        let is_other = program.is_absolute() && !is_same(&program, &session.environment.program());
        is_other.then_some(McpEntryFault::Other(program))
    }
}

/// A settings file as it was before `mcp install`.
pub(crate) struct BareSettings {
    /// The text; `None` if there was no file.
    pub(crate) text: Option<String>,
}

/// Returns a file without our entry, if the entry is exactly as `mcp install` writes it.
pub(crate) fn without_own_entry(
    session: &Session,
    client: Client,
    text: &str,
) -> Option<BareSettings> {
    let own = own_name(session);
    find_server(text, client, &own).ok()??;
    let bare = take_server(text, FormerFile::Absent, client, &own).ok()?;
    let is_written = |need: &ServerNeed| {
        put_server(bare.as_deref(), client, &own, *need).is_ok_and(|written| written == text)
    };
    let is_ours = [ServerNeed::Optional, ServerNeed::Required].iter().any(is_written);
    is_ours.then_some(BareSettings { text: bare })
}

/// Returns the project's files that have our entry as `mcp install` writes it, with their text before.
pub(crate) fn own_entry_files(session: &Session) -> Vec<(PathBuf, Option<String>)> {
    let own = |entry: FoundMcpEntry| {
        let text = settings_file::read(&entry.path).ok()??;
        let bare = without_own_entry(session, entry.target.client, &text)?;
        Some((entry.path, bare.text))
    };
    mcp_entries(session, HooksLevel::Project).into_iter().filter_map(own).collect()
}

/// Adds the entry to a client's settings, or corrects it.
pub fn install_mcp_entry(
    session: &Session,
    target: McpEntryTarget,
    need: ServerNeed,
    rehearsal: DryRun,
) -> Result<McpEntryChange, Failure> {
    let path = target.path_to_change(session)?;
    let (program, remark) = named_program(session);
    let program = program.display().to_string();
    let put = |current: Option<&str>| {
        put_server(current, target.client, &program, need).map_err(malformed(&path))
    };
    let planned = put(settings_file::read(&path)?.as_deref())?;
    if let Some(remark) = remark {
        session.reporter().remark(remark);
    }
    if rehearsal == DryRun::DryRun {
        let path = path.display().to_string();
        return Ok(McpEntryChange::DryRun(McpEntryDryRunReport { path, text: planned }));
    }
    let store = open_store(session)?;
    remember_folders(&*store, &path, &target.place(session)?.base, target.client, session)?;
    settings_file::edit(session, &path, |current| {
        let after = put(current)?;
        let present = current.map(|text| find_server(text, target.client, &program)).transpose();
        // What an entry replaced is known since it was written.
        if present.map_err(malformed(&path))?.flatten().is_none() {
            target.remember(session, &*store, &path, current)?;
        }
        Ok(FileEdit::Write(after))
    })?;
    mcp_entry_status(session, target).map(McpEntryChange::Done)
}

impl McpEntryTarget {
    /// Remembers what a file was before the entry, as far as `uninstall` needs it.
    fn remember(
        self,
        session: &Session,
        store: &dyn Store,
        path: &Path,
        current: Option<&str>,
    ) -> Result<(), Failure> {
        let hooks = store.install(&path.display().to_string()).map_err(refused)?;
        let is_made_by_hooks = hooks.is_some_and(|hooks| hooks.original.is_none())
            && current.is_some_and(|text| count(text, self.client).is_ok_and(|count| count > 0));
        let trace = current.filter(|_| !is_made_by_hooks);
        let trace = trace.map(|text| server_trace(text, self.client)).transpose();
        let original = trace.map_err(malformed(path))?;
        let install = Install { original, installed: String::new(), installed_at: session.now() };
        store.remember_install(&known_as(path), self.client, &install).map_err(refused)
    }
}

/// Takes the entry out of a client's settings, and the file if Convoke made it and nothing else is in it.
/// A server of the user's with the same name stays.
pub fn uninstall_mcp_entry(
    session: &Session,
    target: McpEntryTarget,
    rehearsal: DryRun,
) -> Result<McpEntryChange, Failure> {
    let path = target.path_to_change(session)?;
    let (store, own) = (open_store(session)?, own_name(session));
    let known = store.install(&known_as(&path)).map_err(refused)?;
    let former = match &known {
        None => FormerFile::Unknown,
        Some(Install { original: None, .. }) => FormerFile::Absent,
        Some(Install { original: Some(trace), .. }) => FormerFile::Text(trace),
    };
    let left = |current: Option<&str>| {
        let left = current.map(|text| {
            take_server(text, former, target.client, &own)
                // A trace that is no settings was not recorded by Convoke.
                .or_else(|_| take_server(text, FormerFile::Unknown, target.client, &own))
        });
        left.transpose().map(Option::flatten).map_err(malformed(&path))
    };
    if rehearsal == DryRun::DryRun {
        let text = left(settings_file::read(&path)?.as_deref())?.unwrap_or_default();
        let path = path.display().to_string();
        return Ok(McpEntryChange::DryRun(McpEntryDryRunReport { path, text }));
    }
    settings_file::edit(session, &path, |current| left(current).map(settings_file::to))?;
    store.forget_install(&known_as(&path)).map_err(refused)?;
    let base = target.place(session)?.base;
    sweep_drafts(&base);
    if !path.exists() {
        remove_folders(&*store, &path, &base)?;
    } else if former == FormerFile::Absent {
        leave_file_to_hooks(&*store, &path, target.client)?;
    }
    mcp_entry_status(session, target).map(McpEntryChange::Done)
}

/// Hooks that were added to a file of ours are alone in it now, and take it with them.
fn leave_file_to_hooks(store: &dyn Store, path: &Path, client: Client) -> Result<(), Failure> {
    let known = path.display().to_string();
    let Some(hooks) = store.install(&known).map_err(refused)? else { return Ok(()) };
    let hooks = Install { original: None, ..hooks };
    store.remember_install(&known, client, &hooks).map_err(refused)
}
