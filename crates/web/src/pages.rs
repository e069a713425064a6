//! The pages' handlers: each reads a request, calls one use case and shows its report.

pub(crate) mod designs;
pub(crate) mod dispatch;
pub(crate) mod messages;
pub(crate) mod now;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod usage;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_page::layout::{Section, page};
use convoke_service::failure::Failure;
use maud::html;

use crate::answer::{failed, html_answer, see_other};
use crate::dashboard::Dashboard;

/// Answers a path that is not there.
pub(crate) async fn missing(State(dashboard): State<Arc<Dashboard>>) -> Response {
    let frame = dashboard.frame(Section::Search, "Not found", None);
    let content = html! {
        h1 { "There is no such page" }
        p { a href="/" { "Go to Now" } }
    };
    html_answer(StatusCode::NOT_FOUND, page(&frame, &content).into_string())
}

/// Shows why a request failed, on a page of its section.
pub(crate) fn failure(dashboard: &Dashboard, section: Section, why: &Failure) -> Response {
    failed(&dashboard.frame(section, "Failed", None), why)
}

/// Leads to a page after a change, which shows what the change said.
pub(crate) fn changed(dashboard: &Dashboard, path: &str, words: &str) -> Response {
    match dashboard.keep_notice(words) {
        None => see_other(path),
        Some(name) => {
            let (path, place) =
                path.split_once('#').map_or((path, ""), |(path, place)| (path, place));
            let join = if path.contains('?') { '&' } else { '?' };
            let place = if place.is_empty() { String::new() } else { format!("#{place}") };
            see_other(&format!("{path}{join}note={name}{place}"))
        }
    }
}
