//! The agent of a project's sessions, written into a file of the user's own.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_engine::file::FileEdit;
use convoke_engine::git::tracked::{GitTracking, exclude_file, is_bare, is_shown, tracking};
use convoke_engine::git::{RefusedRepository, refusal};
use convoke_engine::hooks::binding::{bind, bound, unbind};
use convoke_engine::hooks::{HooksLevel, trusted};
use convoke_engine::toml_text::TomlTextError;
use convoke_store::Store;
use convoke_store::install::Install;

use super::{HooksError, HooksTarget};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::LOCAL_FILE;
use crate::settings::wake::other_places;
use crate::settings::wake::settings;
use crate::settings_file::{edit, read, to};
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, default_agent, open_store, refused};

/// The change that binds sessions to an agent.
pub(super) struct Binding<'a> {
    target: &'a HooksTarget,
    named: Option<&'a AgentName>,
    session: &'a Session,
    /// The file that names the agent.
    path: PathBuf,
}

/// What the file's text and the user's wish come to.
struct BoundAgent {
    agent: AgentName,
    /// What the file is to hold; `None` if it stays as it is.
    after: Option<String>,
    /// The message for the user.
    words: String,
}

#[derive(Debug, thiserror::Error)]
enum BindError {
    #[error("cannot bind this project to @{agent}: git tracks `{LOCAL_FILE}`, or git failed")]
    Committed { agent: AgentName },
    #[error("cannot bind this project to @{agent}: git refuses to work here: {why}")]
    Refused { agent: AgentName, why: String },
    #[error("cannot bind sessions to @{agent} here: a bare repository has no working tree")]
    Bare { agent: AgentName },
    #[error("cannot bind sessions to `human`: the name means you")]
    Human,
    #[error("cannot change `{}`", path.display())]
    File { path: PathBuf, source: TomlTextError },
}

