//! Waking every agent that a message waits for.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Scope as Threads};
use std::time::Duration;

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::lane::outcome::{LaneOutcome, ProcessEnd};
use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::wake::hop::wakes;
use convoke_engine::client::Rights;
use convoke_engine::lock::{Lock, LockError};
use convoke_engine::owner::is_gone;
use convoke_engine::skill::hash;
use serde::Serialize;

use crate::deliver::{Delivery, DeliveryResult, client, session as session_of};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{CallBudget, OverBudgetReport, over_budget_warning, sentence};
use crate::message::wake_limit_note;
use crate::session::Session;
use crate::settings::wake::{Settings, settings};
use crate::workspace::{Workspace, refused, store_location};

/// The interval at which Convoke checks the store for changes, and whether the owners of busy
/// agents still run.
const INTERVAL: Duration = Duration::from_millis(500);

/// When attending ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttendUntil {
    /// When nothing is left that could be delivered.
    Idle,
    /// When the user stops it, or the budget is used up.
    Stopped,
}

/// How to attend to the agents of a branch.
#[derive(Debug, Clone)]
pub struct AttendRequest {
    /// When it ends.
    pub until: AttendUntil,
    /// Whether agents may change files.
    pub rights: Rights,
    /// The most agents that work at the same time.
    pub max_parallel: NonZeroUsize,
    /// The budget of all of them, and the time limit of each.
    pub budget: CallBudget,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot attend to {scope}")]
struct NotAttending {
    scope: String,
    source: LockError,
}

/// The result of one wake-up.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttendReport {
    /// The woken agent.
    pub agent: String,
    /// How its lane ended, such as `answered`.
    pub outcome: &'static str,
    /// The agent's answer.
    pub answer: Option<String>,
    /// The message that is kept of the answer.
    pub message_id: Option<i64>,
    /// How many wake-ups in a row led to that message.
    pub hop: Option<u32>,
    /// Whether that message wakes no agent, because there were too many.
    pub wake_loop: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u128,
    /// The budget that the wake-up exceeded.
    pub over_budget: Option<OverBudgetReport>,
}

/// An event while attending.
#[derive(Debug)]
pub enum AttendEvent {
    /// An agent was woken.
    Woken(AttendReport),
    /// An agent could not be woken.
    Failed(Failure),
}

/// Receives what happens while attending. A failure ends it.
pub type OnAttendEvent<'a> = dyn FnMut(&AttendEvent) -> Result<(), Failure> + 'a;

/// A thread's report after it has handled its agent.
struct Done {
    agent: AgentName,
    /// The newest message to deliver.
    newest: i64,
    delivered: Result<Option<DeliveryResult>, Failure>,
}

/// Everything that is known while attending.
struct Attendant<'a> {
    request: &'a AttendRequest,
    session: &'a Session,
    workspace: &'a Workspace,
    settings: &'a Settings,
    /// The agents being handled.
    running: Vec<AgentName>,
    /// The newest message whose delivery failed.
    given_up: BTreeMap<AgentName, i64>,
    /// The processes that hold other agents.
    owners: Vec<Owner>,
    problem: Option<ErrorClass>,
    /// Whether the budget of this call is used up, so that no further agent is woken.
    is_spent: bool,
}

/// Wakes every agent of the branch that a message waits for. Returns the last problem that an agent
/// had, if there was one.
pub fn attend(
    session: &Session,
    request: &AttendRequest,
    on_event: &mut OnAttendEvent<'_>,
) -> Result<Option<ErrorClass>, Failure> {
    let workspace = Workspace::open(session, None)?;
    let _lock = lock(session, &workspace.scope)?;
    let settings = settings(session)?;
    session.reporter().say(format!("attending to {}", described(&workspace.scope)));
    let mut attendant = Attendant {
        request,
        session,
        workspace: &workspace,
        settings: &settings,
        running: Vec::new(),
        given_up: BTreeMap::new(),
        owners: Vec::new(),
        problem: None,
        is_spent: false,
    };
    thread::scope(|threads| attendant.attend(threads, on_event))?;
    Ok(attendant.problem)
}

/// Two that attend to the same agents would only be in each other's way.
fn lock(session: &Session, scope: &Scope) -> Result<Lock, Failure> {
    let holder = format!("process {}", std::process::id());
    let what = format!("attend-{}", &hash(described(scope))[..16]);
    let folder = session.environment.state().unwrap_or_default();
    Lock::take(&store_location(session)?.lock_file(&what, &folder), &holder).map_err(|source| {
        let hint = match source {
            LockError::Held { .. } => Some("stop it first".to_owned()),
            LockError::File { .. } => None,
        };
        let error = NotAttending { scope: described(scope), source };
        Failure::new(ErrorClass::Prerequisite, error).maybe_hint(hint)
    })
}

fn described(scope: &Scope) -> String {
    format!("{}:{}", scope.project, scope.branch)
}

