//! The page of a search.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use convoke_page::layout::Section;
use convoke_page::search::search_page;
use convoke_service::search::search;

use super::failure;
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::form::Asked;

/// The longest search, in characters.
const LONGEST: usize = 200;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new().route("/search", get(show))
}

async fn show(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let words: String = fields.get("q").unwrap_or_default().chars().take(LONGEST).collect();
    match dashboard.read(move |session| search(session, &words)).await {
        Ok(report) => {
            let frame = dashboard.frame(Section::Search, "Search", None);
            shown(&frame, &search_page(&report))
        }
        Err(why) => failure(&dashboard, Section::Search, &why),
    }
}
