//! The tasks of the plan that an agent works on, as far as it needs them.

use std::collections::BTreeMap;

use convoke_domain::agent::Agent;
use convoke_domain::finding::FileFinding;
use convoke_domain::plan::PlanExcerpt;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::outline::{TaskCounts, TaskOutline};
use convoke_domain::task::tree::{TaskNode, current_path, current_path_of, trees};
use convoke_domain::task::{Task, TaskState};
use convoke_domain::text::{CharOffset, Text, is_disruptive};
use convoke_domain::wake::frame::without_tags;
use convoke_domain::wake::news::NewsPlace;
use convoke_domain::wake::{WakeFit, WakeProfile};
use convoke_store::error::StoreError;
use convoke_store::task::{ActivePlan, Surroundings};

use super::plan_cache::excerpt_of;
use super::{MAX_PLAN_BYTES, WakeCall, WakeSources};
use crate::file::OpenedFile;

/// The largest plan that is read whole.
const MOST_TASKS: usize = 500;

/// How many characters of a title are shown, and where there is little room.
pub(super) const LONG_TITLE: usize = 400;
const SHORT_TITLE: usize = 60;

/// The tasks of the active plan.
pub(super) struct Work {
    pub(super) roots: Vec<TaskNode>,
    /// The same with titles that are cut short.
    pub(super) short_roots: Vec<TaskNode>,
    /// How many tasks of the plan are in neither.
    elsewhere: TaskCounts,
    /// The titles as they are stored.
    titles: BTreeMap<TaskId, String>,
    pub(super) plan_file: Option<String>,
    other_plans: OtherPlans,
}

/// What is known of the plans beside the active one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherPlans {
    /// At least one has an open task.
    Open,
    /// None has an open task.
    Closed,
    /// Convoke did not look: it tells only a reader who leads.
    Unknown,
}

impl Work {
    /// Reads a plan's tasks, all of them where the contract's list is wanted.
    pub(super) fn read(
        sources: &WakeSources<'_>,
        call: &WakeCall,
        fit: WakeFit,
        agents: &[Agent],
    ) -> Result<Self, StoreError> {
        let plan = active_plan(sources, call)?;
        let is_work = plan != ActivePlan::Nothing;
        let plan_file = match plan {
            ActivePlan::Nothing | ActivePlan::WithoutFile => None,
            ActivePlan::File(plan) => Some(plan),
        };
        let most = match fit {
            WakeFit::Seed => usize::MAX,
            WakeFit::Kept => MOST_TASKS,
        };
        let agent = (call.profile == WakeProfile::Agent).then_some(&call.agent);
        let (store, scope) = (sources.store, sources.scope);
        let found = is_work.then(|| store.surroundings(scope, plan_file.as_deref(), agent, most));
        let Surroundings { tasks, elsewhere } = found.transpose()?.unwrap_or_default();
        let grown = |most: usize| {
            let clipped = tasks.iter().map(|task| clip_title(task, fit, most)).collect();
            trees(clipped, |task| TaskState::among(agents, task))
        };
        let (roots, short_roots) = (grown(LONG_TITLE), grown(SHORT_TITLE));
        let leads = agent.is_none() && fit == WakeFit::Kept;
        let other_plans = if !leads {
            OtherPlans::Unknown
        } else if store.is_open_elsewhere(scope, plan_file.as_deref())? {
            OtherPlans::Open
        } else {
            OtherPlans::Closed
        };
        let titles = tasks.into_iter().map(|task| (task.id, task.content)).collect();
        Ok(Self { roots, short_roots, elsewhere, titles, plan_file, other_plans })
    }

    /// Tells whether another plan may have an open task.
    pub(super) fn may_be_open_elsewhere(&self) -> bool {
        self.other_plans != OtherPlans::Closed
    }

