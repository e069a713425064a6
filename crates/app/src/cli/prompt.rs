//! `convoke prompt`: a message to an agent that wakes it.

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::lane::outcome::Outcome;
use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::AgentName;
use convoke_domain::wake::{NewMessage, Order};
use convoke_engine::lane::adapter::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use convoke_engine::wake::{Assembled, Call};
use convoke_store::agent::{AgentChange, AgentStore};
use convoke_store::error::StoreError;
use convoke_store::message::{self, MessageStore};
use convoke_store::skill::SkillStore;
use serde::Serialize;

use super::lane::{LaneOrder, USUAL_LIMITS, lane_failed, sentence};
use super::wake::{profile_of, wake};
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

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

    /// Who says it [default: `CONVOKE_AGENT`, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,

    /// Let it change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

    /// Only store the message, and print what would be sent
    #[arg(long)]
    print: bool,
}

#[derive(Debug, thiserror::Error)]
enum PromptError {
    #[error("agent \"{name}\" has no session ID")]
    NoSession { name: AgentName },
    #[error("cannot wake agent \"{name}\": convoke does not run `{client}`")]
    UnknownClient { name: AgentName, client: String },
}

#[derive(Serialize)]
struct Report<'a> {
    message_id: i64,
    command: &'a [String],
    text: &'a str,
    sent: bool,
    outcome: Option<&'static str>,
    answer: Option<&'a str>,
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
            Failure::new(Exit::No, PromptError::NoSession { name: self.agent.clone() })
                .hint("bind one with `convoke agent add NAME --session ID`")
        })?;
        let settings = settings(app)?;
        let message = Some(NewMessage { from: from.clone(), content: self.text.clone() });
        let profile = profile_of(&self.agent, &settings);
        let order = Order::Contract;
        let call = Call { agent: self.agent.clone(), profile, order, extent: None, message };
        let assembled = wake(app, &workspace, &settings, &call, settings.budget)?;
        if agent.archived_at.is_some() {
            self.change(&workspace, &AgentChange::Archived(None))?;
        }
        let stored = message::NewMessage {
            from: &from,
            to: Some(&self.agent),
            kind: MessageKind::Prompt,
            content: &self.text,
            mentions: &mentions(&self.text, scope, settings.mentions),
        };
        let message_id = store.say(scope, &stored, now()).map_err(refused)?;
        let is_busy = agent.status == AgentStatus::Busy;
        let driven = if self.print || is_busy {
            None
        } else {
            Some(self.wake_up(app, &workspace, &agent, &assembled, message_id, output)?)
        };
        let command = resume(&agent.client, session);
        let text = &assembled.wake_up.text;
        let answer = driven.as_ref().and_then(|it| it.heard.answer());
        let outcome = driven.as_ref().map(|it| it.outcome);
        match (app.format, &driven) {
            (Format::Json, _) => output.json(&Report {
                message_id,
                command: &command,
                text,
                sent: driven.is_some(),
                outcome: outcome.map(Outcome::name),
                answer,
            })?,
            (Format::Text, Some(driven)) => {
                output.say(&sentence(driven, None));
                output.data(&answer.map_or(String::new(), |it| format!("{}\n", it.trim_end())))?;
            }
            (Format::Text, None) if is_busy && !self.print => {
                output.say(&format!("note: @{} is busy; message {message_id} waits", self.agent));
            }
            (Format::Text, None) => output.data(&format!("{}\n\n{text}", command.join(" ")))?,
        }
        Ok(if outcome.is_none_or(|it| it == Outcome::Answered) {
            Exit::Done
        } else {
            Exit::LaneFailed
        })
    }

    /// Resumes the agent's session. Only an answer shows that the prompt was taken in.
    fn wake_up(
        &self,
        app: &App,
        workspace: &Workspace,
        agent: &Agent,
        assembled: &Assembled,
        message_id: i64,
        output: &Output,
    ) -> Result<Driven, Failure> {
        let client = AgentRef::parse(&agent.client).ok_or_else(|| {
            let (name, client) = (self.agent.clone(), agent.client.clone());
            Failure::new(Exit::No, PromptError::UnknownClient { name, client })
                .hint("`--print` shows what would be sent")
        })?;
        let order = LaneOrder {
            agent: &client,
            prompt: &assembled.wake_up.text,
            model: None,
            effort: None,
            resume: agent.session_id.as_deref(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            limits: USUAL_LIMITS,
        };
        let scratch = tempfile::tempdir().map_err(lane_failed)?;
        self.change(workspace, &AgentChange::Status(AgentStatus::Busy))?;
        let driven = order.drive(app, scratch.path(), output);
        self.change(workspace, &AgentChange::Status(AgentStatus::Idle))?;
        let driven = driven?;
        if driven.outcome == Outcome::Answered {
            self.change(workspace, &AgentChange::Seen(message_id))?;
            self.change(workspace, &AgentChange::Compacted(None))?;
            let injection = assembled.injection(&self.agent, now());
            workspace.store.record_injection(&workspace.scope, &injection).map_err(refused)?;
        }
        Ok(driven)
    }

    fn change(&self, workspace: &Workspace, change: &AgentChange<'_>) -> Result<(), Failure> {
        let Workspace { store, scope } = workspace;
        store.change_agent(scope, &self.agent, change).map_err(refused)
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
