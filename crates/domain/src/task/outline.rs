//! The task list as an agent reads it, its current task, and the next one.

mod counts;

pub use self::counts::TaskCounts;
use super::title::in_sentence;
use super::tree::{TaskNode, in_turn};
use super::{TaskState, TaskStatus};

/// Marks the line of the task being worked on.
const CURRENT: &str = "  <-- CURRENT";

/// How many finished parts are listed one by one.
const MOST_PARTS: usize = 8;

/// How titles are written inside sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Letters {
    /// In lower case, as the original's template has them.
    #[default]
    Lower,
    /// As they are, shortened where they are longer than a sentence should be, and quoted where they
    /// read like more than a title.
    Kept,
}

impl Letters {
    /// The longest title inside a sentence, in characters.
    const LONGEST: usize = 120;

    /// Writes a title.
    pub fn of(self, title: &str) -> String {
        match self {
            Self::Lower => title.to_lowercase(),
            Self::Kept => in_sentence(title, Self::LONGEST),
        }
    }
}

/// Cuts a text to `most` characters, and marks the cut.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A tree with the way to the task being worked on. Everything shown about a plan follows from it.
#[derive(Debug, Clone)]
pub struct TaskOutline<'a> {
    /// The lines shown at the top.
    group: &'a [TaskNode],
    /// From the marked top line down to the leaf; empty when everything is closed.
    path: Vec<&'a TaskNode>,
    /// The task that the lines at the top are parts of.
    above: Option<&'a TaskNode>,
    /// Tasks of the plan that are not in the tree, because it is too large to be read.
    elsewhere: TaskCounts,
    /// Whether other plans have open tasks.
    has_other_plans: bool,
    /// How titles are written inside sentences.
    letters: Letters,
}

