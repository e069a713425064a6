//! `convoke dispatch gate`.

use std::path::PathBuf;

use convoke_domain::dispatch::gate::{SECOND_PROMPT, Trial, failed, first_prompt};

use super::read;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Without answers, prints the two prompts: the first for a fresh session, the second for the same
/// session resumed. With both answers, says whether sessions can be resumed here.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file for the session to read
    #[arg(long, value_name = "FILE")]
    file: PathBuf,

    /// The fresh session's name
    #[arg(long, value_name = "ID", requires = "first")]
    agent: Option<String>,

    /// The fresh session's answer
    #[arg(long, value_name = "FILE")]
    first: Option<PathBuf>,

    /// The resumed session's answer
    #[arg(long, value_name = "FILE", requires = "first")]
    second: Option<PathBuf>,

    /// What went wrong when the session was resumed
    #[arg(long, value_name = "TEXT", requires = "first", conflicts_with = "second")]
    error: Option<String>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let text = read(&self.file)?;
        let Some(first) = &self.first else { return self.prompts(app, output) };
        let first_answer = read(first)?;
        let second = self.second.as_ref().map(|path| read(path)).transpose()?;
        let second_answer = match (&second, &self.error) {
            (Some(answer), _) => Ok(answer.as_str()),
            (None, error) => Err(error.as_deref().unwrap_or("it was not resumed")),
        };
        let reason = failed(&Trial {
            first_line: text.lines().next().unwrap_or_default(),
            agent_id: self.agent.as_deref(),
            first_answer: &first_answer,
            second_answer,
        });
        match app.format {
            Format::Json => output.json(
                &serde_json::json!({ "passed": reason.is_none(), "r1_deferred_reason": reason }),
            )?,
            Format::Text => match &reason {
                None => output.data("passed: sessions can be resumed here\n")?,
                Some(reason) => {
                    output.data(&format!("{reason}\n"))?;
                    output.say("hint: `\"r1_deferred_reason\"` in a feature's .meta.json keeps `next` from resuming");
                }
            },
        }
        Ok(if reason.is_none() { Exit::Done } else { Exit::No })
    }

    fn prompts(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let path = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        let first = first_prompt(&path.display().to_string());
        match app.format {
            Format::Json => {
                output.json(&serde_json::json!({ "first": first, "second": SECOND_PROMPT }))?;
            }
            Format::Text => output.data(&format!("{first}\n---\n\n{SECOND_PROMPT}"))?,
        }
        Ok(Exit::Done)
    }
}
