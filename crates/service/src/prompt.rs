//! A message to an agent that wakes it.

use convoke_domain::client::Client;
use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::scope::AgentName;
use convoke_domain::wake::NewMessage;
use convoke_domain::wake::hop::wakes;
use convoke_engine::client::{Rights, resume_by_hand};
use convoke_store::agent::AgentChange;
use convoke_store::message::{self, StoredMessage};
use serde::Serialize;

use crate::deliver::{Delivery, DeliveryResult, client, found, session as session_of};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{CallBudget, OverBudgetReport, over_budget_warning, sentence};
use crate::message::wake_limit_note;
use crate::session::Session;
use crate::settings::wake::settings;
use crate::workspace::{Workspace, refused, speaker};

/// Whether a prompt wakes its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptDelivery {
    /// Its session is resumed in a lane.
    Now,
    /// The message is only stored.
    Stored,
}

/// A request to prompt an agent.
#[derive(Debug, Clone)]
pub struct PromptRequest {
    /// The agent to prompt.
    pub agent: AgentName,
    /// The message's text.
    pub text: String,
    /// The sender; without it, the agent of the environment or session, else the person.
    pub speaker: Option<AgentName>,
    /// Whether the agent may change files.
    pub rights: Rights,
    /// Whether it is woken.
    pub delivery: PromptDelivery,
    /// The budget, and the time limit.
    pub budget: CallBudget,
}

/// The result of a prompt.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptReport {
    /// The stored message.
    pub message_id: i64,
    /// The command line that gives the agent's session another prompt, which it reads from stdin.
    /// Empty if Convoke knows none for the agent's client.
    pub command: Vec<String>,
    /// The text for the agent.
    pub text: String,
    /// Whether the agent received it.
    pub sent: bool,
    /// How its lane ended, such as `answered`.
    pub outcome: Option<&'static str>,
    /// The agent's answer.
    pub answer: Option<String>,
    /// The message that is kept of the answer.
    pub reply_id: Option<i64>,
    /// Whether it wakes no agent, because agents have woken each other too often in a row.
    pub wake_loop: bool,
    /// The budget that the lane exceeded.
    pub over_budget: Option<OverBudgetReport>,
    /// How its lane ended, in a sentence.
    #[serde(skip)]
    pub sentence: Option<String>,
    /// That the lane went over a budget, in a sentence.
    #[serde(skip)]
    pub warning: Option<String>,
    /// Why the agent was not woken, in a sentence.
    #[serde(skip)]
    pub why_not_sent: Option<String>,
    /// Why there is no answer; `None` if there is one, or if the request needs none.
    #[serde(skip)]
    pub problem: Option<ErrorClass>,
}

/// Stores a prompt to an agent, resumes its session with its wake-up and keeps its answer. An agent
/// that is busy is not interrupted: the message waits for its next wake-up.
pub fn prompt(session: &Session, request: &PromptRequest) -> Result<PromptReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let from = speaker(request.speaker.as_ref(), session)?;
    let agent = found(&workspace, &request.agent)?;
    let resumed = session_of(&agent)?;
    let settings = settings(session)?;
    if request.delivery == PromptDelivery::Now {
        client(&agent)?;
    }
    let Workspace { store, scope } = &workspace;
    if agent.archived_at.is_some() {
        let change = AgentChange::Archived(None);
        store.change_agent(scope, &request.agent, &change).map_err(refused)?;
    }
    let stored = message::NewMessage {
        from: &from,
        to: Some(&request.agent),
        kind: MessageKind::Prompt,
        content: &request.text,
        mentions: &mentions(&request.text, scope, settings.mentions),
    };
    let said = store.say(scope, &stored, session.now()).map_err(refused)?;
    // A message of an agent to itself is not stored as unread.
    let to_itself = NewMessage { from, content: request.text.clone() };
    let delivery = Delivery {
        session,
        workspace: &workspace,
        settings: &settings,
        agent: &request.agent,
        message: Some(to_itself).filter(|message| message.from == request.agent),
        rights: request.rights,
        budget: &request.budget,
    };
    delivery.bury()?;
    let is_sent = request.delivery == PromptDelivery::Now && wakes(said.hop);
    let delivered = if is_sent { delivery.deliver(&session.reporter())? } else { None };
    let text = match &delivered {
        Some(delivered) => delivered.text.clone(),
        None => delivery.assembled()?.wake_up.text,
    };
    let known = Client::parse(&agent.client);
    let command = known.map_or_else(Vec::new, |client| resume_by_hand(client, resumed));
    Ok(PromptReport::new(request, said, command, text, delivered.as_ref()))
}

impl PromptReport {
    fn new(
        request: &PromptRequest,
        said: StoredMessage,
        command: Vec<String>,
        text: String,
        delivered: Option<&DeliveryResult>,
    ) -> Self {
        let transcript = delivered.map(|delivered| &delivered.transcript);
        let over = delivered.and_then(|delivered| delivered.over);
        let why_not_sent = if wakes(said.hop) {
            format!("@{} is busy; message {} waits", request.agent, said.id)
        } else {
            wake_limit_note(said)
        };
        Self {
            message_id: said.id,
            command,
            text,
            sent: transcript.is_some(),
            outcome: transcript.map(|transcript| transcript.outcome.name()),
            answer: transcript
                .and_then(|transcript| transcript.output.answer())
                .map(ToOwned::to_owned),
            reply_id: delivered.and_then(|delivered| delivered.reply).map(|reply| reply.id),
            wake_loop: !wakes(said.hop),
            over_budget: over.map(OverBudgetReport::from),
            sentence: transcript.map(|transcript| sentence(transcript, None)),
            warning: transcript.and_then(|transcript| over_budget_warning(transcript, over)),
            why_not_sent: transcript.is_none().then_some(why_not_sent),
            problem: transcript.and_then(|transcript| ErrorClass::of_lane(transcript.outcome)),
        }
    }
}
