//! `convoke-fleet lane`: has a worker run one lane, and prints its events.

use std::time::Duration;

use convoke::exit::Exit;
use convoke::input;
use convoke::output::Output;
use convoke_engine::git::attempt_checkout::{head_commit, is_commit_name};
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::lane::supervisor::Limits;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::fleet::{FleetOrder, LaneSubmission};
use convoke_service::lane::{USUAL_LIMITS, must_be_filled};
use convoke_service::session::Session;
use convoke_service::workspace::Workspace;

use crate::temporal::{connect, prepare};
use crate::watch::LaneWatch;

/// The longest prompt, in bytes.
const MAX_PROMPT: u64 = 16 * 1024 * 1024;

/// The longest time limit.
const MOST_SECONDS: f64 = 8_640_000.0;

#[derive(Debug, clap::Args)]
pub(crate) struct LaneArgs {
    /// The agent and its repository, as a worker offers them: `claude`, `codex@app`
    #[arg(long, value_name = "OFFER", value_parser = offer)]
    agent: FleetOffer,

    /// The prompt; `-` reads stdin
    prompt: String,

    /// The process of `convoke` that started this program, whose ledger counts the lane
    #[arg(long, value_name = "PID", hide = true)]
    counted_by: Option<u32>,

    /// The commit to work on [default: the one that is checked out here]
    #[arg(long, value_name = "SHA", value_parser = commit)]
    commit: Option<String>,

    /// The model to use [default: the client's choice]
    #[arg(long, value_parser = convoke_service::lane::model_name)]
    model: Option<String>,

    /// The model's reasoning effort, in the client's own words
    #[arg(long, value_name = "WORD", value_parser = convoke_service::lane::model_name)]
    effort: Option<String>,

    /// Stop the agent after this many seconds of work
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    limit: Option<Duration>,

    /// Stop the agent after this many seconds without output
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    stall: Option<Duration>,

    /// Kill the client if it has not ended this many seconds after Convoke asks it to stop
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    grace: Option<Duration>,

    /// Find the lane of this name in this project, or submit it: a submitter that was killed gets
    /// the same lane again
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum LaneArgsError {
    #[error("cannot take stdin for a prompt: it is not text, or longer than {MAX_PROMPT} bytes")]
    NoPrompt,
    #[error("cannot submit a lane that no ledger and no budget counts")]
    Uncounted,
    #[error("cannot choose a commit for repository `{0}`: no commit is checked out here")]
    NoCommit(String),
}

fn offer(words: &str) -> Result<FleetOffer, &'static str> {
    FleetOffer::parse(words)
        .ok_or("it must be a client, `acp:NAME` or `http:NAME`, and a repository after `@` if any")
}

fn commit(name: &str) -> Result<String, &'static str> {
    is_commit_name(name).then(|| name.to_owned()).ok_or("it must be the whole name of a commit")
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds: Option<f64> = text.parse().ok();
    let usable = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MOST_SECONDS);
    usable.map(Duration::from_secs_f64).ok_or("it must be a number of seconds above 0")
}

impl LaneArgs {
    pub(crate) fn run(&self, session: &Session, output: &mut Output) -> Result<Exit, Failure> {
        let Some(owner) = self.counted_by else {
            return Err(Failure::new(ErrorClass::Usage, LaneArgsError::Uncounted)
                .hint(format!("use `convoke lane run --agent fleet:{}`", self.agent)));
        };
        let prompt = self.prompt()?;
        must_be_filled(&prompt)?;
        let order = self.order(session)?;
        let (settings, threads) = prepare(session)?;
        let workspace = Workspace::open(session, None)?;
        let client = threads.block_on(connect(session, &settings))?;
        let submission = LaneSubmission { order, prompt, name: self.name.clone() };
        let watch = LaneWatch {
            session,
            workspace: &workspace,
            settings: &settings,
            threads: &threads,
            client: &client,
            submission: &submission,
            owner,
        };
        let exit = watch.run(output);
        threads.shutdown_background();
        exit
    }

    fn order(&self, session: &Session) -> Result<FleetOrder, Failure> {
        let commit = match (&self.agent.repository, &self.commit) {
            (None, _) => None,
            (Some(_), Some(commit)) => Some(commit.clone()),
            (Some(name), None) => Some(head_commit(&session.project).ok_or_else(|| {
                Failure::new(ErrorClass::Usage, LaneArgsError::NoCommit(name.clone()))
                    .hint("name one with `--commit`")
            })?),
        };
        let limits = Limits {
            wall: self.limit.unwrap_or(USUAL_LIMITS.wall),
            first_byte: self.stall.unwrap_or(USUAL_LIMITS.first_byte),
            stall: self.stall.unwrap_or(USUAL_LIMITS.stall),
            grace: self.grace.unwrap_or(USUAL_LIMITS.grace),
        };
        let order = FleetOrder::new(&self.agent, commit, limits);
        Ok(FleetOrder { model: self.model.clone(), effort: self.effort.clone(), ..order })
    }

    fn prompt(&self) -> Result<String, Failure> {
        if self.prompt != "-" {
            return Ok(self.prompt.clone());
        }
        let text = input::read(MAX_PROMPT);
        text.ok_or_else(|| Failure::new(ErrorClass::Usage, LaneArgsError::NoPrompt))
    }
}
