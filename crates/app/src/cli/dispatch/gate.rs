//! `convoke dispatch gate`.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::dispatch::{
    GateAnswers, GatePromptsReport, GateReport, GateTrial, gate_prompts, judge_gate, try_gate,
};
use convoke_service::failure::{ErrorClass, Failure};

use super::{read, read_named};
use crate::app::{App, Format};
use crate::cli::lane::{AgentWord, model_name};
use crate::exit::Exit;
use crate::output::Output;

/// Test whether a client's sessions can be resumed on this machine
///
/// With `--client`, a fresh session reads a file; Convoke resumes it and asks what it read and said.
/// Convoke stores the result, and resumes sessions only with a client version that has passed.
/// Without a client, prints two prompts to try by hand: the first for a fresh session, the second for
/// the same session resumed. With both answers, judges them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The client to test
    #[arg(
        long,
        group = "who",
        value_parser = AgentWord,
        conflicts_with_all = ["first", "second", "error"]
    )]
    client: Option<AgentRef>,

    /// The model to use [default: the client's choice]
    #[arg(long, requires = "who", conflicts_with = "first", value_parser = model_name)]
    model: Option<String>,

    /// The file that the session reads [default with a client: a temporary file]
    #[arg(long, value_name = "FILE", required_unless_present = "who")]
    file: Option<PathBuf>,

    /// With `--first`, the id of the fresh session; otherwise the same as `--client`
    #[arg(long, value_name = "ID", group = "who")]
    agent: Option<String>,

    /// A file with the fresh session's answer
    #[arg(long, value_name = "FILE", requires = "file")]
    first: Option<PathBuf>,

    /// A file with the resumed session's answer
    #[arg(long, value_name = "FILE", requires = "first")]
    second: Option<PathBuf>,

    /// The error of the attempt to resume the session
    #[arg(long, value_name = "TEXT", requires = "first", conflicts_with = "second")]
    error: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot test `{name}`: not a client")]
struct NoClient {
    name: String,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match (self.client()?, &self.file, &self.first) {
            (Some(client), ..) => self.try_out(client, app, output),
            (None, Some(file), Some(first)) => self.by_hand(file, first, app, output),
            (None, Some(file), None) => prompts(file, app, output),
            // The command line has been checked.
            (None, None, _) => Ok(Exit::Usage),
        }
    }

    /// Returns the client to try, by either flag.
    fn client(&self) -> Result<Option<AgentRef>, Failure> {
        let named = self.agent.as_ref().filter(|_| self.first.is_none());
        let Some(name) = named else { return Ok(self.client.clone()) };
        let client = AgentRef::parse(name).ok_or_else(|| {
            let clients = Client::ALL.map(Client::name).join(", ");
            Failure::new(ErrorClass::Usage, NoClient { name: name.clone() }).hint(format!(
                "known clients: {clients}; `--agent` takes a session's id only with `--first`"
            ))
        })?;
        Ok(Some(client))
    }

    fn by_hand(
        &self,
        file: &Path,
        first: &Path,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let error = || self.error.clone().unwrap_or_else(|| "it was not resumed".to_owned());
        let report = judge_gate(&GateAnswers {
            text: read(file)?,
            agent: self.agent.clone(),
            first: read(first)?,
            second: read_named(self.second.as_ref())?.ok_or_else(error),
        });
        let hint =
            "hint: `\"r1_deferred_reason\"` in a feature's .meta.json keeps `next` from resuming";
        show(&report, hint, app, output)
    }

    fn try_out(&self, client: AgentRef, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let file = self.file.clone().zip(read_named(self.file.as_ref())?);
        let trial = GateTrial { client, model: self.model.clone(), file };
        match try_gate(&app.session, &trial)? {
            Some(report) => show(
                &report,
                "hint: Convoke starts every round of this client in a fresh session",
                app,
                output,
            ),
            None => Ok(Exit::Interrupted),
        }
    }
}

fn show(report: &GateReport, hint: &str, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match (app.format, &report.words) {
        (Format::Json, _) => output.json(report)?,
        (Format::Text, None) => output.data("passed: sessions can be resumed here\n")?,
        (Format::Text, Some(words)) => {
            output.data(&format!("{words}\n"))?;
            output.say(hint);
        }
    }
    Ok(if report.passed { Exit::Done } else { Exit::No })
}

fn prompts(file: &Path, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    read(file)?;
    let report = gate_prompts(file);
    let GatePromptsReport { first, second } = &report;
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => output.data(&format!("{first}\n---\n\n{second}"))?,
    }
    Ok(Exit::Done)
}
