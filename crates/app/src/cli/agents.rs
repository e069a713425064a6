//! `convoke agents`: which clients are there, and whether they answer.

mod endpoints;

use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use convoke_domain::hook::Client;
use convoke_domain::lane::health::{AgentHealth, Availability};
use convoke_engine::file;
use convoke_engine::hooks::{Level, count, settings_file};
use convoke_engine::lane::adapter::Agent;
use convoke_engine::lane::drive::Program;
use convoke_engine::lane::health::{Remembered, probe};
use convoke_engine::lane::version::versions;
use serde::Serialize;

use super::lane::seen_by;
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::health;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, Voice};

/// No file that is read here is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The file that means: no health file at all.
const NO_FILE: &str = "/dev/null";

/// List the clients that agents can work in and the models' APIs of your configuration, and tell
/// whether they answer
///
/// Without a flag nobody is asked, because that costs tokens; what was found out lately is told.
/// Exits 0 if somebody could be given work, and 1 if nobody could.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask everybody who is there to answer `OK`, three times at most
    #[arg(long, conflicts_with = "no_probe")]
    probe: bool,

    /// Only tell who is there
    #[arg(long)]
    no_probe: bool,

    /// What a caller knows, in lines such as `CODEX_HEALTHY=false`; whoever is in it is not asked
    #[arg(long, value_name = "FILE")]
    caller_env: Option<PathBuf>,

    /// Bring a file with lines such as `CODEX_HEALTHY=false` up to date; no `false` in it becomes
    /// `true` again, and `/dev/null` is none
    #[arg(long, value_name = "FILE")]
    write_health: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
struct Unwritable {
    path: PathBuf,
    source: std::io::Error,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot tell who answers: asking was stopped")]
struct Stopped;

/// What is known of one client.
struct Known {
    agent: Agent,
    program: Option<PathBuf>,
    version: Option<String>,
    health: AgentHealth,
}

#[derive(Serialize)]
struct Report<'a> {
    agent: String,
    /// Its program, or its address.
    path: Option<String>,
    version: Option<&'a str>,
    health: &'static str,
    error: Option<&'a str>,
    read_only: &'static str,
    resume: &'static str,
    hooks: &'static str,
    /// What a model's API is asked for.
    model: Option<&'a str>,
    /// Whether the key of a model's API is there.
    key: Option<&'static str>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = health::settings(app)?;
        let found =
            |agent: Agent| (agent, app.environment.find_program(agent.programs(), &app.project));
        let found: Vec<_> = Agent::ALL.into_iter().map(found).collect();
        let convoke = app.environment.program();
        let there: Vec<_> =
            found.iter().filter_map(|(agent, it)| Some((*agent, it.as_ref()?))).collect();
        let programs: Vec<_> = there
            .iter()
            .map(|(agent, program)| {
                let variables = seen_by(*agent, app)?;
                Ok(Program { agent: *agent, program, convoke: &convoke, variables })
            })
            .collect::<Result<_, Failure>>()?;
        let mut said = versions(&programs, &interrupt::cancel()).into_iter();
        let mut healths = self.healths(app, &programs, settings, output).into_iter();
        // Who was cut off is not sick, and nobody wants to read on.
        if interrupt::cancel().is_asked() {
            return Ok(Exit::Interrupted);
        }
        let known: Vec<_> = found
            .iter()
            .map(|(agent, program)| match program {
                Some(_) => Known {
                    agent: *agent,
                    program: program.clone(),
                    version: said.next().flatten(),
                    health: healths.next().unwrap_or(AgentHealth::NotAsked),
                },
                None => Known {
                    agent: *agent,
                    program: None,
                    version: None,
                    health: AgentHealth::Missing,
                },
            })
            .collect();
        self.keep(&known, output)?;
        let apis = self.endpoints(app, settings)?;
        if interrupt::cancel().is_asked() {
            return Ok(Exit::Interrupted);
        }
        let reports = known.iter().map(|it| it.report(app));
        let reports: Vec<_> = reports.chain(apis.iter().map(endpoints::Known::report)).collect();
        match app.format {
            Format::Json => output.json(&reports)?,
            Format::Text => output.data(&table(&reports))?,
        }
        let is_usable = |health: &AgentHealth| match health {
            AgentHealth::Healthy => true,
            AgentHealth::NotAsked => !self.probe,
            AgentHealth::Missing | AgentHealth::Sick(_) => false,
        };
        let mut healths = known.iter().map(|it| &it.health).chain(apis.iter().map(|it| &it.health));
        Ok(if healths.any(is_usable) { Exit::Done } else { Exit::No })
    }

    /// Finds out who answers: from the caller, from what is remembered, else by asking.
    fn healths(
        &self,
        app: &App,
        programs: &[Program<'_>],
        settings: health::Settings,
        output: &Output,
    ) -> Vec<AgentHealth> {
        let told = self.caller_env.as_deref().and_then(|path| file::text(path, MAX_BYTES));
        let told = Availability::parse_caller(&told.unwrap_or_default());
        let cache = app.environment.health_cache();
        let mut remembered = cache.as_deref().map(Remembered::read).unwrap_or_default();
        let mut healths: Vec<_> = programs
            .iter()
            .map(|it| match told.get(it.agent.name()) {
                Some(is_healthy) => AgentHealth::told(is_healthy),
                None if self.no_probe => AgentHealth::NotAsked,
                None => remembered
                    .get(it.agent.name(), it.program, now(), settings.remember)
                    .unwrap_or(AgentHealth::NotAsked),
            })
            .collect();
        if !self.probe {
            return healths;
        }
        let (places, asked): (Vec<_>, Vec<_>) = programs
            .iter()
            .enumerate()
            .filter(|(place, _)| healths[*place] == AgentHealth::NotAsked)
            .map(|(place, program)| (place, program.clone()))
            .unzip();
        let answers = probe(&asked, settings.pause, &interrupt::cancel());
        for ((place, program), health) in places.into_iter().zip(&asked).zip(answers) {
            remembered.note(program.agent.name(), program.program, &health, now());
            if let Some(banner) = health.banner(program.agent.name()) {
                output.say(&banner);
            }
            healths[place] = health;
        }
        // Nobody is hurt if it is asked again next time.
        cache.and_then(|path| remembered.write(&path).ok());
        healths
    }

    /// Brings the health file up to date, and says who will not come.
    fn keep(&self, known: &[Known], output: &Output) -> Result<(), Failure> {
        let Some(path) = self.write_health.as_deref() else { return Ok(()) };
        for it in known {
            if let Some(warning) = it.health.warning(it.agent.name()) {
                output.say(&warning);
            }
        }
        if path == Path::new(NO_FILE) {
            return Ok(());
        }
        let before = file::text(path, MAX_BYTES).unwrap_or_default();
        let mut availability = Availability::parse(&before);
        for it in known {
            availability.note(it.agent.name(), it.health.may_work());
        }
        file::replace(path, &availability.text()).map_err(|source| {
            let error = Unwritable { path: path.to_owned(), source };
            Failure::new(Exit::Surroundings, error)
        })
    }
}

