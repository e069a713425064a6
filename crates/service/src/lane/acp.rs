//! Agents that speak the Agent Client Protocol: which program one is, and what it may see.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::client::acp::{AcpCommand, KnownAgent, ReadOnlyProof, known_agent};
use convoke_engine::client::adapter;

use super::LaneError;
use super::agent::COMMON;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::acp::{ConfiguredAgent, agent};
use crate::settings::lane::passed_variables;

/// An agent that can be started.
pub(crate) struct AcpAgent {
    /// Its program, and how it is kept from writing.
    pub(crate) command: AcpCommand,
    /// What it may see of the environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

/// Finds an agent: as the user configured it, or as Convoke knows it. Of a configured command
/// Convoke cannot know which program it is, so nothing is proven of it.
pub(crate) fn acp_agent(name: &str, session: &Session) -> Result<AcpAgent, Failure> {
    let (configured, known) = (agent(session, name)?, known_agent(name));
    let variables = variables(configured.as_ref(), known, session)?;
    let command = match (configured, known) {
        (Some(configured), _) => AcpCommand {
            program: configured_program(&configured.program, session)?,
            arguments: configured.arguments,
            known,
            read_mode: configured.read_mode,
            proof: ReadOnlyProof::Unproven,
        },
        (None, Some(known)) => AcpCommand {
            program: program(known.programs, session)?,
            arguments: known.arguments.iter().map(|word| (*word).to_owned()).collect(),
            known: Some(known),
            read_mode: None,
            proof: known.proof,
        },
        (None, None) => return Err(not_installed(name)),
    };
    Ok(AcpAgent { command, variables })
}

fn variables(
    configured: Option<&ConfiguredAgent>,
    known: Option<&KnownAgent>,
    session: &Session,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let vendor = known.map_or(Client::Acp, |known| known.vendor);
    let of_known = known.map_or(&[][..], |known| known.variables);
    let own = configured.map_or(&[][..], |configured| &configured.variables);
    let names = COMMON.iter().chain(adapter(vendor).variables).chain(of_known).copied();
    let names = names.chain(own.iter().map(String::as_str));
    let mut variables = session.environment.only(names);
    variables.extend(passed_variables(session, vendor)?);
    Ok(variables)
}

/// Returns the program that the user configured: an absolute path as it is, a name by the PATH.
fn configured_program(name: &str, session: &Session) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.is_absolute() {
        return if path.is_file() { Ok(path.to_owned()) } else { Err(not_installed(name)) };
    }
    program(&[name], session)
}

fn program(names: &[&str], session: &Session) -> Result<PathBuf, Failure> {
    let search = session.environment.search_program(names, &session.project);
    let remark = search.remark();
    search
        .found
        .ok_or_else(|| not_installed(names.first().copied().unwrap_or_default()).maybe_hint(remark))
}

fn not_installed(program: &str) -> Failure {
    let error = LaneError::NotInstalled { program: program.to_owned() };
    Failure::new(ErrorClass::Prerequisite, error)
        .hint("install it, put it on the PATH, or name its command in `[acp.NAME]`")
}