/// Returns the file that names the agent, for a project or for all of a user's.
fn path(session: &Session, level: HooksLevel) -> Result<PathBuf, Failure> {
    match level {
        HooksLevel::Project => Ok(absolute(&session.project).join(LOCAL_FILE)),
        HooksLevel::User => {
            let path = session.environment.user_config();
            path.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, HooksError::NoHome))
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl<'a> Binding<'a> {
    /// Checks that the sessions can be bound to an agent. It writes nothing yet.
    pub(super) fn plan(
        target: &'a HooksTarget,
        named: Option<&'a AgentName>,
        session: &'a Session,
    ) -> Result<Self, Failure> {
        if named.is_some_and(AgentName::is_human) {
            return Err(Failure::new(ErrorClass::Usage, BindError::Human));
        }
        let path = path(session, target.level)?;
        let binding = Self { target, named, session, path };
        binding.decide(read(&binding.path)?.as_deref())?;
        Ok(binding)
    }

    /// Decides which agent the sessions belong to, by the text of the file that names it.
    fn decide(&self, text: Option<&str>) -> Result<BoundAgent, Failure> {
        let Self { target, named, session, path } = self;
        let (level, text) = (target.level, text.unwrap_or_default());
        let here = bound(text).map_err(|source| unusable(path, source))?;
        let whose = match level {
            HooksLevel::Project => "this project",
            HooksLevel::User => "all your projects",
        };
        let shown = match level {
            HooksLevel::Project => LOCAL_FILE.to_owned(),
            HooksLevel::User => path.display().to_string(),
        };
        let kept = match (named, &here) {
            (Some(name), Some(present)) if *name == present => {
                Some((present.clone(), shown.clone()))
            }
            (None, Some(present)) => Some((present.clone(), shown.clone())),
            (None, None) if level == HooksLevel::Project => {
                let elsewhere = settings(session)?.agent;
                elsewhere.map(|(agent, place)| (agent, place.words().to_owned()))
            }
            (Some(_), _) | (None, None) => None,
        };
        if let Some((agent, place)) = kept {
            let words = match named {
                Some(_) => format!("sessions in {whose} belong to @{agent} already ({place})"),
                None => format!(
                    "sessions in {whose} belong to @{agent} ({place}); `--as NAME` changes that"
                ),
            };
            return Ok(BoundAgent { agent, after: None, words });
        }
        let agent = named.cloned().unwrap_or_else(default_agent);
        if session.environment.is_agents() {
            let present = match &here {
                Some(present) => Some(present.clone()),
                None => settings(session)?.agent.map(|(present, _)| present),
            };
            if present.is_some_and(|present| present != agent) {
                refuse_agents(session, UserOnly::Rebinding)?;
            }
        }
        if level == HooksLevel::Project
            && tracking(&session.project, LOCAL_FILE) == GitTracking::Tracked
        {
            return Err(committed(agent, target, session));
        }
        let after = bind(text, &agent).map_err(|source| unusable(path, source))?;
        let instead = here.map_or_else(String::new, |old| format!(" instead of @{old}"));
        let words = format!("sessions in {whose} belong to @{agent}{instead} ({shown})");
        Ok(BoundAgent { agent, after: Some(after), words })
    }

    /// Writes it, makes the agent, and tells the user.
    pub(super) fn carry_out(self) -> Result<(), Failure> {
        let Self { target, session, .. } = self;
        let Workspace { store, scope } = Workspace::open(session, None)?;
        let BoundAgent { agent, after, words } = self.write(&*store)?;
        if after.is_some() {
            if target.level == HooksLevel::Project {
                leave_out_of_git(&*store, target.client, session)?;
            }
            session.settings.forget();
        }
        if target.level == HooksLevel::Project
            && store.agent(&scope, &agent).map_err(refused)?.is_none()
        {
            store.add_agent(&scope, &agent, target.client.name()).map_err(refused)?;
        }
        session.reporter().remark(words);
        match session.environment.named_agent() {
            None => {}
            Some(Ok(other)) => {
                let words = format!("sessions that this shell starts belong to @{other}");
                session.reporter().remark(format!("CONVOKE_AGENT is set, so {words}"));
            }
            Some(Err(error)) => session.reporter().warn(format!("{error}; hooks ignore it")),
        }
        Ok(())
    }

    fn write(&self, store: &dyn Store) -> Result<BoundAgent, Failure> {
        let mut decided = self.decide(read(&self.path)?.as_deref())?;
        edit(self.session, &self.path, |before| {
            decided = self.decide(before)?;
            let Some(after) = &decided.after else { return Ok(FileEdit::Keep) };
            remember(self.session, store, &self.path, self.target.client, before, after)?;
            Ok(FileEdit::Write(after.clone()))
        })?;
        Ok(decided)
    }
}

/// Returns why the project's own file cannot name an agent: git delivers it, or refuses to say.
fn committed(agent: AgentName, target: &HooksTarget, session: &Session) -> Failure {
    let client = target.client.name();
    let instead =
        format!("`convoke hooks install {client} --user` binds all your projects instead");
    if session.project.ancestors().any(is_bare) {
        return Failure::new(ErrorClass::Refused, BindError::Bare { agent })
            .hint("run it in a working tree; `git worktree add FOLDER BRANCH` makes one")
            .hint(instead);
    }
    match refusal(&session.project) {
        Some(refusal) => {
            let error = BindError::Refused { agent, why: refusal.why.clone() };
            Failure::new(ErrorClass::Prerequisite, error).hint(git_remedy(&refusal)).hint(instead)
        }
        None => Failure::new(ErrorClass::Refused, BindError::Committed { agent })
            .hint(format!("if it is committed, remove it: `git rm --cached {LOCAL_FILE}`"))
            .hint(instead),
    }
}

/// Returns what to do about git's refusal.
pub(crate) fn git_remedy(refusal: &RefusedRepository) -> String {
    format!("if you trust the repository's owner, run `{}`", refusal.command)
}

fn unusable(path: &Path, source: TomlTextError) -> Failure {
    let error = BindError::File { path: path.to_owned(), source };
    Failure::new(ErrorClass::Refused, error)
        .hint("nothing was changed; correct the file and try again")
}

/// Records the earlier text of a file that Convoke is about to write.
fn remember(
    session: &Session,
    store: &dyn Store,
    path: &Path,
    client: Client,
    before: Option<&str>,
    after: &str,
) -> Result<(), Failure> {
    let known = path.display().to_string();
    let remembered = store.install(&known).map_err(refused)?;
    let original = match remembered {
        Some(install) if before == Some(install.installed.as_str()) => install.original,
        Some(_) | None => before.map(str::to_owned),
    };
    let install = Install { original, installed: after.to_owned(), installed_at: session.now() };
    store.remember_install(&known, client, &install).map_err(refused)
}

/// Has git leave the user's own file alone, in this copy of the repository only.
fn leave_out_of_git(store: &dyn Store, client: Client, session: &Session) -> Result<(), Failure> {
    let Some(path) =
        exclude_file(&session.project).filter(|_| is_shown(&session.project, LOCAL_FILE))
    else {
        return Ok(());
    };
    edit(session, &path, |before| {
        let text = before.unwrap_or_default();
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let after = format!("{text}{gap}{LOCAL_FILE}\n");
        remember(session, store, &path, client, before, &after)?;
        Ok(FileEdit::Write(after))
    })?;
    let shown = path.display();
    session.reporter().remark(format!("added {LOCAL_FILE} to {shown}, so that git ignores it"));
    Ok(())
}

/// Removes Convoke's binding, if no other client's hooks need it and the user has not changed it.
pub(super) fn release(
    target: &HooksTarget,
    store: &dyn Store,
    session: &Session,
) -> Result<(), Failure> {
    for client in Client::WITH_HOOKS.into_iter().filter(|client| *client != target.client) {
        let Ok(other) = (HooksTarget { client, level: target.level }).path(session) else {
            continue;
        };
        if store.install(&other.display().to_string()).map_err(refused)?.is_some() {
            return Ok(());
        }
    }
    release_binding(target, store, session)
}

/// Removes Convoke's binding even if another client's hooks need it, unless the user has changed
/// it.
pub(crate) fn release_binding(
    target: &HooksTarget,
    store: &dyn Store,
    session: &Session,
) -> Result<(), Failure> {
    let path = path(session, target.level)?;
    let Some(install) = store.install(&path.display().to_string()).map_err(refused)? else {
        return Ok(());
    };
    edit(session, &path, |current| match without_binding(current, &install) {
        Ok(text) => Ok(to(text)),
        Err(error) => {
            let words = format!("Convoke leaves `{}` unchanged: {error}", path.display());
            session.reporter().remark(words);
            Ok(FileEdit::Keep)
        }
    })?;
    session.settings.forget();
    store.forget_install(&path.display().to_string()).map_err(refused)?;
    // While the file is there, git must not see it: it is the user's own.
    if target.level == HooksLevel::Project && path.symlink_metadata().is_err() {
        show_to_git(store, session)?;
    }
    Ok(())
}

/// Returns the file's text without Convoke's binding; one that the user changed stays.
fn without_binding(
    current: Option<&str>,
    install: &Install,
) -> Result<Option<String>, TomlTextError> {
    let Some(current) = current else { return Ok(None) };
    if current == install.installed {
        let original = install.original.as_deref();
        let left = unbind(current, original)?;
        let bare = original.map(|text| unbind(text, original)).transpose()?;
        let is_trusted = trusted(bare.as_deref(), Some(left.clone())) == bare;
        return Ok(if is_trusted { install.original.clone() } else { Some(left) });
    }
    if bound(current)? == bound(&install.installed)? {
        return unbind(current, install.original.as_deref()).map(Some);
    }
    Ok(Some(current.to_owned()))
}

/// Removes Convoke's line from the file that tells git what to ignore.
fn show_to_git(store: &dyn Store, session: &Session) -> Result<(), Failure> {
    let Some(path) = exclude_file(&session.project) else { return Ok(()) };
    let known = path.display().to_string();
    let Some(install) = store.install(&known).map_err(refused)? else { return Ok(()) };
    edit(session, &path, |current| {
        let Some(current) = current else { return Ok(FileEdit::Keep) };
        let left = Some(current.replacen(&format!("{LOCAL_FILE}\n"), "", 1));
        let is_ours = current == install.installed;
        Ok(to(if is_ours { trusted(install.original.as_deref(), left) } else { left }))
    })?;
    store.forget_install(&known).map_err(refused)
}

/// Changes the name in every file that binds this project: its own, and those of the working tree and
/// of the main checkout. Tells which files they are.
pub fn rebind(
    session: &Session,
    from: &AgentName,
    to: &AgentName,
) -> Result<Vec<PathBuf>, Failure> {
    let own = path(session, HooksLevel::Project)?;
    let others = other_places(session).into_iter().map(|place| place.join(LOCAL_FILE));
    let mut changed = Vec::new();
    for path in std::iter::once(own).chain(others) {
        if rebind_in(session, &path, from, to)? {
            changed.push(path);
        }
    }
    session.settings.forget();
    Ok(changed)
}

/// Changes the name in one file; tells whether it was there.
fn rebind_in(
    session: &Session,
    path: &Path,
    from: &AgentName,
    to: &AgentName,
) -> Result<bool, Failure> {
    let store = open_store(session)?;
    let known = path.display().to_string();
    let done = edit(session, path, |text| {
        let Some(text) = text else { return Ok(FileEdit::Keep) };
        if bound(text).map_err(|source| unusable(path, source))?.as_ref() != Some(from) {
            return Ok(FileEdit::Keep);
        }
        let renamed = bind(text, to).map_err(|source| unusable(path, source))?;
        // Convoke's entry stays its own under the new name.
        if let Some(install) = store.install(&known).map_err(refused)? {
            let original = install.original.clone();
            let is_ours = install.installed == text;
            let installed = if is_ours { renamed.clone() } else { install.installed };
            let install = Install { original, installed, installed_at: session.now() };
            store.remember_install(&known, Client::Claude, &install).map_err(refused)?;
        }
        Ok(FileEdit::Write(renamed))
    })?;
    Ok(done != FileEdit::Keep)
}
