//! The page of a run, its diagram, what a person answers there, and runs side by side.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderValue, X_FRAME_OPTIONS};
use axum::response::Response;
use axum::routing::{get, post};
use convoke_domain::design::matter::{MatterId, RulingChoice};
use convoke_domain::run::RunId;
use convoke_page::compare::{
    choose_runs, compare_runs as compared, compare_with_single_pass, no_single_pass,
};
use convoke_page::layout::Section;
use convoke_page::run::{
    DIAGRAM_POLICY, DRAW_SCRIPT, DRAW_SCRIPT_PATH, MERMAID, MERMAID_PATH, RUN_SCRIPT,
    RUN_SCRIPT_PATH, RUN_STYLE, RUN_STYLE_PATH, RunPage, diagram_document, run as content,
    run_path,
};
use convoke_service::background::{AnsweredRunReport, answer_question, rule_run};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::now::run_now;
use convoke_service::run::{
    CompareOutcome, CompareRequest, SinglePassSource, compare as compare_ways, compare_runs,
    person_ruling, recent_designs, show_run, show_run_at,
};
use convoke_service::session::Session;

use super::{changed, failure};
use crate::answer::{html_answer, shown, typed};
use crate::dashboard::Dashboard;
use crate::door::{CheckedForm, POLICY};
use crate::form::{Asked, bad_field};
use crate::live::{self, LivePage};

const SECTION: Section = Section::Runs;

/// How many designs a run can be put beside by choosing from a list: the last 20, and this one.
const MOST_OFFERED: usize = 21;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new()
        .route("/runs/{run}", get(show))
        .route("/live/runs/{run}", get(events))
        .route("/runs/{run}/diagram", get(diagram))
        .route("/runs/{run}/answer", post(answer))
        .route("/runs/{run}/decide", post(decide))
        .route("/compare", get(compare))
        .route("/runs/{run}/single-pass", get(single_pass))
}

