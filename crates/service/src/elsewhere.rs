//! Saying that other branches and folders of the same repository have open tasks.

use convoke_domain::scope::Scope;
use convoke_domain::text::shell_word;
use convoke_engine::git::identity::repository_id;
use convoke_store::error::StoreError;
use convoke_store::project::{KnownProject, MOST_COUNTED};

use crate::failure::Failure;
use crate::project::{folder, is_gone};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Returns at most one line about other branches and one about other folders, each with the command
/// that brings the tasks here. Only that command moves tasks: anyone can imitate a repository.
fn lines(session: &Session, workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let lines = [branches(workspace)?, folders(session, workspace)?];
    Ok(lines.into_iter().flatten().map(|line| format!("note: {line}")).collect())
}

/// Tells where else there are open tasks, in every front end.
pub(crate) fn say(session: &Session, workspace: &Workspace) -> Result<(), Failure> {
    let reporter = session.reporter();
    lines(session, workspace)?.into_iter().for_each(|line| reporter.say(line));
    Ok(())
}

/// Tells where else there are open tasks, beside text only.
pub(crate) fn note(session: &Session, workspace: &Workspace) -> Result<(), Failure> {
    let reporter = session.reporter();
    lines(session, workspace)?.into_iter().for_each(|line| reporter.note(line));
    Ok(())
}

/// Adds to a failure that another branch has the task that is missing here.
pub(crate) fn name_branch(failure: Failure, workspace: &Workspace) -> Failure {
    let Workspace { store, scope } = workspace;
    let Some(StoreError::NoTask { id }) = failure.error.downcast_ref::<StoreError>() else {
        return failure;
    };
    let branches = store.branches(&scope.project).unwrap_or_default();
    let has_it = |branch: &String| {
        let there = Scope::new(&scope.project, branch);
        *branch != scope.branch && store.task(&there, id).is_ok_and(|task| task.is_some())
    };
    let found = branches.into_iter().map(|(branch, _)| branch).find(has_it);
    match found {
        Some(branch) => {
            let branch = shell_word(&branch);
            let hint = format!(
                "`{id}` is on branch {branch}: add `--branch {branch}` to the command, or bring its \
                 tasks here with `convoke task move --all --from-branch {branch}`"
            );
            failure.hint(hint)
        }
        None => failure,
    }
}

fn branches(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let Workspace { store, scope } = workspace;
    let mut others = store.open_branches(&scope.project).map_err(refused)?;
    others.retain(|(branch, _)| *branch != scope.branch);
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let Some((branch, count)) = others.first() else { return Ok(None) };
    let more = match others.len() - 1 {
        0 => String::new(),
        1 => ", 1 more branch has some, too".to_owned(),
        more => format!(", {more} more branches have some, too"),
    };
    let branch = shell_word(branch);
    Ok(Some(format!(
        "branch {branch} has {}{more}; see `convoke task list --all-branches`, \
         or bring them here with `convoke task move --all --from-branch {branch}`",
        open_tasks(*count)
    )))
}

fn open_tasks(count: u32) -> String {
    match count {
        1 => "1 open task".to_owned(),
        MOST_COUNTED => format!("at least {count} open tasks"),
        _ => format!("{count} open tasks"),
    }
}

fn folders(session: &Session, workspace: &Workspace) -> Result<Option<String>, Failure> {
    let Workspace { store, scope } = workspace;
    let kept = store.repository_of(&scope.project).map_err(refused)?;
    let Some(own) = kept.or_else(|| repository_id(&session.project)) else { return Ok(None) };
    let mut found: Option<(bool, u32, KnownProject)> = None;
    for known in store.projects().map_err(refused)? {
        let is_same = known.repository.as_ref().is_some_and(|other| other.is_same(&own));
        if known.name == scope.project || !is_same {
            continue;
        }
        let branches = store.open_branches(&known.name).map_err(refused)?;
        let count: u32 = branches.iter().map(|(_, count)| count).sum();
        let candidate = (is_gone(&known), count, known);
        let is_better =
            found.as_ref().is_none_or(|best| (candidate.0, candidate.1) > (best.0, best.1));
        if count > 0 && is_better {
            found = Some(candidate);
        }
    }
    Ok(found.map(|(is_gone, count, known)| {
        let (name, place, tasks) = (&known.name, folder(&known), open_tasks(count));
        if is_gone {
            format!(
                "this repository was in `{place}`, which is gone, and has {tasks} there; \
                 if you moved it, take them over with `convoke project attach {name}`"
            )
        } else {
            format!(
                "`{place}` is a folder of the same repository with {tasks}; \
                 bring them here with `convoke project merge {name}`"
            )
        }
    }))
}
