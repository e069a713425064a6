//! Taking a setup back. What the user wrote meanwhile stays.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::setup::guidance::{Removal, take_out};
use convoke_domain::setup::{SetupChange, SetupStep};
use convoke_engine::file::{FileEdit, sweep_drafts};
use convoke_engine::git::tracked::exclude_file;
use convoke_engine::hooks::HooksLevel;
use convoke_store::Store;

use super::apply::folder;
use super::findings::InitFindings;
use super::guidance::refusal;
use super::plan::{reason, shown};
use super::{InitReport, InitState, InitStep, InitStepKind, StepState};
use crate::failure::Failure;
use crate::hooks::{DryRun, HooksTarget, release_binding, take_hooks_back};
use crate::mcp_entry::mcp_entries;
use crate::next_command::NextCommand;
use crate::session::Session;
use crate::settings_file::{edit, to};
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{open_store, refused};

/// The result of reverting a step.
pub(super) struct TakenBack {
    step: SetupStep,
    state: StepState,
    why: Option<String>,
}

impl TakenBack {
    pub(super) fn is_undone(&self) -> bool {
        self.state != StepState::Blocked
    }
}

/// Reverts all setups of a project. Only the user may do this.
pub fn undo_init(session: &Session, rehearsal: DryRun) -> Result<InitReport, Failure> {
    let (store, folder) = (open_store(session)?, folder(session));
    let steps = store.setup(&folder.display().to_string()).map_err(refused)?;
    let excluding = excluding_file(session, &*store)?;
    let (state, outcomes) = if steps.is_empty() {
        (InitState::Nothing, Vec::new())
    } else if rehearsal == DryRun::DryRun {
        let planned = steps.into_iter().rev();
        let planned = planned.map(|step| TakenBack { step, state: StepState::Planned, why: None });
        (InitState::Planned, planned.collect())
    } else {
        refuse_agents(session, UserOnly::HookRemoval)?;
        session.cancel();
        let _hold = session.interruption.hold();
        (InitState::Undone, take_back(session, &*store, &folder, steps)?)
    };
    let steps = outcomes
        .iter()
        .filter_map(|outcome| outcome.report(session, excluding.as_deref()))
        .collect();
    let mut next = Vec::new();
    if matches!(state, InitState::Undone | InitState::Nothing) {
        next.extend(mcp_entries(session, HooksLevel::Project).into_iter().map(|entry| {
            let file = shown(session, &entry.path);
            let why = format!("takes Convoke's MCP server out of {file}");
            NextCommand::new(entry.target.command("uninstall"), why)
        }));
    }
    if matches!(state, InitState::Undone) {
        next.push(NextCommand::new("convoke init", "sets this project up again"));
    }
    Ok(InitReport { state, found: InitFindings::of_folder(session), steps, next })
}

/// Returns the file of git's that Convoke added a name to, if there is one.
fn excluding_file(session: &Session, store: &dyn Store) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = exclude_file(&session.project) else { return Ok(None) };
    let install = store.install(&path.display().to_string()).map_err(refused)?;
    Ok(install.map(|_| path))
}

/// Reverts steps, the last one first, and folders at the very end. A step that cannot be reverted
/// stays recorded, and does not block others.
pub(super) fn take_back(
    session: &Session,
    store: &dyn Store,
    project: &Path,
    steps: Vec<SetupStep>,
) -> Result<Vec<TakenBack>, Failure> {
    let is_folder = |step: &SetupStep| step.change == SetupChange::Folder;
    let (folders, mut others): (Vec<_>, Vec<_>) = steps.into_iter().partition(is_folder);
    others.reverse();
    let mut folders = folders;
    folders.sort_by_key(|step| std::cmp::Reverse(step.path.len()));
    let known = project.display().to_string();
    // One step may remove the file of the next one.
    let is_missing = |step: &SetupStep| Path::new(&step.path).symlink_metadata().is_err();
    let missing: Vec<_> = others.iter().map(is_missing).collect();
    let missing = missing.into_iter().chain(std::iter::repeat(false));
    sweep_drafts(project);
    let mut outcomes = Vec::new();
    for (step, was_missing) in others.into_iter().chain(folders).zip(missing) {
        let (state, why) = match one_back(session, store, &step) {
            Ok((StepState::Undone, None)) if was_missing => {
                (StepState::Unchanged, Some("the file is already gone".to_owned()))
            }
            Ok((state, why)) => (state, why),
            Err(failure) => (StepState::Blocked, Some(reason(&failure))),
        };
        if state != StepState::Blocked {
            store.forget_setup(&known, &step.path).map_err(refused)?;
        }
        outcomes.push(TakenBack { step, state, why });
    }
    Ok(outcomes)
}

