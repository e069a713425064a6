//! The list of designs.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use convoke_page::designs::designs_page;
use convoke_page::layout::Section;
use convoke_service::run::list_designs;

use super::failure;
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::form::Asked;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new().route("/runs", get(show))
}

async fn show(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let from = fields.get("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    match dashboard.read(list_designs).await {
        Ok(runs) => {
            let frame = dashboard.frame(Section::Runs, "Runs", fields.get("note"));
            shown(&frame, &designs_page(&runs, from))
        }
        Err(why) => failure(&dashboard, Section::Runs, &why),
    }
}
