//! `convoke prompt`: a message to an agent, with the prompt that resumes its session.

use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::AgentName;
use convoke_domain::wake::{NewMessage, Order};
use convoke_engine::wake::Call;
use convoke_store::agent::{AgentChange, AgentStore};
use convoke_store::error::StoreError;
use convoke_store::message::{self, MessageStore};
use serde::Serialize;

use super::wake::{profile_of, wake};
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

/// Store a prompt to an agent and print what would resume its session
///
/// Convoke does not run agents yet: it prints the command line and the text that it would send,
/// for you to run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Who is prompted
    #[arg(value_parser = AgentName::parse)]
    agent: AgentName,

    /// What to say
    text: String,

    /// Who says it [default: `CONVOKE_AGENT`, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,
}

#[derive(Debug, thiserror::Error)]
#[error("agent \"{name}\" has no session ID")]
struct NoSession {
    name: AgentName,
}

#[derive(Serialize)]
struct Report<'a> {
    message_id: i64,
    command: &'a [String],
    text: &'a str,
    sent: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let Workspace { store, scope } = &workspace;
        let from = speaker(self.speaker.as_ref(), app)?;
        let found = store.agent(scope, &self.agent).map_err(refused)?;
        let missing = || refused(StoreError::NoAgent { name: self.agent.clone() });
        let agent = found.ok_or_else(missing)?;
        let session = agent.session_id.as_deref().ok_or_else(|| {
            Failure::new(Exit::No, NoSession { name: self.agent.clone() })
                .hint("bind one with `convoke agent add NAME --session ID`")
        })?;
        let settings = settings(app)?;
        let message = Some(NewMessage { from: from.clone(), content: self.text.clone() });
        let profile = profile_of(&self.agent, &settings);
        let call = Call {
            agent: self.agent.clone(),
            profile,
            order: Order::Contract,
            extent: None,
            message,
        };
        let assembled = wake(app, &workspace, &settings, &call, settings.budget)?;
        if agent.archived_at.is_some() {
            store
                .change_agent(scope, &self.agent, &AgentChange::Archived(None))
                .map_err(refused)?;
        }
        let stored = message::NewMessage {
            from: &from,
            to: Some(&self.agent),
            kind: MessageKind::Prompt,
            content: &self.text,
            mentions: &mentions(&self.text, scope, settings.mentions),
        };
        let message_id = store.say(scope, &stored, now()).map_err(refused)?;
        let command = resume(&agent.client, session);
        let text = &assembled.wake_up.text;
        match app.format {
            Format::Json => {
                output.json(&Report { message_id, command: &command, text, sent: false })?;
            }
            Format::Text => {
                output.say("note: convoke does not run agents yet; this is what it would send");
                output.data(&format!("{}\n\n{text}", command.join(" ")))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the command line that gives a session another prompt, on its standard input.
fn resume(client: &str, session: &str) -> Vec<String> {
    let arguments: &[&str] = match client {
        "codex" => &["codex", "exec", "--json", "resume", session, "-"],
        _ => &[client, "--resume", session, "-p"],
    };
    arguments.iter().map(|it| (*it).to_owned()).collect()
}
