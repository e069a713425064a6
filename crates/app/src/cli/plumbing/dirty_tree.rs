//! `convoke plumbing dirty-tree`.

use convoke_domain::tree::sidecar::{TreeNote, TreeRequest};
use convoke_engine::git::sidecar::check;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// A probe never stops what it watches: whatever is wrong is a reason.
pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let note = match TreeRequest::parse(words) {
        Ok(request) => check(&app.project, &request),
        Err(reason) => TreeNote::unknown(None, Some(reason)),
    };
    output.data(&note.text())?;
    Ok(Exit::Done)
}
