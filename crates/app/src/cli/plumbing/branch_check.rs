//! `convoke plumbing branch-check`.

use convoke_domain::design::setup::new_branch::{BranchOrder, NewBranchError, created};
use convoke_engine::design::setup::steps::{branch_facts, create_branch};

use super::{FETCH_LIMIT, print};
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let lines = match BranchOrder::parse(words) {
        Ok(BranchOrder::Check) => Ok(branch_facts(&app.project).lines().to_vec()),
        Ok(BranchOrder::Create(name)) => {
            create_branch(&app.project, &name, FETCH_LIMIT).map(|()| created(&name).to_vec())
        }
        Err(error) => Err(error),
    };
    match lines {
        Ok(lines) => print(&lines, output),
        Err(error) => Ok(refused(&error, output)),
    }
}

fn refused(error: &NewBranchError, output: &Output) -> Exit {
    output.say(&error.to_string());
    Exit::Script(error.code())
}
