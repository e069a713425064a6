//! Messages between agents and people: sending and reading them.

mod inbox;
mod page;

use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_domain::wake::hop::{MOST_HOPS, WAKE_LOOP, wakes};
use convoke_store::deed::NewDeed;
use convoke_store::error::StoreError;
use convoke_store::message::{NewMessage, ScopedMessage, StoredMessage};
use serde::Serialize;

pub use self::inbox::{
    Inbox, InboxRequest, MessageReport, MessageSelection, MessageThread, OlderMessages, inbox,
    mark_messages_read, mark_own_read, mark_read, thread, unread_count,
};
pub use self::page::{ListedMessageReport, MessagePageReport, message_page};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::person::refuse_judge;
use crate::session::Session;
use crate::settings::wake;
use crate::task::{DeedReport, known_task, note_unless_started};
use crate::workspace::{Workspace, refused, speaker};

/// Something to say.
#[derive(Debug, Clone, Default)]
pub struct SayRequest {
    /// The words; `@name` mentions an agent.
    pub text: String,
    /// Only to this agent: mentions in the text then address no other.
    pub to: Option<AgentName>,
    /// The message that it answers; without `to`, the answer goes to that message's sender.
    pub re: Option<i64>,
    /// The sender; without it, the agent of the environment or session, else the person.
    pub speaker: Option<AgentName>,
    /// A verdict that is recorded with it.
    pub verdict: Option<MessageVerdict>,
}

/// A verdict on a task that is recorded with a message.
#[derive(Debug, Clone)]
pub struct MessageVerdict {
    /// The verdict.
    pub kind: DeedKind,
    /// The task that it is about.
    pub task: TaskId,
    /// The role that judged it; without it, who says it.
    pub role: Option<DeedRole>,
}

/// A stored message's number and place in a chain of wake-ups.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SayReport {
    /// The message's number.
    pub id: i64,
    /// The message that it answers.
    pub re: Option<i64>,
    /// The agent here that it is to.
    pub to: Option<String>,
    /// The agents that it mentions.
    pub mentions: Vec<String>,
    /// The verdict that was recorded with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<DeedReport>,
    /// All addressees, each by the shortest mention that reaches it from here.
    #[serde(skip)]
    pub addressed: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot send an empty message")]
struct NothingSaid;

/// Stores a message, and with it a verdict if there is one.
pub fn say(session: &Session, request: &SayRequest) -> Result<SayReport, Failure> {
    if request.text.trim().is_empty() {
        return Err(Failure::new(ErrorClass::Usage, NothingSaid));
    }
    let workspace = Workspace::open(session, None)?;
    workspace.keep_repository(session);
    let from = speaker(request.speaker.as_ref(), session)?;
    // A verdict that cannot be recorded must not leave its words behind.
    let judged = request.judged(session, &workspace, &from)?;
    let addressees = request.addressees(session, &workspace, &from)?;
    let said = request.store(session, &workspace, &from, &addressees)?;
    workspace.mark_folder(session);
    let verdict = judged.map(|judged| judged.record(session, &workspace, &from, said.id));
    let verdict = verdict.transpose()?;
    note_addressees(session, &workspace, &addressees, said)?;
    let addressed = addressees.shortest(&workspace.scope);
    let Addressees { to, mentions } = addressees;
    Ok(SayReport {
        id: said.id,
        re: request.re,
        addressed,
        to: to.as_ref().map(ToString::to_string),
        mentions: mentions.iter().map(ToString::to_string).collect(),
        verdict,
    })
}

/// The addressees of a message.
struct Addressees {
    /// The agent of this branch that alone it is to.
    to: Option<AgentName>,
    mentions: Vec<Address>,
}

