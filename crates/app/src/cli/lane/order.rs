//! A lane that a command wants to have run: who answers, with what, and under which limits.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use convoke_domain::lane::cap::Meter;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::pin::{Pin, before_prompt};
use convoke_engine::lane::adapter::{Agent, Errand, Rights};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::cassette::{Identity, Matching, Request, shown};
use convoke_engine::lane::drive::{Driven, Lane, Program, Runner, drive};
use convoke_engine::lane::replay::{Recorder, TapeError, load};
use convoke_engine::lane::supervisor::Limits;
use convoke_engine::lane::version::versions;

use super::books::Account;
use super::rules::Rules;
use super::{LaneError, lane_failed};
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::endpoint::{Configured, endpoint};
use crate::config::lane::passed_variables;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Voice, with_causes};

/// Variables that every program needs; a client sees these and its own vendor's, and nothing else.
const COMMON: [&str; 24] = [
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

/// How long a lane may take when nobody says otherwise.
pub(in crate::cli) const USUAL_LIMITS: Limits = Limits {
    wall: Duration::from_mins(20),
    first_byte: Duration::from_mins(5),
    stall: Duration::from_mins(5),
    grace: Duration::from_secs(5),
};

/// What is told of a lane while it runs.
pub(super) enum Told<'a> {
    /// It begins, under this number if it could be written down.
    Began(Option<i64>),
    /// This was said.
    Said(&'a LaneEvent),
}

/// Who is told. One that breaks off has nobody to tell it to any more, and the lane is stopped.
pub(super) type Tell<'a> = dyn FnMut(Told<'_>) -> ControlFlow<()> + 'a;

/// A lane that a command wants to have run.
pub(in crate::cli) struct LaneOrder<'a> {
    pub(in crate::cli) agent: &'a AgentRef,
    pub(in crate::cli) prompt: &'a str,
    /// What it is for; recorded lanes can be found by it.
    pub(in crate::cli) label: Option<&'a str>,
    /// The cassette that it is added to.
    pub(in crate::cli) record: Option<&'a Path>,
    pub(in crate::cli) model: Option<&'a str>,
    pub(in crate::cli) effort: Option<&'a str>,
    pub(in crate::cli) resume: Option<&'a str>,
    pub(in crate::cli) rights: Rights,
    pub(in crate::cli) rules: Rules,
    pub(in crate::cli) limits: Limits,
    pub(in crate::cli) account: Account,
}

impl LaneOrder<'_> {
    /// Runs it in the project, and tells what happens meanwhile.
    pub(super) fn start(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
        pins: &[Pin],
        mut meter: Option<&mut Meter>,
        tell: &mut Tell<'_>,
    ) -> Result<Driven, Failure> {
        let recorder = self.record.map(|path| {
            let recorder = Recorder::start(path, app.environment.home());
            recorder.map_err(|source| cassette_failed(path, source))
        });
        let mut recorder = recorder.transpose()?;
        let cancel = interrupt::cancel().child();
        let mut notice = |event: &LaneEvent| {
            if meter.as_mut().is_some_and(|meter| meter.stops_at(event)) {
                cancel.cancel();
            }
            if tell(Told::Said(event)).is_break() {
                cancel.cancel();
            }
            if let Some(recorder) = &mut recorder {
                recorder.notice(event);
            }
        };
        let prompt = before_prompt(pins, self.prompt);
        let driven = self.choose(app, &prompt, scratch, &cancel, &mut notice)?;
        if let (Some(recorder), Some(path)) = (recorder, self.record) {
            let saved = recorder.save(&self.request(app), &driven);
            // An answer that was paid for is not lost because it cannot be kept, too.
            if let Err(source) = saved {
                let error = LaneError::Cassette { path: path.to_owned(), source };
                voice.say(&format!("warning: the lane is not recorded: {}", with_causes(&error)));
            }
        }
        let is_missing = driven.is_recorded && driven.outcome == LaneOutcome::NotStarted;
        if is_missing && app.format == Format::Text {
            voice.say("hint: record it with `--record FILE`, or name a recorded lane's `--label`");
        }
        Ok(driven)
    }

    /// Runs the lane with the agent that answers, on the prompt as Convoke sends it.
    fn choose(
        &self,
        app: &App,
        prompt: &str,
        scratch: &Path,
        cancel: &Cancel,
        notice: &mut dyn FnMut(&LaneEvent),
    ) -> Result<Driven, Failure> {
        let folder = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
        let (folder, scratch) = (folder.display().to_string(), scratch.display().to_string());
        let errand = Errand {
            prompt,
            model: self.model,
            effort: self.effort,
            resume: self.resume,
            rights: self.rights,
            folder: &folder,
            scratch: &scratch,
        };
        let mut run = |runner, errand| {
            let lane = Lane { runner, errand, limits: self.limits, cancel };
            drive(&lane, notice).map_err(lane_failed)
        };
        match self.agent {
            AgentRef::Client(agent) => {
                let program = Program {
                    agent: *agent,
                    program: &program(*agent, app)?,
                    convoke: &app.environment.program(),
                    variables: variables(*agent, app, &scratch)?,
                };
                run(Runner::Program(program), errand)
            }
            AgentRef::Http(name) => {
                self.refuse_tools()?;
                let Configured { endpoint, model, effort } = endpoint(app, name)?;
                let model = self.model.or(Some(model.as_str()));
                let effort = self.effort.or(effort.as_deref());
                run(Runner::Http(&endpoint), Errand { model, effort, ..errand })
            }
            AgentRef::Replay(path) => {
                let cassette = load(path).map_err(|source| cassette_failed(path, source))?;
                run(Runner::Replay(&cassette, &self.identity(app)), errand)
            }
        }
    }

    /// Returns the model that is asked for: an API has one in its configuration.
    pub(super) fn asked_model(&self, app: &App) -> Option<String> {
        let configured = || match self.agent {
            AgentRef::Http(name) => endpoint(app, name).ok().map(|it| it.model),
            AgentRef::Client(_) | AgentRef::Replay(_) => None,
        };
        self.model.map(str::to_owned).or_else(configured)
    }

    /// An API keeps no session and has no tools; to say nothing would look like success.
    fn refuse_tools(&self) -> Result<(), Failure> {
        match (self.resume, self.rights) {
            (Some(_), _) => Err(unable(self.agent, "a session to go on with: it keeps none")),
            (None, Rights::Write) => Err(unable(self.agent, NO_TOOLS)),
            (None, Rights::ReadOnly) => Ok(()),
        }
    }

    fn identity(&self, app: &App) -> Identity {
        let home = app.environment.home();
        Identity::new(self.prompt, self.model, self.resume, self.label, home.as_deref())
    }

    /// Returns how the lane is recorded. Who gives it a label wants it to be found by that.
    fn request(&self, app: &App) -> Request {
        let Identity { hash, label } = self.identity(app);
        Request {
            hash,
            matching: if label.is_some() { Matching::Label } else { Matching::Exact },
            label,
            agent: self.agent.to_string(),
            model: self.model.map(str::to_owned),
            prompt: shown(self.prompt),
            recorded_at: now().to_string(),
        }
    }
}

