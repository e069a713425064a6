//! Tasks as a tree, and the one that is being worked on.

use std::collections::BTreeMap;

use super::id::TaskId;
use super::{DEEPEST, Task, TaskState, TaskStatus};
use crate::scope::AgentName;

/// A task with its children, siblings in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNode {
    /// The task as stored; its parent is the node above.
    pub task: Task,
    /// The task's state.
    pub state: TaskState,
    /// The tasks that name this one as parent, in the order of siblings.
    pub children: Vec<TaskNode>,
}

/// Builds the trees of a list of tasks.
///
/// Nothing is lost: a task whose parent is not in the list is a root, and a circle, which only a
/// damaged store can hold, is opened at its first task.
pub fn trees(tasks: Vec<Task>, state: impl Fn(&Task) -> TaskState) -> Vec<TaskNode> {
    let mut parts: BTreeMap<Option<TaskId>, Vec<Task>> = BTreeMap::new();
    let known: std::collections::BTreeSet<_> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in tasks {
        let parent = task.parent.clone().filter(|parent| known.contains(parent));
        parts.entry(parent).or_default().push(task);
    }
    let mut roots = nodes(None, &mut parts, &state);
    while let Some((_, mut circle)) = parts.pop_first() {
        circle.sort_by(in_order);
        let opened = circle.into_iter().map(|task| node(task, &mut parts, &state));
        roots.extend(opened.collect::<Vec<_>>());
    }
    roots
}

fn nodes(
    parent: Option<&TaskId>,
    parts: &mut BTreeMap<Option<TaskId>, Vec<Task>>,
    state: &impl Fn(&Task) -> TaskState,
) -> Vec<TaskNode> {
    let mut tasks = parts.remove(&parent.cloned()).unwrap_or_default();
    tasks.sort_by(in_order);
    tasks.into_iter().map(|task| node(task, parts, state)).collect()
}

fn node(
    task: Task,
    parts: &mut BTreeMap<Option<TaskId>, Vec<Task>>,
    state: &impl Fn(&Task) -> TaskState,
) -> TaskNode {
    let children = nodes(Some(&task.id), parts, state);
    TaskNode { state: state(&task), task, children }
}

/// Sorts tasks of any source into an order in which every parent comes before its parts.
///
/// Nothing is lost: a task whose parent is missing, or that is deeper than a tree may be, as in a
/// circle, becomes a root.
pub fn top_down(mut tasks: Vec<Task>) -> Vec<Task> {
    let parents: BTreeMap<_, _> =
        tasks.iter().map(|task| (task.id.clone(), task.parent.clone())).collect();
    let depth = |task: &Task| {
        let above = std::iter::successors(task.parent.as_ref(), |id| parents.get(id)?.as_ref());
        above.take(DEEPEST).count()
    };
    let keeps_parent = |task: &Task| {
        let known = task.parent.as_ref().is_some_and(|parent| parents.contains_key(parent));
        known && depth(task) < DEEPEST
    };
    let kept: Vec<_> = tasks.iter().map(|task| (keeps_parent(task), depth(task))).collect();
    for (task, (keeps_parent, _)) in tasks.iter_mut().zip(&kept) {
        task.parent = task.parent.take().filter(|_| *keeps_parent);
    }
    let mut ordered: Vec<_> = tasks.into_iter().zip(kept.iter().map(|(_, depth)| depth)).collect();
    ordered.sort_by(|one, other| one.1.cmp(other.1).then_with(|| in_order(&one.0, &other.0)));
    ordered.into_iter().map(|(task, _)| task).collect()
}

/// Orders siblings: by place, then by age, then by id.
pub fn in_order(one: &Task, other: &Task) -> std::cmp::Ordering {
    let key = |task: &Task| (task.order, task.created_at, task.id.clone());
    key(one).cmp(&key(other))
}

impl TaskNode {
    /// Tells whether the task itself is closed, regardless of its parts.
    pub fn is_closed(&self) -> bool {
        self.state.is_closed()
    }

    /// Tells whether it is open, and it or an open task below it is in progress.
    pub fn is_begun(&self) -> bool {
        let own = self.task.status == TaskStatus::InProgress;
        !self.is_closed() && (own || self.children.iter().any(Self::is_begun))
    }

