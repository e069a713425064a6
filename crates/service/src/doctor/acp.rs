//! Whether agents of the Agent Client Protocol begin a session in their safe mode, and whether they
//! answer.

use convoke_domain::lane::health::AgentHealth;
use convoke_engine::lane::command_check::{CheckedCommand, CommandVerdict, check_acp_commands};
use convoke_engine::lane::health::probe_acp;

use super::{ClientCheck, DoctorCheck};
use crate::agents::acp_names;
use crate::lane::acp_agent;
use crate::session::Session;
use crate::settings::health;

pub(super) const NAME: &str = "acp agent";

/// Starts every agent that the user configured or installed as a lane does. A session without a
/// prompt costs nothing; an answer costs a few tokens.
pub(super) fn agents(session: &Session, wanted: ClientCheck) -> Vec<DoctorCheck> {
    let names = match acp_names(session) {
        Ok(names) => names,
        Err(failure) => return vec![DoctorCheck::failure(NAME, &failure, "correct the file")],
    };
    let mut checks = Vec::new();
    let mut found = Vec::new();
    for name in names {
        match acp_agent(&name, session) {
            Ok(agent) => found.push((name, agent)),
            Err(failure) => {
                let fix = format!("install it, or correct `command` in `[acp.{name}]`");
                let mut check = DoctorCheck::failure(NAME, &failure, &fix);
                check.found = format!("acp:{name}: {}", check.found);
                checks.push(check);
            }
        }
    }
    let convoke = session.environment.program();
    let asked: Vec<_> = found.iter().map(|(_, agent)| agent.probed(&convoke)).collect();
    let names = found.iter().map(|(name, _)| name.as_str());
    if wanted == ClientCheck::Answer {
        let pause = health::settings(session).map(|settings| settings.pause).unwrap_or_default();
        let healths = probe_acp(&asked, pause, &session.cancel());
        checks.extend(names.zip(healths).map(|(name, health)| answer(name, health)));
    } else {
        let checked = check_acp_commands(&asked, &session.cancel());
        checks.extend(names.zip(checked).map(|(name, checked)| taken(name, checked)));
    }
    checks
}

fn taken(name: &str, CheckedCommand { words, verdict }: CheckedCommand) -> DoctorCheck {
    let probe = "run `convoke doctor --probe`, which asks for an answer and costs a few tokens";
    match verdict {
        CommandVerdict::Accepted | CommandVerdict::NotTried => DoctorCheck::ok(
            NAME,
            format!("acp:{name} begins a session by `{words}`; `--probe` checks model and answer"),
        ),
        CommandVerdict::Refused(why) => DoctorCheck::fail(
            NAME,
            format!("acp:{name} refuses what a lane needs: {why}; a lane runs `{words}`"),
            format!("update the program of acp:{name}, or correct `[acp.{name}]`"),
        ),
        CommandVerdict::NoLogin(why) => DoctorCheck::warn(
            NAME,
            format!("acp:{name} wants a login: {why}"),
            format!("log in with the program of acp:{name}"),
        ),
        CommandVerdict::Unclear(why) => DoctorCheck::warn(
            NAME,
            format!("cannot tell whether acp:{name} takes `{words}`: {why}"),
            probe,
        ),
    }
}

fn answer(name: &str, health: AgentHealth) -> DoctorCheck {
    match health {
        AgentHealth::Healthy => DoctorCheck::ok(NAME, format!("acp:{name} answers")),
        AgentHealth::Sick(why) => {
            let why = why.map_or_else(|| "gives no reason".to_owned(), |why| why.words);
            let fix = format!("start the program of acp:{name} by hand, log in, and try again");
            DoctorCheck::warn(NAME, format!("acp:{name} did not pass the probe: it {why}"), fix)
        }
        AgentHealth::Missing | AgentHealth::NotAsked => DoctorCheck::warn(
            NAME,
            format!("acp:{name} was not asked"),
            "run `convoke doctor --probe` again",
        ),
    }
}
