//! Delivers a wake-up: takes an agent, resumes its session in a lane, and keeps its answer.

use convoke_domain::agent::Agent;
use convoke_domain::lane::budget::ExceededBudget;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::mention::mentions;
use convoke_domain::message::MessageKind;
use convoke_domain::owner::Owner;
use convoke_domain::scope::AgentName;
use convoke_domain::wake::{NewMessage, SectionOrder};
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::LaneTranscript;
use convoke_engine::owner::{is_gone, myself};
use convoke_engine::scratch;
use convoke_engine::wake::{AssembledWakeUp, WakeCall};
use convoke_store::error::StoreError;
use convoke_store::message::{self, MessageReceipt, StoredMessage};
use convoke_store::wake_up::WakeUpEnd;

use crate::failure::{ErrorClass, Failure};
use crate::lane::{CallBudget, LaneRequest, LaneRun, PinnedRules, lane_failed};
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::wake::Settings;
use crate::wake::{assemble_wake, budget_here, profile_of};
use crate::workspace::{Workspace, refused};

/// The message about a process that disappeared.
const DIED: &str = "process died unexpectedly";

/// A wake-up to deliver.
pub(crate) struct Delivery<'a> {
    pub(crate) session: &'a Session,
    pub(crate) workspace: &'a Workspace,
    pub(crate) settings: &'a Settings,
    pub(crate) agent: &'a AgentName,
    /// A message that is not stored as addressed to the agent; without one, the newest unread
    /// message.
    pub(crate) message: Option<NewMessage>,
    /// The agent's rights.
    pub(crate) rights: Rights,
    /// Its budget, and its time limit.
    pub(crate) budget: &'a CallBudget,
}

/// A delivered wake-up, and how its lane answered.
pub(crate) struct DeliveryResult {
    /// The wake-up that the agent received.
    pub(crate) text: String,
    /// The result of its lane.
    pub(crate) transcript: LaneTranscript,
    /// The budget that the lane exceeded.
    pub(crate) over: Option<ExceededBudget>,
    /// The stored answer.
    pub(crate) reply: Option<StoredMessage>,
}

#[derive(Debug, thiserror::Error)]
enum NotDelivered {
    #[error("agent \"{name}\" has no session ID")]
    NoSession { name: AgentName },
    #[error("cannot wake agent \"{name}\": convoke does not run `{client}`")]
    UnknownClient { name: AgentName, client: String },
}