    /// Tells whether it is open and waits for no other task.
    pub fn is_ready(&self) -> bool {
        !self.is_closed() && self.state != TaskState::Waiting
    }
}

/// Returns the way from a root to the task that is being worked on: always the first open one of the
/// highest priority that waits for no other, down to one without open parts. Work that is begun comes
/// before work of a higher priority that is not. Where every open task waits, the first of them is on
/// the way. Empty if everything is closed.
pub fn current_path(nodes: &[TaskNode]) -> Vec<&TaskNode> {
    let ready = ready_path(nodes);
    if ready.is_empty() { first_open_path(nodes) } else { ready }
}

/// The first open task at each level, whether or not it waits.
fn first_open_path(nodes: &[TaskNode]) -> Vec<&TaskNode> {
    let mut path = Vec::new();
    let mut level = nodes;
    while let Some(open) = level.iter().find(|node| !node.is_closed()) {
        path.push(open);
        level = &open.children;
    }
    path
}

/// Returns the way to the first task that can be worked on; empty if every open task waits.
fn ready_path(nodes: &[TaskNode]) -> Vec<&TaskNode> {
    for node in in_turn(nodes).filter(|node| node.is_ready()) {
        let below = ready_path(&node.children);
        // If all its open parts wait, so does the task.
        if !below.is_empty() || node.children.iter().all(TaskNode::is_closed) {
            return [vec![node], below].concat();
        }
    }
    Vec::new()
}

/// Returns siblings in working order. A raised priority, or an earlier task that is not started,
/// must not hide the current task.
pub(super) fn in_turn(nodes: &[TaskNode]) -> impl Iterator<Item = &TaskNode> {
    let mut ordered: Vec<_> = nodes.iter().collect();
    ordered.sort_by_key(|node| (!node.is_begun(), node.task.priority));
    ordered.into_iter()
}

