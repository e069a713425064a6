//! `convoke say`: a message that is kept, and that wakes whoever it mentions.

use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::{Address, AgentName};
use convoke_store::agent::AgentStore;
use convoke_store::message::{MessageStore, NewMessage};
use serde::Serialize;

use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, agent_name, refused, speaker};

/// Say something to the agents of this branch, or to one of them
///
/// `@name` mentions an agent here, `@branch:name` one on another branch and `@project:branch:name`
/// one anywhere. Prints the message's number and everyone it is addressed to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to say
    text: String,

    /// Only to this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    to: Option<AgentName>,

    /// Who says it [default: `CONVOKE_AGENT`, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = agent_name)]
    speaker: Option<AgentName>,
}

#[derive(Serialize)]
struct Report {
    id: i64,
    to: Option<String>,
    mentions: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let Workspace { store, scope } = &workspace;
        let from = speaker(self.speaker.as_ref(), app)?;
        let mentions = mentions(&self.text, scope, wake::settings(app)?.mentions);
        let kind = if self.to.is_some() { MessageKind::Direct } else { MessageKind::Say };
        let message = NewMessage {
            from: &from,
            to: self.to.as_ref(),
            kind,
            content: &self.text,
            mentions: &mentions,
        };
        let id = store.say(scope, &message, now()).map_err(refused)?;
        self.warn_about_strangers(&workspace, &mentions, output)?;
        let mentions: Vec<_> = mentions.iter().map(ToString::to_string).collect();
        match app.format {
            Format::Json => {
                let to = self.to.as_ref().map(ToString::to_string);
                output.json(&Report { id, to, mentions })?;
            }
            Format::Text => {
                let to = self.to.iter().map(|name| format!(" @{name}"));
                let all = to.chain(mentions.iter().map(|address| format!(" @{address}")));
                output.data(&format!("{id}{}\n", all.collect::<String>()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// A misspelt name would never wake anybody, so it is worth a word.
    fn warn_about_strangers(
        &self,
        workspace: &Workspace,
        mentions: &[Address],
        output: &Output,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = workspace;
        let to = self.to.iter().map(|agent| (scope, agent));
        let addressed = to.chain(mentions.iter().map(|it| (&it.scope, &it.agent)));
        for (scope, agent) in addressed.filter(|(_, agent)| !agent.is_human()) {
            if store.agent(scope, agent).map_err(refused)?.is_none() {
                output.say(&format!(
                    "note: there is no agent `{agent}` on {} in {} yet",
                    scope.branch, scope.project
                ));
            }
        }
        Ok(())
    }
}
