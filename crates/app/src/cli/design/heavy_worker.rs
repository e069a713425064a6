//! The heavy part of a design in a process of its own: being that process.

use convoke_domain::design::heavy::WorkerResult;
use convoke_domain::run::RunId;
use convoke_service::design::run_worker;

use super::course_args::CourseArgs;
use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::Failure;

/// Run the phases from sketches to review (called by convoke)
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
        let app = self.course.context(app);
        let worked = run_worker(&app.session, &self.run, &self.course.request());
        let worked = worked.unwrap_or_else(|failure| {
            output.failure(&failure);
            WorkerResult::gave_up("internal-error")
        });
        output.data(&format!("{}\n", worked.line()))?;
        Ok(if worked == WorkerResult::Complete { Exit::Done } else { Exit::LaneFailed })
    }
}