    /// Returns the whole title of the line that is marked as current.
    pub(super) fn marked_title(&self, outline: Option<&TaskOutline<'_>>) -> Option<String> {
        self.titles.get(&outline?.current()?.task.id).cloned()
    }

    /// Reads what the tasks on the way to the current one, and the marked one, need of the plan.
    pub(super) fn plan_excerpt(
        &self,
        sources: &WakeSources<'_>,
        path: &[&TaskNode],
        marked: Option<&str>,
    ) -> Option<(&str, FileFinding)> {
        let file = self.plan_file.as_deref()?;
        let titles = path.iter().map(|node| node.task.content.as_str());
        let excerpt = PlanExcerpt::of(titles.chain(marked));
        let opened = OpenedFile::below(sources.root, &sources.root.join(file), MAX_PLAN_BYTES);
        let text = opened.and_then(|plan| {
            excerpt_of(&plan, excerpt, sources.plan_cache.as_deref(), sources.now)
        });
        Some((file, text.map_or_else(|found| found, FileFinding::Text)))
    }

    pub(super) fn outline<'a>(
        &self,
        roots: &'a [TaskNode],
        sources: &WakeSources<'_>,
        call: &WakeCall,
    ) -> Option<TaskOutline<'a>> {
        let letters = sources.next_action.letters();
        let outline = TaskOutline::new(roots, &current(roots, call)).with_letters(letters);
        let outline = match self.other_plans {
            OtherPlans::Open => outline.beside_open_plans(),
            OtherPlans::Closed | OtherPlans::Unknown => outline,
        };
        (!roots.is_empty()).then(|| outline.with_elsewhere(self.elsewhere))
    }

    /// Returns the agent's place in the plan. In a plan that was read in part, the store counts its
    /// siblings.
    pub(super) fn place<'a>(
        &'a self,
        sources: &WakeSources<'_>,
        path: &[&'a TaskNode],
    ) -> Result<NewsPlace<'a>, StoreError> {
        let (siblings, phase) = match path {
            [.., parent, _] => (parent.children.as_slice(), Some(parent.task.content.as_str())),
            _ => (self.roots.as_slice(), None),
        };
        let Some(leaf) = path.last() else {
            return Ok(NewsPlace { of: siblings.len(), ..NewsPlace::default() });
        };
        let before = siblings.iter().take_while(|node| !std::ptr::eq(*node, *leaf)).count();
        let (number, of) = if self.elsewhere == TaskCounts::default() {
            (before + 1, siblings.len())
        } else {
            sources.store.place(sources.scope, &leaf.task)?
        };
        Ok(NewsPlace { phase, number, of, task: Some(leaf.task.content.as_str()) })
    }
}

/// Returns the way to the task that the agent is working on.
pub(super) fn current<'a>(roots: &'a [TaskNode], call: &WakeCall) -> Vec<&'a TaskNode> {
    match call.profile {
        WakeProfile::Orchestrator => current_path(roots),
        WakeProfile::Agent => current_path_of(roots, &call.agent),
    }
}

/// Cuts a title that is longer than a line should be; the contract never does.
fn clip_title(task: &Task, fit: WakeFit, most: usize) -> Task {
    let mut clipped = task.clone();
    if fit == WakeFit::Kept {
        let shown = clipped.content.replace(is_disruptive, " ");
        clipped.content = without_tags(&shown).into_owned();
    }
    let content = clipped.content.clone();
    let text = Text::new(&content);
    if fit == WakeFit::Kept && text.chars() > most {
        let kept = text.before(CharOffset::new(most)).as_str();
        clipped.content = format!("{kept}… [`convoke task show {}`]", task.id);
    }
    clipped
}

/// The orchestrator follows the whole scope, an agent what it holds.
fn active_plan(sources: &WakeSources<'_>, call: &WakeCall) -> Result<ActivePlan, StoreError> {
    let of = (call.profile == WakeProfile::Agent).then_some(&call.agent);
    sources.store.active_plan(sources.scope, of)
}
