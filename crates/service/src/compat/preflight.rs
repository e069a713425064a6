//! Whether a workflow may begin here, and whether the working tree is clean.

use convoke_domain::design::setup::preflight::{
    GitFailure, Probe, Skips, UnknownOption, clean_lines,
};
use convoke_engine::compat::setup_steps::{self, StepError};
use convoke_engine::git::branch::porcelain;

use super::{FETCH_LIMIT, ScriptReply};
use crate::session::Session;

/// Checks that a workflow may begin here. It fetches the default branch, and brings it up to date if the
/// words skip nothing.
pub fn preflight(session: &Session, words: &[String]) -> ScriptReply {
    match Skips::parse(words) {
        Ok(skips) => {
            let checked = setup_steps::preflight(&session.project, skips, FETCH_LIMIT);
            let code = checked.as_ref().map_or_else(StepError::code, |()| 0);
            ScriptReply::lines(&lines(checked), code)
        }
        Err(error) => {
            session.reporter().say(error.to_string());
            ScriptReply::code(UnknownOption::CODE)
        }
    }
}

/// Returns the output about a checkout.
pub(super) fn lines(checked: Result<(), StepError>) -> Vec<String> {
    match checked {
        Ok(()) => vec!["PREFLIGHT=ok".to_owned()],
        Err(error) => vec!["PREFLIGHT=fail".to_owned(), format!("PREFLIGHT_ERROR={error}")],
    }
}

/// Checks whether the working tree is clean. If git fails it counts as clean, unless the words
/// contain `--fail-closed`.
pub fn clean_tree(session: &Session, words: &[String]) -> ScriptReply {
    let reporter = session.reporter();
    let failure = match words {
        [] => GitFailure::Passed,
        [flag] if flag == "--fail-closed" => GitFailure::Unknown,
        [.., word] => {
            reporter.say(format!("clean-tree: unknown flag: {word}"));
            return ScriptReply::code(2);
        }
    };
    let found = porcelain(&session.project);
    match &found {
        Probe::Listed(_) => {}
        Probe::Failed(code, words) => reporter.say(format!(
            "clean-tree: git status --porcelain failed (exit {code}): {}",
            words.trim_end()
        )),
        Probe::NotRun(words) => {
            reporter.say(format!("clean-tree: git did not run: {}", words.trim_end()));
        }
    }
    let (lines, code) = clean_lines(&found, failure);
    ScriptReply::lines(&lines, code)
}
