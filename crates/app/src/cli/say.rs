//! `convoke say`: a message that is kept, and that wakes whoever it mentions.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_domain::wake::hop::wakes;
use convoke_store::deed::NewDeed;
use convoke_store::error::StoreError;
use convoke_store::message::{Heard, NewMessage};
use serde::Serialize;

use super::deliver::wakes_nobody;
use super::task::verdict::{DeedReport, known, warn_unless_started};
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::input;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

/// The longest message that is taken from stdin.
const MAX_MESSAGE: u64 = 16 * 1024 * 1024;

/// Say something to the agents that it mentions, or leave a note
///
/// `@name` mentions an agent here, `@branch:name` one on another branch and `@project:branch:name`
/// one anywhere; `--to` names one. Without either, the message is a note: it is part of every agent's
/// recent activity and in no inbox. Prints the message's number and the agents it is addressed to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to say; `-` reads it from stdin
    text: String,

    /// Only to this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    to: Option<AgentName>,

    /// Answer this message; without `--to`, the answer is to the one who said it
    #[arg(long, value_name = "ID")]
    re: Option<i64>,

    /// Who says it [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    speaker: Option<AgentName>,

    /// Record this verdict on a task with the message
    #[arg(long, value_name = "VERDICT", requires = "task", value_parser = verdict())]
    verdict: Option<DeedKind>,

    /// The task that the verdict is about
    #[arg(long, value_name = "ID", requires = "verdict", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// The role that judged it [default: who says it]
    #[arg(long, value_name = "ROLE", requires = "verdict", value_parser = DeedRole::parse)]
    by: Option<DeedRole>,
}

/// Reads `pass` or `fail`.
fn verdict() -> impl TypedValueParser<Value = DeedKind> {
    PossibleValuesParser::new([DeedKind::Pass, DeedKind::Fail].map(DeedKind::name))
        .try_map(|name| DeedKind::parse(&name).ok_or("no such verdict"))
}

/// What stands on stdin cannot be said.
#[derive(Debug, thiserror::Error)]
#[error("cannot take stdin for a message: it is not text, or longer than {MAX_MESSAGE} bytes")]
struct NoText;

#[derive(Debug, thiserror::Error)]
#[error("cannot say nothing")]
struct NothingSaid;

impl From<NoText> for Failure {
    fn from(error: NoText) -> Self {
        Self::new(ErrorClass::Usage, error)
    }
}

