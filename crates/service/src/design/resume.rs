//! Going on with a design that was stopped or killed.

use convoke_domain::design::facts::Facts;
use convoke_domain::run::RunId;

use super::course::{CourseRequest, hold};
use super::ending::EndedDesign;
use super::front_end::DesignFrontEnd;
use super::open_journal;
use crate::failure::Failure;
use crate::run::{journal_integrity, must_be_real, must_be_sound};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Resumes a run. Recorded answers are not requested again.
pub fn resume_run(
    session: &Session,
    run: &RunId,
    course: &CourseRequest,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<EndedDesign, Failure> {
    let workspace = Workspace::open(session, None)?;
    let run = workspace.store.run(&workspace.scope.project, run).map_err(refused)?;
    must_be_sound(&run.id, journal_integrity(&workspace, &run.id)?)?;
    let (_, events) = open_journal(&workspace, &run.id)?;
    must_be_real(&run.id, &Facts::fold(events))?;
    let lock = hold(session, &run.id)?;
    course.go(session, &workspace, &run.id, lock, front_end)
}
