//! `convoke plumbing cleanup`.

use std::path::Path;

use convoke_domain::design::setup::cleanup::{CleanupError, folder};
use convoke_engine::design::session_folder::remove;

use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::output::Output;

/// Who removed what.
const AUDIT: &str = "larch-cleanup-audit.log";

pub(super) fn run(app: &App, words: &[String], output: &Output) -> Exit {
    let temp = app.environment.temp();
    let mut roots = vec![temp.clone(), "/private/tmp".into()];
    roots.extend(app.environment.sessions());
    roots.extend(app.environment.runs());
    let (home, audit) = (app.environment.home(), temp.join(AUDIT));
    let removed = folder(words)
        .and_then(|dir| remove(Path::new(dir), &roots, home.as_deref(), &audit, now()));
    match removed {
        Ok(()) => Exit::Done,
        Err(error) => {
            output.say(&error.to_string());
            Exit::Script(CleanupError::CODE)
        }
    }
}
