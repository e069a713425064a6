//! The page Store, and backups.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use convoke_page::layout::Section;
use convoke_page::store::store_page as page;
use convoke_service::store_page::{backup_store_now, store_page};
use convoke_service::store_transfer::check_store;

use super::{changed, failure};
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::form::Asked;

const SECTION: Section = Section::Store;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new().route("/store", get(show)).route("/store/backup", post(back_up))
}

async fn show(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let is_check = fields.get("check").is_some();
    let report = dashboard.read(move |session| {
        let check = is_check.then(|| check_store(session)).transpose()?;
        Ok((store_page(session)?, check))
    });
    match report.await {
        Ok((report, check)) => {
            let frame = dashboard.frame(SECTION, "Store", fields.get("note"));
            shown(&frame, &page(&report, check.as_ref(), frame.access, &frame.csrf))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn back_up(State(dashboard): State<Arc<Dashboard>>) -> Response {
    match dashboard.change(backup_store_now).await {
        Ok((done, _)) => {
            changed(&dashboard, "/store", &format!("Copied the store to {}.", done.path))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}
