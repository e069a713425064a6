//! `convoke dispatch check`.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::dispatch::role::{PromptProfile, Proof};
use convoke_domain::task::id::TaskId;
use convoke_service::dispatch::{AnswerKind, CheckRequest, JudgementKeeping, check_answer};
use convoke_service::failure::Failure;

use super::materials::ChangedArgs;
use super::{PostArgs, profile, read, show_check};
use crate::app::{App, Format};
use crate::cli::hook::client;
use crate::exit::Exit;
use crate::output::Output;

/// Judge an answer: its verdict, and whether the agent read every file
///
/// Exits 0 if the answer passes, 1 if it does not, and 4 if it is neither an approval nor a
/// rejection.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    post: PostArgs,

    /// Read the answer from this file; `-` reads stdin [default: the answer in the transcript, else
    /// stdin]
    #[arg(long, value_name = "FILE")]
    response: Option<PathBuf>,

    /// The client's transcript of the session, or the events that it printed
    #[arg(long, value_name = "FILE", requires = "client")]
    transcript: Option<PathBuf>,

    /// The client that wrote the transcript. For answers of `http:NAME` and `replay:FILE`, omit
    /// this flag and `--transcript`
    #[arg(long, requires = "transcript", value_parser = client())]
    client: Option<Client>,

    /// Fail unless the transcript shows that the agent read every required file completely
    #[arg(long)]
    require_proof: bool,

    /// Judge an answer to `dispatch task`, which requires fewer files than a fix round
    #[arg(long, value_name = "NUMBER", value_parser = plan_number)]
    task: Option<String>,

    /// The stored task that the answer is about; Convoke records the verdict on it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    stored_task: Option<TaskId>,

    /// The style of the prompt that was answered [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,

    /// The number of the round that was answered
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: u32,

    /// The session that answered; the next round can resume it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    #[command(flatten)]
    changed: ChangedArgs,

    /// The tokens that the answer cost; 0 means that the session was not resumed
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,

    /// Judge without writing to the review history and the ledger
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = check_answer(&app.session, &self.request()?)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => show_check(&report, output)?,
        }
        Ok(report.class().map_or(Exit::Done, Exit::from))
    }

    fn request(&self) -> Result<CheckRequest, Failure> {
        Ok(CheckRequest {
            post: self.post.name(),
            kind: if self.task.is_some() { AnswerKind::Task } else { AnswerKind::Round },
            profile: self.profile,
            iteration: self.iteration,
            answer: match (&self.response, &self.transcript) {
                (Some(path), _) => Some(read(path)?),
                (None, None) => Some(read(Path::new("-"))?),
                (None, Some(_)) => None,
            },
            record: self.client.zip(self.transcript.clone()),
            agent: self.agent.clone(),
            changed: self.changed.files(),
            tokens: self.tokens,
            stored_task: self.stored_task.clone(),
            proof: Proof::of(self.require_proof),
            keeping: if self.dry_run { JudgementKeeping::DryRun } else { JudgementKeeping::Kept },
        })
    }
}

/// Refuses the id of a stored task where a number of `tasks.md` is meant: it would demand less.
fn plan_number(given: &str) -> Result<String, &'static str> {
    if given.starts_with("t-") {
        return Err("this is a stored task's id; give it with `--stored-task`");
    }
    Ok(given.to_owned())
}
