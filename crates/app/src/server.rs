//! The program `convoke-mcp`, which `convoke mcp` becomes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use convoke_engine::lane::ancestry::mark_above;
use convoke_mcp::{ClientStreams, HttpListen};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::mcp_listen::AccessToken;

use crate::app::{App, Format, Verbosity};
use crate::env;
use crate::exit::Exit;
use crate::log::LogWish;
use crate::output::Output;

/// The program that the server starts for everything but itself.
const CONVOKE: &str = "convoke";

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCalled {
    #[error("only convoke starts this program")]
    Directly,
    #[error("this program is of version {VERSION}, and convoke of version {convoke}")]
    ByAnother { convoke: String },
    #[error("cannot use stdin and stdout")]
    NoStreams(#[source] io::Error),
}

/// Serves the client on stdin and stdout, or clients over HTTP. The arguments are Convoke's version, the
/// project, and for HTTP the address and the token's file.
pub(crate) fn serve(arguments: &[OsString], output: &mut Output) -> Result<Exit, Failure> {
    let Some((app, rest)) = called(arguments, output)? else { return Err(called_directly()) };
    match rest {
        [] => convoke_mcp::serve(&app.session, streams()?)?,
        [address] => serve_http(&app, address, None, output)?,
        [address, token] => serve_http(&app, address, Some(Path::new(token)), output)?,
        _ => return Err(called_directly()),
    }
    Ok(Exit::Done)
}

/// Returns the surroundings that `convoke` called this program in, and the rest of the arguments; `None` if
/// something else called it.
pub(crate) fn called<'a>(
    arguments: &'a [OsString],
    output: &mut Output,
) -> Result<Option<(App, &'a [OsString])>, Failure> {
    let Some(([_, version, project], rest)) = arguments.split_first_chunk() else {
        return Ok(None);
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
    Ok(Some((app, rest)))
}

/// Returns our standard streams as files of their own: the output keeps stdout locked for this thread,
/// and the server writes on others.
fn streams() -> Result<ClientStreams, Failure> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    let both = input.and_then(|input| Ok((input, env::raw_stdout()?)));
    let (input, output) =
        both.map_err(|error| Failure::new(ErrorClass::Prerequisite, NotCalled::NoStreams(error)))?;
    Ok(ClientStreams { input: input.into(), output })
}

fn called_directly() -> Failure {
    Failure::new(ErrorClass::Usage, NotCalled::Directly).hint("convoke mcp")
}

fn serve_http(
    app: &App,
    address: &OsStr,
    token_file: Option<&Path>,
    output: &Output,
) -> Result<(), Failure> {
    let address = address.to_str().and_then(|address| address.parse().ok());
    let address = address.ok_or_else(called_directly)?;
    let token = AccessToken::settle(&app.session, token_file)?;
    let listen = HttpListen { address, token };
    convoke_mcp::serve_http(&app.session, &listen, &mut |address| {
        output.say(&format!("listening on http://{address}/mcp"));
        if listen.token.is_new {
            output.say(&format!("token: {}", listen.token.text()));
        }
    })
}
