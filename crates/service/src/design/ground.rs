//! Whether a resumed run still has its branch and a clean working tree.
//!
//! Agents are held to leave the working tree as it was. If a person has changed it meanwhile,
//! they would be blamed for it, and what they say would be about other files than the rest.

use convoke_domain::design::event::{Boundary, Reply, Tree};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::setup::{Ready, SetUp};
use convoke_domain::design::walk::{DesignEnding, Need, Next, walk};
use convoke_domain::text::shell_word;
use convoke_engine::git::branch::WorkTree;
use convoke_engine::git::diff::head;

use super::stage::{Stage, stopped};
use super::{DesignError, question};
use crate::failure::{ErrorClass, Failure};

/// A difference from the state at which the run stopped, and its remedy.
struct Other {
    found: String,
    hint: Option<String>,
    /// Whether the user can bring that state back, and then resume the run.
    can_come_back: bool,
}

/// What must be as it was when the run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// The branch alone: the run checks the working tree by itself, or no longer.
    Branch,
    BranchAndTree,
}

/// Goes on only if the project is in the state at which the run stopped. Otherwise it asks the
/// person, if there is one, even with `--auto`.
pub(super) fn check(stage: &mut Stage<'_>, facts: &Facts) -> Result<(), Failure> {
    let Some((_, SetUp::Ready(ready))) = facts.set_up() else { return Ok(()) };
    let ground = match walk(facts).next {
        Next::End(
            DesignEnding::Complete { .. } | DesignEnding::Refused(_) | DesignEnding::DirtyTree,
        ) => {
            return Ok(());
        }
        Next::Need(Need::Tree(_) | Need::Recover(..)) => Ground::Branch,
        // After the last boundary Convoke attributes no change to an agent.
        Next::Need(_) | Next::End(_) => {
            let is_clean = |(_, tree): &(_, Tree)| *tree == Tree::Clean;
            let is_past = facts.trees(Boundary::Reviews).iter().any(is_clean);
            if is_past { Ground::Branch } else { Ground::BranchAndTree }
        }
    };
    while let Some(other) = other(stage, ready, ground) {
        let question = question::other_ground(&other.found);
        let answer = if stage.front_end.has_person() { stage.ask(&question) } else { None };
        if answer.is_none() && stage.session.is_stopped() {
            return Err(stopped(&stage.run));
        }
        if answer != Some(Reply::Words(question.options[0].clone())) {
            let failure =
                Failure::new(ErrorClass::TreeChanged, DesignError::OtherGround(other.found));
            let resume = other.can_come_back.then(|| format!("convoke resume {}", stage.run));
            return Err(other.hint.into_iter().chain(resume).fold(failure, Failure::hint));
        }
    }
    let now_at = head(&stage.session.project).unwrap_or_default();
    if now_at != ready.base {
        stage.front_end.remark("the branch has other commits than when the run began");
    }
    Ok(())
}

fn other(stage: &Stage<'_>, ready: &Ready, ground: Ground) -> Option<Other> {
    let tree = WorkTree::at(&stage.session.project).ok();
    let branch = tree.as_ref().and_then(WorkTree::branch).unwrap_or_default();
    if branch != ready.branch {
        if !tree.as_ref().is_some_and(|tree| is_there(tree, ready)) {
            return Some(lost(tree.as_ref(), ready));
        }
        let shown = |branch: &str| match branch {
            "" => "no branch".to_owned(),
            branch => format!("the branch `{branch}`"),
        };
        let (here, there) = (shown(&branch), shown(&ready.branch));
        let to = if ready.branch.is_empty() { &ready.base } else { &ready.branch };
        return Some(Other {
            found: format!("the run belongs to {there}, but {here} is checked out"),
            hint: Some(format!(
                "git switch {}{to}",
                if ready.branch.is_empty() { "--detach " } else { "" }
            )),
            can_come_back: true,
        });
    }
    if ground == Ground::Branch {
        return None;
    }
    let Tree::Suspect { evidence, .. } = stage.tree() else { return None };
    let files = evidence.files().map(|files| format!(": {files}")).unwrap_or_default();
    Some(if ready.tree_before.is_some() {
        Other {
            found: format!(
                "the working tree differs from the uncommitted state that the run began on{files}"
            ),
            hint: Some("bring the files back to that state".to_owned()),
            can_come_back: true,
        }
    } else {
        Other {
            found: format!("the working tree has changes, yours or a stopped agent's{files}"),
            hint: Some("run `git status`, then commit or stash your changes".to_owned()),
            can_come_back: true,
        }
    })
}

/// Tells whether the repository still has what a run began on.
pub(crate) fn is_there(tree: &WorkTree, ready: &Ready) -> bool {
    if ready.branch.is_empty() { has_commit(tree, ready) } else { tree.has_branch(&ready.branch) }
}

fn has_commit(tree: &WorkTree, ready: &Ready) -> bool {
    !ready.base.is_empty() && tree.has_commit(&ready.base)
}

/// Says what is lost. A branch comes back at the commit on which the run began, if git has that.
fn lost(tree: Option<&WorkTree>, ready: &Ready) -> Other {
    let hint = tree
        .filter(|tree| !ready.branch.is_empty() && has_commit(tree, ready))
        .map(|_| format!("git switch --create {} {}", shell_word(&ready.branch), ready.base));
    let found = match tree {
        None => "the folder is no git repository any more".to_owned(),
        Some(_) if ready.branch.is_empty() => {
            format!("the repository has no commit {}, on which the run began", ready.base)
        }
        Some(_) => format!("the repository has no branch `{}`, to which it belongs", ready.branch),
    };
    Other { found, can_come_back: hint.is_some(), hint }
}
