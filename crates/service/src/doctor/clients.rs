//! Whether the installed clients are new enough, and whether each answers to the command of a lane.

use std::path::PathBuf;

use convoke_domain::client::Client;
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::lane::drive::ClientProgram;
use convoke_engine::lane::health::probe;
use convoke_engine::lane::version::versions;
use convoke_engine::surroundings::version_numbers;

use super::{ClientCheck, DoctorCheck};
use crate::lane::seen_by;
use crate::session::Session;
use crate::settings::health;

/// Starts every installed client as a lane does: under the guardian, with the variables that the
/// client may see. A version costs nothing; an answer costs a few tokens.
pub(super) fn clients(session: &Session, wanted: ClientCheck) -> Vec<DoctorCheck> {
    let found = Client::ALL.into_iter().filter_map(|agent| {
        let path = session.environment.find_program(adapter(agent).programs, &session.project)?;
        Some((agent, path))
    });
    let found: Vec<(Client, PathBuf)> = found.collect();
    let convoke = session.environment.program();
    let program = |(agent, path): &'_ (Client, PathBuf)| {
        // What is wrong with the configuration is told by the check of that.
        let variables = seen_by(*agent, session).unwrap_or_default();
        (*agent, path.clone(), variables)
    };
    let known: Vec<_> = found.iter().map(program).collect();
    let programs: Vec<_> = known
        .iter()
        .map(|(agent, path, variables)| ClientProgram {
            agent: *agent,
            program: path,
            convoke: &convoke,
            variables: variables.clone(),
        })
        .collect();
    let said = versions(&programs, &session.cancel());
    let mut checks: Vec<_> =
        found.iter().zip(said).map(|((agent, _), said)| age(*agent, said)).collect();
    if wanted == ClientCheck::Answer {
        let pause = health::settings(session).map(|settings| settings.pause).unwrap_or_default();
        let healths = probe(&programs, pause, &session.cancel());
        checks.extend(found.iter().zip(healths).map(|((agent, _), health)| answer(*agent, health)));
    }
    checks
}

fn age(agent: Client, said: Option<String>) -> DoctorCheck {
    let name = agent.name();
    let Some(said) = said else {
        let fix = format!("run `{} --version` and see what it says", adapter(agent).programs[0]);
        return DoctorCheck::warn("client", format!("{name} does not say its version"), fix);
    };
    match (adapter(agent).oldest, version_numbers(&said)) {
        (Some(oldest), Some(numbers)) if numbers < oldest => {
            let (major, minor) = oldest;
            let found = format!("{name} {said} is older than {major}.{minor}");
            let fix = format!("update {name}: Convoke is tested with {major}.{minor} and later");
            DoctorCheck::warn("client", found, fix)
        }
        (Some(_), None) => {
            let found = format!("{name} says `{said}`, which is not a version");
            DoctorCheck::warn("client", found, format!("reinstall {name}"))
        }
        _ => DoctorCheck::ok("client", format!("{name} {said}")),
    }
}

fn answer(agent: Client, health: AgentHealth) -> DoctorCheck {
    let name = agent.name();
    match health {
        AgentHealth::Healthy => {
            DoctorCheck::ok("answer", format!("{name} answers to the command of a lane"))
        }
        AgentHealth::Sick(why) => {
            let why = why.unwrap_or_else(|| "it gives no reason".to_owned());
            let fix = format!("start {name} by hand, log in if it asks for that, and try again");
            DoctorCheck::warn("answer", format!("{name} does not answer: {why}"), fix)
        }
        AgentHealth::Missing | AgentHealth::NotAsked => DoctorCheck::warn(
            "answer",
            format!("{name} was not asked"),
            "run `convoke doctor --probe` again",
        ),
    }
}