impl Known {
    fn report(&self, app: &App) -> Report<'_> {
        Report {
            agent: self.agent.name().to_owned(),
            path: self.program.as_ref().map(|path| path.display().to_string()),
            version: self.version.as_deref(),
            health: self.health.words(),
            error: match &self.health {
                AgentHealth::Sick(error) => error.as_deref(),
                AgentHealth::Missing | AgentHealth::NotAsked | AgentHealth::Healthy => None,
            },
            read_only: self.agent.reading(),
            resume: self.agent.resuming(),
            hooks: hooks(self.agent, app),
            model: None,
            key: None,
        }
    }
}

/// Tells where a client has our hooks.
fn hooks(agent: Agent, app: &App) -> &'static str {
    let Some(client) = Client::parse(agent.name()) else { return "none" };
    let has = |level, base: Option<PathBuf>| {
        let text = base.and_then(|it| file::text(&settings_file(client, level, &it), MAX_BYTES));
        text.is_some_and(|text| count(&text, client).is_ok_and(|count| count > 0))
    };
    let (project, user) = (Some(app.project.clone()), app.environment.home());
    match (has(Level::Project, project), has(Level::User, user)) {
        (true, true) => "project, user",
        (true, false) => "project",
        (false, true) => "user",
        (false, false) => "not installed",
    }
}

fn table(reports: &[Report<'_>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["agent", "health", "version", "read-only", "resume", "hooks", "path"]);
    table.add_rows(reports.iter().map(|it| {
        let version = it.version.or(it.model).unwrap_or("-");
        let key = it.key.map_or(String::new(), |key| format!(" (key: {key})"));
        let path = it.path.as_deref().unwrap_or("-").to_owned() + &key;
        [&it.agent, it.health, version, it.read_only, it.resume, it.hooks, &path].map(str::to_owned)
    }));
    let lines = table.lines().map(|line| format!("{}\n", line.trim())).collect::<Vec<_>>();
    let errors = reports.iter().filter_map(|it| Some(format!("{}: {}\n", it.agent, it.error?)));
    lines.into_iter().chain(errors).collect()
}

/// Which agents are probed. A probe costs a few tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probing {
    /// None: a remembered result counts, and an agent without one is not asked.
    Never,
    /// Those without a remembered result.
    Unknown,
    /// All of them: a remembered result does not count.
    Afresh,
}

/// Finds out whether agents answer. Nothing is known of an agent without a program, such as an API.
/// An interrupt is a failure: an agent that was cut off must not pass for one that does not answer.
pub(super) fn healths_of(
    words: &[&str],
    probing: Probing,
    app: &App,
    voice: &Voice,
) -> Result<Vec<Option<AgentHealth>>, Failure> {
    let settings = health::settings(app)?;
    let cache = app.environment.health_cache();
    let mut remembered = cache.as_deref().map(Remembered::read).unwrap_or_default();
    let convoke = app.environment.program();
    let mut found = Vec::new();
    let mut is_stopped = false;
    for word in words {
        let Some(agent) = Agent::parse(word) else {
            found.push(None);
            continue;
        };
        let Some(path) = app.environment.find_program(agent.programs(), &app.project) else {
            found.push(Some(AgentHealth::Missing));
            continue;
        };
        let known = remembered.get(agent.name(), &path, now(), settings.remember);
        let known = known.filter(|_| probing != Probing::Afresh);
        let variables = seen_by(agent, app)?;
        let program = Program { agent, program: &path, convoke: &convoke, variables };
        let health = match known {
            Some(health) => health,
            None if probing != Probing::Never => {
                let asked = probe(&[program], settings.pause, &interrupt::cancel()).pop();
                let health = asked.unwrap_or(AgentHealth::NotAsked);
                is_stopped |= health == AgentHealth::NotAsked;
                remembered.note(agent.name(), &path, &health, now());
                health
            }
            None => AgentHealth::NotAsked,
        };
        if let Some(banner) = health.banner(agent.name()) {
            voice.say(&banner);
        }
        found.push(Some(health));
    }
    // Nobody is hurt if it is asked again next time.
    cache.and_then(|path| remembered.write(&path).ok());
    if is_stopped { Err(Failure::new(Exit::Interrupted, Stopped)) } else { Ok(found) }
}
