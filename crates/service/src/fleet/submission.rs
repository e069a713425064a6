//! A lane for workers, from its submission to its end, as its submitter sees it.

use std::time::Duration;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::text::one_line;
use convoke_engine::chance::random_number;
use convoke_engine::skill::hash;
use convoke_store::fleet::{
    EventPlace, FleetEvent, FleetLane, FleetLaneState, NewFleetLane, PermitLimit, ResubmitAnswer,
    SubmitAnswer,
};
use jiff::{SignedDuration, Timestamp};

use super::order::FleetOrder;
use super::patience::patiently;
use super::status::is_there;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::fleet;
use crate::workspace::{Workspace, refused};

/// A lane holds its permit as long as its submitter or its worker was there within this time.
pub(super) const PERMIT: SignedDuration = SignedDuration::from_mins(2);

/// How long a submitter waits for a store that is away.
const PATIENCE: Duration = Duration::from_mins(5);

/// Added to a reset time, because the limit of a vendor need not end with the second.
const RESET_MARGIN: SignedDuration = SignedDuration::from_secs(2);

/// The most letters of a lane's name.
const LONGEST_NAME: usize = 200;

#[derive(Debug, thiserror::Error)]
enum SubmissionError {
    #[error(
        "cannot submit lane `{name}`: there is one of this name with another prompt, or an open or answered \
         one with another agent, commit or model"
    )]
    Different { name: String },
    #[error("cannot call a lane `{}`: a name has 1 to {LONGEST_NAME} letters in one line", name.escape_debug())]
    Name { name: String },
    #[error("lane {id} is no longer in the store")]
    Gone { id: String },
}

/// The outcome of a lane that its submitter or a person ended.
pub(super) const CANCELLED: &str = "cancelled";

/// The outcome of a lane with an answer.
pub(super) const ANSWERED: &str = LaneOutcome::Answered.name();

/// The outcome of a lane that no worker ended.
const LOST: &str = "lost";

/// How the id of a lane without a name begins.
const UNNAMED: &str = "f-";

/// Tells whether a submitter that was killed can find the lane again: by its name.
pub(super) fn is_named(id: &str) -> bool {
    !id.starts_with(UNNAMED)
}

/// Why a submitter ends its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The submitter ends.
    Cancelled,
    /// No worker works on it any more.
    Lost,
}

impl StopReason {
    const fn outcome(self) -> &'static str {
        match self {
            Self::Cancelled => CANCELLED,
            Self::Lost => LOST,
        }
    }
}

/// A lane that a submitter wants to have run.
#[derive(Debug, Clone)]
pub struct LaneSubmission {
    /// The request.
    pub order: FleetOrder,
    /// The prompt as the worker's agent gets it.
    pub prompt: String,
    /// The lane's name in its project, by which a submitter finds it again.
    pub name: Option<String>,
}

/// A lane that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedLane {
    /// The id under which the store keeps it.
    pub id: String,
    /// The queue in which it waits for a worker.
    pub queue: String,
    /// The generation that the engine must hand out.
    pub generation: u64,
    /// The place after which the submitter hears its lines.
    pub heard: EventPlace,
}

/// What a submitter sees of its lane.
#[derive(Debug)]
pub struct LaneLook {
    /// The lane as the store has it now.
    pub lane: FleetLane,
    /// Lines since the last look.
    pub events: Vec<FleetEvent>,
}

