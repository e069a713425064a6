//! Saying that other branches and folders of the same repository have tasks, rules or messages.

mod folders;

use convoke_domain::pin::Pin;
use convoke_domain::scope::Scope;
use convoke_domain::text::{counted, shell_word};
use convoke_engine::git::{checkout, gone_branches, unproven_git_folder};
use convoke_store::error::StoreError;
use convoke_store::project::MOST_COUNTED;

pub(crate) use self::folders::{attach_command, missed_folder};
use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::{DETACHED, Workspace, refused};

/// Returns at most one line about each: other branches, rules of branches that are gone, other
/// folders, and a repository that the folder only points to. Each has the command that helps. Nothing
/// is brought here without that command: anyone can imitate a repository.
pub(crate) fn facts(session: &Session, workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let lines = [
        branches(workspace)?,
        rules_of_gone_branches(session, workspace)?,
        match folders::line(session, workspace)? {
            Some(line) => Some(line),
            None => folders::moved_without_git(session, workspace)?,
        },
        unproven(session),
    ];
    Ok(lines.into_iter().flatten().collect())
}

/// Returns what a hook says: what waits on branches that are gone, and in a folder that is gone or
/// merged.
pub(crate) fn hook_lines(session: &Session, workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let missed = missed_folder(session, workspace)?.map(|folder| folder.line());
    let rules = rules_of_gone_branches(session, workspace)?;
    let tasks = tasks_of_gone_branches(session, workspace)?;
    Ok([rules, tasks, missed].into_iter().flatten().collect())
}

/// Names the branch with the most rules of its own among those that exist no more.
fn rules_of_gone_branches(
    session: &Session,
    workspace: &Workspace,
) -> Result<Option<String>, Failure> {
    let Workspace { store, scope } = workspace;
    let pins = store.all_pins(&scope.project).map_err(refused)?;
    let now = session.now();
    let is_missed = |pin: &&Pin| {
        pin.task.is_none() && pin.plan.is_none() && pin.until.is_none_or(|until| until > now)
    };
    let mut found: Vec<(&str, usize)> = Vec::new();
    for branch in pins.iter().filter(is_missed).filter_map(|pin| pin.branch.as_deref()) {
        match found.iter_mut().find(|(known, _)| *known == branch) {
            Some((_, rules)) => *rules += 1,
            None => found.push((branch, 1)),
        }
    }
    found.retain(|(branch, _)| *branch != scope.branch);
    let gone = largest_gone(session, &found);
    Ok(gone.map(|(branch, rules)| {
        let (rules, branch) = (counted(rules, "rule"), shell_word(branch));
        format!(
            "branch {branch}, which is gone, has {rules} of the user; the user brings them here, in \
             a terminal, with `convoke task move --all --from-branch {branch}`"
        )
    }))
}

/// Names the branch with the most open tasks among those that exist no more, unless the wake-up itself
/// names it, as it does on a branch without open tasks.
fn tasks_of_gone_branches(
    session: &Session,
    workspace: &Workspace,
) -> Result<Option<String>, Failure> {
    let Workspace { store, scope } = workspace;
    let found = store.open_branches(&scope.project).map_err(refused)?;
    let is_other = |branch: &str| branch != scope.branch;
    let others: Vec<_> = found.iter().map(|(branch, tasks)| (branch.as_str(), *tasks)).collect();
    let has_here = others.iter().any(|(branch, _)| !is_other(branch));
    let largest = others.iter().max_by_key(|(_, tasks)| *tasks).filter(|_| !has_here).copied();
    // A checkout that is on no branch has lost none.
    let others: Vec<_> =
        others.into_iter().filter(|(branch, _)| is_other(branch) && *branch != DETACHED).collect();
    let gone = largest_gone(session, &others).filter(|gone| largest != Some(*gone));
    Ok(gone.map(|(branch, tasks)| {
        let (tasks, branch) = (open_tasks(tasks), shell_word(branch));
        format!(
            "branch {branch}, which is gone, has {tasks}; if they are work of this branch, ask the \
             user, then run `convoke task move --all --from-branch {branch}`"
        )
    }))
}

/// Returns the branch with the highest count among those that exist no more. Without a candidate, no
/// file is read: hooks ask at every prompt.
fn largest_gone<'a, N: Copy + Ord>(
    session: &Session,
    found: &[(&'a str, N)],
) -> Option<(&'a str, N)> {
    if found.is_empty() {
        return None;
    }
    let checkout = checkout(&session.project)?;
    let gone = gone_branches(&checkout, found.iter().map(|(branch, _)| *branch).collect());
    found
        .iter()
        .filter(|(branch, _)| gone.contains(branch))
        .max_by_key(|(_, count)| *count)
        .copied()
}

/// Says why the repository that the folder's `.git` names is not used.
fn unproven(session: &Session) -> Option<String> {
    let there = unproven_git_folder(&session.project)?;
    let is_worktree = there.parent().is_some_and(|parent| parent.ends_with("worktrees"));
    // The settings of a repository with a folder of its own must not name another one.
    let proof = match (is_worktree, there.ends_with(".git")) {
        (true, _) => "; if it is your worktree, run `git worktree repair` here",
        (false, true) => "",
        (false, false) => {
            "; if it is your repository, run `git config core.worktree \"$PWD\"` here"
        }
    };
    Some(format!(
        "`.git` leads to `{}`, which does not lead back, so this folder is a project of its own{proof}",
        there.display()
    ))
}

/// Tells where else there are open tasks, in every front end.
pub(crate) fn say(session: &Session, workspace: &Workspace) -> Result<(), Failure> {
    let reporter = session.reporter();
    facts(session, workspace)?.into_iter().for_each(|line| reporter.remark(line));
    Ok(())
}

/// Tells where else there are open tasks, beside text only.
pub(crate) fn note(session: &Session, workspace: &Workspace) -> Result<(), Failure> {
    let reporter = session.reporter();
    facts(session, workspace)?.into_iter().for_each(|line| reporter.aside(line));
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

/// Tells whether another branch of the project has open tasks.
pub(crate) fn has_tasks_on_other_branch(workspace: &Workspace) -> Result<bool, Failure> {
    let Workspace { store, scope } = workspace;
    let branches = store.open_branches(&scope.project).map_err(refused)?;
    Ok(branches.iter().any(|(branch, _)| *branch != scope.branch))
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
         or bring {} here with `convoke task move --all --from-branch {branch}`",
        open_tasks(*count),
        if *count == 1 { "it" } else { "them" },
    )))
}

fn open_tasks(count: u32) -> String {
    match count {
        1 => "1 open task".to_owned(),
        MOST_COUNTED => format!("at least {count} open tasks"),
        _ => format!("{count} open tasks"),
    }
}
