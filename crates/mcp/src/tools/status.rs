//! `run_status`: how far a run is, now or after its next change.

use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_service::background::{run_mark, run_progress};
use convoke_service::failure::Failure;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::time::{Instant, sleep};

use super::Desk;
use crate::arguments::Arguments;
use crate::reply::Reply;

/// No call takes longer, in seconds: a client with a short limit gives up after 60.
const MOST_SECONDS: i64 = 45;

/// The same as a time.
pub(crate) const LONGEST: Duration = Duration::from_secs(MOST_SECONDS.cast_unsigned());

/// What a call that waits leaves for the status itself.
pub(crate) const RESERVE: Duration = Duration::from_secs(2);

/// How often Convoke looks for a change.
const STEP: Duration = Duration::from_millis(500);

/// How many looks there are between two notifications of progress; the first comes with the first look.
const LOOKS_PER_NOTICE: u32 = 10;

/// Shows how far a run is.
pub(super) fn status(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let run = arguments.required("run", RunId::parse)?;
    let report = run_progress(&desk.session, &run)?;
    Ok(Reply::new(report.text(), &report))
}

/// Waits until a run changes, its waiting time is over, the client cancels the call or the call must end.
/// Tells the client meanwhile that the call goes on. Ends nothing of the run.
pub(crate) async fn wait_for_change(
    desk: &Desk,
    arguments: &Arguments,
    context: &RequestContext<RoleServer>,
    latest: Instant,
) {
    let wanted = arguments.number("wait_s").unwrap_or(0).min(MOST_SECONDS);
    let Ok(run) = arguments.required("run", RunId::parse) else { return };
    if wanted == 0 {
        return;
    }
    let begin = Instant::now();
    let end = latest.min(begin + Duration::from_secs(wanted.unsigned_abs()));
    // The mark comes first: a run that ends between the two must not be waited for.
    let first = mark(desk, &run).await;
    if !goes_on(desk, &run).await {
        return;
    }
    for look in 1_u32.. {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        tokio::select! {
            () = context.ct.cancelled() => return,
            () = sleep(left.min(STEP)) => {}
        }
        if look % LOOKS_PER_NOTICE == 1 {
            tell(context, begin.elapsed(), end.saturating_duration_since(begin)).await;
        }
        if mark(desk, &run).await != first {
            return;
        }
    }
}

/// Only a run that goes on can change by itself.
async fn goes_on(desk: &Desk, run: &RunId) -> bool {
    let run = run.clone();
    let found = desk.work(move |desk| run_progress(&desk.session, &run)).await;
    found.is_ok_and(|found| found.is_ok_and(|report| report.poll_after_s.is_some()))
}

async fn mark(desk: &Desk, run: &RunId) -> Option<String> {
    let run = run.clone();
    desk.work(move |desk| run_mark(&desk.session, &run).ok()).await.ok().flatten()
}

async fn tell(context: &RequestContext<RoleServer>, passed: Duration, all: Duration) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let progress = ProgressNotificationParam::new(token, passed.as_secs_f64())
        .with_total(all.as_secs_f64())
        .with_message("waiting for the run to change");
    context.peer.notify_progress(progress).await.ok();
}
