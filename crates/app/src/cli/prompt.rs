//! `convoke prompt`: a message to an agent that wakes it.

use convoke_domain::client::Client;
use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::AgentName;
use convoke_domain::wake::NewMessage;
use convoke_domain::wake::hop::wakes;
use convoke_engine::client::Rights;
use convoke_store::agent::AgentChange;
use convoke_store::message::{self, Said};
use serde::Serialize;

use super::deliver::{Delivered, Delivery, client, found, session, wakes_nobody};
use crate::app::{App, Format};
use crate::cli::lane::BudgetArgs;
use crate::clock::now;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};
use convoke_service::lane::{OverBudgetReport, over_budget_warning, sentence};

/// Wake an agent: store a prompt to it, resume its session with its wake-up, and print its answer
///
/// The session goes on in a supervised lane, and may only read unless `--write` is given. An agent
/// that is busy is not interrupted: the message waits for its next wake-up.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Who is prompted
    #[arg(value_parser = AgentName::parse)]
    agent: AgentName,

    /// What to say
    text: String,

    /// Who says it [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,

    /// Let it change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

    /// Only store the message, and print what would be sent
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    allowance: BudgetArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    message_id: i64,
    command: &'a [String],
    text: &'a str,
    sent: bool,
    outcome: Option<&'static str>,
    answer: Option<&'a str>,
    /// The message that is kept of the answer.
    reply_id: Option<i64>,
    /// Whether it wakes nobody, because agents have woken each other too often in a row.
    wake_loop: bool,
    /// The budget that it went over.
    over_budget: Option<OverBudgetReport>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let Workspace { store, scope } = &workspace;
        let from = speaker(self.speaker.as_ref(), app)?;
        let agent = found(&workspace, &self.agent)?;
        let session = session(&agent)?;
        let settings = settings(app)?;
        if !self.print {
            client(&agent)?;
        }
        if agent.archived_at.is_some() {
            let change = AgentChange::Archived(None);
            store.change_agent(scope, &self.agent, &change).map_err(refused)?;
        }
        let stored = message::NewMessage {
            from: &from,
            to: Some(&self.agent),
            kind: MessageKind::Prompt,
            content: &self.text,
            mentions: &mentions(&self.text, scope, settings.mentions),
        };
        let said = store.say(scope, &stored, now()).map_err(refused)?;
        // What somebody says to itself is no unread message of its own.
        let to_itself = NewMessage { from: from.clone(), content: self.text.clone() };
        let delivery = Delivery {
            app,
            workspace: &workspace,
            settings: &settings,
            agent: &self.agent,
            message: Some(to_itself).filter(|it| it.from == self.agent),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            purse: &self.allowance.settle(app, "prompt"),
        };
        delivery.bury()?;
        let delivered = if self.print || !wakes(said.hop) {
            None
        } else {
            delivery.deliver(&app.reporter())?
        };
        let command = resume(&agent.client, session);
        let text = match &delivered {
            Some(delivered) => delivered.text.clone(),
            None => delivery.assembled()?.wake_up.text,
        };
        self.show(&command, &text, said, delivered.as_ref(), app, output)?;
        Ok(delivered.map_or(Exit::Done, |it| Exit::of_lane(it.driven.outcome)))
    }

    fn show(
        &self,
        command: &[String],
        text: &str,
        said: Said,
        delivered: Option<&Delivered>,
        app: &App,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let driven = delivered.map(|it| &it.driven);
        let answer = driven.and_then(|it| it.heard.answer());
        let over = delivered.and_then(|it| it.over);
        let message_id = said.id;
        match (app.format, driven) {
            (Format::Json, _) => output.json(&Report {
                message_id,
                command,
                text,
                sent: driven.is_some(),
                outcome: driven.map(|it| it.outcome.name()),
                answer,
                reply_id: delivered.and_then(|it| it.reply).map(|it| it.id),
                wake_loop: !wakes(said.hop),
                over_budget: over.map(OverBudgetReport::from),
            })?,
            (Format::Text, Some(driven)) => {
                output.say(&sentence(driven, None));
                if let Some(line) = over_budget_warning(driven, over) {
                    output.say(&format!("warning: {line}"));
                }
                output.data(&answer.map_or(String::new(), |it| format!("{}\n", it.trim_end())))?;
            }
            (Format::Text, None) if self.print => {
                output.data(&format!("{}\n\n{text}", command.join(" ")))?;
            }
            (Format::Text, None) if !wakes(said.hop) => {
                output.say(&format!("note: {}", wakes_nobody(said)));
            }
            (Format::Text, None) => {
                output.say(&format!("note: @{} is busy; message {message_id} waits", self.agent));
            }
        }
        Ok(())
    }
}

/// Returns the command line that gives a session another prompt, on its standard input.
fn resume(client: &str, session: &str) -> Vec<String> {
    let arguments: &[&str] = match Client::parse(client) {
        Some(Client::Codex) => &[client, "exec", "--json", "resume", session, "-"],
        Some(_) | None => &[client, "--resume", session, "-p"],
    };
    arguments.iter().map(|it| (*it).to_owned()).collect()
}
