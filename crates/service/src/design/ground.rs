//! Whether a resumed run still has its branch and a clean working tree.
//!
//! Agents are held to leave the working tree as it was. If a person has changed it meanwhile,
//! they would be blamed for it, and what they say would be about other files than the rest.

use convoke_domain::design::event::{Boundary, Reply, Tree};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::setup::{Ready, SetUp};
use convoke_domain::design::walk::{DesignEnding, Need, Next, walk};
use convoke_engine::git::branch::WorkTree;
use convoke_engine::git::diff::head;

use super::stage::{Stage, stopped};
use super::{DesignError, question};
use crate::failure::{ErrorClass, Failure};

/// A difference from the state at which the run stopped, and its remedy.
struct Other {
    found: String,
    hint: String,
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
            return Err(failure.hint(other.hint).hint(format!("convoke resume {}", stage.run)));
        }
    }
    let now_at = head(&stage.session.project).unwrap_or_default();
    if now_at != ready.base {
        stage.front_end.remark("the branch has other commits than when the run began");
    }
    Ok(())
}

fn other(stage: &Stage<'_>, ready: &Ready, ground: Ground) -> Option<Other> {
    let tree = WorkTree::at(&stage.session.project);
    let branch = tree.ok().and_then(|tree| tree.branch()).unwrap_or_default();
    if branch != ready.branch {
        let shown = |branch: &str| match branch {
            "" => "no branch".to_owned(),
            branch => format!("the branch `{branch}`"),
        };
        let (here, there) = (shown(&branch), shown(&ready.branch));
        let to = if ready.branch.is_empty() { &ready.base } else { &ready.branch };
        return Some(Other {
            found: format!("the run belongs to {there}, but {here} is checked out"),
            hint: format!(
                "git switch {}{to}",
                if ready.branch.is_empty() { "--detach " } else { "" }
            ),
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
            hint: "bring the files back to that state".to_owned(),
        }
    } else {
        Other {
            found: format!("the working tree has changes, yours or a stopped agent's{files}"),
            hint: "run `git status`, then commit or stash your changes".to_owned(),
        }
    })
}