/// The work after the current task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Following<'a> {
    /// A task that can start.
    Task(&'a TaskNode),
    /// The task whose last open part the current one is.
    Parent(&'a TaskNode),
    /// Only tasks that wait for others; this is the first of them.
    Waiting(&'a TaskNode),
    /// A task that is not in the tree, of this plan or of another one.
    Elsewhere,
    /// No task of the branch is open then.
    Nothing,
}

impl<'a> TaskOutline<'a> {
    /// Takes the whole tree and the way to the current leaf.
    ///
    /// Shown are the siblings of the first task on the way that is numbered, or beside a numbered
    /// one (`Task 2: …`); without any, the roots.
    pub fn new(roots: &'a [TaskNode], path: &[&'a TaskNode]) -> Self {
        let mut group = roots;
        for (depth, node) in path.iter().enumerate() {
            if group.iter().any(|node| node.task.is_numbered()) {
                let above = depth.checked_sub(1).and_then(|above| path.get(above)).copied();
                return Self { above, ..Self::of(group, &path[depth..]) };
            }
            group = &node.children;
        }
        Self::of(roots, path)
    }

    fn of(group: &'a [TaskNode], path: &[&'a TaskNode]) -> Self {
        let (elsewhere, letters) = (TaskCounts::default(), Letters::Lower);
        let path = path.to_vec();
        Self { group, path, above: None, elsewhere, has_other_plans: false, letters }
    }

    /// Adds how many tasks of the plan are not in the tree.
    #[must_use]
    pub const fn with_elsewhere(mut self, elsewhere: TaskCounts) -> Self {
        self.elsewhere = elsewhere;
        self
    }

    /// Adds that other plans have open tasks, so that the branch is not finished with this one.
    #[must_use]
    pub const fn beside_open_plans(mut self) -> Self {
        self.has_other_plans = true;
        self
    }

    /// Writes titles inside sentences in other letters.
    #[must_use]
    pub fn with_letters(self, letters: Letters) -> Self {
        Self { letters, ..self }
    }

    /// Returns the marked top line.
    pub fn current(&self) -> Option<&'a TaskNode> {
        self.path.first().copied()
    }

    /// Returns the task being worked on.
    pub fn leaf(&self) -> Option<&'a TaskNode> {
        self.path.last().copied()
    }

    /// Returns what people call the marked top line.
    pub fn label(&self) -> Option<&'a str> {
        self.current().map(|node| node.task.label())
    }

    /// Renders the list; only the marked line is expanded.
    pub fn lines(&self) -> Vec<String> {
        let shown = self.group.iter().flat_map(|node| self.top_lines(node));
        shown.chain(self.elsewhere.line("more")).collect()
    }

    /// Renders the list with runs of finished lines before the current one drawn together.
    pub fn short_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = self.group;
        while let Some((first, others)) = rest.split_first() {
            let finished = rest.iter().take_while(|node| node.is_closed()).count();
            let earlier =
                rest.len() > finished && !lines.iter().any(|line: &String| line.ends_with(CURRENT));
            if finished > 1 && earlier {
                lines.push(format!("- [x] {finished} earlier tasks (completed)"));
                rest = &rest[finished..];
            } else {
                lines.extend(self.top_lines(first));
                rest = others;
            }
        }
        lines.extend(self.elsewhere.line("more"));
        lines
    }

    /// Renders only the tasks near the current one, and counts the rest: a few tasks before it,
    /// `around` of its parts on each side of the current one, and the next `around` open tasks.
    pub fn near_lines(&self, around: usize) -> Vec<String> {
        let is_current =
            |node: &TaskNode| self.current().is_some_and(|current| std::ptr::eq(current, node));
        let current = self.group.iter().position(is_current).unwrap_or(0);
        let (before, from) = self.group.split_at(current);
        let (earlier, near) = before.split_at(before.len().saturating_sub(around.div_ceil(4)));
        let mut lines: Vec<_> = TaskCounts::of(earlier).line("earlier").into_iter().collect();
        lines.extend(near.iter().flat_map(|node| self.top_lines(node)));
        let Some((current, after)) = from.split_first() else { return self.lines() };
        lines.extend(self.near_parts(current, around));
        let mut later = TaskCounts::default();
        let mut shown = 0;
        for node in after {
            if node.is_closed() || shown == around {
                later = later.plus(TaskCounts::of([node]));
            } else {
                lines.extend(self.top_lines(node));
                shown += 1;
            }
        }
        lines.extend(later.plus(self.elsewhere).line("later"));
        lines
    }

    /// Renders a top line with those of its parts that are near the leaf.
    fn near_parts(&self, node: &TaskNode, around: usize) -> Vec<String> {
        let mut lines = self.top_lines(node);
        // Parts of several tasks have the same title, such as `Spec review`. Each part has one line.
        let leaf = self.leaf().and_then(|leaf| place_of(leaf, &node.children));
        let leaf = leaf.map_or(0, |place| place + 1);
        let first = leaf.saturating_sub(around).max(1);
        let last = (leaf + around + 1).min(lines.len());
        let left_out = |count: usize, side: &str| {
            let parts = if count == 1 { "part" } else { "parts" };
            format!("    - … {count} {parts} {side}: `convoke task tree`")
        };
        if last < lines.len() {
            let count = lines.len() - last;
            lines.splice(last.., [left_out(count, "after")]);
        }
        if first > 1 {
            lines.splice(1..first, [left_out(first - 1, "before")]);
        }
        lines
    }

    fn top_lines(&self, node: &TaskNode) -> Vec<String> {
        let is_current = self.current().is_some_and(|current| std::ptr::eq(current, node));
        let agent = node.task.agent.as_ref().map_or(String::new(), |agent| format!("@{agent}, "));
        let state = match self.leaf() {
            Some(leaf) if is_current && !std::ptr::eq(leaf, node) => {
                format!("in {}", self.letters.of(&leaf.task.content))
            }
            _ => node.state.words().to_owned(),
        };
        let mark = if is_current { CURRENT } else { "" };
        let content = &node.task.content;
        let mut lines = vec![format!("- {} {content} ({agent}{state}){mark}", check_box(node))];
        if is_current {
            add_parts(&node.children, 1, &mut lines);
        }
        lines
    }

    /// Describes in a sentence or two how far the marked task is.
    pub fn position(&self) -> Option<String> {
        let (current, leaf) = (self.current()?, self.leaf()?);
        let label = current.task.label();
        let done: Vec<_> = current.children.iter().filter(|child| child.is_closed()).collect();
        let sentence = |child: &&TaskNode| match self.letters {
            Letters::Lower => {
                format!("{label} {} is complete.", self.letters.of(&child.task.content))
            }
            Letters::Kept => {
                let part = self.letters.of(&child.task.content);
                format!("{}: {part} is {}.", self.letters.of(label), child.state.words())
            }
        };
        let mut sentences: Vec<_> = match done.len() {
            ..=MOST_PARTS => done.iter().map(sentence).collect(),
            many => vec![format!("{many} parts of {} are complete.", self.letters.of(label))],
        };
        let subject = if std::ptr::eq(current, leaf) { label } else { &leaf.task.content };
        let subject = match self.letters {
            Letters::Lower => subject.to_owned(),
            Letters::Kept => self.letters.of(subject),
        };
        let pending = leaf.state == TaskState::Stored(TaskStatus::Pending);
        let place = if pending { "next" } else { leaf.state.words() };
        sentences.push(format!("{subject} is {place}."));
        if leaf.task.body.is_some() {
            sentences.push(format!("More about it: `convoke task show {}`.", leaf.task.id));
        }
        Some(sentences.join(" "))
    }

    /// Describes the next step on the current task, without any message.
    pub fn next_action(&self) -> Option<String> {
        let leaf = self.leaf()?;
        let content = leaf.task.content.to_lowercase();
        Some(match leaf.state {
            TaskState::Stored(TaskStatus::Pending) => format!("Start {content}."),
            TaskState::Waiting => {
                let ids: Vec<_> = leaf.task.waits_for.iter().map(ToString::to_string).collect();
                format!("Finish {} first: {content} waits for it.", ids.join(", "))
            }
            TaskState::Blocked | TaskState::Failed => {
                format!("Resolve the {} state of {content}.", leaf.state.words())
            }
            TaskState::Stored(_) | TaskState::Cancelled => {
                let next = match (self.next_part(), self.next_top_task()) {
                    (Some(part), _) => format!("proceed to {}", part.task.content.to_lowercase()),
                    (None, Some(top)) => format!("proceed to {}", top.task.label()),
                    (None, None) => "finish the branch".to_owned(),
                };
                format!("Check if {} has completed, then {next}.", reviewer(&content))
            }
        })
    }

    /// Returns the work after the current task. Tasks follow in their order, and a waiting one
    /// comes after all others.
    pub fn following(&self) -> Following<'a> {
        let parts =
            self.path.windows(2).rev().map(|step| (step[0], &step[0].children[..], step[1]));
        let top = self.current().map(|top| (self.above, self.group, top));
        let levels = parts.map(|(parent, parts, part)| (Some(parent), parts, part)).chain(top);
        let mut waiting = None;
        for (parent, siblings, node) in levels {
            let open = || {
                in_turn(siblings)
                    .filter(move |other| !std::ptr::eq(*other, node) && !other.is_closed())
            };
            if let Some(ready) = open().find(|other| self.is_ready_then(other)) {
                return Following::Task(ready);
            }
            waiting = waiting.or_else(|| open().next());
            if let (Some(parent), None) = (parent, waiting) {
                return Following::Parent(parent);
            }
        }
        match waiting {
            Some(task) => Following::Waiting(task),
            None if self.elsewhere.open > 0 || self.has_other_plans => Following::Elsewhere,
            None => Following::Nothing,
        }
    }

    /// Tells whether a task can be begun once the current one is closed.
    fn is_ready_then(&self, node: &TaskNode) -> bool {
        let leaf = self.leaf().map(|leaf| &leaf.task.id);
        node.is_ready() || node.task.waits_for.iter().all(|id| Some(id) == leaf)
    }

    /// Returns the next open part of the marked task after the current one.
    pub fn next_part(&self) -> Option<&'a TaskNode> {
        let steps = self.path.windows(2).rev();
        steps.into_iter().find_map(|step| open_after(&step[0].children, step[1]))
    }

    /// Returns the next open top line after the marked one.
    pub fn next_top_task(&self) -> Option<&'a TaskNode> {
        open_after(self.group, self.current()?)
    }
}

