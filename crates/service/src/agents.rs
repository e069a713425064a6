//! Which agents are installed, and whether they answer.

mod acp;
mod endpoints;
mod first;
mod health;

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::lane::health::{AgentHealth, Availability};
use convoke_engine::client::acp::known_agent;
use convoke_engine::client::adapter;
use convoke_engine::file;
use convoke_engine::hooks::{HooksLevel, count};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::ClientProgram;
use convoke_engine::lane::health::{HealthCache, probe};
use convoke_engine::lane::version::versions;
use serde::Serialize;

pub(crate) use self::acp::acp_names;
use self::acp::{KnownAcp, known_acp};
use self::endpoints::{KnownApi, known_apis};
pub use self::first::first_usable_agent;
pub use self::health::{ProbePolicy, healths_of};
use crate::failure::{ErrorClass, Failure};
use crate::hooks::HooksTarget;
use crate::lane::seen_by;
use crate::session::Session;
use crate::settings::acp as acp_settings;
use crate::settings::endpoint::listed;
use crate::settings::health as health_settings;

/// No file that is read here is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The path that means: no health file.
const NO_FILE: &str = "/dev/null";

/// How Convoke finds out whether agents answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthSource {
    /// Convoke does not ask: it only checks that they are installed.
    Presence,
    /// From what earlier probes found.
    Remembered,
    /// By asking those that did not answer an earlier probe, which costs a few tokens.
    Probe,
}

impl HealthSource {
    /// Tells whether a remembered result is good enough. A person who probes again has just logged in,
    /// so a failure is not.
    fn accepts(self, remembered: &AgentHealth) -> bool {
        self != Self::Probe || *remembered == AgentHealth::Healthy
    }
}

/// A request about all agents, or some.
#[derive(Debug, Clone)]
pub struct AgentsRequest {
    /// The agents to list and to probe; none means all. A recording is not one of them.
    pub only: Vec<AgentRef>,
    /// The source of their health.
    pub source: HealthSource,
    /// A file with the caller's results, in lines such as `CODEX_HEALTHY=false`. Convoke probes no
    /// agent in it.
    pub caller_env: Option<PathBuf>,
    /// A file with such lines to update; `/dev/null` means no file.
    pub write_health: Option<PathBuf>,
}

impl AgentsRequest {
    /// A request about all agents that asks none of them.
    pub const fn presence() -> Self {
        let source = HealthSource::Presence;
        Self { only: Vec::new(), source, caller_env: None, write_health: None }
    }

    /// Tells whether the request is about an agent.
    fn names(&self, agent: &AgentRef) -> bool {
        self.only.is_empty() || self.only.contains(agent)
    }
}

/// All agents of this machine, and whether any of them can work.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AgentsReport {
    /// Clients, then agents of the Agent Client Protocol, then models' APIs.
    pub agents: Vec<AgentReport>,
    /// Whether any agent can work.
    #[serde(skip)]
    pub is_usable: bool,
}

/// The health of one agent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentReport {
    /// The agent's name.
    pub agent: String,
    /// Its program, or its address.
    pub path: Option<String>,
    /// The version, as its program prints it.
    pub version: Option<String>,
    /// Whether it answers, in words.
    pub health: &'static str,
    /// Why it does not.
    pub error: Option<String>,
    /// The same in words for a person, which follow the agent's name.
    #[serde(skip)]
    pub problem: Option<String>,
    /// The mechanism that keeps it from changing files.
    pub read_only: &'static str,
    /// The way its sessions are resumed.
    pub resume: &'static str,
    /// In which settings it has Convoke's hooks.
    pub hooks: &'static str,
    /// The model in an API's configuration.
    pub model: Option<String>,
    /// Whether the key of a model's API is there.
    pub key: Option<&'static str>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
