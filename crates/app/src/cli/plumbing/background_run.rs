//! A background run in a process of its own: being that process.

use std::ffi::OsString;
use std::path::PathBuf;

use convoke_service::background::{begin_work, leave_session};
use convoke_service::failure::Failure;

use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;

/// Do the work of a background run (called by convoke)
#[derive(Debug, clap::Args)]
pub(super) struct BackgroundArgs {
    /// The folder of the attempt
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,

    /// Only start another process outside of this session that does the work
    #[arg(long)]
    leave: bool,
}

impl BackgroundArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.leave {
            return leave_session(&app.session, &self.folder).map(|()| Exit::Done);
        }
        let work = begin_work(self.folder.clone())?;
        let program = app.session.environment.program().into_os_string();
        let words = work.words.iter().map(OsString::from);
        let words: Vec<_> = [program].into_iter().chain(words).collect();
        let exit = crate::run_command(&words, output);
        work.end(&app.session, exit.code())?;
        Ok(exit)
    }
}
