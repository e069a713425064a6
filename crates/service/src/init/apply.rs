//! Carrying a setup out: all of it, or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::setup::{SetupChange, SetupStep};
use convoke_engine::file::FileEdit;
use convoke_engine::git::tracked::exclude_file;
use convoke_engine::hooks::HooksLevel;
use convoke_store::Store;

use super::guidance::{Guidance, refusal, with_guidance};
use super::plan::{InitPlan, Work, reason};
use super::undo::take_back;
use super::{InitReport, InitState, InitStepKind, StepState};
use crate::failure::{ErrorClass, Failure};
use crate::hooks::{HooksTarget, bind_sessions, install_hooks};
use crate::observer::Unobserved;
use crate::session::Session;
use crate::settings::{LOCAL_FILE, PROJECT_FILE};
use crate::settings_file::edit;
use crate::workspace::{open_store, refused};

#[derive(Debug, thiserror::Error)]
#[error("setting up was stopped; every file is as it was")]
struct SetupStopped;

/// Carries out a plan. If a step fails or the user stops it, every step is reverted.
pub fn carry_out(session: &Session, plan: InitPlan) -> Result<InitReport, Failure> {
    let InitPlan { mut report, works } = plan;
    // From here on the first signal only requests a stop, and a second one waits until no file is
    // half-written.
    let cancel = session.cancel();
    let _hold = session.interruption.hold();
    let store = open_store(session)?;
    let quiet = session.clone().observed_by(Arc::new(Unobserved));
    let setup = Setup { session, quiet, store: &*store, folder: folder(session) };
    let mut taken = Vec::new();
    for (step, work) in report.steps.iter_mut().zip(&works) {
        if step.state != StepState::Planned {
            continue;
        }
        let done = if cancel.is_cancelled() {
            Err(Failure::new(ErrorClass::Interrupted, SetupStopped))
        } else {
            setup.take(work, &mut taken)
        };
        if let Err(failure) = done {
            return Err(setup.give_up(failure, taken));
        }
        step.state = StepState::Done;
        if step.kind == InitStepKind::Agent {
            step.note = step.note.take().map(|_| format!("git ignores {LOCAL_FILE}"));
        }
    }
    // A signal that came during the last step is a wish to have nothing changed, too.
    if cancel.is_cancelled() {
        let stopped = Failure::new(ErrorClass::Interrupted, SetupStopped);
        return Err(setup.give_up(stopped, taken));
    }
    report.state = InitState::Done;
    Ok(report)
}

/// Returns the folder that a setup is known by.
pub(super) fn folder(session: &Session) -> PathBuf {
    let project = &session.project;
    let absolute = || std::path::absolute(project).unwrap_or_else(|_| project.clone());
    project.canonicalize().unwrap_or_else(|_| absolute())
}

struct Setup<'a> {
    session: &'a Session,
    /// The same session, for use cases whose remarks the plan has already shown.
    quiet: Session,
    store: &'a dyn Store,
    folder: PathBuf,
}

impl Setup<'_> {
    fn take(&self, work: &Work, taken: &mut Vec<SetupStep>) -> Result<(), Failure> {
        let project = std::path::absolute(&self.session.project)
            .unwrap_or_else(|_| self.session.project.clone());
        match work {
            Work::Nothing => Ok(()),
            Work::Bind(client, agent) => {
                let exclude = exclude_file(&self.session.project);
                self.remember_folders(exclude.as_deref(), taken)?;
                self.remember(&project.join(LOCAL_FILE), SetupChange::Binding(*client), taken)?;
                let target = HooksTarget { client: *client, level: HooksLevel::Project };
                bind_sessions(&self.quiet, &target, agent)
            }
            Work::Hooks(request) => {
                let settings = request.target.path(self.session)?;
                self.remember_folders(Some(&settings), taken)?;
                self.remember(&settings, SetupChange::Hooks(request.target.client), taken)?;
                install_hooks(&self.quiet, request).map(drop)
            }
            Work::Guidance(name) => self.add_guidance(&project, name, taken),
            Work::Configuration(text) => {
                let path = project.join(PROJECT_FILE);
                if path.symlink_metadata().is_ok() {
                    return Ok(());
                }
                edit(self.session, &path, |current| {
                    if current.is_some() {
                        return Ok(FileEdit::Keep);
                    }
                    let change = SetupChange::Configuration { written: text.clone() };
                    self.remember(&path, change, taken)?;
                    Ok(FileEdit::Write(text.clone()))
                })
                .map(drop)
            }
        }
    }

    fn add_guidance(
        &self,
        project: &Path,
        name: &str,
        taken: &mut Vec<SetupStep>,
    ) -> Result<(), Failure> {
        if refusal(&self.session.project, name).is_some() {
            return Ok(());
        }
        let path = project.join(name);
        edit(self.session, &path, |current| match with_guidance(current) {
            Guidance::Write { original, written } => {
                let change = SetupChange::Guidance { original, written: written.clone() };
                self.remember(&path, change, taken)?;
                Ok(FileEdit::Write(written))
            }
            Guidance::Present | Guidance::Refused(_) => Ok(FileEdit::Keep),
        })
        .map(drop)
    }

    /// Remembers a step before it is taken, so that a process that is killed leaves a trace.
    fn remember(
        &self,
        path: &Path,
        change: SetupChange,
        taken: &mut Vec<SetupStep>,
    ) -> Result<(), Failure> {
        let step = SetupStep { path: path.display().to_string(), change };
        let folder = self.folder.display().to_string();
        self.store.remember_setup(&folder, &step, self.session.now()).map_err(refused)?;
        // An edit that begins again remembers its step again.
        taken.retain(|known| known.path != step.path);
        taken.push(step);
        Ok(())
    }

    fn remember_folders(
        &self,
        path: Option<&Path>,
        taken: &mut Vec<SetupStep>,
    ) -> Result<(), Failure> {
        for folder in path.map(missing_folders).unwrap_or_default() {
            self.remember(&folder, SetupChange::Folder, taken)?;
        }
        Ok(())
    }

    /// Reverts the completed steps, and reports it.
    fn give_up(&self, failure: Failure, taken: Vec<SetupStep>) -> Failure {
        let reporter = self.session.reporter();
        match take_back(self.session, self.store, &self.folder, taken) {
            Ok(outcomes) => {
                let left = outcomes.iter().filter(|outcome| !outcome.is_undone()).count();
                if left > 0 {
                    reporter.warn(format!("{left} steps could not be taken back"));
                    reporter.hint("run `convoke init --undo`");
                }
            }
            Err(again) => {
                reporter.warn(format!("cannot take back what was done: {}", reason(&again)));
                reporter.hint("run `convoke init --undo`");
            }
        }
        failure.hint("no file of the project was changed")
    }
}

/// Returns the folders that will have to be made for a file, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let parents = path.ancestors().skip(1);
    let missing = parents.take_while(|folder| folder.symlink_metadata().is_err());
    let mut folders: Vec<_> = missing.map(Path::to_owned).collect();
    folders.reverse();
    folders
}
