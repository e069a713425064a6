//! Going on with a design that was stopped or killed.

use convoke_domain::design::facts::Facts;
use convoke_domain::run::RunId;

use super::course::CourseRequest;
use super::ending::EndedDesign;
use super::front_end::DesignFrontEnd;
use super::held_run::HeldRun;
use super::hold::hold_run;
use crate::failure::Failure;
use crate::run::{
    journal_integrity, last_stopped_run, must_be_design, must_be_real, must_be_sound,
};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Resumes a run, or without one the last that was stopped. Recorded answers are not requested again.
pub fn resume_run(
    session: &Session,
    run: Option<&RunId>,
    course: &CourseRequest,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<EndedDesign, Failure> {
    let workspace = Workspace::open(session, None)?;
    let run = match run {
        Some(run) => run.clone(),
        None => last_stopped_run(session)?,
    };
    let run = workspace.store.run(&workspace.scope.project, &run).map_err(refused)?;
    must_be_design(&run.id)?;
    let hold = hold_run(session, &workspace.store, &run.id)?;
    must_be_sound(&run.id, journal_integrity(&workspace, &run.id)?)?;
    let opened = HeldRun::open(session, &workspace, &run.id, hold)?;
    must_be_real(&run.id, &Facts::fold(opened.events.iter().cloned()))?;
    course.go(session, &workspace, &run.id, opened, front_end)
}
