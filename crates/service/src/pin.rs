//! Rules of the user that Convoke gives every agent again after a loss of memory.

use convoke_domain::client::Client;
use convoke_domain::message::shown_time;
use convoke_domain::pin::{MOST, Pin, PinText};
use convoke_domain::task::id::TaskId;
use convoke_store::delivery::Session as ClientSession;
use convoke_store::pin::{NewPin, PinReceipt, Reach};
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};
use serde::Serialize;

use crate::elsewhere;
use crate::failure::{ErrorClass, Failure};
use crate::hooks::{WakeArrival, arrival_in};
use crate::session::Session;
use crate::settings::wake;
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, refused};

/// The scope of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinScope {
    /// On every branch of the project.
    Project,
    /// On one branch.
    Branch,
    /// On one branch, while its task is open.
    Task,
}

/// When a rule ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinEnd {
    /// At the end of this day, by the clock that times are shown by.
    Day(Date),
    /// When its task is closed.
    TaskDone,
}

/// A rule to add.
#[derive(Debug, Clone)]
pub struct AddPinRequest {
    /// The rule's text.
    pub text: PinText,
    /// The rule's scope; without it, the project, or with a task the branch.
    pub scope: Option<PinScope>,
    /// The task while which is open it holds.
    pub task: Option<TaskId>,
    /// When it ends.
    pub until: Option<PinEnd>,
    /// Another branch than the checked-out one.
    pub branch: Option<String>,
}

/// Which rules are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinList {
    /// Those that hold here.
    Here,
    /// Those of the whole project, also those that have ended.
    Everything,
}

/// A rule that was removed.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedPinReport {
    /// The rule's number.
    pub removed: i64,
}

#[derive(Debug, thiserror::Error)]
enum PinError {
    #[error("cannot add the rule: `--until done` needs `--task ID`")]
    NoTask,
    #[error("cannot add the rule: that day is over")]
    Past,
    #[error("cannot add the rule: {MOST} rules are in force here already")]
    Many,
    #[error("there is no rule {id} in this project")]
    NoPin { id: i64 },
}

/// A rule for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PinReport {
    /// The rule's number.
    pub id: i64,
    /// The rule's text.
    pub text: String,
    /// The branch that it holds on; without it, on every branch of the project.
    pub branch: Option<String>,
    /// The task while which is open it holds.
    pub task: Option<String>,
    /// The plan that it cancels.
    pub plan: Option<String>,
    /// When it ends.
    pub until: Option<String>,
    /// Whether it holds here now.
    pub holds: bool,
    /// When it was added.
    pub created_at: String,
    /// The rule's last delivery.
    pub last_delivery: Option<PinDeliveryReport>,
    /// The last day that it holds on, for display.
    #[serde(skip)]
    pub last_day: Option<String>,
}

/// The last delivery of a rule, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PinDeliveryReport {
    /// The client that received it.
    pub client: String,
    /// The client's session.
    pub session: String,
    /// When it was delivered.
    pub delivered_at: String,
    /// When it was seen in the client's own record.
    pub arrived_at: Option<String>,
}

impl PinReport {
    fn new(pin: &Pin, holds: &[Pin], receipt: Option<PinReceipt>, clock: Offset) -> Self {
        Self {
            last_day: pin.until.map(|end| last_day(end, clock)),
            id: pin.id,
            text: pin.text.as_str().to_owned(),
            branch: pin.branch.clone(),
            task: pin.task.as_ref().map(ToString::to_string),
            plan: pin.plan.clone(),
            until: pin.until.map(|at| at.to_string()),
            holds: holds.iter().any(|other| other.id == pin.id),
            created_at: pin.created_at.to_string(),
            last_delivery: receipt.map(|receipt| PinDeliveryReport {
                client: receipt.client,
                session: receipt.session,
                delivered_at: receipt.at.to_string(),
                arrived_at: receipt.arrived_at.map(|at| at.to_string()),
            }),
        }
    }

    /// Renders the rule and its scope in one line.
    pub fn line(&self) -> String {
        let branch = self.branch.as_ref().map(|branch| format!("on {branch}"));
        let task = self.task.as_ref().map(|task| format!("while {task} is open"));
        let until = self.last_day.as_ref().map(|day| format!("until {day}"));
        let ended = (!self.holds).then(|| "not in force here".to_owned());
        let limits: Vec<_> = [branch, task, until, ended].into_iter().flatten().collect();
        let limits =
            if limits.is_empty() { String::new() } else { format!("  ({})", limits.join(", ")) };
        format!("{}  {}{limits}", self.id, self.text)
    }

    /// Renders its last delivery as a line of a status.
    pub fn status(&self, clock: Offset) -> String {
        format!("rule {}: {}\n", self.id, self.delivery(clock))
    }

    /// Renders its last delivery.
    pub fn delivery(&self, clock: Offset) -> String {
        match &self.last_delivery {
            None => "not delivered yet".to_owned(),
            Some(PinDeliveryReport { client, session, delivered_at, arrived_at }) => {
                let arrived = if arrived_at.is_some() {
                    "; arrived: seen in the client's record"
                } else {
                    ""
                };
                let delivered_at = shown_time(delivered_at, clock);
                format!("last delivered {delivered_at} to {client}, session {session}{arrived}")
            }
        }
    }
}

