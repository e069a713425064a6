//! The program `convoke-mcp`, which `convoke mcp` becomes.

use std::ffi::OsString;
use std::path::PathBuf;

use convoke_engine::lane::ancestry::mark_above;
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format, Verbosity};
use crate::env;
use crate::exit::Exit;
use crate::log::LogWish;
use crate::output::Output;

/// The program that the server starts for everything but itself.
const CONVOKE: &str = "convoke";

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, thiserror::Error)]
enum NotCalled {
    #[error("only convoke starts this program")]
    Directly,
    #[error("this program is of version {VERSION}, and convoke of version {convoke}")]
    ByAnother { convoke: String },
}

/// Serves the client on stdin and stdout. The arguments are Convoke's version and the project.
pub(crate) fn serve(arguments: &[OsString], output: &mut Output) -> Result<Exit, Failure> {
    let [_, version, project] = arguments else {
        let failure = Failure::new(ErrorClass::Usage, NotCalled::Directly);
        return Err(failure.hint("convoke mcp"));
    };
    if version != VERSION {
        let convoke = version.to_string_lossy().into_owned();
        let failure = Failure::new(ErrorClass::Prerequisite, NotCalled::ByAnother { convoke });
        return Err(failure.hint("install both programs from the same release"));
    }
    let environment = env::captured();
    LogWish::new(None, None, &environment).start(output)?;
    let convoke = environment.program().with_file_name(CONVOKE);
    let environment = environment.with_program(convoke);
    let above = if environment.is_in_lane() { None } else { mark_above() };
    let environment = above.map_or(environment.clone(), |mark| environment.marked_as_lane(mark));
    let app = App::new(PathBuf::from(project), environment, Format::Text, Verbosity::Normal);
    convoke_mcp::serve(&app.session).map(|()| Exit::Done)
}