const NO_TOOLS: &str = "files to change: it has no tools";

fn unable(agent: &AgentRef, what: &'static str) -> Failure {
    let error = LaneError::Unable { agent: agent.clone(), what };
    Failure::new(Exit::Usage, error).hint("leave out `--resume` and `--write`")
}

/// Checks everything about an agent that can be checked before it is asked anything: that its client
/// is installed, its API configured, its recording readable, and that it can use the rights.
pub(in crate::cli) fn check_agent(
    agent: &AgentRef,
    rights: Rights,
    app: &App,
) -> Result<(), Failure> {
    match agent {
        AgentRef::Client(client) => program(*client, app).map(drop),
        AgentRef::Http(_) if rights == Rights::Write => Err(unable(agent, NO_TOOLS)),
        AgentRef::Http(name) => endpoint(app, name).map(drop),
        AgentRef::Replay(path) => {
            load(path).map(drop).map_err(|source| cassette_failed(path, source))
        }
    }
}

fn cassette_failed(path: &Path, source: TapeError) -> Failure {
    Failure::new(Exit::Surroundings, LaneError::Cassette { path: path.to_owned(), source })
}

/// Asks a client which version of it is installed.
pub(in crate::cli) fn version_of(agent: Agent, app: &App) -> Result<Option<String>, Failure> {
    let (program, convoke) = (program(agent, app)?, app.environment.program());
    let variables = seen_by(agent, app)?;
    let asked = Program { agent, program: &program, convoke: &convoke, variables };
    Ok(versions(&[asked], &interrupt::cancel()).pop().flatten())
}

fn program(agent: Agent, app: &App) -> Result<PathBuf, Failure> {
    let names = agent.programs();
    let search = app.environment.search_program(names, &app.project);
    let remark = search.remark();
    search.found.ok_or_else(|| {
        let error = LaneError::NotInstalled { program: names[0] };
        let failure = Failure::new(Exit::Surroundings, error).maybe_hint(remark);
        failure.hint(format!("install {agent}, or put it on the PATH"))
    })
}

/// Returns what a client may see of the environment.
pub(in crate::cli) fn seen_by(
    agent: Agent,
    app: &App,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables = app.environment.only(COMMON.iter().chain(agent.variables()).copied());
    variables.extend(passed_variables(app, agent)?);
    Ok(variables)
}

/// Files for a moment are the lane's own, so that two clients do not meet there.
fn variables(agent: Agent, app: &App, scratch: &str) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables = seen_by(agent, app)?;
    variables.push(("TMPDIR".into(), scratch.into()));
    Ok(variables)
}

/// Reads a name, such as a model's or a session's. One that is blank or holds what nobody can see is a
/// mistake, such as a variable that was not set, and would reach a client as something else.
pub(in crate::cli) fn model_name(name: &str) -> Result<String, &'static str> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("it must be a name, on one line");
    }
    Ok(name.trim().to_owned())
}

/// Reads on the command line who shall answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct AgentWord;

impl TypedValueParser for AgentWord {
    type Value = AgentRef;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<AgentRef, clap::Error> {
        let read = |word: String| {
            let clients = Agent::ALL.map(Agent::name).join(", ");
            AgentRef::parse(&word)
                .ok_or_else(|| format!("it must be `http:NAME`, `replay:FILE` or one of {clients}"))
        };
        StringValueParser::new().try_map(read).parse_ref(command, argument, value)
    }

    /// What a shell can complete.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Agent::ALL.into_iter().map(|agent| PossibleValue::new(agent.name()))))
    }
}
