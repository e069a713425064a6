//! Cancelling a plan so that no agent executes it, and taking it up again.

use std::path::Path;

use convoke_domain::pin::PinText;
use convoke_store::pin::{NewPin, Reach};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::pin::{PinReport, add};
use crate::session::Session;
use crate::task::plan_file;
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error("cannot cancel `{plan}`: no task of this branch comes from it")]
    NoTasks { plan: String },
    #[error("cannot cancel `{plan}`: it is cancelled already")]
    Cancelled { plan: String },
    #[error("cannot resume `{plan}`: it is not cancelled")]
    NotCancelled { plan: String },
}

/// A plan that was taken up again.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumedPlanReport {
    /// The plan, relative to the project.
    pub resumed: String,
}

/// Pins the rule that a plan is cancelled; its open tasks are no agent's next action any more. Only the
/// user may do this.
pub fn cancel_plan(
    session: &Session,
    plan: &Path,
    because: Option<&str>,
) -> Result<PinReport, Failure> {
    refuse_agents(session, UserOnly::Rules)?;
    let workspace = Workspace::open(session, None)?;
    let Workspace { store, scope } = &workspace;
    let plan = plan_file(session, plan)?;
    if store.tasks_of_plan(scope, Some(&plan)).map_err(refused)?.is_empty() {
        let hint = "run `convoke task tree --json` to see the plans of this branch";
        return Err(Failure::new(ErrorClass::Refused, PlanError::NoTasks { plan }).hint(hint));
    }
    let pins = store.pins(scope, session.now()).map_err(refused)?;
    if pins.iter().any(|pin| pin.plan.as_ref() == Some(&plan)) {
        return Err(Failure::new(ErrorClass::Refused, PlanError::Cancelled { plan }));
    }
    let text = PinText::of_cancelled_plan(&plan, because)
        .map_err(|error| Failure::new(ErrorClass::Usage, error))?;
    let (reach, plan) = (Reach::Branch, Some(plan.as_str()));
    add(session, &workspace, &NewPin { text: &text, reach, task: None, plan, until: None })
}

/// Takes up a cancelled plan again, by removing that rule. Only the user may do this.
pub fn resume_plan(session: &Session, plan: &Path) -> Result<ResumedPlanReport, Failure> {
    refuse_agents(session, UserOnly::Rules)?;
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let plan = plan_file(session, plan)?;
    if store.resume_plan(&scope, &plan, session.now()).map_err(refused)? == 0 {
        return Err(Failure::new(ErrorClass::Refused, PlanError::NotCancelled { plan })
            .hint("run `convoke pin list` to see the cancelled plans"));
    }
    Ok(ResumedPlanReport { resumed: plan })
}
