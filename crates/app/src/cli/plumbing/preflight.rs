//! `convoke plumbing preflight` and `clean-tree`.

use convoke_domain::design::setup::preflight::{Probe, Skips, UnknownOption, clean_lines};
use convoke_engine::design::setup::steps::{self, StepError};
use convoke_engine::git::branch::porcelain;

use super::{FETCH_LIMIT, print};
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    match Skips::parse(words) {
        Ok(skips) => {
            let checked = steps::preflight(&app.project, skips, FETCH_LIMIT);
            let code = checked.as_ref().map_or_else(StepError::code, |()| 0);
            print(&lines(checked), output)?;
            Ok(Exit::Script(code))
        }
        Err(error) => {
            output.say(&error.to_string());
            Ok(Exit::Script(UnknownOption::CODE))
        }
    }
}

/// Returns what is printed about a checkout.
pub(super) fn lines(checked: Result<(), StepError>) -> Vec<String> {
    match checked {
        Ok(()) => vec!["PREFLIGHT=ok".to_owned()],
        Err(error) => vec!["PREFLIGHT=fail".to_owned(), format!("PREFLIGHT_ERROR={error}")],
    }
}

pub(super) fn clean_tree(
    app: &App,
    words: &[String],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let fail_closed = match words {
        [] => false,
        [flag] if flag == "--fail-closed" => true,
        [.., word] => {
            output.say(&format!("clean-tree: unknown flag: {word}"));
            return Ok(Exit::Script(2));
        }
    };
    let found = porcelain(&app.project);
    match &found {
        Probe::Listed(_) => {}
        Probe::Failed(code, words) => output.say(&format!(
            "clean-tree: git status --porcelain failed (exit {code}): {}",
            words.trim_end()
        )),
        Probe::NotRun(words) => {
            output.say(&format!("clean-tree: git did not run: {}", words.trim_end()));
        }
    }
    let (lines, code) = clean_lines(&found, fail_closed);
    print(&lines, output)?;
    Ok(Exit::Script(code))
}
