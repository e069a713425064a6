//! A lane for workers, from its submission to its end, as its submitter sees it.

use std::time::Duration;

use convoke_engine::chance::random_number;
use convoke_engine::skill::hash;
use convoke_store::fleet::{
    EventPlace, FleetEvent, FleetLane, FleetLaneState, NewFleetLane, PermitLimit, SubmitAnswer,
};
use jiff::SignedDuration;

use super::order::FleetOrder;
use super::patience::patiently;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::fleet;
use crate::workspace::{Workspace, refused};

/// A lane holds its permit as long as its submitter or its worker was there within this time.
const PERMIT: SignedDuration = SignedDuration::from_mins(2);

/// How long a submitter waits for a store that is away.
const PATIENCE: Duration = Duration::from_mins(5);

/// The most letters of a lane's name.
const LONGEST_NAME: usize = 200;

#[derive(Debug, thiserror::Error)]
enum SubmissionError {
    #[error(
        "cannot submit lane `{name}`: there is one of this name with another prompt or request"
    )]
    Different { name: String },
    #[error("cannot call a lane `{}`: a name has 1 to {LONGEST_NAME} letters in one line", name.escape_debug())]
    Name { name: String },
    #[error("lane {id} is no longer in the store")]
    Gone { id: String },
}

/// The outcome of a lane that its submitter or a person ended.
pub(super) const CANCELLED: &str = "cancelled";

/// The outcome of a lane that no worker ended.
const LOST: &str = "lost";

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
    /// The prompt.
    pub prompt: String,
    /// The lane's name in its project, by which a submitter finds it again.
    pub name: Option<String>,
}

/// A lane that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedLane {
    /// Its id.
    pub id: String,
    /// Its queue.
    pub queue: String,
    /// The generation that the engine must hand out.
    pub generation: u64,
}

/// What a submitter sees of its lane.
#[derive(Debug)]
pub struct LaneLook {
    /// The lane.
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
        let most = fleet::settings(session)?.limits.get(&key).copied();
        let lane = NewFleetLane {
            id: &id,
            project: &workspace.scope.project,
            queue: &queue,
            request: &request,
            prompt: &self.prompt,
            permit: PermitLimit { key: &key, most, counts_for: PERMIT },
        };
        let submit = || workspace.store.submit_fleet_lane(&lane, session.now());
        let answer = patiently(PATIENCE, &session.cancel(), submit).map_err(refused)?;
        let generation = match answer {
            SubmitAnswer::Submitted => 1,
            SubmitAnswer::Known(lane) => again(workspace, session, &lane)?,
            SubmitAnswer::Full { .. } => return Ok(None),
            SubmitAnswer::Different => {
                let name = self.name.clone().unwrap_or_default();
                let error = SubmissionError::Different { name };
                return Err(Failure::new(ErrorClass::Usage, error).hint("choose another name"));
            }
        };
        Ok(Some(SubmittedLane { id, queue, generation }))
    }

    fn id(&self, workspace: &Workspace) -> Result<String, Failure> {
        let Some(name) = &self.name else { return Ok(format!("f-{:016x}", random_number())) };
        let is_usable = !name.trim().is_empty()
            && name.chars().count() <= LONGEST_NAME
            && !name.contains(char::is_control);
        if !is_usable {
            let error = SubmissionError::Name { name: name.clone() };
            return Err(Failure::new(ErrorClass::Usage, error));
        }
        let named = hash(format!("{}\n{name}", workspace.scope.project));
        Ok(format!("n-{}", named.chars().take(24).collect::<String>()))
    }
}

/// Returns the generation of a lane that is known by its name. One that no agent ended, because its
/// submitter cancelled it or its workers were lost, is submitted once more.
fn again(workspace: &Workspace, session: &Session, lane: &FleetLane) -> Result<u64, Failure> {
    let is_unheard = matches!(lane.outcome.as_deref(), Some(CANCELLED | LOST));
    if lane.state != FleetLaneState::Ended || !is_unheard {
        return Ok(lane.generation);
    }
    let store = &workspace.store;
    let now = SignedDuration::ZERO;
    let next = store.resubmit_fleet_lane(&lane.id, lane.generation, now, session.now());
    // Another submitter of the same name may have been faster.
    Ok(next.map_err(refused)?.unwrap_or_else(|| lane.generation.saturating_add(1)))
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

    /// Ends the lane for its submitter; tells whether it was open. The store must be there.
    pub fn stop(
        &self,
        workspace: &Workspace,
        session: &Session,
        reason: StopReason,
    ) -> Result<bool, Failure> {
        let outcome = reason.outcome();
        workspace.store.stop_fleet_lane(&self.id, outcome, session.now()).map_err(refused)
    }
}

impl LaneLook {
    /// Tells whether the lane has ended.
    pub fn is_over(&self) -> bool {
        self.lane.state == FleetLaneState::Ended
    }
}
