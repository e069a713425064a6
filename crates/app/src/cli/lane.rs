//! `convoke lane`: one supervised run of one agent on one prompt.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::lane::event::{Event, Usage};
use convoke_domain::lane::outcome::Outcome;
use convoke_domain::lane::substance::{Measure, substance};
use convoke_engine::lane::adapter::{Agent, Counted, Errand, Rights, UsageScope, usage_scope};
use convoke_engine::lane::drive::{Driven, Lane, drive};
use convoke_engine::lane::supervisor::Limits;
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::interrupt;
use crate::output::Output;

/// The longest prompt.
const MAX_PROMPT: u64 = 16 * 1024 * 1024;

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

/// Run agents so that nothing hangs, leaks or lies
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one agent on one prompt and print its answer
    ///
    /// The client runs in a session of its own, under limits, and when it ends or is stopped nothing
    /// of it is left, whatever it started; also when convoke itself is killed. It may only read
    /// unless `--write` is given. Exit 0 means that there is an answer, and 4 that there is none.
    Run(RunArgs),
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The agent's client
    #[arg(long, value_parser = agent())]
    agent: Agent,

    /// What to ask; `-` is stdin
    prompt: String,

    /// The model [default: the client's own choice]
    #[arg(long)]
    model: Option<String>,

    /// How hard the model shall think, in the client's own words: Claude Code and Codex
    #[arg(long, value_name = "WORD")]
    effort: Option<String>,

    /// The session to go on with
    #[arg(long, value_name = "ID")]
    resume: Option<String>,

    /// Let it change files, as far as its own settings allow
    #[arg(long)]
    write: bool,

    /// How long it may take in all, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,

    /// How long it may say nothing, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds())]
    stall: Duration,

    /// How long it may take to stop when it is asked to, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds())]
    grace: Duration,

    /// Also ask whether the answer has substance: enough words, and a source
    #[arg(long)]
    substance: bool,

    /// Keep what the client said in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum LaneError {
    #[error("cannot find `{program}` on the PATH")]
    NotInstalled { program: &'static str },
    #[error("cannot take stdin for a prompt: it is not text, or longer than {MAX_PROMPT} bytes")]
    NoPrompt,
    #[error("cannot run the lane")]
    Run(#[source] std::io::Error),
    #[error("cannot use `{}`", path.display())]
    Keep { path: PathBuf, source: std::io::Error },
}

#[derive(Serialize)]
struct Report<'a> {
    agent: &'static str,
    outcome: &'static str,
    answer: Option<&'a str>,
    substance: Option<String>,
    session: Option<&'a str>,
    asked_model: Option<&'a str>,
    model: Option<&'a str>,
    usage: Option<UsageReport>,
    tools: u64,
    took_ms: u128,
    bytes: u64,
    end: String,
    trouble: Option<String>,
    stderr: &'a str,
}

#[derive(Serialize)]
struct UsageReport {
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    micro_dollars: Option<u64>,
    /// Whether tokens and money count this run, or the whole session with earlier runs.
    tokens_of: &'static str,
    money_of: &'static str,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Run(args) => args.run(app, output),
        }
    }
}

impl RunArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let prompt = self.prompt()?;
        let scratch = tempfile::tempdir().map_err(lane_failed)?;
        let order = LaneOrder {
            agent: self.agent,
            prompt: &prompt,
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            resume: self.resume.as_deref(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            limits: Limits {
                wall: self.limit,
                first_byte: self.stall,
                stall: self.stall,
                grace: self.grace,
            },
        };
        let driven = order.drive(app, scratch.path(), output)?;
        if let Some(folder) = &self.keep {
            keep(scratch.path(), folder)?;
        }
        let thin = self.thin(&driven);
        let is_answered = driven.outcome == Outcome::Answered && thin.is_none();
        match app.format {
            Format::Json => output.json(&self.report(&driven, thin.clone()))?,
            Format::Text => {
                output.say(&sentence(&driven, thin.as_deref()));
                if let Some(answer) = driven.heard.answer().filter(|_| is_answered) {
                    output.data(&format!("{}\n", answer.trim_end()))?;
                }
            }
        }
        Ok(if is_answered {
            Exit::Done
        } else if driven.outcome == Outcome::Cancelled {
            Exit::Interrupted
        } else {
            Exit::LaneFailed
        })
    }

    fn prompt(&self) -> Result<String, Failure> {
        if self.prompt != "-" {
            return Ok(self.prompt.clone());
        }
        input::read(MAX_PROMPT).ok_or_else(|| Failure::new(Exit::Usage, LaneError::NoPrompt))
    }

    fn thin(&self, driven: &Driven) -> Option<String> {
        let answer = driven.heard.answer().filter(|_| self.substance)?;
        substance(answer, Measure::Review).err().map(|thin| thin.to_string())
    }

    fn report<'a>(&'a self, driven: &'a Driven, thin: Option<String>) -> Report<'a> {
        let heard = &driven.heard;
        Report {
            agent: self.agent.name(),
            outcome: driven.outcome.name(),
            answer: heard.answer(),
            substance: thin,
            session: heard.session.as_deref(),
            asked_model: self.model.as_deref(),
            model: heard.model.as_deref(),
            usage: heard.usage.map(|usage| UsageReport::new(usage, self.agent)),
            tools: heard.tools,
            took_ms: driven.took.as_millis(),
            bytes: driven.bytes,
            end: format!("{:?}", driven.end),
            trouble: why(driven),
            stderr: &driven.stderr,
        }
    }
}