/// Files of these pages, which say nothing about a project.
pub(crate) fn assets() -> Router {
    Router::new()
        .route(RUN_STYLE_PATH, get(async || typed(StatusCode::OK, STYLE, RUN_STYLE)))
        .route(RUN_SCRIPT_PATH, get(async || typed(StatusCode::OK, SCRIPT, RUN_SCRIPT)))
        .route(DRAW_SCRIPT_PATH, get(async || typed(StatusCode::OK, SCRIPT, DRAW_SCRIPT)))
        .route(MERMAID_PATH, get(mermaid))
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

async fn mermaid() -> Response {
    let mut answer = typed(StatusCode::OK, SCRIPT, MERMAID);
    answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    answer
}

fn run_id(text: &str) -> Result<RunId, Failure> {
    RunId::parse(text).map_err(|error| Failure::new(ErrorClass::Usage, error))
}

async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    Asked(fields): Asked,
) -> Response {
    let at = match fields.maybe("at", |at| at.parse::<u64>().ok()) {
        Ok(at) => at,
        Err(why) => return failure(&dashboard, SECTION, &why),
    };
    let read = dashboard
        .read(move |session| {
            let run = run_id(&run)?;
            let whole = show_run(session, Some(&run))?;
            let at = at.filter(|at| *at < whole.journal.events).map(|at| at.max(1));
            let then = at.map(|at| show_run_at(session, Some(&run), Some(at))).transpose()?;
            let lanes = if then.is_none() { run_now(session, &run)?.lanes } else { Vec::new() };
            let recent = recent_designs(session, MOST_OFFERED)?;
            Ok((whole, then, lanes, recent))
        })
        .await;
    match read {
        Ok((whole, then, mut lanes, recent)) => {
            dashboard.add_trees(&mut lanes);
            let report = then.as_ref().unwrap_or(&whole);
            let mut frame = dashboard.frame(SECTION, &report.feature, fields.get("note"));
            // What was does not change.
            frame.live = then.is_none().then(|| format!("/live/runs/{}", whole.run));
            let page = RunPage {
                report,
                course: &whole.timeline,
                lanes: &lanes,
                recent: &recent,
                access: dashboard.access,
                csrf: &frame.csrf,
            };
            with_frame(shown(&frame, &content(&page)))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn events(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> Response {
    match run_id(&run) {
        Ok(run) => live::events(&dashboard, LivePage::Run(run)),
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

/// Lets a page show the frame with its diagram.
fn with_frame(mut answer: Response) -> Response {
    if let Ok(policy) = HeaderValue::from_str(&format!("{POLICY}; frame-src 'self'")) {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

async fn diagram(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> Response {
    let read = dashboard.read(move |session| show_run(session, Some(&run_id(&run)?))).await;
    match read {
        Ok(report) => {
            let mut answer = html_answer(StatusCode::OK, diagram_document(&report).into_string());
            let headers = answer.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(DIAGRAM_POLICY));
            headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
            answer
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

/// Shows the run after an answer or a decision was brought to it; it goes on in the background.
fn brought(
    dashboard: &Dashboard,
    run: &str,
    brought: Result<(AnsweredRunReport, String), Failure>,
) -> Response {
    match brought {
        Ok((report, _)) => {
            let answer = if report.answer.is_empty() { "as recommended" } else { &report.answer };
            let words = format!("{}: {answer}. Convoke resumes the run.", report.answered);
            changed(dashboard, &run_path(run), &words)
        }
        Err(why) => failure(dashboard, SECTION, &why),
    }
}

async fn answer(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let chosen = || fields.get("answer").unwrap_or_default().to_owned();
    let words = fields.lines("words").unwrap_or_else(chosen);
    let asked = run_id(&run).and_then(|id| Ok((id, fields.text("question")?.to_owned())));
    let done = match asked {
        Ok((id, question)) => {
            let bring = move |session: &Session| answer_question(session, &id, &question, &words);
            dashboard.change(bring).await
        }
        Err(why) => Err(why),
    };
    brought(&dashboard, &run, done)
}

async fn decide(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let ruling = || {
        let matter = fields.parsed("matter", MatterId::parse)?;
        let choice = fields.parsed("choice", RulingChoice::parse)?;
        let because = fields.lines("because").unwrap_or_default();
        Ok((run_id(&run)?, person_ruling(matter, choice, &because)?))
    };
    let done = match ruling() {
        Ok((id, ruling)) => dashboard.change(move |session| rule_run(session, &id, &ruling)).await,
        Err(why) => Err(why),
    };
    brought(&dashboard, &run, done)
}

async fn compare(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    if fields.get("first").is_none() && fields.get("second").is_none() {
        return shown(&dashboard.frame(SECTION, "Compare", None), &choose_runs());
    }
    let named = |name: &'static str| {
        fields.get(name).ok_or_else(|| bad_field(name)).and_then(|run| run_id(run.trim()))
    };
    let runs = named("first").and_then(|first| Ok((first, named("second")?)));
    let read = match runs {
        Ok((first, second)) => {
            dashboard.read(move |session| compare_runs(session, &first, &second)).await
        }
        Err(why) => Err(why),
    };
    match read {
        Ok(report) => shown(&dashboard.frame(SECTION, "Compare", None), &compared(&report)),
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

/// Shows a run beside the single pass that this machine keeps. Looking at a page starts no agent.
async fn single_pass(State(dashboard): State<Arc<Dashboard>>, Path(run): Path<String>) -> Response {
    let read = dashboard
        .read(move |session| {
            let run = run_id(&run)?;
            let request = CompareRequest { run: run.clone(), source: SinglePassSource::Kept };
            Ok((run, compare_ways(session, &request)?))
        })
        .await;
    let frame = dashboard.frame(SECTION, "Compare with a single pass", None);
    match read {
        Ok((_, CompareOutcome::Compared(report))) => {
            shown(&frame, &compare_with_single_pass(&report))
        }
        Ok((run, CompareOutcome::NotKept | CompareOutcome::NoPlan(_))) => {
            shown(&frame, &no_single_pass(run.as_str()))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}
