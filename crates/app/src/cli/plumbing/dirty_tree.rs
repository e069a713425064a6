//! `convoke plumbing dirty-tree`.

use convoke_domain::tree::sidecar::{Note, TreeRequest};
use convoke_engine::git::sidecar::check;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// A probe never stops what it watches: whatever is wrong is a reason.
pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let note = match TreeRequest::parse(words) {
        Ok(request) => check(&app.project, &request),
        Err(reason) => Note::unknown(None, Some(reason)),
    };
    output.data(&note.text())?;
    Ok(Exit::Done)
}