impl LaneSubmission {
    /// Submits the lane, or finds it by its name. `None` while its agent's limit is reached, which is
    /// no error: the caller asks again.
    pub fn submit(
        &self,
        workspace: &Workspace,
        session: &Session,
    ) -> Result<Option<SubmittedLane>, Failure> {
        let id = self.id(workspace)?;
        let (request, key) = (self.order.text(), self.order.permit_key());
        let offer = self.order.offer();
        let queue = offer.map_or_else(|| self.order.offer.clone(), |offer| offer.queue());
        let settings = fleet::settings(session)?;
        let most = settings.limits.get(&key).copied();
        let lane = NewFleetLane {
            id: &id,
            project: &workspace.scope.project,
            queue: &queue,
            request: &request,
            prompt: &self.prompt,
            permit: PermitLimit { key: &key, most, counts_for: PERMIT },
            most_attempts: settings.attempts,
        };
        let submit = || workspace.store.submit_fleet_lane(&lane, session.now());
        let answer = patiently(PATIENCE, &session.cancel(), submit).map_err(refused)?;
        let (generation, heard) = match answer {
            SubmitAnswer::Submitted => (1, EventPlace::default()),
            SubmitAnswer::Known(known)
                if !is_repeated(&known) && !self.order.is_same_work(&known.request) =>
            {
                return Err(self.different());
            }
            SubmitAnswer::Known(known) => {
                let Some(generation) = again(workspace, session, &known, &lane)? else {
                    return Ok(None);
                };
                // Those of a generation that has ended were for its own submitter.
                let is_new = generation > known.generation;
                let heard = EventPlace { generation, ..EventPlace::default() };
                (generation, if is_new { heard } else { EventPlace::default() })
            }
            SubmitAnswer::Full { .. } => return Ok(None),
            SubmitAnswer::Different => return Err(self.different()),
        };
        Ok(Some(SubmittedLane { id, queue, generation, heard }))
    }

    fn different(&self) -> Failure {
        let name = self.name.clone().unwrap_or_default();
        let error = SubmissionError::Different { name };
        Failure::new(ErrorClass::Usage, error).hint("choose another name")
    }

    /// Submits a lane again that ended at its agent's limit, to begin when the limit lets it; `None` if its
    /// report names no time, or the time is not within `left`. While it waits, it holds no permit.
    pub fn submit_later(
        &self,
        workspace: &Workspace,
        session: &Session,
        lane: &FleetLane,
        left: SignedDuration,
    ) -> Result<Option<(SubmittedLane, SignedDuration)>, Failure> {
        if lane.outcome.as_deref() != Some(LaneOutcome::RateLimited.name()) {
            return Ok(None);
        }
        let report = lane.report.as_deref().unwrap_or_default();
        let report: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
        let resets_at = report["resets_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let store = &workspace.store;
        let now = store.fleet_clock(session.now()).map_err(refused)?;
        let wait = resets_at.map(|at| at.duration_since(now).saturating_add(RESET_MARGIN));
        let Some(wait) = wait.filter(|wait| wait.is_positive() && *wait < left) else {
            return Ok(None);
        };
        let (id, queue, generation) = (lane.id.clone(), lane.queue.clone(), lane.generation);
        let permit = PermitLimit { key: &self.order.permit_key(), most: None, counts_for: PERMIT };
        let request = self.order.text();
        let next =
            store.resubmit_fleet_lane(&id, generation, &request, &permit, wait, session.now());
        let ResubmitAnswer::Submitted(generation) = next.map_err(refused)? else { return Ok(None) };
        let heard = EventPlace { generation, ..EventPlace::default() };
        Ok(Some((SubmittedLane { id, queue, generation, heard }, wait)))
    }

    fn id(&self, workspace: &Workspace) -> Result<String, Failure> {
        let Some(name) = &self.name else {
            return Ok(format!("{UNNAMED}{:016x}", random_number()));
        };
        let is_usable = !name.trim().is_empty()
            && name.chars().count() <= LONGEST_NAME
            && !name.contains(char::is_control);
        if !is_usable {
            let error = SubmissionError::Name { name: name.clone() };
            return Err(Failure::new(ErrorClass::Usage, error));
        }
        // On another commit, the agent would see something else.
        let commit = self.order.commit.as_deref().unwrap_or_default();
        let named = hash(format!("{}\n{name}\n{commit}", workspace.scope.project));
        Ok(format!("n-{}", named.chars().take(24).collect::<String>()))
    }
}

/// Tells whether a lane that is known by its name is run again for its next submitter: it ended without an
/// answer, for which its limits may be the reason.
fn is_repeated(lane: &FleetLane) -> bool {
    lane.state == FleetLaneState::Ended && lane.outcome.as_deref() != Some(ANSWERED)
}

/// Returns the generation of a lane that is known by its name. One that ended without an answer is
/// submitted once more, with the present request; `None` while its agent's limit is reached.
fn again(
    workspace: &Workspace,
    session: &Session,
    known: &FleetLane,
    asked: &NewFleetLane<'_>,
) -> Result<Option<u64>, Failure> {
    if !is_repeated(known) {
        return Ok(Some(known.generation));
    }
    let store = &workspace.store;
    let (generation, now) = (known.generation, session.now());
    let (request, permit, at_once) = (asked.request, &asked.permit, SignedDuration::ZERO);
    let next = store.resubmit_fleet_lane(&known.id, generation, request, permit, at_once, now);
    Ok(match next.map_err(refused)? {
        ResubmitAnswer::Submitted(generation) => Some(generation),
        // Another submitter of the same name was faster.
        ResubmitAnswer::Moved => Some(generation.saturating_add(1)),
        ResubmitAnswer::Full { .. } => None,
    })
}

impl SubmittedLane {
    /// Returns the id by which the engine knows this generation of the lane.
    pub fn ticket(&self) -> String {
        format!("{}.{}", self.id, self.generation)
    }