impl Addressees {
    /// Names each addressee once, as far as a scope does not say it already.
    fn shortest(&self, here: &Scope) -> Vec<String> {
        let mention = |Address { scope, agent }: &Address| {
            if scope == here {
                agent.to_string()
            } else if scope.project == here.project {
                format!("{}:{agent}", scope.branch)
            } else {
                format!("{}:{}:{agent}", scope.project, scope.branch)
            }
        };
        let mut names: Vec<_> = self.to.iter().map(ToString::to_string).collect();
        for name in self.mentions.iter().map(mention) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// A verdict whose task exists.
struct Judged {
    kind: DeedKind,
    task: Task,
    role: DeedRole,
}

impl Judged {
    fn record(
        &self,
        session: &Session,
        workspace: &Workspace,
        actor: &AgentName,
        message: i64,
    ) -> Result<DeedReport, Failure> {
        let deed = NewDeed {
            task: &self.task.id,
            kind: self.kind,
            role: &self.role,
            actor,
            reason: None,
            message_id: Some(message),
            run: None,
        };
        let Workspace { store, scope } = workspace;
        let recorded = store.record_deed(scope, &deed, session.now()).map_err(refused)?;
        note_unless_started(session, &self.task);
        Ok(DeedReport::new(&recorded))
    }
}

impl SayRequest {
    /// Returns the verdict to record, on an existing task, in a role.
    fn judged(
        &self,
        session: &Session,
        workspace: &Workspace,
        from: &AgentName,
    ) -> Result<Option<Judged>, Failure> {
        let Some(MessageVerdict { kind, task, role }) = &self.verdict else { return Ok(None) };
        let task = known_task(workspace, task)?;
        let role = match role {
            Some(role) => role.clone(),
            None => DeedRole::parse(from.as_str()).map_err(|error| {
                Failure::new(ErrorClass::Usage, error).hint("name the role with `--by ROLE`")
            })?,
        };
        refuse_judge(session, &role)?;
        Ok(Some(Judged { kind: *kind, task, role }))
    }

    fn addressees(
        &self,
        session: &Session,
        workspace: &Workspace,
        from: &AgentName,
    ) -> Result<Addressees, Failure> {
        let scope = &workspace.scope;
        let mut mentions = mentions(&self.text, scope, wake::settings(session)?.mentions);
        if let Some(to) = &self.to {
            note_not_sent(session, scope, to, mentions);
            return Ok(Addressees { to: Some(to.clone()), mentions: Vec::new() });
        }
        let to = match self.addressee(workspace, from)? {
            Some(address) if address.scope == *scope => Some(address.agent),
            Some(address) => {
                mentions.extend((!mentions.contains(&address)).then_some(address));
                None
            }
            None => None,
        };
        Ok(Addressees { to, mentions })
    }

    /// Returns the other end of the conversation, if the message is an answer.
    fn addressee(
        &self,
        workspace: &Workspace,
        from: &AgentName,
    ) -> Result<Option<Address>, Failure> {
        let Workspace { store, scope } = workspace;
        let Some(id) = self.re else { return Ok(None) };
        let heard = store.message(scope, id).map_err(refused)?;
        let ScopedMessage { scope: there, message } =
            heard.ok_or_else(|| refused(StoreError::NoMessage { id }))?;
        let is_own = there == *scope && message.from == *from;
        let agent = if is_own { message.to } else { Some(message.from) };
        Ok(agent.map(|agent| Address { scope: there, agent }))
    }

    fn store(
        &self,
        session: &Session,
        workspace: &Workspace,
        from: &AgentName,
        Addressees { to, mentions }: &Addressees,
    ) -> Result<StoredMessage, Failure> {
        let Workspace { store, scope } = workspace;
        let kind = if to.is_some() { MessageKind::Direct } else { MessageKind::Say };
        let message = NewMessage { from, to: to.as_ref(), kind, content: &self.text, mentions };
        let said = match self.re {
            Some(re) => store.reply(scope, re, &message, session.now()),
            None => store.say(scope, &message, session.now()),
        };
        said.map_err(refused)
    }
}

/// Names the agents that a message mentions and does not reach, because it is only to another.
fn note_not_sent(session: &Session, here: &Scope, to: &AgentName, mentioned: Vec<Address>) {
    let is_other = |address: &Address| address.scope != *here || address.agent != *to;
    let mentions: Vec<_> = mentioned.into_iter().filter(is_other).collect();
    let names = Addressees { to: None, mentions }.shortest(here);
    if !names.is_empty() {
        let list = names.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ");
        session.reporter().remark(format!(
            "the message is only to @{to}; it does not reach {list}, which the text mentions"
        ));
    }
}

/// Warns of unknown names, and of a message that wakes no agent: a misspelt name never wakes one.
fn note_addressees(
    session: &Session,
    workspace: &Workspace,
    Addressees { to, mentions }: &Addressees,
    said: StoredMessage,
) -> Result<(), Failure> {
    let own = to.iter().map(|agent| (&workspace.scope, agent));
    let mut addressed = own.chain(mentions.iter().map(|address| (&address.scope, &address.agent)));
    addressed.try_for_each(|(scope, agent)| {
        note_stranger(session, workspace, scope, agent)?;
        note_without_session(session, workspace, scope, agent)
    })?;
    let reporter = session.reporter();
    if to.is_none() && mentions.is_empty() {
        reporter.remark(
            "no agent is mentioned: stored as a note, in no inbox; \
             use `@NAME` in the text or `--to NAME`",
        );
    } else if !wakes(said.hop) {
        reporter.remark(wake_limit_note(said));
    }
    Ok(())
}

/// Tells that there is no such agent, and which one may be meant.
pub fn note_stranger(
    session: &Session,
    workspace: &Workspace,
    scope: &Scope,
    agent: &AgentName,
) -> Result<(), Failure> {
    if !agent.is_human() && workspace.store.agent(scope, agent).map_err(refused)?.is_none() {
        let nearest = nearest_agent(workspace, scope, agent)?;
        let nearest = nearest.map_or_else(String::new, |words| format!("; {words}"));
        session.reporter().remark(format!(
            "there is no agent `{agent}` on {} in {} yet{nearest}",
            scope.branch, scope.project
        ));
    }
    Ok(())
}

/// Tells that no session is an agent of this branch, where the project's sessions are another one.
fn note_without_session(
    session: &Session,
    workspace: &Workspace,
    scope: &Scope,
    agent: &AgentName,
) -> Result<(), Failure> {
    let Some((bound, _)) = wake::settings(session)?.agent else { return Ok(()) };
    if *scope != workspace.scope || agent.is_human() || bound == *agent {
        return Ok(());
    }
    let known = workspace.store.agent(scope, agent).map_err(refused)?;
    let has_own = known.as_ref().is_none_or(|known| known.session_id.is_some());
    let sessions = workspace.store.sessions(&scope.project).map_err(refused)?;
    let is_its = |address: &Address| address.scope == *scope && address.agent == *agent;
    if !has_own && !sessions.iter().any(|session| is_its(&session.agent)) {
        session.reporter().remark(format!(
            "no session here is @{agent}; this project's sessions belong to @{bound}"
        ));
    }
    Ok(())
}

/// Asks whether an agent with a similar name is meant.
pub(crate) fn nearest_agent(
    workspace: &Workspace,
    scope: &Scope,
    agent: &AgentName,
) -> Result<Option<String>, Failure> {
    let known = workspace.store.agents(scope).map_err(refused)?;
    let others = known.iter().map(|known| known.name.as_str());
    Ok(did_you_mean(agent.as_str(), others.filter(|name| *name != agent.as_str())))
}

/// Returns the note that a message is too far down a chain of wake-ups.
pub fn wake_limit_note(said: StoredMessage) -> String {
    let StoredMessage { id, hop } = said;
    format!(
        "{WAKE_LOOP}: wake-up limit ({MOST_HOPS}) reached at {hop} in a row; message {id} is stored and will not start another agent"
    )
}
