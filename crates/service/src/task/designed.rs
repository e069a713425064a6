//! The plan of a finished design, where agents find it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use convoke_domain::design::walk::{DesignEnding, Next};
use convoke_domain::run::RunId;

use super::plan_file;
use crate::failure::{ErrorClass, Failure};
use crate::hooks::DryRun;
use crate::run::KnownRun;
use crate::session::Session;

/// Convoke's folder in a project.
const PLANS: &str = ".convoke";

#[derive(Debug, thiserror::Error)]
enum DesignedPlanError {
    #[error("cannot import the plan of `{run}`: {why}")]
    NoPlan { run: RunId, why: &'static str },
    #[error("cannot write the plan to `{}`", path.display())]
    NotLeft { path: PathBuf, source: io::Error },
}

/// Returns where agents find the plan of a finished design, relative to the project, and its text.
/// With a dry run, the plan need not be there yet.
pub(super) fn designed_plan(
    session: &Session,
    id: &RunId,
    rehearsal: DryRun,
) -> Result<(String, String), Failure> {
    let known = KnownRun::open(session, id)?;
    let text = plan_text(&known)?;
    let place = match handed_over(session, &known) {
        Some(place) => place,
        None if rehearsal == DryRun::DryRun => left_place(&known.run.id),
        None => leave_plan(session, &known.run.id, text)?,
    };
    if known.is_rehearsal() {
        let words = "the run is a rehearsal; its tasks are about its example project";
        session.reporter().warn(words);
    }
    Ok((place, text.to_owned()))
}

fn plan_text(known: &KnownRun) -> Result<&str, Failure> {
    let run = &known.run.id;
    let (why, hint) = match &known.progress.next {
        Next::End(DesignEnding::Complete { .. }) => {
            if let Some(plan) = &known.progress.results.plan {
                return Ok(&plan.text);
            }
            ("it has none", format!("convoke show {run}"))
        }
        Next::Need(_)
        | Next::End(
            DesignEnding::OverBudget(_)
            | DesignEnding::HeavyFailed(_)
            | DesignEnding::NotExported(_),
        ) => ("the run has not ended", format!("convoke resume {run}")),
        Next::End(DesignEnding::Refused(_) | DesignEnding::DirtyTree | DesignEnding::Failed(_)) => {
            ("the run ended without one", format!("convoke show {run}"))
        }
    };
    let error = DesignedPlanError::NoPlan { run: run.clone(), why };
    Err(Failure::new(ErrorClass::Refused, error).hint(hint))
}

/// Returns the plan that the design left in the feature's folder, if that is in the project.
fn handed_over(session: &Session, known: &KnownRun) -> Option<String> {
    let (_, settings) = known.facts.settings()?;
    let dir = settings.feature_dir.clone()?;
    let names = [format!("plan-{}.md", known.run.id), "plan.md".to_owned()];
    names.iter().find_map(|name| {
        let path = Path::new(&dir).join(name);
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        plan_file(session, &path).ok().filter(|_| is_plain)
    })
}

fn left_place(run: &RunId) -> String {
    format!("{PLANS}/plans/{run}.md")
}

/// Leaves a plan where agents find it and git does not. One that is there already stays as it is.
fn leave_plan(session: &Session, run: &RunId, text: &str) -> Result<String, Failure> {
    let place = left_place(run);
    for (name, text) in [(format!("{PLANS}/.gitignore"), "*\n"), (place.clone(), text)] {
        let path = session.project.join(name);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::options().write(true).create_new(true).open(&path))
            .and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                return Err(Failure::new(
                    ErrorClass::Prerequisite,
                    DesignedPlanError::NotLeft { path, source },
                ));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(place)
}