fn one_back(
    session: &Session,
    store: &dyn Store,
    step: &SetupStep,
) -> Result<(StepState, Option<String>), Failure> {
    let path = PathBuf::from(&step.path);
    let project_target = |client| HooksTarget { client, level: HooksLevel::Project };
    match &step.change {
        SetupChange::Folder => {
            // One that is not empty is the user's by now.
            fs::remove_dir(&path).ok();
            Ok((StepState::Undone, None))
        }
        SetupChange::Hooks(client) => {
            take_hooks_back(session, &project_target(*client), DryRun::No)?;
            Ok((StepState::Undone, None))
        }
        SetupChange::Binding(client) => {
            release_binding(&project_target(*client), store, session)?;
            Ok((StepState::Undone, None))
        }
        SetupChange::Guidance { original, written } => {
            guidance_back(session, &path, original.as_deref(), written)
        }
        SetupChange::Configuration { written } => {
            let done = edit(session, &path, |current| {
                let is_theirs = current.is_some_and(|current| current != written);
                Ok(if is_theirs { FileEdit::Keep } else { FileEdit::Remove })
            })?;
            if done == FileEdit::Remove {
                return Ok((StepState::Undone, None));
            }
            let why = "you changed it; delete it yourself if you do not need it";
            Ok((StepState::Kept, Some(why.to_owned())))
        }
    }
}

fn guidance_back(
    session: &Session,
    path: &Path,
    original: Option<&str>,
    written: &str,
) -> Result<(StepState, Option<String>), Failure> {
    if let Some(why) = refusal(&session.project, &shown(session, path)) {
        return Ok((StepState::Kept, Some(why)));
    }
    let done = edit(session, path, |current| {
        let Some(current) = current else { return Ok(FileEdit::Remove) };
        Ok(match take_out(current, original, written) {
            Removal::Cut(text) if text.is_empty() && original.is_none() => FileEdit::Remove,
            Removal::Cut(text) => FileEdit::Write(text),
            Removal::Restored(text) => to(text),
            Removal::Missing => FileEdit::Keep,
        })
    })?;
    if done == FileEdit::Keep {
        return Ok((StepState::Kept, Some("Convoke's line is not there as written".into())));
    }
    Ok((StepState::Undone, None))
}

impl TakenBack {
    /// Reports the step; a folder is not a step for a person.
    fn report(&self, session: &Session, excluding: Option<&Path>) -> Option<InitStep> {
        let path = shown(session, Path::new(&self.step.path));
        let (kind, what) = match &self.step.change {
            SetupChange::Folder => return None,
            SetupChange::Hooks(client) => {
                (InitStepKind::Hooks, format!("take the hooks for {client} out of {path}"))
            }
            SetupChange::Binding(_) => {
                // What else the file holds is the user's own, and git must not see it.
                let is_kept = self.state == StepState::Undone
                    && Path::new(&self.step.path).symlink_metadata().is_ok();
                let line = excluding.map_or_else(String::new, |file| match shown(session, file) {
                    file if is_kept => format!("; {file} still names the file, so git ignores it"),
                    file => format!(", and that name out of {file}"),
                });
                (InitStepKind::Agent, format!("take the agent out of {path}{line}"))
            }
            SetupChange::Guidance { .. } => {
                (InitStepKind::Guidance, format!("take Convoke's line out of {path}"))
            }
            SetupChange::Configuration { .. } => {
                (InitStepKind::Configuration, format!("delete {path}"))
            }
        };
        let (state, why) = (self.state, self.why.clone());
        Some(InitStep { kind, path, what, state, why, note: None, adds: None, is_tracked: false })
    }
}
