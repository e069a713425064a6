//! `convoke dispatch check`.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::role::{PromptProfile, Proof};
use convoke_domain::hook::Client;

use super::judge::{Kind, NoProof, Submission};
use super::materials::ChangedArgs;
use super::{PostArgs, profile, read};
use crate::app::App;
use crate::cli::hook::client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};

/// Exit 0 means that the answer passes, 1 that it does not, and 4 that it is ambiguous: neither an
/// approval nor a rejection.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    post: PostArgs,

    /// The answer; `-` is stdin [default: the one in the record, else stdin]
    #[arg(long, value_name = "FILE")]
    response: Option<PathBuf>,

    /// The client's own record of the session: its transcript, or the events that it printed
    #[arg(long, value_name = "FILE", requires = "client")]
    transcript: Option<PathBuf>,

    /// The client that wrote the record. Answers of `http:NAME` and `replay:FILE` have none: leave it
    /// out with `--transcript`
    #[arg(long, requires = "transcript", value_parser = client())]
    client: Option<Client>,

    /// Fail unless the record shows that every required file was read whole
    #[arg(long)]
    require_proof: bool,

    /// Judge the answer to `dispatch task`, which demands less than a fix round
    #[arg(long, value_name = "NUMBER")]
    task: Option<String>,

    /// The profile of the prompt that it answers [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,

    /// The round that it answers
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: u32,

    /// The session that answered, so that the next round can resume it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    #[command(flatten)]
    changed: ChangedArgs,

    /// How many tokens the answer cost; 0 means that nothing was resumed
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,

    /// Only judge: write nothing to the review history and the ledger
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        self.post.say_changes(app, output)?;
        let answer = match (&self.response, &self.transcript) {
            (Some(path), _) => Some(read(path)?),
            (None, None) => Some(read(Path::new("-"))?),
            (None, Some(_)) => None,
        };
        let submission = Submission {
            post: &self.post,
            kind: if self.task.is_some() { Kind::Task } else { Kind::Round },
            profile: self.profile,
            iteration: self.iteration,
            record: self.client.zip(self.transcript.as_deref()),
            no_proof: NoProof::Refused,
            answer: answer.as_deref(),
            again: None,
            tokens: self.tokens,
            changed: &self.changed,
            proof: Proof::of(self.require_proof),
        };
        let judged = submission.judge(app, &Voice::default())?;
        if !self.dry_run {
            judged.keep(app, &self.post, self.agent.as_deref(), &Voice::default())?;
        }
        judged.show(app, output)
    }
}
