//! `run_status`: how far a run is, now or after its next change.

use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_service::background::{run_mark, run_progress};
use convoke_service::failure::Failure;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::Desk;
use crate::arguments::Arguments;
use crate::reply::Reply;

/// No call takes longer, in seconds: a client with a short limit gives up after 60.
const MOST_SECONDS: i64 = 45;

/// The same as a time.
pub(crate) const LONGEST: Duration = Duration::from_secs(MOST_SECONDS.cast_unsigned());

/// How often Convoke looks for a change.
const STEP: Duration = Duration::from_millis(500);

/// How many looks there are between two notifications of progress.
const LOOKS_PER_NOTICE: u32 = 10;

/// Shows how far a run is.
pub(super) fn status(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let run = arguments.required("run", RunId::parse)?;
    let report = run_progress(&desk.session, &run)?;
    Ok(Reply::new(report.text(), &report))
}

/// Waits until a run changes, its waiting time is over or the client cancels the call. Tells the client
/// meanwhile that the call goes on. Ends nothing of the run.
pub(crate) async fn wait_for_change(
    desk: &Desk,
    arguments: &Arguments,
    context: &RequestContext<RoleServer>,
) {
    // One second is left for the status itself.
    let seconds = arguments.number("wait_s").unwrap_or(0).min(MOST_SECONDS - 1);
    let steps = u32::try_from(seconds).unwrap_or_default() * 2;
    let Ok(run) = arguments.required("run", RunId::parse) else { return };
    if steps == 0 {
        return;
    }
    // The mark comes first: a run that ends between the two must not be waited for.
    let first = mark(desk, &run).await;
    if !goes_on(desk, &run).await {
        return;
    }
    for step in 1..=steps {
        tokio::select! {
            () = context.ct.cancelled() => return,
            () = sleep(STEP) => {}
        }
        if step % LOOKS_PER_NOTICE == 0 {
            tell(context, step, steps).await;
        }
        if mark(desk, &run).await != first {
            return;
        }
    }
}

/// Only a run that goes on can change by itself.
async fn goes_on(desk: &Desk, run: &RunId) -> bool {
    let (session, run) = (desk.session.clone(), run.clone());
    let found = spawn_blocking(move || run_progress(&session, &run)).await;
    found.is_ok_and(|found| found.is_ok_and(|report| report.poll_after_s.is_some()))
}

async fn mark(desk: &Desk, run: &RunId) -> Option<String> {
    let (session, run) = (desk.session.clone(), run.clone());
    spawn_blocking(move || run_mark(&session, &run).ok()).await.ok().flatten()
}

async fn tell(context: &RequestContext<RoleServer>, step: u32, steps: u32) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let progress = ProgressNotificationParam::new(token, f64::from(step))
        .with_total(f64::from(steps))
        .with_message("waiting for the run to change");
    context.peer.notify_progress(progress).await.ok();
}
