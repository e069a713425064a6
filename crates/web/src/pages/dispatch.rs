//! The page Dispatch.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use convoke_page::dispatch::dispatch_page;
use convoke_page::layout::Section;
use convoke_service::dispatch::dispatch_matrix;

use super::failure;
use crate::answer::shown;
use crate::dashboard::Dashboard;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new().route("/dispatch", get(show))
}

async fn show(State(dashboard): State<Arc<Dashboard>>) -> Response {
    match dashboard.read(dispatch_matrix).await {
        Ok(report) => {
            let frame = dashboard.frame(Section::Dispatch, "Dispatch", None);
            shown(&frame, &dispatch_page(&report))
        }
        Err(why) => failure(&dashboard, Section::Dispatch, &why),
    }
}
