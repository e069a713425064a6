//! The page Usage.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use convoke_page::layout::Section;
use convoke_page::usage::{PERIODS, usage_page as page};
use convoke_service::usage::{USUAL_DAYS, usage_page};

use super::failure;
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::form::Asked;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new().route("/usage", get(show))
}

async fn show(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let asked = fields.get("days").and_then(|days| days.parse().ok());
    let days = asked.filter(|days| PERIODS.contains(days)).unwrap_or(USUAL_DAYS);
    match dashboard.read(move |session| usage_page(session, days)).await {
        Ok(report) => shown(&dashboard.frame(Section::Usage, "Usage", None), &page(&report, days)),
        Err(why) => failure(&dashboard, Section::Usage, &why),
    }
}