impl<'a> Attendant<'a> {
    fn attend<'scope>(
        &mut self,
        threads: &'scope Threads<'scope, 'a>,
        on_event: &mut OnAttendEvent<'_>,
    ) -> Result<(), Failure> {
        let (sender, receiver) = channel();
        let mut seen = None;
        let cancel = self.session.cancel();
        loop {
            let is_stopped = self.is_spent || cancel.is_cancelled();
            let is_over = self.request.until == AttendUntil::Idle || is_stopped;
            let changes = self.workspace.store.changes().map_err(refused)?;
            let is_news = seen != Some(changes) || self.owners.iter().any(is_gone);
            if is_news && !is_stopped {
                seen = Some(changes);
                self.look(threads, &sender)?;
            }
            if is_over && self.running.is_empty() {
                return Ok(());
            }
            if let Ok(done) = receiver.recv_timeout(INTERVAL) {
                self.take(done, on_event)?;
                // There may be room for another agent now.
                seen = None;
            }
        }
    }

    /// Handles every agent that can be woken now.
    fn look<'scope>(
        &mut self,
        threads: &'scope Threads<'scope, 'a>,
        sender: &Sender<Done>,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace;
        for agent in store.agents(scope).map_err(refused)? {
            if agent.owner.is_some() && self.delivery(&agent.name).bury()? {
                let reporter = self.session.reporter_of(format!("@{}", agent.name));
                reporter.say("the process that woke it is gone");
            }
        }
        let agents = store.agents(scope).map_err(refused)?;
        self.owners = agents.iter().filter_map(|agent| agent.owner.clone()).collect();
        for agent in agents {
            if self.running.len() < self.request.max_parallel.get()
                && let Some(newest) = self.waits_for(&agent)?
            {
                self.start(agent.name, newest, threads, sender);
            }
        }
        Ok(())
    }

    /// Returns the newest message that waits for an agent that Convoke can wake.
    fn waits_for(&self, agent: &Agent) -> Result<Option<i64>, Failure> {
        let is_free = agent.status != AgentStatus::Busy && agent.owner.is_none();
        let can_be_woken = session_of(agent).is_ok() && client(agent).is_ok();
        if !is_free || !can_be_woken || self.running.contains(&agent.name) {
            return Ok(None);
        }
        let Workspace { store, scope } = self.workspace;
        let pending = store.pending(scope, &agent.name, agent.last_seen).map_err(refused)?;
        let given_up = self.given_up.get(&agent.name).copied().unwrap_or_default();
        Ok(pending.map(|pending| pending.newest).filter(|newest| *newest > given_up))
    }

    fn start<'scope>(
        &mut self,
        agent: AgentName,
        newest: i64,
        threads: &'scope Threads<'scope, 'a>,
        sender: &Sender<Done>,
    ) {
        self.running.push(agent.clone());
        // The loop only notices what other connections change, so each wake-up has one of its own.
        let (session, settings) = (self.session.for_call(), self.settings);
        let AttendRequest { rights, budget, .. } = self.request;
        let sender = sender.clone();
        let span = tracing::info_span!("wake_up", %agent);
        threads.spawn(move || {
            let _entered = span.enter();
            let deliver = || {
                let workspace = Workspace::open(&session, None)?;
                let reporter = session.reporter_of(format!("@{agent}"));
                reporter.say("is woken");
                let delivery = Delivery {
                    session: &session,
                    workspace: &workspace,
                    settings,
                    agent: &agent,
                    message: None,
                    rights: *rights,
                    budget,
                };
                delivery.deliver(&reporter)
            };
            let delivered = deliver();
            sender.send(Done { agent, newest, delivered }).ok();
        });
    }

    fn delivery<'b>(&'b self, agent: &'b AgentName) -> Delivery<'b> {
        Delivery {
            session: self.session,
            workspace: self.workspace,
            settings: self.settings,
            agent,
            message: None,
            rights: self.request.rights,
            budget: &self.request.budget,
        }
    }

    /// Takes in the result of a wake-up.
    fn take(&mut self, done: Done, on_event: &mut OnAttendEvent<'_>) -> Result<(), Failure> {
        let Done { agent, newest, delivered } = done;
        self.running.retain(|running| *running != agent);
        let delivered = match delivered {
            Ok(Some(delivered)) => delivered,
            Ok(None) => return Ok(()),
            Err(failure) => {
                self.give_up(agent, newest);
                return on_event(&AttendEvent::Failed(failure));
            }
        };
        on_event(&AttendEvent::Woken(self.report(&agent, &delivered)))?;
        let DeliveryResult { transcript, .. } = &delivered;
        if transcript.outcome == LaneOutcome::Cancelled {
            self.problem = Some(ErrorClass::Interrupted);
        } else if transcript.outcome != LaneOutcome::Answered {
            self.give_up(agent, newest);
        }
        if transcript.exit.end == ProcessEnd::BudgetLimit {
            self.problem = Some(ErrorClass::OverBudget);
            self.is_spent |= self.request.budget.budget.is_some();
        }
        Ok(())
    }

    /// Prints and returns the result of a wake-up.
    fn report(&self, agent: &AgentName, delivered: &DeliveryResult) -> AttendReport {
        let DeliveryResult { transcript, over, reply, .. } = delivered;
        let reporter = self.session.reporter_of(format!("@{agent}"));
        let loops = reply.filter(|reply| !wakes(reply.hop));
        reporter.say(sentence(transcript, None));
        if let Some(line) = over_budget_warning(transcript, *over) {
            reporter.warn(line);
        }
        if let Some(reply) = loops {
            reporter.say(wake_limit_note(reply));
        }
        let answer =
            transcript.output.answer().filter(|_| transcript.outcome == LaneOutcome::Answered);
        AttendReport {
            agent: agent.to_string(),
            outcome: transcript.outcome.name(),
            answer: answer.map(ToOwned::to_owned),
            message_id: reply.map(|reply| reply.id),
            hop: reply.map(|reply| reply.hop),
            wake_loop: loops.is_some(),
            took_ms: transcript.exit.took.as_millis(),
            over_budget: over.map(OverBudgetReport::from),
        }
    }

    /// Leaves an agent that gave no answer alone until a new message arrives.
    fn give_up(&mut self, agent: AgentName, newest: i64) {
        self.given_up.insert(agent, newest);
        self.problem = Some(ErrorClass::NoAnswer);
    }
}
