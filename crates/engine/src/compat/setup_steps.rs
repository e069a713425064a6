//! Single steps of setting up, for scripts that take them one by one.

use std::path::Path;
use std::time::Duration;

use convoke_domain::compat::new_branch::{NewBranchError, check_own};
use convoke_domain::design::setup::branch::BranchFacts;
use convoke_domain::design::setup::preflight::{PreflightError, Skips, check};

use crate::design::setup::{STALL_MARK, TREE_LIMIT, cleanliness};
use crate::git::branch::{NoWorkTree, REMOTE, WorkTree};

/// Returns the facts about the branch. Outside of a working tree it returns empty facts.
pub fn branch_facts(folder: &Path) -> BranchFacts {
    match WorkTree::at(folder) {
        Ok(tree) => facts(&tree),
        Err(_) => BranchFacts::new(None, "main", ""),
    }
}

fn facts(tree: &WorkTree) -> BranchFacts {
    BranchFacts::new(tree.branch().as_deref(), &tree.default_branch(), &tree.user_name())
}

/// Makes a branch at the remote's default branch, and checks it out.
pub fn create_branch(
    folder: &Path,
    name: &str,
    fetch_limit: Duration,
) -> Result<(), NewBranchError> {
    let tree = WorkTree::at(folder).map_err(|_| NewBranchError::NoWorkTree)?;
    check_own(&facts(&tree), name)?;
    if tree.has(&format!("refs/heads/{name}")) {
        return Err(NewBranchError::Exists(name.to_owned()));
    }
    let main = tree.default_branch();
    tree.fetch(&main, fetch_limit).map_err(|_| NewBranchError::FetchFailed(main.clone()))?;
    let start = format!("refs/remotes/{REMOTE}/{main}");
    let made = tree.create_branch(name, &start, TREE_LIMIT);
    made.map_err(|_| NewBranchError::NotCreated(name.to_owned()))
}

/// A checkout that a script may not begin on.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A check refused it.
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    /// The folder is not in a working tree.
    #[error(transparent)]
    NoWorkTree(#[from] NoWorkTree),
}

impl StepError {
    /// Returns the exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Preflight(error) => error.code(),
            Self::NoWorkTree(_) => 3,
        }
    }
}

/// Checks a checkout, fetches the default branch, and updates it if no check was left out.
pub fn preflight(folder: &Path, skips: Skips, fetch_limit: Duration) -> Result<(), StepError> {
    let tree = WorkTree::at(folder)?;
    let main = tree.default_branch();
    let is_clean = cleanliness(&tree);
    check(skips, tree.branch().as_deref(), &main, is_clean)?;
    tree.fetch(&main, fetch_limit)
        .map_err(|_| PreflightError::FetchFailed { main: main.clone() })?;
    if skips.updates() {
        let failed = |_| PreflightError::RebaseFailed { main: main.clone() };
        tree.rebase(&main, TREE_LIMIT).map_err(failed)?;
    }
    if !skips.clean {
        tree.forget_file(STALL_MARK);
    }
    Ok(())
}