/// Adds a rule. Only the user may do this.
pub fn add_pin(session: &Session, request: &AddPinRequest) -> Result<PinReport, Failure> {
    refuse_agents(session, UserOnly::Rules)?;
    if request.until == Some(PinEnd::TaskDone) && request.task.is_none() {
        let hint = "name the task: `convoke pin add TEXT --task ID`";
        return Err(Failure::new(ErrorClass::Usage, PinError::NoTask).hint(hint));
    }
    let workspace = Workspace::open(session, request.branch.as_deref())?;
    workspace.keep_repository(session);
    let reach = match (request.scope, &request.task) {
        (Some(PinScope::Project), _) | (None, None) => Reach::Project,
        (Some(PinScope::Branch | PinScope::Task), _) | (None, Some(_)) => Reach::Branch,
    };
    let until = last_moment(session, request.until)?;
    let task = request.task.as_ref();
    let new = NewPin { text: &request.text, reach, task, plan: None, until };
    let report = add(session, &workspace, &new)?;
    workspace.mark_folder(session);
    Ok(report)
}

/// Returns the end of the last day, by the clock that times are shown by.
fn last_moment(session: &Session, until: Option<PinEnd>) -> Result<Option<Timestamp>, Failure> {
    let Some(PinEnd::Day(day)) = until else { return Ok(None) };
    let clock = wake::settings(session)?.clock;
    let next = day.saturating_add(1.day()).at(0, 0, 0, 0);
    // The first and the last days of the calendar have no time on every clock.
    let beyond = if day.year() > 0 { Timestamp::MAX } else { Timestamp::MIN };
    let end = clock.to_timestamp(next).unwrap_or(beyond);
    if end > session.now() {
        Ok(Some(end))
    } else {
        Err(Failure::new(ErrorClass::Usage, PinError::Past))
    }
}

/// Returns the day that ends at a time, as the user named it; the time itself where the clock has
/// changed since.
fn last_day(end: Timestamp, clock: Offset) -> String {
    // The end of the calendar's last day is no time on every clock; the store keeps milliseconds.
    if end.as_millisecond() == Timestamp::MAX.as_millisecond() {
        return Date::MAX.to_string();
    }
    let next = clock.to_datetime(end);
    match next.date().yesterday() {
        Ok(day) if next.time() == Time::midnight() => day.to_string(),
        Ok(_) | Err(_) => end.to_string(),
    }
}

/// Adds a rule in an open workspace.
pub(crate) fn add(
    session: &Session,
    workspace: &Workspace,
    new: &NewPin<'_>,
) -> Result<PinReport, Failure> {
    let Workspace { store, scope } = workspace;
    // Cancelling a plan must always be possible.
    let holding = store.pins(scope, session.now()).map_err(refused)?;
    let rules = holding.iter().filter(|pin| pin.plan.is_none()).count();
    if rules >= MOST && new.plan.is_none() {
        return Err(
            Failure::new(ErrorClass::Refused, PinError::Many).hint("remove some: `convoke pin rm`")
        );
    }
    let is_same = |pin: &&Pin| pin.plan.is_none() && pin.text == *new.text;
    if let Some(same) = holding.iter().find(is_same).filter(|_| new.plan.is_none()) {
        let id = same.id;
        session.reporter().remark(format!(
            "rule {id} says the same and is in force here; `convoke pin rm {id}` removes it"
        ));
    }
    let pin = store.add_pin(scope, new, session.now()).map_err(refused)?;
    let holds = store.pins(scope, session.now()).map_err(refused)?;
    let report = PinReport::new(&pin, &holds, None, wake::settings_for_hook(session).0.clock);
    if !report.holds {
        session.reporter().remark("the task is closed, so the rule is not in force");
    }
    Ok(report)
}

/// Removes a rule. Only the user may do this.
pub fn remove_pin(session: &Session, id: i64) -> Result<RemovedPinReport, Failure> {
    refuse_agents(session, UserOnly::Rules)?;
    let Workspace { store, scope } = Workspace::open(session, None)?;
    if !store.remove_pin(&scope.project, id, session.now()).map_err(refused)? {
        return Err(Failure::new(ErrorClass::Refused, PinError::NoPin { id })
            .hint("run `convoke pin list --all`"));
    }
    Ok(RemovedPinReport { removed: id })
}

/// Lists rules, with where each arrived last.
pub fn list_pins(session: &Session, list: PinList) -> Result<Vec<PinReport>, Failure> {
    let workspace = Workspace::open(session, None)?;
    elsewhere::note(session, &workspace)?;
    pin_reports(session, &workspace, list)
}

/// Lists rules of an open workspace, with where each arrived last.
pub fn pin_reports(
    session: &Session,
    workspace: &Workspace,
    list: PinList,
) -> Result<Vec<PinReport>, Failure> {
    let Workspace { store, scope } = workspace;
    let holds = store.pins(scope, session.now()).map_err(refused)?;
    let shown = match list {
        PinList::Here => holds.clone(),
        PinList::Everything => store.all_pins(&scope.project).map_err(refused)?,
    };
    let clock = wake::settings_for_hook(session).0.clock;
    let report = |pin: &Pin| {
        let mut receipt = store.last_receipt(pin.id).map_err(refused)?;
        if let Some(receipt) = &mut receipt {
            receipt.arrived_at = arrived_at(session, workspace, receipt)?;
        }
        Ok(PinReport::new(pin, &holds, receipt, clock))
    };
    shown.iter().map(report).collect()
}

/// Returns when a rule was seen in the client's record: now, if no hook has looked there since.
fn arrived_at(
    session: &Session,
    workspace: &Workspace,
    receipt: &PinReceipt,
) -> Result<Option<Timestamp>, Failure> {
    if receipt.arrived_at.is_some() {
        return Ok(receipt.arrived_at);
    }
    let Some(client) = Client::parse(&receipt.client) else { return Ok(None) };
    let of = ClientSession { client, id: &receipt.session };
    let arrival = arrival_in(session, workspace, of, receipt.at)?;
    Ok((arrival == Some(WakeArrival::Arrived)).then(|| session.now()))
}
