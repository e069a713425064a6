//! The heavy part of a design in a process of its own: being that process.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use convoke_domain::design::heavy::{GiveUpReason, WorkerResult};
use convoke_domain::run::RunId;
use convoke_service::design::{PrintLine, report_as_worker, run_worker};

use super::course_args::CourseArgs;
use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::Failure;

/// Run the phases from sketches to review (called by convoke)
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct WorkerArgs {
    /// The run whose heavy part it does
    #[arg(long, value_parser = RunId::parse)]
    run: RunId,

    /// Print messages and the result as JSON lines, for the process that started this one
    #[arg(long)]
    report: bool,

    #[command(flatten)]
    course: CourseArgs,
}

impl WorkerArgs {
    /// Does the work, and says how it ended: in one line, or in a form for the process that waits.
    pub(in crate::cli) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = self.course.context(app);
        let worked = if self.report { self.report(&app, output)? } else { self.say(&app, output)? };
        Ok(if worked == WorkerResult::Complete { Exit::Done } else { Exit::LaneFailed })
    }

    fn say(&self, app: &App, output: &mut Output) -> Result<WorkerResult, Failure> {
        let worked = run_worker(&app.session, &self.run, &self.course.request());
        let worked = worked.unwrap_or_else(|failure| {
            output.failure(&failure);
            WorkerResult::gave_up(GiveUpReason::INTERNAL_ERROR)
        });
        output.data(&format!("{}\n", worked.line()))?;
        Ok(worked)
    }

    /// Prints each line as soon as it is there. Stdout belongs to this thread, so another works.
    fn report(&self, app: &App, output: &mut Output) -> Result<WorkerResult, Failure> {
        let (sender, lines) = channel();
        let ends = EndOfLines(sender.clone());
        // A parent that was killed reads nothing; the work goes on to its next safe point.
        let print: PrintLine =
            Arc::new(move |line| sender.send(Some(line.to_owned())).unwrap_or_default());
        let course = self.course.request();
        let session = &app.session;
        let (worked, printed) = thread::scope(|threads| {
            let work = threads.spawn(move || {
                let _ends = ends;
                report_as_worker(session, &self.run, &course, &print)
            });
            let mut printed = Ok(());
            while let Ok(Some(line)) = lines.recv() {
                let mut put = || output.data(&format!("{line}\n")).and_then(|()| output.flush());
                printed = printed.and_then(|()| put());
            }
            (work.join(), printed)
        });
        printed?;
        Ok(worked.unwrap_or_else(|_| WorkerResult::gave_up(GiveUpReason::INTERNAL_ERROR)))
    }
}

/// Says that no more lines follow, also if the work panics.
struct EndOfLines(Sender<Option<String>>);

impl Drop for EndOfLines {
    fn drop(&mut self) {
        self.0.send(None).unwrap_or_default();
    }
}
