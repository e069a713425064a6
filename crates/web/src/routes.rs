//! Which page answers which path.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use convoke_page::SCRIPT;
use convoke_page::layout::{SCRIPT_PATH, STYLE, STYLE_PATH};

use crate::answer::typed;
use crate::dashboard::Dashboard;
use crate::door::{Door, guard};
use crate::login::{LOGIN_PATH, OPEN_PATH, log_in, login_form, open};
use crate::pages::{designs, dispatch, messages, missing, now, run, search, store, tasks, usage};

/// What every request needs: who may ask, and what answers.
pub(crate) struct Rooms {
    pub(crate) door: Door,
    pub(crate) dashboard: Arc<Dashboard>,
}

/// Returns the whole server; every request passes the door first, also one for a path that is not there.
pub(crate) fn router(rooms: Rooms) -> Router {
    let rooms = Arc::new(rooms);
    let outside = Router::new()
        .route(OPEN_PATH, get(open))
        .route(LOGIN_PATH, get(login_form).post(log_in))
        .with_state(Arc::clone(&rooms));
    let inside = Router::new()
        .merge(now::routes())
        .merge(tasks::routes())
        .merge(messages::routes())
        .merge(usage::routes())
        .merge(designs::routes())
        .merge(run::routes())
        .merge(dispatch::routes())
        .merge(store::routes())
        .merge(search::routes())
        .fallback(missing)
        .with_state(Arc::clone(&rooms.dashboard));
    Router::new()
        .route(STYLE_PATH, get(style))
        .route(SCRIPT_PATH, get(script))
        .merge(run::assets())
        .merge(outside)
        .merge(inside)
        .layer(from_fn_with_state(rooms, guard))
}

async fn style() -> Response {
    typed(StatusCode::OK, "text/css; charset=utf-8", STYLE)
}

async fn script() -> Response {
    typed(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT)
}
