//! Lines from outside of the agent's plan or branch that it must not miss.

use convoke_domain::task::Task;
use convoke_domain::task::title::in_sentence;
use convoke_domain::text::{is_disruptive, shell_word};
use convoke_domain::wake::frame::without_tags;
use convoke_domain::wake::{ElsewhereLines, WakeFit, WakeProfile};
use convoke_store::error::StoreError;

use super::work::Work;
use super::{WakeCall, WakeSources};

/// How many urgent tasks are named.
const NAMED: usize = 3;

/// How much of a title is shown, in characters.
const TITLE: usize = 80;

/// Reads what there is outside of a plan and of the branch. Messages there stay unread.
pub(super) fn lines(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    work: &Work,
    fit: WakeFit,
) -> Result<ElsewhereLines, StoreError> {
    if fit == WakeFit::Seed {
        return Ok(ElsewhereLines::default());
    }
    let has_others = !work.roots.is_empty() && work.may_be_open_elsewhere();
    let urgent = has_others.then(|| urgent(sources, call, work.plan_file.as_deref()));
    let urgent = urgent.transpose()?.flatten();
    let harmless = |line: String| without_tags(&line).into_owned();
    let unread = unread(sources, call)?;
    Ok(ElsewhereLines { urgent: urgent.map(harmless), unread: unread.map(harmless) })
}

/// Names open tasks of high priority that belong to another plan.
fn urgent(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    plan: Option<&str>,
) -> Result<Option<String>, StoreError> {
    let (store, scope) = (sources.store, sources.scope);
    let agent = (call.profile == WakeProfile::Agent).then_some(&call.agent);
    let mut found = store.urgent_elsewhere(scope, plan, agent, NAMED + 1)?;
    let more = if found.len() > NAMED { ", and more: `convoke task list`" } else { "" };
    found.truncate(NAMED);
    let name = |task: &Task| {
        let title = task.content.replace(is_disruptive, " ");
        format!("{} (`convoke task show {}`)", in_sentence(&title, TITLE), task.id)
    };
    let names: Vec<_> = found.iter().map(name).collect();
    let list = names.join(", ");
    Ok((!names.is_empty()).then(|| format!("High priority outside this plan: {list}{more}")))
}

/// Counts unread messages to the agent on other branches.
fn unread(sources: &WakeSources<'_>, call: &WakeCall) -> Result<Option<String>, StoreError> {
    let (project, branch) = (&sources.scope.project, &sources.scope.branch);
    let mut found = sources.store.unread_branches(project, &call.agent)?;
    found.retain(|(other, _)| other != branch);
    let count: usize = found.iter().map(|(_, count)| count).sum();
    let Some((fullest, _)) = found.iter().max_by_key(|(_, count)| *count) else {
        return Ok(None);
    };
    let place = match found.len() {
        1 => format!("branch `{}`", fullest.replace(is_disruptive, " ")),
        branches => format!("{branches} other branches"),
    };
    let there = shell_word(fullest);
    let command = format!("convoke inbox {} --branch {there} --mark", call.agent);
    Ok(Some(format!("({count} unread to you on {place}: `{command}`)")))
}
