//! Whether the installed clients are new enough, whether each takes the command of a lane, and
//! whether it answers to it.

use std::path::PathBuf;

use convoke_domain::client::Client;
use convoke_domain::lane::health::AgentHealth;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::client::{ClientRelease, adapter};
use convoke_engine::lane::command_check::{CheckedCommand, CommandVerdict, check_commands};
use convoke_engine::lane::drive::ClientProgram;
use convoke_engine::lane::health::probe;
use convoke_engine::lane::version::versions;

use super::{ClientCheck, DoctorCheck};
use crate::lane::seen_by;
use crate::session::Session;
use crate::settings::health;

/// The check whether a client answers.
pub(super) const ANSWER: &str = "answer";

/// Starts every installed client as a lane does: under the guardian, with the variables that the
/// client may see. A version and a command without a prompt cost nothing; an answer costs a few
/// tokens.
pub(super) fn clients(session: &Session, wanted: ClientCheck) -> Vec<DoctorCheck> {
    let found = Client::ALL.into_iter().filter_map(|agent| {
        let path = session.environment.find_program(adapter(agent).programs, &session.project)?;
        Some((agent, path))
    });
    let found: Vec<(Client, PathBuf)> = found.collect();
    let convoke = session.environment.program();
    let program = |(agent, path): &'_ (Client, PathBuf)| {
        // The check of the configuration reports its errors.
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
        found.iter().zip(&said).map(|((agent, _), said)| age(*agent, said.as_deref())).collect();
    let commands = check_commands(&programs, &session.cancel());
    let releases = said.iter().map(|said| ClientRelease::find(said.as_deref()?));
    let commands = found.iter().zip(releases).zip(commands);
    checks.extend(
        commands.map(|(((agent, _), found), checked)| taken(*agent, found, checked, wanted)),
    );
    if wanted == ClientCheck::Answer {
        let pause = health::settings(session).map(|settings| settings.pause).unwrap_or_default();
        let healths = probe(&programs, pause, &session.cancel());
        checks.extend(found.iter().zip(healths).map(|((agent, _), health)| answer(*agent, health)));
    }
    checks
}

/// Returns the remedy for a client that does not know a flag of a lane's command.
fn install_tested(agent: Client) -> String {
    let version = adapter(agent).tested.map_or(String::new(), |tested| format!(" {tested}"));
    format!("install {}{version}, which Convoke is tested with", agent.name())
}

fn age(agent: Client, said: Option<&str>) -> DoctorCheck {
    let name = agent.name();
    let Some(said) = said else {
        let fix = format!("run `{} --version` and see what it says", adapter(agent).programs[0]);
        return DoctorCheck::warn("client", format!("{name} does not say its version"), fix);
    };
    let Some(tested) = adapter(agent).tested else {
        return DoctorCheck::ok("client", format!("{name} {said}; no version of it is tested"));
    };
    match ClientRelease::find(said) {
        None => {
            let found = format!("{name} says `{said}`, which is not a version");
            DoctorCheck::warn("client", found, format!("reinstall {name}"))
        }
        Some(found) if found.is_of_earlier_series(tested) => {
            // Convoke knows no oldest version that works, only the one that its tests drive.
            let words = format!(
                "{name} {found} is of an earlier series than {tested}, which Convoke is tested \
                 with; it may not work"
            );
            DoctorCheck::warn("client", words, install_tested(agent))
        }
        Some(found) if found == tested => DoctorCheck::ok("client", format!("{name} {said}")),
        Some(_) => DoctorCheck::ok("client", format!("{name} {said}; tested with {tested}")),
    }
}

/// Says whether a client takes the command of a lane, and what only `--probe` finds out.
fn taken(
    agent: Client,
    found: Option<ClientRelease>,
    checked: CheckedCommand,
    wanted: ClientCheck,
) -> DoctorCheck {
    const NAME: &str = "lane command";
    let (name, CheckedCommand { words, verdict }) = (agent.name(), checked);
    let probe = "run `convoke doctor --probe`, which asks for an answer and costs a few tokens";
    match verdict {
        // The answer says the rest.
        CommandVerdict::Accepted if wanted == ClientCheck::Answer => {
            DoctorCheck::ok(NAME, format!("{name} takes `{words}`"))
        }
        CommandVerdict::NotTried | CommandVerdict::Unclear(_) if wanted == ClientCheck::Answer => {
            DoctorCheck::ok(NAME, format!("a lane runs `{words}`; the answer of {name} decides"))
        }
        CommandVerdict::Accepted => DoctorCheck::ok(
            NAME,
            format!("{name} takes `{words}`; `--probe` checks login, model and answer"),
        ),
        CommandVerdict::NotTried => DoctorCheck::ok(
            NAME,
            format!("a lane runs `{words}`; only `--probe` checks whether {name} takes that"),
        ),
        CommandVerdict::Refused(why) => {
            let tested = adapter(agent).tested;
            let state = match found.zip(tested).filter(|(found, tested)| found < tested) {
                Some((found, _)) => format!("{name} {found} is too old: {why}"),
                None => format!("{name} refuses the command of a lane: {why}"),
            };
            DoctorCheck::fail(
                NAME,
                format!("{state}; a lane runs `{words}`"),
                install_tested(agent),
            )
        }
        CommandVerdict::NoLogin(why) => DoctorCheck::warn(
            NAME,
            format!("{name} wants a login before it takes `{words}`: {why}"),
            format!("start {name} by hand and log in"),
        ),
        CommandVerdict::Unclear(why) => DoctorCheck::warn(
            NAME,
            format!("cannot tell whether {name} takes `{words}`: {why}"),
            probe,
        ),
    }
}

fn answer(agent: Client, health: AgentHealth) -> DoctorCheck {
    let name = agent.name();
    match health {
        AgentHealth::Healthy => {
            DoctorCheck::ok(ANSWER, format!("{name} answers to the command of a lane"))
        }
        AgentHealth::Sick(Some(why)) if why.outcome == Some(LaneOutcome::RefusedFlags) => {
            let found = format!("{name} did not pass the probe: it {}", why.words);
            DoctorCheck::fail(ANSWER, found, install_tested(agent))
        }
        AgentHealth::Sick(why) => {
            let why = why.map_or_else(|| "gives no reason".to_owned(), |why| why.words);
            let fix = format!("start {name} by hand, log in if it asks for that, and try again");
            DoctorCheck::warn(ANSWER, format!("{name} did not pass the probe: it {why}"), fix)
        }
        AgentHealth::Missing | AgentHealth::NotAsked => DoctorCheck::warn(
            ANSWER,
            format!("{name} was not asked"),
            "run `convoke doctor --probe` again",
        ),
    }
}
