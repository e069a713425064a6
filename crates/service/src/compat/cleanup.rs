//! Removing a session's folder.

use std::path::Path;

use convoke_domain::compat::cleanup::{CleanupError, folder};
use convoke_engine::compat::session_folder::remove;

use super::ScriptReply;
use crate::session::Session;

/// The log of removed folders, with the callers that asked for it.
const AUDIT: &str = "larch-cleanup-audit.log";

/// Removes a folder if it is clearly that of a session.
pub fn cleanup(session: &Session, words: &[String]) -> ScriptReply {
    let environment = &session.environment;
    let temp = environment.temp();
    let mut roots = vec![temp.clone(), "/private/tmp".into()];
    roots.extend(environment.sessions());
    roots.extend(environment.runs());
    let (home, audit) = (environment.home(), temp.join(AUDIT));
    let removed = folder(words)
        .and_then(|dir| remove(Path::new(dir), &roots, home.as_deref(), &audit, session.now()));
    match removed {
        Ok(()) => ScriptReply::code(0),
        Err(error) => {
            session.reporter().say(error.to_string());
            ScriptReply::code(CleanupError::CODE)
        }
    }
}
