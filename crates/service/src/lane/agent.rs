//! The facts about an agent before a request: the path of its program, its visible environment, its
//! version.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::lane::around::SurroundingLane;
use convoke_engine::client::{Rights, adapter};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::ClientProgram;
use convoke_engine::lane::replay::{ReplayError, load};
use convoke_engine::lane::supervisor::LANE_MARK;
use convoke_engine::lane::version::versions;

use super::LaneError;
use super::acp::acp_agent;
use super::fleet::{READS_ONLY, fleet_program};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::endpoint::endpoint;
use crate::settings::lane::passed_variables;

/// Variables that every program needs; a client sees these and its own vendor's, and nothing else.
pub(super) const COMMON: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
];

pub(super) const NO_TOOLS: &str = "files to change: it has no tools";

pub(super) fn unable(agent: &AgentRef, what: &'static str) -> Failure {
    let error = LaneError::Unable { agent: agent.clone(), what };
    Failure::new(ErrorClass::Usage, error).hint("leave out `--resume` and `--write`")
}

/// Checks an agent as far as possible before a request: that its client is installed, its API
/// configured, its recording readable, and that it can use the rights.
pub fn check_agent(agent: &AgentRef, rights: Rights, session: &Session) -> Result<(), Failure> {
    match agent {
        AgentRef::Client(client) => program(*client, session).map(drop),
        AgentRef::Acp(name) => acp_agent(name, session).map(drop),
        AgentRef::Http(_) if rights == Rights::Write => Err(unable(agent, NO_TOOLS)),
        AgentRef::Http(name) => endpoint(session, name).map(drop),
        AgentRef::Fleet(_) if rights == Rights::Write => Err(unable(agent, READS_ONLY)),
        AgentRef::Fleet(_) => fleet_program(session).map(drop),
        AgentRef::Replay(path) => load(path).map(drop).map_err(|source| unplayable(path, source)),
    }
}

/// Refuses an agent whose recorded lanes are not there.
pub(super) fn find_cassette(agent: &AgentRef) -> Result<(), Failure> {
    let AgentRef::Replay(path) = agent else { return Ok(()) };
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(unplayable(path, ReplayError::Io(error)))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the error for a file of recorded lanes that cannot be played.
pub(super) fn unplayable(path: &Path, source: ReplayError) -> Failure {
    let is_missing =
        matches!(&source, ReplayError::Io(error) if error.kind() == ErrorKind::NotFound);
    if !is_missing {
        return cassette_failed(path, source);
    }
    let missing = LaneError::NoCassette { path: path.to_owned() };
    Failure::new(ErrorClass::Prerequisite, missing)
        .hint("`convoke lane run --record FILE` records a lane, which `replay:FILE` plays")
}

pub(super) fn cassette_failed(path: &Path, source: ReplayError) -> Failure {
    Failure::new(ErrorClass::Prerequisite, LaneError::Cassette { path: path.to_owned(), source })
}

/// Asks a client for its installed version.
pub fn version_of(agent: Client, session: &Session) -> Result<Option<String>, Failure> {
    let (program, convoke) = (program(agent, session)?, session.environment.program());
    let variables = seen_by(agent, session)?;
    let asked = ClientProgram { agent, program: &program, convoke: &convoke, variables };
    Ok(versions(&[asked], &session.cancel()).pop().flatten())
}

pub(super) fn program(agent: Client, session: &Session) -> Result<PathBuf, Failure> {
    let names = adapter(agent).programs;
    let search = session.environment.search_program(names, &session.project);
    let remark = search.remark();
    search.found.ok_or_else(|| {
        let error = LaneError::NotInstalled { program: names[0].to_owned() };
        let failure = Failure::new(ErrorClass::Prerequisite, error).maybe_hint(remark);
        failure.hint(format!("install {agent}, or put it on the PATH"))
    })
}

/// Returns what a client may see of the environment.
pub fn seen_by(agent: Client, session: &Session) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables =
        session.environment.only(COMMON.iter().chain(adapter(agent).variables).copied());
    variables.extend(passed_variables(session, agent)?);
    Ok(variables)
}

/// Adds what every lane gives its client: a folder of its own for temporary files, so that two clients
/// do not meet there, and the mark by which the processes inside know the lane.
pub(super) fn in_lane(
    mut variables: Vec<(OsString, OsString)>,
    scratch: &str,
    about: &SurroundingLane,
) -> Vec<(OsString, OsString)> {
    variables.push(("TMPDIR".into(), scratch.into()));
    variables.push((LANE_MARK.into(), about.words().into()));
    variables
}

/// Reads a name, such as a model's or a session's. A blank one, or one with control characters, is
/// a mistake, such as a variable that was not set, and would have another meaning to a client.
pub fn model_name(name: &str) -> Result<String, &'static str> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("it must be a name, on one line");
    }
    Ok(name.trim().to_owned())
}
