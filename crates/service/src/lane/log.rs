//! A lane's fields in the log: its numbers and names, never its prompt, answer or keys.

use convoke_domain::lane::event::Usage;
use tracing::Span;
use tracing::field::{Empty, display};

use super::{LaneRequest, LaneRun};
use crate::failure::Failure;

/// Returns the span of a lane. Everything that is logged while it is entered carries its fields.
pub(super) fn span(request: &LaneRequest<'_>) -> Span {
    let purpose = &request.purpose;
    let span = tracing::info_span!(
        "lane",
        lane = Empty,
        client = %request.agent,
        run = Empty,
        role = Empty,
        phase = Empty,
        seat = Empty
    );
    let fields = [
        ("run", purpose.run.as_deref()),
        ("role", purpose.role.as_deref()),
        ("phase", purpose.phase.as_deref()),
        // A panel labels each lane with its seat.
        ("seat", request.label),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            span.record(name, display(value));
        }
    }
    span
}

/// Logs that a lane begins, under its number if the store could record it.
pub(super) fn began(span: &Span, id: Option<i64>, request: &LaneRequest<'_>) {
    if let Some(id) = id {
        span.record("lane", id);
    }
    let (rights, model) = (request.rights, request.model);
    tracing::info!(?rights, model, prompt_bytes = request.prompt.len(), "the lane begins");
}

/// Logs how a lane ended.
pub(super) fn ended(result: &Result<LaneRun, Failure>) {
    match result {
        Ok(run) => {
            let transcript = &run.transcript;
            let (outcome, end) = (transcript.outcome.name(), &transcript.exit.end);
            let tokens = run.spent.map(Usage::tokens);
            tracing::info!(outcome, %end, took = ?transcript.exit.took, tokens, "the lane ended");
        }
        Err(failure) => {
            let (class, error) = (failure.class, &failure.error);
            tracing::warn!(?class, %error, "the lane failed");
        }
    }
}