/// A lane that a command wants to have run.
pub(super) struct LaneOrder<'a> {
    pub(super) agent: Agent,
    pub(super) prompt: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) effort: Option<&'a str>,
    pub(super) resume: Option<&'a str>,
    pub(super) rights: Rights,
    pub(super) limits: Limits,
}

impl LaneOrder<'_> {
    /// Runs it in the project, and says what happens meanwhile.
    pub(super) fn drive(
        &self,
        app: &App,
        scratch: &Path,
        output: &Output,
    ) -> Result<Driven, Failure> {
        let folder = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
        let (folder, scratch) = (folder.display().to_string(), scratch.display().to_string());
        let lane = Lane {
            agent: self.agent,
            program: &self.program(app)?,
            convoke: &app.environment.program(),
            errand: Errand {
                prompt: self.prompt,
                model: self.model,
                effort: self.effort,
                resume: self.resume,
                rights: self.rights,
                folder: &folder,
                scratch: &scratch,
            },
            variables: self.variables(app, &scratch),
            limits: self.limits,
            cancel: &interrupt::cancel(),
        };
        let is_text = app.format == Format::Text;
        let mut notice = |event: &Event| {
            if let (true, Some(line)) = (is_text, progress(event)) {
                output.say(&line);
            }
        };
        drive(&lane, &mut notice).map_err(lane_failed)
    }

    fn program(&self, app: &App) -> Result<PathBuf, Failure> {
        let names = self.agent.programs();
        app.environment.find_program(names).ok_or_else(|| {
            let error = LaneError::NotInstalled { program: names[0] };
            Failure::new(Exit::Surroundings, error)
                .hint(format!("install {}, or put it on the PATH", self.agent))
        })
    }

    /// Files for a moment are the lane's own, so that two clients do not meet there.
    fn variables(&self, app: &App, scratch: &str) -> Vec<(OsString, OsString)> {
        let names = COMMON.iter().chain(self.agent.variables());
        let mut variables = app.environment.only(names.copied());
        variables.push(("TMPDIR".into(), scratch.into()));
        variables
    }
}

/// How long a lane may take when nobody says otherwise.
pub(super) const USUAL_LIMITS: Limits = Limits {
    wall: Duration::from_mins(20),
    first_byte: Duration::from_mins(5),
    stall: Duration::from_mins(5),
    grace: Duration::from_secs(5),
};

impl UsageReport {
    fn new(usage: Usage, agent: Agent) -> Self {
        let counted = |counted| match counted {
            Counted::Run => "run",
            Counted::Session => "session",
        };
        let UsageScope { tokens, money } = usage_scope(agent);
        Self {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            micro_dollars: usage.micro_dollars,
            tokens_of: counted(tokens),
            money_of: counted(money),
        }
    }
}

/// What is worth saying while it works.
fn progress(event: &Event) -> Option<String> {
    match event {
        Event::Session(id) => Some(format!("session {id}")),
        Event::Tool(name) => Some(format!("uses {name}")),
        Event::Trouble(failure) => Some(format!("trouble: {failure}")),
        Event::Model(_) | Event::Text(_) | Event::Usage(_) | Event::Ended(_) => None,
    }
}

pub(super) fn sentence(driven: &Driven, thin: Option<&str>) -> String {
    let usage = driven.heard.usage.map_or(String::new(), |usage| {
        format!(", {} tokens in, {} out", usage.input, usage.output)
    });
    let name = driven.outcome.name();
    let trouble = why(driven).map_or(String::new(), |why| format!(": {why}"));
    let thin = thin.map_or(String::new(), |thin| format!(", but without substance: {thin}"));
    format!("{name} after {:.1} s{usage}{trouble}{thin}", driven.took.as_secs_f64())
}

/// Says why there is no answer, as far as the client says.
fn why(driven: &Driven) -> Option<String> {
    if driven.outcome == Outcome::Answered {
        return None;
    }
    let failure = driven.heard.failure().map(ToString::to_string);
    let last = driven.stderr.lines().last().map(str::to_owned);
    failure.or(last).filter(|text| !text.is_empty())
}

fn keep(scratch: &Path, folder: &Path) -> Result<(), Failure> {
    let copy = || {
        fs::create_dir_all(folder)?;
        for name in ["stdout", "stderr", "stdin"] {
            if scratch.join(name).exists() {
                fs::copy(scratch.join(name), folder.join(name))?;
            }
        }
        Ok(())
    };
    copy().map_err(|source| {
        let error = LaneError::Keep { path: folder.to_owned(), source };
        Failure::new(Exit::Surroundings, error)
    })
}

pub(super) fn lane_failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Surroundings, LaneError::Run(error))
}

/// Reads a client's name from the command line.
pub(super) fn agent() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::ALL.map(Agent::name))
        .try_map(|name| Agent::parse(&name).ok_or("no such agent"))
}

/// Reads seconds, also parts of one.
fn seconds() -> impl TypedValueParser<Value = Duration> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
        let seconds: Option<f64> = text.parse().ok();
        let usable = seconds.filter(|it| it.is_finite() && *it > 0.0 && *it < 1e7);
        usable.map(Duration::from_secs_f64).ok_or("it must be a number of seconds above 0")
    })
}