/// Returns what comes after a task among its siblings, by the rule of [`in_turn`]; what waits comes
/// last.
fn open_after<'a>(siblings: &'a [TaskNode], node: &TaskNode) -> Option<&'a TaskNode> {
    let is_other = |sibling: &&TaskNode| !std::ptr::eq(*sibling, node) && !sibling.is_closed();
    let (ready, waiting): (Vec<_>, Vec<_>) =
        in_turn(siblings).filter(is_other).partition(|sibling| sibling.is_ready());
    ready.into_iter().chain(waiting).next()
}

fn add_parts(children: &[TaskNode], depth: usize, lines: &mut Vec<String>) {
    for child in children {
        let indent = "    ".repeat(depth);
        let (content, state) = (&child.task.content, child.state.words());
        lines.push(format!("{indent}- {} {content} ({state})", check_box(child)));
        add_parts(&child.children, depth + 1, lines);
    }
}

/// Returns how many parts come before one, with all below them.
fn place_of(part: &TaskNode, parts: &[TaskNode]) -> Option<usize> {
    let mut before = 0;
    for other in parts {
        if std::ptr::eq(other, part) {
            return Some(before);
        }
        if let Some(below) = place_of(part, &other.children) {
            return Some(before + 1 + below);
        }
        before += 1 + below(other);
    }
    None
}

