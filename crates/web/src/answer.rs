//! Answers: pages, redirections, and failures as pages with a status.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use convoke_page::layout::{PageFrame, page};
use convoke_service::failure::{ErrorClass, Failure, with_causes};
use maud::{Markup, html};

/// What goes wrong in the server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the page broke off; this is a bug in Convoke")]
    Panicked,
    #[error("the dashboard is closing")]
    Closed,
}

pub(crate) fn broken(what: Broken) -> Failure {
    Failure::new(ErrorClass::Bug, what)
}

/// Returns the status of a failed request.
pub(crate) const fn status_of(class: ErrorClass) -> StatusCode {
    match class {
        ErrorClass::Usage => StatusCode::BAD_REQUEST,
        ErrorClass::Refused | ErrorClass::TreeChanged => StatusCode::CONFLICT,
        ErrorClass::Prerequisite | ErrorClass::NoAnswer | ErrorClass::Interrupted => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorClass::OverBudget => StatusCode::PAYMENT_REQUIRED,
        ErrorClass::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns a whole page.
pub(crate) fn shown(frame: &PageFrame, content: &Markup) -> Response {
    html_answer(StatusCode::OK, page(frame, content).into_string())
}

pub(crate) fn html_answer(status: StatusCode, text: String) -> Response {
    typed(status, "text/html; charset=utf-8", text)
}

/// Returns an answer of a type.
pub(crate) fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Returns a few sentences in plain text.
pub(crate) fn refusal(status: StatusCode, words: impl Into<Body>) -> Response {
    typed(status, "text/plain; charset=utf-8", words)
}

/// Sends the browser to a page of ours, with a GET.
pub(crate) fn see_other(path: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    answer.headers_mut().insert(LOCATION, place);
    answer
}

/// Returns a failure as a page: what failed, why, and what to do.
pub(crate) fn failed(frame: &PageFrame, failure: &Failure) -> Response {
    let words = with_causes(failure.error.as_ref());
    let content = html! {
        h1 { "That did not work" }
        p.failure role="alert" { (words) }
        @if !failure.hints.is_empty() {
            ul.hints {
                @for hint in &failure.hints { li { (hint) } }
            }
        }
        p { a href=(frame.section.path()) { "Back to " (frame.section.name()) } }
    };
    html_answer(status_of(failure.class), page(frame, &content).into_string())
}