/// Returns the way to what `agent` is working on: the same, below the first open task it holds.
pub fn current_path_of<'a>(nodes: &'a [TaskNode], agent: &AgentName) -> Vec<&'a TaskNode> {
    let (ready, waiting): (Vec<_>, Vec<_>) =
        in_turn(nodes).filter(|node| !node.is_closed()).partition(|node| node.is_ready());
    for node in ready.into_iter().chain(waiting) {
        let below = if node.task.agent.as_ref() == Some(agent) {
            current_path(&node.children)
        } else {
            let below = current_path_of(&node.children, agent);
            if below.is_empty() {
                continue;
            }
            below
        };
        return [vec![node], below].concat();
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{LOGIN, tasks};
    use super::super::priority::TaskPriority;
    use super::*;

    // W-3: what another program kept may be in any order, and worse.
    #[test]
    fn parents_come_first_and_nothing_is_lost() {
        let shown = |tasks: Vec<Task>| {
            let parent = |task: &Task| task.parent.as_ref().map_or("-".into(), ToString::to_string);
            let all = top_down(tasks);
            let all: Vec<_> =
                all.iter().map(|task| format!("{}<{}", task.id, parent(task))).collect();
            all.join(" ")
        };
        let mut mixed = tasks(LOGIN);
        mixed.reverse();
        assert_eq!(shown(mixed), "1<- 2<- 3<- 2a<2 2b<2 2c<2");
        let circle = "a b 1 - pending x\nb a 1 - pending y\nc gone 1 - pending z";
        assert_eq!(shown(tasks(circle)), "c<- a<- b<-");
        let chain: Vec<_> = (1..=100)
            .map(|n| {
                format!(
                    "{n} {} 1 - pending x",
                    if n == 1 { "-".into() } else { (n - 1).to_string() }
                )
            })
            .collect();
        let flat = top_down(tasks(&chain.join("\n")));
        assert_eq!(flat.len(), 100);
        assert_eq!(flat.iter().filter(|task| task.parent.is_none()).count(), 100 - DEEPEST + 1);
    }

    fn grown(lines: &str) -> Vec<TaskNode> {
        trees(tasks(lines), |task| TaskState::of(task.status, None))
    }

    fn ids(path: &[&TaskNode]) -> String {
        path.iter().map(|node| node.task.id.as_str()).collect::<Vec<_>>().join("/")
    }

    // W-5: depth first; a sort by depth would answer Task 3.
    #[test]
    fn the_current_task_is_found_depth_first() {
        let cases = [
            (LOGIN, "2/2b"),
            ("1 - 1 - completed a\n2 - 2 - skipped b", ""),
            ("1 - 1 - completed a\n1a 1 1 - pending below a closed task\n2 - 2 - pending b", "2"),
            ("1 - 1 - in_progress a\n1a 1 1 - completed done", "1"),
            ("b - 1 - pending second by id\na - 1 - pending first by id", "a"),
            ("1 - 2 - pending later\n2 - 1 - pending sooner", "2"),
            ("", ""),
        ];
        for (lines, expected) in cases {
            assert_eq!(ids(&current_path(&grown(lines))), expected, "{lines}");
        }
    }

    // W-2: siblings of one place go by age.
    #[test]
    fn the_older_of_two_siblings_comes_first() {
        let mut two = tasks("a - 1 - pending younger\nb - 1 - pending older");
        two[0].created_at += jiff::SignedDuration::from_secs(1);
        let roots = trees(two, |task| TaskState::of(task.status, None));
        assert_eq!(ids(&current_path(&roots)), "b");
    }

    // W-5 with dependencies and priorities: `!` is high, `>` waits.
    #[test]
    fn a_waiting_task_is_not_current_and_an_urgent_one_comes_first() {
        let path = |lines: &str| {
            let mut tasks = tasks(lines);
            for task in &mut tasks {
                if task.content.starts_with('!') {
                    task.priority = TaskPriority::High;
                } else if task.content.starts_with('>') {
                    task.waits_for = vec![TaskId::parse("other").unwrap()];
                }
            }
            ids(&current_path(&trees(tasks, |task| TaskState::among(&[], task))))
        };
        for (lines, expected) in [
            ("1 - 1 - pending a\n2 - 2 - pending !b", "2"),
            ("1 - 1 - pending >a\n2 - 2 - pending b", "2"),
            ("1 - 1 - pending a\n1a 1 1 - pending >x\n2 - 2 - pending b", "2"),
            ("1 - 1 - pending a\n1a 1 1 - pending >x\n1b 1 2 - pending y", "1/1b"),
            ("1 - 1 - in_progress >begun although it waits\n2 - 2 - pending b", "1"),
            ("1 - 1 - pending >a\n2 - 2 - pending >b", "1"),
            ("1 - 1 - completed !a\n2 - 2 - pending b", "2"),
            // W-5: a raised priority does not hide the current task.
            ("1 - 1 - pending a\n1a 1 1 - in_progress x\n2 - 2 - pending !b", "1/1a"),
            ("1 - 1 - pending !a\n2 - 2 - in_progress b", "2"),
            ("1 - 1 - pending a\n2 - 2 - in_progress b", "2"),
        ] {
            assert_eq!(path(lines), expected, "{lines}");
        }
    }

    // W-6
    #[test]
    fn an_agents_task_is_below_what_it_holds() {
        let of =
            |lines, name| ids(&current_path_of(&grown(lines), &AgentName::parse(name).unwrap()));
        assert_eq!(of(LOGIN, "backend"), "2/2b");
        assert_eq!(of(LOGIN, "spec-reviewer"), "2/2b");
        assert_eq!(of(LOGIN, "nobody"), "");
        assert_eq!(of("1 - 1 a completed x\n2 - 2 - pending y\n2a 2 1 a pending z", "a"), "2/2a");
    }

    #[test]
    fn circles_and_orphans_are_kept_once() {
        let circle = grown("1 2 1 - pending a\n2 1 1 - pending b\n3 gone 1 - pending c");
        let count = |nodes: &[TaskNode]| {
            fn all(nodes: &[TaskNode]) -> usize {
                nodes.iter().map(|node| 1 + all(&node.children)).sum()
            }
            all(nodes)
        };
        assert_eq!(count(&circle), 3);
        assert_eq!(ids(&current_path(&circle)), "3");
    }
}
