//! The page Now, its events, and stopping lanes and designs.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use convoke_domain::run::RunId;
use convoke_page::layout::{Access, Section};
use convoke_page::now::{confirm_stop, now_page};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::lane::stop;
use convoke_service::now::{now, stop_design};

use super::{changed, failure};
use crate::answer::{refusal, shown};
use crate::dashboard::{Dashboard, agents_known};
use crate::form::Asked;
use crate::live::{self, LivePage};

const LIVE_PATH: &str = "/live/now";

const SECTION: Section = Section::Now;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new()
        .route("/", get(show))
        .route(LIVE_PATH, get(events))
        .route("/lanes/{lane}/stop", get(ask_lane).post(stop_lane))
        .route("/runs/{run}/stop", get(ask_design).post(stop_run))
}

async fn show(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let agents = dashboard.agents();
    match dashboard.read(now).await {
        Ok(mut report) => {
            dashboard.add_trees(&mut report.lanes);
            let mut frame = dashboard.frame(SECTION, "Now", fields.get("note"));
            frame.live = Some(LIVE_PATH.to_owned());
            let agents = agents_known(agents.as_deref());
            shown(&frame, &now_page(&report, agents, dashboard.access))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn events(State(dashboard): State<Arc<Dashboard>>) -> Response {
    live::events(&dashboard, LivePage::Now)
}

async fn ask_lane(State(dashboard): State<Arc<Dashboard>>, Path(lane): Path<i64>) -> Response {
    let effect =
        "All lanes of the same process stop with it. A design goes on with `convoke resume`.";
    let action = format!("/lanes/{lane}/stop");
    ask(&dashboard, &format!("lane {lane}"), effect, &action)
}

async fn stop_lane(State(dashboard): State<Arc<Dashboard>>, Path(lane): Path<i64>) -> Response {
    match dashboard.change(move |session| stop(session, lane)).await {
        Ok((stopped, _)) if stopped.was_over => {
            changed(&dashboard, "/", &format!("Lane {lane} was over already."))
        }
        Ok((stopped, _)) => {
            let with = stopped.with_it.iter().map(ToString::to_string).collect::<Vec<_>>();
            let with = if with.is_empty() {
                String::new()
            } else {
                format!(" With it stopped lanes {}.", with.join(", "))
            };
            changed(&dashboard, "/", &format!("Lane {lane} stopped.{with}"))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

fn run_id(text: &str) -> Result<RunId, Failure> {
    RunId::parse(text).map_err(|error| Failure::new(ErrorClass::Usage, error))
}

async fn ask_design(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> Response {
    match run_id(&run) {
        Ok(run) => {
            let effect = format!("Its lanes stop. It goes on with `convoke resume {run}`.");
            ask(&dashboard, &format!("design {run}"), &effect, &format!("/runs/{run}/stop"))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn stop_run(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> Response {
    let stopped = match run_id(&run) {
        Ok(run) => dashboard.change(move |session| stop_design(session, &run)).await,
        Err(why) => Err(why),
    };
    match stopped {
        Ok(_) => changed(
            &dashboard,
            "/",
            &format!("Design {run} stopped. It goes on with `convoke resume {run}`."),
        ),
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

fn ask(dashboard: &Dashboard, what: &str, effect: &str, action: &str) -> Response {
    if dashboard.access == Access::ReadOnly {
        return refusal(StatusCode::FORBIDDEN, "this dashboard is read-only\n");
    }
    let frame = dashboard.frame(SECTION, &format!("Stop {what}"), None);
    shown(&frame, &confirm_stop(what, effect, action, &frame.csrf))
}
