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

/// With `--client`, tries it: a fresh session reads a file, is resumed, and must still know what it
/// read and said. What came of it is kept, and nothing is resumed with a client whose present
/// version has not passed. Without a client, prints the two prompts to try by hand: the first for a
/// fresh session, the second for the same session resumed; with both answers, judges them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The client to try
    #[arg(
        long,
        group = "who",
        value_parser = AgentWord,
        conflicts_with_all = ["first", "second", "error"]
    )]
    client: Option<AgentRef>,

    /// The model [default: the client's own choice]
    #[arg(long, requires = "who", conflicts_with = "first", value_parser = model_name)]
    model: Option<String>,

    /// A file for the session to read [default with a client: one that is there only meanwhile]
    #[arg(long, value_name = "FILE", required_unless_present = "who")]
    file: Option<PathBuf>,

    /// With `--first` the fresh session's name, else the same as `--client`
    #[arg(long, value_name = "ID", group = "who")]
    agent: Option<String>,

    /// The fresh session's answer
    #[arg(long, value_name = "FILE", requires = "file")]
    first: Option<PathBuf>,

    /// The resumed session's answer
    #[arg(long, value_name = "FILE", requires = "first")]
    second: Option<PathBuf>,

    /// What went wrong when the session was resumed
    #[arg(long, value_name = "TEXT", requires = "first", conflicts_with = "second")]
    error: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot try `{name}`: it is no client")]
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
            Failure::new(ErrorClass::Usage, NoClient { name: name.clone() })
                .hint(format!("clients are {clients}; a session's name goes with `--first`"))
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
            Some(report) => {
                show(&report, "hint: every round of this client begins afresh", app, output)
            }
            None => Ok(Exit::Interrupted),
        }
    }
}

fn show(report: &GateReport, hint: &str, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match (app.format, &report.r1_deferred_reason) {
        (Format::Json, _) => output.json(report)?,
        (Format::Text, None) => output.data("passed: sessions can be resumed here\n")?,
        (Format::Text, Some(reason)) => {
            output.data(&format!("{reason}\n"))?;
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
