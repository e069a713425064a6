//! The heavy part of a design in a process of its own: starting it, and being it.

use std::fs;
use std::time::Duration;

use convoke_domain::design::heavy::Worked;
use convoke_domain::run::RunId;
use convoke_engine::design::run::work;
use convoke_engine::file;
use convoke_engine::lane::supervisor::{Errand, Limits, Talk, run};
use convoke_engine::scratch;

use super::course::CourseArgs;
use super::opened;
use super::stage::Stage;
use crate::app::App;
use crate::cli::lane::lane_failed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, Voice};
use crate::workspace::Workspace;

/// A worker says one line.
const MAX_BYTES: u64 = 64 * 1024;

/// Lanes have limits of their own; a worker that waits for them has time.
const PATIENCE: Duration = Duration::from_hours(24 * 7);

/// How long a worker may take to stop its lanes.
const GRACE: Duration = Duration::from_secs(20);

/// Do the heavy part of a run that another process began (called by convoke)
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct WorkerArgs {
    /// The run
    #[arg(long, value_parser = RunId::parse)]
    run: RunId,

    #[command(flatten)]
    course: CourseArgs,
}

impl WorkerArgs {
    /// Does the work, and says one line about it.
    pub(in crate::cli) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let worked = self.worked(app, output).unwrap_or_else(|failure| {
            output.failure(&failure);
            Worked::gave_up("internal-error")
        });
        output.data(&format!("{}\n", worked.line()))?;
        Ok(if worked == Worked::Complete { Exit::Done } else { Exit::LaneFailed })
    }

    fn worked(&self, app: &App, output: &mut Output) -> Result<Worked, Failure> {
        let workspace = Workspace::open(app, None)?;
        let (journal, events) = opened(&workspace, &self.run)?;
        let mut stage = self.course.stage(app, &self.run, &events, output)?;
        stage.is_worker = true;
        work(journal, events, &mut stage).map_err(super::course::run_failed)
    }
}

/// Has a worker do the heavy part, and tells what is believed of it; nothing if we were stopped.
pub(super) fn started(stage: &Stage<'_>) -> Result<Option<Worked>, Failure> {
    let scratch = scratch::lane().map_err(lane_failed)?;
    let convoke = stage.app.environment.program();
    let cancel = interrupt::cancel();
    let errand = Errand {
        convoke: &convoke,
        program: &convoke,
        arguments: &stage.worker,
        variables: &stage.app.environment.all(),
        folder: &stage.app.project,
        stdin: None,
        scratch: scratch.path(),
        limits: Limits { wall: PATIENCE, first_byte: PATIENCE, stall: PATIENCE, grace: GRACE },
        cancel: &cancel,
    };
    let finished = run(&errand, &mut |_, _| Talk::GoesOn).map_err(lane_failed)?;
    if cancel.is_asked() {
        return Ok(None);
    }
    let said = file::text(&finished.stderr, MAX_BYTES).unwrap_or_default();
    for line in said.lines() {
        Voice::default().say(line);
    }
    let said = file::text(&finished.stdout, MAX_BYTES).unwrap_or_default();
    let length = |name: &str| {
        let found = fs::symlink_metadata(stage.folder.join(name)).ok()?;
        found.is_file().then_some(found.len())
    };
    Ok(Some(Worked::judged(&said, length)))
}
