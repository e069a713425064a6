//! Prints facts about the branch, or creates one.

use convoke_domain::compat::new_branch::{BranchOrder, created};
use convoke_engine::compat::setup_steps::{branch_facts, create_branch};

use super::{FETCH_LIMIT, ScriptReply};
use crate::session::Session;

/// Prints facts about the branch, or creates one.
pub fn branch_check(session: &Session, words: &[String]) -> ScriptReply {
    let lines = match BranchOrder::parse(words) {
        Ok(BranchOrder::Check) => Ok(branch_facts(&session.project).lines().to_vec()),
        Ok(BranchOrder::Create(name)) => {
            create_branch(&session.project, &name, FETCH_LIMIT).map(|()| created(&name).to_vec())
        }
        Err(error) => Err(error),
    };
    match lines {
        Ok(lines) => ScriptReply::lines(&lines, 0),
        Err(error) => {
            session.reporter().say(error.to_string());
            ScriptReply::code(error.code())
        }
    }
}