fn below(node: &TaskNode) -> usize {
    node.children.iter().map(|child| 1 + below(child)).sum()
}

fn check_box(node: &TaskNode) -> &'static str {
    if node.is_closed() { "[x]" } else { "[ ]" }
}

/// Names the agent for a piece of work: the `spec reviewer` does the `spec review`.
pub fn reviewer(work: &str) -> String {
    match work.strip_suffix("review") {
        Some(_) => format!("{work}er"),
        None => work.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{LOGIN, tasks};
    use super::super::tree::{current_path, trees};
    use super::*;
    use crate::agent::AgentStatus;

    /// Renders list, position and next action of a plan whose `stuck` agent is blocked.
    fn shown(lines: &str) -> String {
        let roots = trees(tasks(lines), |task| {
            let stuck = task.agent.as_ref().is_some_and(|agent| agent.as_str() == "stuck");
            TaskState::of(task.status, stuck.then_some(AgentStatus::Blocked))
        });
        let outline = TaskOutline::new(&roots, &current_path(&roots));
        let position = outline.position().unwrap_or_default();
        let next = outline.next_action().unwrap_or_default();
        format!("{}\n{position}\n{next}", outline.lines().join("\n"))
    }

    #[track_caller]
    fn check(lines: &str, expected: &str) {
        assert_eq!(shown(lines), expected);
    }

    // W-33, W-34, W-35: the seed's example.
    #[test]
    fn the_marked_task_is_expanded_and_its_place_told() {
        check(
            LOGIN,
            "- [x] Task 1: Add user model (@backend, completed)\n\
             - [ ] Task 2: Add login endpoint (@backend, in spec review)  <-- CURRENT\n    \
             - [x] Implementation (completed)\n    \
             - [ ] Spec review (in progress)\n    \
             - [ ] Code quality review (pending)\n\
             - [ ] Task 3: Add JWT middleware (pending)\n\
             Task 2 implementation is complete. Spec review is in progress.\n\
             Check if spec reviewer has completed, then proceed to code quality review.",
        );
    }

    // W-35: without a later part the next task is named, and without one the branch is finished.
    #[test]
    fn what_comes_after_the_last_part_is_the_next_task() {
        let without_2c = LOGIN.replace("2c 2 3 - pending Code quality review\n", "");
        assert!(shown(&without_2c).ends_with("then proceed to Task 3."));
        let without_3 = without_2c.replace("\n3 - 3 - pending Task 3: Add JWT middleware", "");
        assert!(shown(&without_3).ends_with("then finish the branch."));
    }

    // W-35: a part of a part is followed by the next part of the task.
    #[test]
    fn a_deep_part_is_followed_by_the_parts_above_it() {
        let deep = LOGIN.replace("2c 2 3", "2b1 2b 1 - in_progress Read it\n2c 2 3");
        let expected = "Check if read it has completed, then proceed to code quality review.";
        assert!(shown(&deep).ends_with(expected), "{}", shown(&deep));
    }

    // W-34, W-35: the leaf moves on, and two parts are complete.
    #[test]
    fn a_pending_part_is_next() {
        let reviewed = LOGIN.replace("spec-reviewer in_progress", "spec-reviewer completed");
        assert!(shown(&reviewed).ends_with(
            "Task 2 implementation is complete. Task 2 spec review is complete. \
             Code quality review is next.\nStart code quality review."
        ));
    }

    // W-34, W-35
    #[test]
    fn a_task_without_parts_is_its_own_place() {
        check(
            "1 - 1 - in_progress Task 1: A\n2 - 2 - pending Task 2: B",
            "- [ ] Task 1: A (in progress)  <-- CURRENT\n- [ ] Task 2: B (pending)\n\
             Task 1 is in progress.\n\
             Check if task 1: a has completed, then proceed to Task 2.",
        );
        check(
            "1 - 1 stuck in_progress Fix it",
            "- [ ] Fix it (@stuck, blocked)  <-- CURRENT\nFix it is blocked.\n\
             Resolve the blocked state of fix it.",
        );
        check("1 - 1 - completed Done", "- [x] Done (completed)\n\n");
    }

    // W-33: the numbered level is shown, however deep it is.
    #[test]
    fn the_numbered_level_is_the_top_of_the_list() {
        let lines = "p - 1 - in_progress Execute plan\n\
                     1 p 1 - completed Task 1: A\n\
                     2 p 2 x in_progress Task 2: B\n\
                     2a 2 1 - pending Review\n\
                     q - 2 - pending Later";
        check(
            lines,
            "- [x] Task 1: A (completed)\n- [ ] Task 2: B (@x, in review)  <-- CURRENT\n    \
             - [ ] Review (pending)\nReview is next.\nStart review.",
        );
        let beside = "1 - 1 - completed Task 1: A\n2 - 2 - pending Clean up";
        assert!(shown(beside).contains("- [ ] Clean up (pending)  <-- CURRENT"));
    }

    // W-82g
    #[test]
    fn finished_tasks_can_be_drawn_together() {
        let lines = "1 - 1 - completed Task 1: A\n2 - 2 - skipped Task 2: B\n\
                     3 - 3 - pending Task 3: C\n4 - 4 - completed Task 4: D\n\
                     5 - 5 - completed Task 5: E";
        let roots = trees(tasks(lines), |task| TaskState::of(task.status, None));
        let outline = TaskOutline::new(&roots, &current_path(&roots));
        assert_eq!(
            outline.short_lines(),
            [
                "- [x] 2 earlier tasks (completed)",
                "- [ ] Task 3: C (pending)  <-- CURRENT",
                "- [x] Task 4: D (completed)",
                "- [x] Task 5: E (completed)"
            ]
        );
    }

    // A list without end is shown around the task that counts.
    #[test]
    fn a_long_list_is_shown_around_the_current_task() {
        let mut lines: Vec<_> =
            (1..50).map(|n| format!("{n} - {n} - pending Task {n}: Later")).collect();
        lines[19] = "20 - 20 - in_progress Task 20: Now".to_owned();
        lines.iter_mut().take(19).for_each(|line| *line = line.replace("pending", "completed"));
        lines.extend((1..30).map(|n| format!("p{n} 20 {n} - pending Part {n}")));
        let roots = trees(tasks(&lines.join("\n")), |task| TaskState::of(task.status, None));
        let outline = TaskOutline::new(&roots, &current_path(&roots));
        assert_eq!(
            outline.near_lines(2),
            [
                "- … 18 earlier tasks (0 open, 18 closed): `convoke task tree`",
                "- [x] Task 19: Later (completed)",
                "- [ ] Task 20: Now (in part 1)  <-- CURRENT",
                "    - [ ] Part 1 (pending)",
                "    - [ ] Part 2 (pending)",
                "    - [ ] Part 3 (pending)",
                "    - … 26 parts after: `convoke task tree`",
                "- [ ] Task 21: Later (pending)",
                "- [ ] Task 22: Later (pending)",
                "- … 27 later tasks (27 open, 0 closed): `convoke task tree`",
            ]
        );
        assert_eq!(outline.near_lines(500), outline.lines());
        let beside = TaskCounts { open: 1, closed: 0 };
        let last = outline.clone().with_elsewhere(beside).lines().pop();
        let expected = "- … 1 more task (1 open, 0 closed): `convoke task tree`";
        assert_eq!(last.as_deref(), Some(expected));
    }

    // Where parts have the same title and state, the window lies around the current one.
    #[test]
    fn parts_are_shown_around_the_current_one_and_not_around_its_namesake() {
        let mut lines = vec!["1 - 1 - in_progress Task 1: Now".to_owned()];
        for part in 1..=9 {
            let status = if part < 7 { "completed" } else { "pending" };
            lines.push(format!("p{part} 1 {part} - {status} Part {part}"));
            let review = if part < 7 { "pending" } else { status };
            lines.push(format!("r{part} p{part} 1 - {review} Spec review"));
        }
        let roots = trees(tasks(&lines.join("\n")), |task| TaskState::of(task.status, None));
        let outline = TaskOutline::new(&roots, &current_path(&roots));
        assert_eq!(outline.leaf().map(|leaf| leaf.task.id.to_string()).as_deref(), Some("r7"));
        assert_eq!(
            outline.near_lines(1),
            [
                "- [ ] Task 1: Now (in spec review)  <-- CURRENT",
                "    - … 12 parts before: `convoke task tree`",
                "    - [ ] Part 7 (pending)",
                "        - [ ] Spec review (pending)",
                "    - [ ] Part 8 (pending)",
                "    - … 3 parts after: `convoke task tree`",
            ]
        );
    }

    // Closed tasks behind the current one are counted; open ones there come next.
    #[test]
    fn open_tasks_are_shown_before_closed_ones() {
        let mut lines = vec!["1 - 1 - in_progress Task 1: Now".to_owned()];
        lines.extend((2..40).map(|n| format!("{n} - {n} - completed Task {n}: Done")));
        lines.push("40 - 40 - pending Task 40: Next".to_owned());
        let roots = trees(tasks(&lines.join("\n")), |task| TaskState::of(task.status, None));
        let outline = TaskOutline::new(&roots, &current_path(&roots));
        assert_eq!(
            outline.near_lines(3),
            [
                "- [ ] Task 1: Now (in progress)  <-- CURRENT",
                "- [ ] Task 40: Next (pending)",
                "- … 38 later tasks (0 open, 38 closed): `convoke task tree`",
            ]
        );
    }
}
