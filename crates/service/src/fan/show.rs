//! Reports on fan-outs that ran before.

use convoke_domain::run::RunId;

use super::error::FanError;
use super::open_fan_journal;
use super::report::{FanReport, FanResultLine};
use super::results::result_line;
use crate::failure::{ErrorClass, Failure};
use crate::run::{last_of_all_runs, worked_on};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Returns the id of the named run, or of the last one of any kind, if that is a fan-out.
pub fn resolve_fan(session: &Session, run: Option<&RunId>) -> Result<Option<RunId>, Failure> {
    let id = match run {
        Some(run) => {
            let Workspace { store, scope } = Workspace::open(session, None)?;
            store.run(&scope.project, run).map_err(refused)?.id
        }
        None => match last_of_all_runs(session)? {
            Some(id) => id,
            None => return Ok(None),
        },
    };
    Ok(Some(id).filter(RunId::is_fan))
}

/// Reports on a fan-out.
pub fn show_fan(session: &Session, run: &RunId) -> Result<FanReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let run = workspace.store.run(&workspace.scope.project, run).map_err(refused)?;
    must_be_fan(&run.id)?;
    let state = run.state.seen(&run.id, &worked_on(session, &*workspace.store));
    let journal = open_fan_journal(&workspace, &run.id)?;
    FanReport::new(&workspace, &run.id, journal.record(), state)
}

/// Passes on the results of a fan-out, in the order of its items; items without one are left out.
pub fn show_fan_results(
    session: &Session,
    run: &RunId,
    take: &mut dyn FnMut(&FanResultLine) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let workspace = Workspace::open(session, None)?;
    let run = workspace.store.run(&workspace.scope.project, run).map_err(refused)?.id;
    must_be_fan(&run)?;
    let journal = open_fan_journal(&workspace, &run)?;
    for place in 0..journal.record().items().len() {
        if let Some(line) = result_line(&*workspace.store, &run, journal.record(), place)? {
            take(&line)?;
        }
    }
    Ok(())
}

fn must_be_fan(run: &RunId) -> Result<(), Failure> {
    if run.is_fan() {
        return Ok(());
    }
    Err(Failure::new(ErrorClass::Refused, FanError::NoFan(run.clone())))
}
