//! Convoke's MCP server: starting it, and its entry in clients' settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::file::FileEdit;
use convoke_engine::hooks::server_entry::{has_server, put_server, server_file, take_server};
use convoke_engine::hooks::{HooksLevel, SettingsError};
use convoke_engine::server_program::become_server;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::hooks::{DryRun, named_program};
use crate::mcp_listen::McpListenRequest;
use crate::session::Session;
use crate::settings_file;

/// Which settings of which client are meant.
#[derive(Debug, Clone, Copy)]
pub struct McpEntryTarget {
    /// The client.
    pub client: Client,
    /// The project's settings, or the user's.
    pub level: HooksLevel,
}

/// Whether a client's settings have the entry.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpEntryReport {
    /// The client.
    pub client: &'static str,
    /// The settings file.
    pub path: String,
    /// Whether it has an entry for Convoke's server.
    pub installed: bool,
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
    fn path(self, session: &Session) -> Result<PathBuf, Failure> {
        let base = match self.level {
            HooksLevel::Project => {
                std::path::absolute(&session.project).unwrap_or_else(|_| session.project.clone())
            }
            HooksLevel::User => session
                .environment
                .home()
                .ok_or_else(|| Failure::new(ErrorClass::Prerequisite, McpEntryError::NoHome))?,
        };
        server_file(self.client, self.level, &base).map_err(|source| {
            Failure::new(ErrorClass::Usage, McpEntryError::Settings { path: base, source })
        })
    }
}

fn malformed(path: &Path) -> impl FnOnce(SettingsError) -> Failure {
    let path = path.to_owned();
    |source| {
        Failure::new(ErrorClass::Refused, McpEntryError::Settings { path, source })
            .hint("nothing was changed; correct the file and try again")
    }
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
    let error = become_server(&environment.program(), &arguments, variables, &project);
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
    let installed = has_server(&current, target.client).map_err(malformed(&path))?;
    let path = path.display().to_string();
    Ok(McpEntryReport { client: target.client.name(), path, installed })
}

/// Adds the entry to a client's settings, or corrects it.
pub fn install_mcp_entry(
    session: &Session,
    target: McpEntryTarget,
    rehearsal: DryRun,
) -> Result<McpEntryChange, Failure> {
    let path = target.path(session)?;
    let (program, remark) = named_program(session);
    let program = program.display().to_string();
    let put = |current: Option<&str>| {
        put_server(current, target.client, &program).map_err(malformed(&path))
    };
    if let Some(remark) = remark {
        session.reporter().say(format!("note: {remark}"));
    }
    if rehearsal == DryRun::DryRun {
        let text = put(settings_file::read(&path)?.as_deref())?;
        let path = path.display().to_string();
        return Ok(McpEntryChange::DryRun(McpEntryDryRunReport { path, text }));
    }
    settings_file::edit(session, &path, |current| put(current).map(FileEdit::Write))?;
    mcp_entry_status(session, target).map(McpEntryChange::Done)
}

/// Takes the entry out of a client's settings, and the file if nothing else is in it.
pub fn uninstall_mcp_entry(
    session: &Session,
    target: McpEntryTarget,
    rehearsal: DryRun,
) -> Result<McpEntryChange, Failure> {
    let path = target.path(session)?;
    let left = |current: Option<&str>| {
        let left = current.map(|text| take_server(text, target.client)).transpose();
        left.map(Option::flatten).map_err(malformed(&path))
    };
    if rehearsal == DryRun::DryRun {
        let text = left(settings_file::read(&path)?.as_deref())?.unwrap_or_default();
        let path = path.display().to_string();
        return Ok(McpEntryChange::DryRun(McpEntryDryRunReport { path, text }));
    }
    settings_file::edit(session, &path, |current| left(current).map(settings_file::to))?;
    mcp_entry_status(session, target).map(McpEntryChange::Done)
}