#[derive(Serialize)]
struct Report {
    id: i64,
    re: Option<i64>,
    to: Option<String>,
    mentions: Vec<String>,
    /// The verdict that was recorded with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<DeedReport>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let text = self.text()?;
        if text.trim().is_empty() {
            return Err(Failure::new(ErrorClass::Usage, NothingSaid));
        }
        let workspace = Workspace::open(app, None)?;
        let Workspace { store, scope } = &workspace;
        let from = speaker(self.speaker.as_ref(), app)?;
        // A verdict that cannot be recorded must not leave its words behind.
        let judged = self.judged(&workspace, &from)?;
        let mut mentions = mentions(&text, scope, wake::settings(app)?.mentions);
        let to = match self.addressee(&workspace, &from)? {
            Some(address) if address.scope == *scope => Some(address.agent),
            Some(address) => {
                mentions.extend((!mentions.contains(&address)).then_some(address));
                None
            }
            None => None,
        };
        let kind = if to.is_some() { MessageKind::Direct } else { MessageKind::Say };
        let message =
            NewMessage { from: &from, to: to.as_ref(), kind, content: &text, mentions: &mentions };
        let said = match self.re {
            Some(re) => store.reply(scope, re, &message, now()),
            None => store.say(scope, &message, now()),
        };
        let said = said.map_err(refused)?;
        let id = said.id;
        let verdict = judged.map(|(kind, task, role)| {
            let deed = NewDeed {
                task: &task.id,
                kind,
                role: &role,
                actor: &from,
                reason: None,
                message_id: Some(id),
                run: None,
            };
            let recorded = store.record_deed(scope, &deed, now()).map_err(refused)?;
            warn_unless_started(&task, output);
            Ok::<_, Failure>(DeedReport::new(&recorded))
        });
        let verdict = verdict.transpose()?;
        warn_about_strangers(&workspace, to.as_ref(), &mentions, output)?;
        if to.is_none() && mentions.is_empty() {
            output.say(
                "note: no agent is mentioned: stored as a note, in no inbox; \
                 use `@NAME` in the text or `--to NAME`",
            );
        }
        if (to.is_some() || !mentions.is_empty()) && !wakes(said.hop) {
            output.say(&format!("note: {}", wakes_nobody(said)));
        }
        let mentions: Vec<_> = mentions.iter().map(ToString::to_string).collect();
        match app.format {
            Format::Json => {
                let to = to.as_ref().map(ToString::to_string);
                output.json(&Report { id, re: self.re, to, mentions, verdict })?;
            }
            Format::Text => {
                let here =
                    |agent: &AgentName| Address { scope: scope.clone(), agent: agent.clone() };
                let to = to.iter().map(|name| format!(" @{}", here(name)));
                let all = to.chain(mentions.iter().map(|address| format!(" @{address}")));
                output.data(&format!("{id}{}\n", all.collect::<String>()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// Returns the verdict that is to be recorded, on a task that exists, in a role.
    fn judged(
        &self,
        workspace: &Workspace,
        from: &AgentName,
    ) -> Result<Option<(DeedKind, Task, DeedRole)>, Failure> {
        let Some((kind, id)) = self.verdict.zip(self.task.as_ref()) else { return Ok(None) };
        let task = known(workspace, id)?;
        let role = match &self.by {
            Some(role) => role.clone(),
            None => DeedRole::parse(from.as_str()).map_err(|error| {
                Failure::new(ErrorClass::Usage, error).hint("name the role with `--by ROLE`")
            })?,
        };
        Ok(Some((kind, task, role)))
    }

    fn text(&self) -> Result<String, Failure> {
        if self.text != "-" {
            return Ok(self.text.clone());
        }
        let text = input::read(MAX_MESSAGE).ok_or(NoText)?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Returns whom the message is to: the one named, else the other end of the conversation.
    fn addressee(
        &self,
        workspace: &Workspace,
        from: &AgentName,
    ) -> Result<Option<Address>, Failure> {
        let Workspace { store, scope } = workspace;
        if let Some(agent) = self.to.clone() {
            return Ok(Some(Address { scope: scope.clone(), agent }));
        }
        let Some(id) = self.re else { return Ok(None) };
        let heard = store.message(scope, id).map_err(refused)?;
        let Heard { scope: there, message } =
            heard.ok_or_else(|| refused(StoreError::NoMessage { id }))?;
        let is_own = there == *scope && message.from == *from;
        let agent = if is_own { message.to } else { Some(message.from) };
        Ok(agent.map(|agent| Address { scope: there, agent }))
    }
}

/// A misspelt name would never wake anybody, so it is worth a word.
fn warn_about_strangers(
    workspace: &Workspace,
    to: Option<&AgentName>,
    mentions: &[Address],
    output: &Output,
) -> Result<(), Failure> {
    let scope = &workspace.scope;
    let to = to.into_iter().map(|agent| (scope, agent));
    let mut addressed = to.chain(mentions.iter().map(|address| (&address.scope, &address.agent)));
    addressed.try_for_each(|(scope, agent)| note_stranger(workspace, scope, agent, output))
}

/// Says that there is no such agent.
pub(super) fn note_stranger(
    workspace: &Workspace,
    scope: &Scope,
    agent: &AgentName,
    output: &Output,
) -> Result<(), Failure> {
    if !agent.is_human() && workspace.store.agent(scope, agent).map_err(refused)?.is_none() {
        output.say(&format!(
            "note: there is no agent `{agent}` on {} in {} yet",
            scope.branch, scope.project
        ));
    }
    Ok(())
}
