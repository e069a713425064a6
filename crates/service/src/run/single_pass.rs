//! The plan that one agent wrote alone for a run's feature, as this machine keeps it: a comparison was
//! paid once, and can be looked at again.

use std::io;
use std::path::PathBuf;

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::lane::event::Usage;
use convoke_domain::run::RunId;
use convoke_engine::design::run_folder::{RunFolderError, RunFolders};
use convoke_engine::file;
use serde::{Deserialize, Serialize};

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// The form of the file. Another form is not read.
const FORM: u32 = 1;

/// A larger file is neither written nor read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A plan that one agent wrote alone, and what that took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SinglePass {
    form: u32,
    run: String,
    /// When the agent had answered.
    pub(super) made_at: String,
    /// The agent, such as `codex`.
    pub(super) agent: String,
    /// The model that answered, else the requested one, if either is known.
    pub(super) model: Option<String>,
    /// How long the lane took, in milliseconds.
    pub(super) took_ms: u64,
    usage: Option<KeptUsage>,
    /// The agent's whole answer.
    pub(super) plan: String,
}

/// What a lane used, as far as its client said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct KeptUsage {
    input_tokens: u64,
    output_tokens: u64,
    micro_dollars: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
enum SinglePassError {
    #[error("cannot use `{}`: it is not a single pass of run {run} that this version wrote", path.display())]
    Damaged { path: PathBuf, run: RunId },
    #[error("cannot read `{}`: {why}", path.display())]
    Unreadable { path: PathBuf, why: Unreadable },
    #[error("the plan has more than 16 MB")]
    TooLarge,
    #[error("cannot find your home folder")]
    NoHome,
    #[error(transparent)]
    NotWritten(#[from] RunFolderError),
    #[error(transparent)]
    NotText(#[from] io::Error),
}

impl SinglePass {
    /// Describes an answer that has just come.
    pub(super) fn new(
        session: &Session,
        run: &RunId,
        agent: &str,
        model: Option<&str>,
        plan: String,
    ) -> Self {
        Self {
            form: FORM,
            run: run.to_string(),
            made_at: session.now().to_string(),
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            took_ms: 0,
            usage: None,
            plan,
        }
    }

    /// Adds what the lane took and used.
    #[must_use]
    pub(super) fn with_cost(self, took_ms: u64, usage: Option<Usage>) -> Self {
        let usage = usage.map(|usage| KeptUsage {
            input_tokens: usage.input,
            output_tokens: usage.output,
            micro_dollars: usage.micro_dollars,
        });
        Self { took_ms, usage, ..self }
    }

    /// Returns what the lane used, if its client said it.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage.map(|usage| Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            micro_dollars: usage.micro_dollars,
            ..Usage::default()
        })
    }

    /// Keeps it in the place of an earlier one. The answer was paid, so a full disk is a warning: the
    /// caller shows the result in any case.
    pub(super) fn keep(&self, session: &Session, run: &RunId) {
        if let Err(error) = self.write(session, run) {
            session.reporter().warn(format!("{error}; so the single pass is not kept"));
        }
    }

    fn write(&self, session: &Session, run: &RunId) -> Result<(), SinglePassError> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from)?;
        if text.len() > MOST_BYTES {
            return Err(SinglePassError::TooLarge);
        }
        let folders = folders(session).ok_or(SinglePassError::NoHome)?;
        Ok(folders.keep_single_pass(run, &text)?)
    }

    /// Reads the last one of a run, if this machine has one.
    pub(super) fn read(session: &Session, run: &RunId) -> Result<Option<Self>, Failure> {
        let Some(path) = folders(session).map(|folders| folders.single_pass(run)) else {
            return Ok(None);
        };
        let text = match file::read(&path, MOST_BYTES as u64) {
            FileFinding::Text(text) => text,
            FileFinding::Absent => return Ok(None),
            FileFinding::Unreadable(why) => {
                return Err(unusable(SinglePassError::Unreadable { path, why }, run));
            }
        };
        let read: Option<Self> = serde_json::from_str(&text).ok();
        let is_ours = |pass: &Self| pass.form == FORM && pass.run == run.as_str();
        match read.filter(is_ours) {
            Some(pass) => Ok(Some(pass)),
            None => Err(unusable(SinglePassError::Damaged { path, run: run.clone() }, run)),
        }
    }
}

fn folders(session: &Session) -> Option<RunFolders> {
    session.environment.runs().map(RunFolders::new)
}

fn unusable(error: SinglePassError, run: &RunId) -> Failure {
    Failure::new(ErrorClass::Prerequisite, error)
        .hint(format!("`convoke compare {run}` asks the agent once more, and replaces the file"))
}
