//! `convoke say`: a message that is kept, and that wakes the agents that it mentions.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::AgentName;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::message::{MessageVerdict, SayReport, SayRequest, say};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;

/// The longest message that is taken from stdin.
const MAX_MESSAGE: u64 = 16 * 1024 * 1024;

/// Send a message to the agents it mentions, or leave a note
///
/// `@name` mentions an agent of this branch, `@branch:name` one of another branch and
/// `@project:branch:name` one of another project; `--to` names one recipient. A message without a
/// recipient is a note: every agent sees it as recent activity, and no inbox lists it. The hook
/// announces a message to an agent at work at the next prompt of its session. Prints the message's
/// number, its recipients, and when they learn of it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The message; `-` reads it from stdin
    text: String,

    /// Send it only to this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    to: Option<AgentName>,

    /// Answer this message; without `--to`, send the answer to its sender
    #[arg(long, value_name = "ID")]
    re: Option<i64>,

    /// The sender [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,

    /// Record this verdict on a task with the message
    #[arg(long, value_name = "VERDICT", requires = "task", value_parser = verdict())]
    verdict: Option<DeedKind>,

    /// The task that the verdict is about
    #[arg(long, value_name = "ID", requires = "verdict", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// The role that judged the task [default: the sender]
    #[arg(long, value_name = "ROLE", requires = "verdict", value_parser = DeedRole::parse)]
    by: Option<DeedRole>,
}

/// Reads `pass` or `fail`.
fn verdict() -> impl TypedValueParser<Value = DeedKind> {
    PossibleValuesParser::new([DeedKind::Pass, DeedKind::Fail].map(DeedKind::name))
        .try_map(|name| DeedKind::parse(&name).ok_or("no such verdict"))
}

/// The text on stdin is not a message.
#[derive(Debug, thiserror::Error)]
#[error("cannot take stdin for a message: it is not text, or longer than {MAX_MESSAGE} bytes")]
struct NoText;

impl From<NoText> for Failure {
    fn from(error: NoText) -> Self {
        Self::new(ErrorClass::Usage, error)
    }
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let verdict = self.verdict.zip(self.task.clone());
        let request = SayRequest {
            text: self.text()?,
            to: self.to.clone(),
            re: self.re,
            speaker: self.speaker.clone(),
            verdict: verdict.map(|(kind, task)| MessageVerdict {
                kind,
                task,
                role: self.by.clone(),
            }),
        };
        let said = say(&app.session, &request)?;
        match app.format {
            Format::Json => output.json(&said)?,
            Format::Text => output.lines(&format!("{}\n", sent(&said)), 2)?,
        }
        Ok(Exit::Done)
    }

    fn text(&self) -> Result<String, Failure> {
        if self.text != "-" {
            return Ok(self.text.clone());
        }
        let text = input::read(MAX_MESSAGE).ok_or(NoText)?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// Says whom a message went to, and when they learn of it.
fn sent(said: &SayReport) -> String {
    let id = said.id;
    let names: Vec<_> = said.addressed.iter().map(|name| format!("@{name}")).collect();
    let Some((last, others)) = names.split_last() else {
        return format!("message {id} stored as a note");
    };
    let all =
        if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
    let agents = names.iter().filter(|name| *name != "@human").count();
    let whose = if agents == 1 { "its" } else { "their" };
    let by_hook = format!("announced at {whose} next prompt, delivered with {whose} next wake-up");
    let reading = match (agents, agents < names.len()) {
        (0, _) => "`convoke inbox` lists it".to_owned(),
        (_, true) => format!("{by_hook}; `convoke inbox human` lists it"),
        (_, false) => by_hook,
    };
    format!("message {id} sent to {all}; {reading}")
}