struct HealthFileError {
    path: PathBuf,
    source: std::io::Error,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot list `{0}`: it is neither a client nor a configured agent or API")]
struct NotAnAgent(String);

#[derive(Debug, thiserror::Error)]
#[error("cannot list which agents answer: the probe was interrupted")]
struct ProbeStopped;

/// The facts about one client.
struct KnownClient {
    agent: Client,
    program: Option<PathBuf>,
    version: Option<String>,
    health: AgentHealth,
}

/// Finds out which agents there are, and whether they answer. An interrupt is a failure: an agent that
/// was cut off must not pass for one that does not answer.
pub fn agents(session: &Session, request: &AgentsRequest) -> Result<AgentsReport, Failure> {
    refuse_others(session, &request.only)?;
    let settings = health_settings::settings(session)?;
    let known = known_clients(session, request, settings)?;
    stop_if_asked(session)?;
    keep(session, request, &known)?;
    let acp = known_acp(session, request, settings)?;
    stop_if_asked(session)?;
    let apis = known_apis(session, request, settings)?;
    stop_if_asked(session)?;
    let is_usable = |health: &AgentHealth| match health {
        AgentHealth::Healthy => true,
        AgentHealth::NotAsked => request.source != HealthSource::Probe,
        AgentHealth::Missing | AgentHealth::Sick(_) => false,
    };
    let healths = known.iter().map(|client| &client.health);
    let healths = healths.chain(acp.iter().map(|agent| &agent.health));
    let is_usable = healths.chain(apis.iter().map(|api| &api.health)).any(is_usable);
    let clients = known.into_iter().map(|client| client.report(session));
    let others = acp.into_iter().map(KnownAcp::report);
    let agents = clients.chain(others).chain(apis.into_iter().map(KnownApi::report)).collect();
    Ok(AgentsReport { agents, is_usable })
}

/// Refuses agents that no probe asks: recordings, and agents and APIs that are not configured.
fn refuse_others(session: &Session, named: &[AgentRef]) -> Result<(), Failure> {
    for agent in named {
        let is_known = match agent {
            AgentRef::Client(_) => true,
            AgentRef::Http(name) => listed(session)?.iter().any(|api| api.name == *name),
            AgentRef::Acp(name) => known_agent(name).is_some() || is_configured(session, name)?,
            AgentRef::Replay(_) | AgentRef::Fleet(_) => false,
        };
        if !is_known {
            return Err(Failure::new(ErrorClass::Usage, NotAnAgent(agent.to_string()))
                .hint("`convoke agents` lists all clients and what you configured beside them"));
        }
    }
    Ok(())
}

fn is_configured(session: &Session, name: &str) -> Result<bool, Failure> {
    Ok(acp_settings::agents(session)?.iter().any(|(known, _)| known == name))
}

fn stop_if_asked(session: &Session) -> Result<(), Failure> {
    if session.is_stopped() { Err(stopped()) } else { Ok(()) }
}

fn stopped() -> Failure {
    Failure::new(ErrorClass::Interrupted, ProbeStopped)
}

fn known_clients(
    session: &Session,
    request: &AgentsRequest,
    settings: health_settings::Settings,
) -> Result<Vec<KnownClient>, Failure> {
    let wanted = Client::ALL.into_iter().filter(|agent| request.names(&AgentRef::Client(*agent)));
    let find =
        |agent: Client| session.environment.find_program(adapter(agent).programs, &session.project);
    let found: Vec<_> = wanted.map(|agent| (agent, find(agent))).collect();
    let convoke = session.environment.program();
    let programs: Vec<_> = found
        .iter()
        .filter_map(|(agent, program)| Some((*agent, program.as_ref()?)))
        .map(|(agent, program)| {
            let variables = seen_by(agent, session)?;
            Ok(ClientProgram { agent, program, convoke: &convoke, variables })
        })
        .collect::<Result<_, Failure>>()?;
    let mut said = versions(&programs, &session.cancel()).into_iter();
    let mut healths = healths(session, request, &programs, settings).into_iter();
    let known = found.iter().map(|(agent, program)| match program {
        Some(_) => KnownClient {
            agent: *agent,
            program: program.clone(),
            version: said.next().flatten(),
            health: healths.next().unwrap_or(AgentHealth::NotAsked),
        },
        None => KnownClient {
            agent: *agent,
            program: None,
            version: None,
            health: AgentHealth::Missing,
        },
    });
    Ok(known.collect())
}

/// Finds out which agents answer: from the caller, by a probe, or from cached results.
fn healths(
    session: &Session,
    request: &AgentsRequest,
    programs: &[ClientProgram<'_>],
    settings: health_settings::Settings,
) -> Vec<AgentHealth> {
    let told = request.caller_env.as_deref().and_then(|path| file::text(path, MAX_BYTES));
    let told = Availability::parse_caller(&told.unwrap_or_default());
    let cache = session.environment.health_cache();
    let mut remembered = cache.as_deref().map(HealthCache::read).unwrap_or_default();
    let mut healths: Vec<_> = programs
        .iter()
        .map(|program| match told.get(program.agent.name()) {
            Some(is_healthy) => AgentHealth::from_caller(is_healthy),
            None if request.source == HealthSource::Presence => AgentHealth::NotAsked,
            None => remembered
                .get(program.agent.name(), program.program, session.now(), settings.remember)
                .filter(|health| request.source.accepts(health))
                .unwrap_or(AgentHealth::NotAsked),
        })
        .collect();
    if request.source != HealthSource::Probe {
        return healths;
    }
    let (places, asked): (Vec<_>, Vec<_>) = programs
        .iter()
        .enumerate()
        .filter(|(place, _)| healths[*place] == AgentHealth::NotAsked)
        .map(|(place, program)| (place, program.clone()))
        .unzip();
    let answers = probe(&asked, settings.pause, &session.cancel());
    for ((place, program), health) in places.into_iter().zip(&asked).zip(answers) {
        remembered.note(program.agent.name(), program.program, &health, session.now());
        healths[place] = health;
    }
    // Without the cache Convoke only probes again next time.
    cache.and_then(|path| remembered.write(&path).ok());
    healths
}

/// Updates the health file, and reports which clients cannot work.
fn keep(session: &Session, request: &AgentsRequest, known: &[KnownClient]) -> Result<(), Failure> {
    let Some(path) = request.write_health.as_deref() else { return Ok(()) };
    for client in known {
        if let Some(warning) = client.health.warning(client.agent.name()) {
            session.reporter().say(warning);
        }
    }
    if path == Path::new(NO_FILE) {
        return Ok(());
    }
    let before = file::text(path, MAX_BYTES).unwrap_or_default();
    let mut availability = Availability::parse(&before);
    let health = |client: &KnownClient| (client.agent.name().to_owned(), client.health.may_work());
    availability.extend(known.iter().map(health));
    file::replace(path, &availability.text()).map_err(|source| {
        let error = HealthFileError { path: path.to_owned(), source };
        Failure::new(ErrorClass::Prerequisite, error)
    })
}

impl KnownClient {
    fn report(self, session: &Session) -> AgentReport {
        AgentReport {
            agent: self.agent.name().to_owned(),
            path: self.program.map(|path| path.display().to_string()),
            version: self.version,
            health: self.health.words(),
            error: self.health.reason().map(|reason| reason.line.clone()),
            problem: self.health.reason().map(|reason| reason.words.clone()),
            read_only: adapter(self.agent).read_only_by,
            resume: adapter(self.agent).resumed_by,
            hooks: hooks(self.agent, session),
            model: None,
            key: None,
        }
    }
}

/// Tells which settings of a client have Convoke's hooks.
fn hooks(client: Client, session: &Session) -> &'static str {
    if adapter(client).hooks.is_none() {
        return "none";
    }
    let has = |level| {
        let path = HooksTarget { client, level }.path(session);
        let text = path.ok().and_then(|path| file::text(&path, MAX_BYTES));
        text.is_some_and(|text| count(&text, client).is_ok_and(|count| count > 0))
    };
    match (has(HooksLevel::Project), has(HooksLevel::User)) {
        (true, true) => "project, user",
        (true, false) => "project",
        (false, true) => "user",
        (false, false) => "not installed",
    }
}