impl Delivery<'_> {
    /// Delivers all waiting messages of the agent as one wake-up. `None` if it is busy, or if no
    /// message waits any more. Only an answer proves that the agent received a wake-up.
    pub(crate) fn deliver(&self, reporter: &Reporter) -> Result<Option<DeliveryResult>, Failure> {
        let Workspace { store, scope } = self.workspace;
        let agent = found(self.workspace, self.agent)?;
        session(&agent)?;
        client(&agent)?;
        let pending = store.pending(scope, self.agent, agent.last_seen).map_err(refused)?;
        let (hop, owner) = (pending.map_or(0, |pending| pending.hop), myself());
        if !store.begin_wake_up(scope, self.agent, hop, &owner).map_err(refused)? {
            return Ok(None);
        }
        // Release the agent in any case; after an answer that has happened already.
        let delivered = self.while_taken(&agent, &owner, reporter);
        self.end(
            &owner,
            &WakeUpEnd { received: MessageReceipt::default(), answered: false, message: None },
        )?;
        delivered
    }

    fn while_taken(
        &self,
        agent: &Agent,
        owner: &Owner,
        reporter: &Reporter,
    ) -> Result<Option<DeliveryResult>, Failure> {
        let assembled = self.assembled()?;
        if assembled.message_id.is_none() && self.message.is_none() {
            return Ok(None);
        }
        let text = assembled.wake_up.text.clone();
        let LaneRun { transcript, over, .. } = self.run(agent, &text, reporter)?;
        let reply = self.ended(owner, &assembled, &transcript)?;
        Ok(Some(DeliveryResult { text, transcript, over, reply }))
    }

    /// Returns the agent's wake-up.
    pub(crate) fn assembled(&self) -> Result<AssembledWakeUp, Failure> {
        let call = WakeCall {
            agent: self.agent.clone(),
            profile: profile_of(self.agent, self.settings),
            order: SectionOrder::Contract,
            extent: None,
            message: self.message.clone(),
            taken: Vec::new(),
        };
        let Self { session, workspace, settings, .. } = self;
        let budget = budget_here(session, settings, workspace, &workspace.scope)?;
        assemble_wake(session, workspace, settings, &call, budget)
    }

    fn run(&self, agent: &Agent, text: &str, reporter: &Reporter) -> Result<LaneRun, Failure> {
        let answering = client(agent)?;
        let order = LaneRequest {
            resume: Some(session(agent)?),
            rights: self.rights,
            // The wake-up begins with them.
            rules: PinnedRules::LeftOut,
            limits: self.budget.limits,
            purpose: self.budget.purpose(self.agent.to_string()),
            budget: self.budget.budget,
            ..LaneRequest::new(&answering, text)
        };
        let scratch = scratch::lane().map_err(lane_failed)?;
        order.run_and_warn(self.session, scratch.path(), reporter)
    }

    /// Stores the answer, or tells the orchestrator that the agent gave no answer.
    fn ended(
        &self,
        owner: &Owner,
        assembled: &AssembledWakeUp,
        transcript: &LaneTranscript,
    ) -> Result<Option<StoredMessage>, Failure> {
        let Workspace { store, scope } = self.workspace;
        let answer =
            transcript.output.answer().filter(|_| transcript.outcome == LaneOutcome::Answered);
        let Some(answer) = answer else {
            let words = format!("ended without an answer: {}", transcript.outcome.state());
            let message =
                self.notice(&words).filter(|_| transcript.outcome != LaneOutcome::Cancelled);
            return self.end(
                owner,
                &WakeUpEnd { received: MessageReceipt::default(), answered: false, message },
            );
        };
        let injection = assembled.injection(self.agent, self.session.now());
        store.record_injection(scope, &injection).map_err(refused)?;
        self.record_pins(assembled, transcript)?;
        let human = AgentName::human();
        // Agents report to the orchestrator, and the orchestrator to the person.
        let (to, kind) = if self.is_orchestrator() {
            (&human, MessageKind::Chat)
        } else {
            (&self.settings.orchestrator, MessageKind::Complete)
        };
        let mentions = mentions(answer, scope, self.settings.mentions);
        let message = message::NewMessage {
            from: self.agent,
            to: Some(to),
            kind,
            content: answer,
            mentions: &mentions,
        };
        let received = assembled.receipt();
        self.end(owner, &WakeUpEnd { received, answered: true, message: Some(message) })
    }

    /// Records which rules of the user an answered wake-up showed.
    fn record_pins(
        &self,
        assembled: &AssembledWakeUp,
        transcript: &LaneTranscript,
    ) -> Result<(), Failure> {
        let pins = assembled.shown_pins();
        let agent = found(self.workspace, self.agent)?;
        let session = transcript.output.session.as_ref().or(agent.session_id.as_ref());
        let session = session.map_or("", String::as_str);
        let store = &self.workspace.store;
        store.pins_delivered(&pins, &agent.client, session, self.session.now()).map_err(refused)
    }

    fn end(&self, owner: &Owner, end: &WakeUpEnd<'_>) -> Result<Option<StoredMessage>, Failure> {
        let Workspace { store, scope } = self.workspace;
        store.end_wake_up(scope, self.agent, owner, end, self.session.now()).map_err(refused)
    }

    /// Returns the message to the orchestrator about an agent that gave no answer.
    fn notice<'b>(&'b self, words: &'b str) -> Option<message::NewMessage<'b>> {
        (!self.is_orchestrator()).then_some(message::NewMessage {
            from: self.agent,
            to: Some(&self.settings.orchestrator),
            kind: MessageKind::Exit,
            content: words,
            mentions: &[],
        })
    }

    fn is_orchestrator(&self) -> bool {
        *self.agent == self.settings.orchestrator
    }

    /// Releases the agent if the process that woke it is gone, and notifies the orchestrator.
    pub(crate) fn bury(&self) -> Result<bool, Failure> {
        let agent = found(self.workspace, self.agent)?;
        let Some(owner) = agent.owner.filter(is_gone) else { return Ok(false) };
        let message = self.notice(DIED);
        self.end(
            &owner,
            &WakeUpEnd { received: MessageReceipt::default(), answered: false, message },
        )?;
        Ok(true)
    }
}

/// Finds an agent.
pub(crate) fn found(workspace: &Workspace, name: &AgentName) -> Result<Agent, Failure> {
    let agent = workspace.store.agent(&workspace.scope, name).map_err(refused)?;
    agent.ok_or_else(|| refused(StoreError::NoAgent { name: name.clone() }))
}

/// Returns the session to resume.
pub(crate) fn session(agent: &Agent) -> Result<&str, Failure> {
    agent.session_id.as_deref().ok_or_else(|| {
        Failure::new(ErrorClass::Refused, NotDelivered::NoSession { name: agent.name.clone() })
            .hint("bind one with `convoke agent add NAME --session ID`")
    })
}

/// Returns the client that runs it.
pub(crate) fn client(agent: &Agent) -> Result<AgentRef, Failure> {
    AgentRef::parse(&agent.client).ok_or_else(|| {
        let (name, client) = (agent.name.clone(), agent.client.clone());
        Failure::new(ErrorClass::Refused, NotDelivered::UnknownClient { name, client })
            .hint("`convoke prompt --print` shows what would be sent")
    })
}