    /// Says that the submitter is there, and returns the lane with its lines after a place.
    pub fn look(
        &self,
        workspace: &Workspace,
        session: &Session,
        after: EventPlace,
    ) -> Result<LaneLook, Failure> {
        let store = &workspace.store;
        let watch = || store.watch_fleet_lane(&self.id, session.now());
        let lane = patiently(PATIENCE, &session.cancel(), watch).map_err(refused)?;
        let Some(lane) = lane else {
            let error = SubmissionError::Gone { id: self.id.clone() };
            return Err(Failure::new(ErrorClass::Prerequisite, error));
        };
        // Read after the lane: a lane that has ended adds no line.
        Ok(LaneLook { lane, events: self.lines(workspace, session, after)? })
    }

    /// Returns the lane's lines after a place.
    pub fn lines(
        &self,
        workspace: &Workspace,
        session: &Session,
        after: EventPlace,
    ) -> Result<Vec<FleetEvent>, Failure> {
        let read = || workspace.store.fleet_events(&self.id, after);
        patiently(PATIENCE, &session.cancel(), read).map_err(refused)
    }

    /// Returns why no worker will take a lane that waits: every one that offers it has given it back, and
    /// none is tried for the first time.
    pub fn refusal(
        &self,
        workspace: &Workspace,
        session: &Session,
        lane: &FleetLane,
    ) -> Result<Option<String>, Failure> {
        let is_tried = lane.returned >= u64::from(lane.most_attempts);
        if lane.state != FleetLaneState::Waiting || !is_tried {
            return Ok(None);
        }
        let store = &workspace.store;
        let now = store.fleet_clock(session.now()).map_err(refused)?;
        let workers = store.fleet_workers().map_err(refused)?;
        let mut there =
            workers.iter().filter(|worker| is_there(worker, &self.queue, now)).peekable();
        if there.peek().is_none() {
            return Ok(None);
        }
        let words: Option<Vec<_>> = there
            .map(|worker| {
                let why = lane.complaints.get(&worker.process)?;
                Some(format!("{}: {}", worker.process, one_line(why)))
            })
            .collect();
        Ok(words.map(|words| format!("every worker gave it back; {}", words.join("; "))))
    }

    /// Ends this generation of the lane for its submitter; tells whether it was open. The store must be
    /// there.
    pub fn stop(
        &self,
        workspace: &Workspace,
        session: &Session,
        reason: StopReason,
    ) -> Result<bool, Failure> {
        let outcome = reason.outcome();
        let store = &workspace.store;
        store.stop_fleet_lane(&self.id, self.generation, outcome, session.now()).map_err(refused)
    }
}

impl LaneLook {
    /// Tells whether the lane has ended.
    pub fn is_over(&self) -> bool {
        self.lane.state == FleetLaneState::Ended
    }

    /// Tells whether another submitter of the same name has submitted the lane again, after the one of
    /// `generation` was cancelled or lost.
    pub fn is_taken_over(&self, generation: u64) -> bool {
        !self.is_over() && self.lane.generation > generation
    }
}
