//! The next action, derived from records: task states, dispatches and verdicts.
//!
//! A message decides nothing. The text quotes it, gives the state of the current task beside it,
//! and asks the reader what it means. Only the person asks for something in their own words.

use super::{NewMessage, WakeFacts};
use crate::scope::AgentName;
use crate::task::deed::{
    DeedKind, DeedRole, TaskDeed, TaskVerdict, has_only_closed_parts, state_words,
};
use crate::task::next::{Beginner, next_to_begin};
use crate::task::outline::{Following, Letters, TaskOutline, clipped};
use crate::task::tree::TaskNode;
use crate::task::{TaskState, TaskStatus};
use crate::text::is_disruptive;

/// How much of a message or a reason is repeated under "Your Next Action", in characters.
const EXCERPT: usize = 160;

/// The basis of "Your Next Action".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextActionRule {
    /// Task states, recorded dispatches and recorded verdicts.
    #[default]
    Deeds,
    /// The words of the newest message, as the original had it.
    Seed,
}

impl NextActionRule {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::Deeds, Self::Seed];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deeds => "deeds",
            Self::Seed => "seed",
        }
    }

    /// Returns the rule that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Returns how the rule writes titles inside sentences.
    pub const fn letters(self) -> Letters {
        match self {
            Self::Deeds => Letters::Kept,
            Self::Seed => Letters::Lower,
        }
    }
}

/// Records about the current task and the new message.
#[derive(Debug, Clone, Default)]
pub struct KnownDeeds {
    /// The basis of the next action.
    pub rule: NextActionRule,
    /// The deeds of the current task that count, oldest first.
    pub of_task: Vec<TaskDeed>,
    /// The verdicts that came with the new message.
    pub of_message: Vec<MessageVerdict>,
}

/// A verdict that came with a message, and the task it judges.
#[derive(Debug, Clone)]
pub struct MessageVerdict {
    /// The verdict, with its role and time.
    pub deed: TaskDeed,
    /// The task's title.
    pub title: String,
    /// The task's present state.
    pub state: TaskState,
}

/// Renders the section under "Your Next Action".
pub(super) fn render(facts: &WakeFacts<'_>) -> String {
    let outline = facts.outline.as_ref();
    let leaf = outline.and_then(TaskOutline::leaf);
    let mut lines = said(facts);
    let steps = if let Some((outline, leaf)) = outline.zip(leaf) {
        lines.push(standing(facts, outline, leaf));
        steps(facts, outline, leaf)
    } else {
        lines.push("No task is open.".to_owned());
        let means = "Decide whether this means that there is something to do";
        let step = |message| request(facts, message).unwrap_or_else(|| means.to_owned());
        facts.message.iter().map(step).collect()
    };
    let skill = facts.skill.id.as_ref().filter(|_| facts.skill.found);
    let go_on = skill.map(|id| format!("Continue with the {} workflow", id.bare()));
    let steps: Vec<_> = steps.into_iter().chain(go_on).collect();
    let text = lines.join("\n");
    if steps.is_empty() {
        return text;
    }
    let numbered = steps.iter().zip(1..).map(|(step, number)| format!("\n{number}. {step}"));
    numbered.fold(format!("{text} You should:"), |list, line| list + &line)
}

/// Renders the line under the task list.
pub(super) fn line(facts: &WakeFacts<'_>, outline: &TaskOutline<'_>) -> Option<String> {
    let leaf = outline.leaf()?;
    Some(action(outline, leaf, &TaskVerdict::of(&facts.known.of_task)) + ".")
}

/// Quotes the new message, with the verdicts that came with it.
fn said(facts: &WakeFacts<'_>) -> Vec<String> {
    let Some(message) = &facts.message else {
        return vec!["There is no new message.".to_owned()];
    };
    let mut lines = vec![wrote(&message.from, &message.content)];
    lines.extend(facts.known.of_message.iter().map(|MessageVerdict { deed, title, state }| {
        let title = title.replace(is_disruptive, " ");
        let (title, state) = (Letters::Kept.of(&title), state_words(*state));
        format!("With it was recorded: {} {title}. That task: {state}.", judged(deed))
    }));
    lines
}

/// Quotes the beginning of a message on one line that its words cannot end.
fn wrote(from: &AgentName, content: &str) -> String {
    format!("@{from} wrote: {}", quoted(content))
}

fn quoted(text: &str) -> String {
    // The words of others neither begin a line nor close their quotation.
    let one_line = text.replace("\r\n", " ").replace(is_disruptive, " ").replace('"', "'");
    format!("\"{}\"", clipped(one_line.trim(), EXCERPT))
}

fn judged(deed: &TaskDeed) -> String {
    let verb = match deed.kind {
        DeedKind::Work | DeedKind::Dispatched => "was sent to",
        DeedKind::Pass => "passed",
        DeedKind::Fail => "failed",
        DeedKind::NoVerdict => "reached no verdict on",
    };
    format!("{} {verb}", deed.role)
}

/// Describes the progress of the current task and its records.
fn standing(facts: &WakeFacts<'_>, outline: &TaskOutline<'_>, leaf: &TaskNode) -> String {
    let mut sentences = vec![format!("{}: {}.", subject(outline, leaf), state_words(leaf.state))];
    if has_only_closed_parts(leaf) {
        sentences.push(format!("All of its parts are closed ({}).", parts(leaf)));
    }
    sentences.extend(last_of_roles(&facts.known.of_task).into_iter().map(|deed| {
        let reason =
            deed.reason.as_deref().map_or(String::new(), |why| format!(": {}", quoted(why)));
        format!("Recorded: {} it{reason}.", judged(deed))
    }));
    if facts.known.of_task.is_empty() {
        sentences.push("No verdict is recorded for it.".to_owned());
    }
    sentences.join(" ")
}

/// Returns the last deed of each role, oldest first.
fn last_of_roles(deeds: &[TaskDeed]) -> Vec<&TaskDeed> {
    let is_last =
        |deed: &&TaskDeed| !deeds.iter().any(|later| later.id > deed.id && later.role == deed.role);
    deeds.iter().filter(is_last).collect()
}

fn parts(leaf: &TaskNode) -> String {
    let skipped = TaskState::Stored(TaskStatus::Skipped);
    let left_out = leaf.children.iter().filter(|part| part.state == skipped).count();
    let done = leaf.children.len() - left_out;
    match left_out {
        0 => format!("{done} completed"),
        _ => format!("{done} completed, {left_out} skipped"),
    }
}

fn title(node: &TaskNode) -> String {
    Letters::Kept.of(&node.task.content)
}

/// Names the current task, and the one it is part of.
fn subject(outline: &TaskOutline<'_>, leaf: &TaskNode) -> String {
    match outline.current().filter(|top| !std::ptr::eq(*top, leaf)) {
        Some(top) => format!("{} of {}", title(leaf), Letters::Kept.of(top.task.label())),
        None => title(leaf),
    }
}

/// Returns what to do, without the skill's own step.
fn steps(facts: &WakeFacts<'_>, outline: &TaskOutline<'_>, leaf: &TaskNode) -> Vec<String> {
    let found = TaskVerdict::of(&facts.known.of_task);
    let undecided = facts.message.as_ref().filter(|_| facts.known.of_message.is_empty());
    let question =
        undecided.map(|message| request(facts, message).unwrap_or_else(|| meaning(leaf, &found)));
    let is_started = leaf.state == TaskState::Stored(TaskStatus::InProgress);
    let work = match &found {
        TaskVerdict::Passed(_) if is_started => {
            vec![
                format!("Mark {} complete: {}", title(leaf), done(leaf)),
                capitalised(&next(outline)),
            ]
        }
        TaskVerdict::Failed(roles) if is_started || has_only_closed_parts(leaf) => vec![
            format!("Have what {} found in {} fixed", list(roles), title(leaf)),
            format!("Ask {} to look at {} again", list(roles), title(leaf)),
        ],
        TaskVerdict::Passed(_)
        | TaskVerdict::Failed(_)
        | TaskVerdict::Undecided(_)
        | TaskVerdict::Awaiting(_)
        | TaskVerdict::Unjudged => vec![action(outline, leaf, &found)],
    };
    question.into_iter().chain(work).collect()
}

/// Returns what to do about the person's own words: they ask for something, and report on no task.
fn request(facts: &WakeFacts<'_>, message: &NewMessage) -> Option<String> {
    let answer = match facts.message_id {
        Some(id) => format!("--re {id}"),
        None => format!("--to {}", message.from),
    };
    message
        .from
        .is_human()
        .then(|| format!("Do what @{} asks, or answer: `convoke say TEXT {answer}`", message.from))
}

/// Asks what a message without a verdict means for the current task.
fn meaning(leaf: &TaskNode, found: &TaskVerdict) -> String {
    let (name, id) = (title(leaf), &leaf.task.id);
    match (leaf.state, found) {
        (
            TaskState::Stored(TaskStatus::InProgress),
            TaskVerdict::Passed(_) | TaskVerdict::Failed(_),
        ) => {
            format!("Decide whether this means that the verdict on {name} has changed")
        }
        (TaskState::Stored(TaskStatus::InProgress), _) => format!(
            "Decide whether this means that {name} passed or failed, and record it: \
             `convoke task pass {id} --by ROLE` or `convoke task fail {id} --by ROLE`"
        ),
        (TaskState::Blocked | TaskState::Failed, _) => {
            format!("Decide whether this means that {name} can go on")
        }
        (TaskState::Stored(_) | TaskState::Waiting | TaskState::Cancelled, _) => {
            format!("Decide whether this means anything for {name}, which is not started")
        }
    }
}

/// Returns half a sentence: the action on the current task, by its state and its records.
fn action(outline: &TaskOutline<'_>, leaf: &TaskNode, found: &TaskVerdict) -> String {
    let name = title(leaf);
    match (worked_on(leaf, found), found) {
        (TaskState::Blocked | TaskState::Failed, _) => {
            format!("Resolve the {} state of {name}", leaf.state.words())
        }
        (TaskState::Stored(TaskStatus::InProgress), TaskVerdict::Passed(_)) => {
            format!("Mark {name} complete ({}), then {}", done(leaf), next(outline))
        }
        (TaskState::Stored(TaskStatus::InProgress), TaskVerdict::Failed(roles)) => {
            format!("Have what {} found in {name} fixed, then ask for another look", list(roles))
        }
        (TaskState::Stored(TaskStatus::InProgress), TaskVerdict::Undecided(roles)) => {
            format!("Ask {} again about {name}: the last round has no verdict", list(roles))
        }
        (TaskState::Stored(TaskStatus::InProgress), TaskVerdict::Awaiting(roles)) => {
            let have = if roles.len() == 1 { "has" } else { "have" };
            let roles = list(roles);
            format!("Check whether {roles} {have} answered about {name}, then record the verdict")
        }
        _ if has_only_closed_parts(leaf) => {
            format!("Close {name} with {}, or have it reviewed first", done(leaf))
        }
        (TaskState::Stored(TaskStatus::InProgress), TaskVerdict::Unjudged) => {
            format!("Check whether {name} is done ({}), then {}", done(leaf), next(outline))
        }
        (TaskState::Waiting, _) => {
            let before: Vec<_> = leaf.task.waits_for.iter().map(ToString::to_string).collect();
            format!("Finish {} first, because {name} waits for it", before.join(", "))
        }
        (TaskState::Stored(_) | TaskState::Cancelled, _) => {
            format!("Start {name}: {}", start(leaf))
        }
    }
}

/// Returns the command that begins a task.
fn start(node: &TaskNode) -> String {
    format!("`convoke task start {}`", node.task.id)
}

/// Returns the command that completes a task.
fn done(node: &TaskNode) -> String {
    format!("`convoke task done {}`", node.task.id)
}

/// Returns how to go on with a task; a pending task gets the command that starts it.
fn proceed(node: &TaskNode) -> String {
    match node.state {
        TaskState::Stored(TaskStatus::Pending) => {
            format!("proceed to {}: {}", title(node), start(node))
        }
        TaskState::Stored(_)
        | TaskState::Blocked
        | TaskState::Failed
        | TaskState::Waiting
        | TaskState::Cancelled => {
            format!("proceed to {} (`convoke task show {}`)", title(node), node.task.id)
        }
    }
}

/// Returns a task's state as its records show it. A task whose parts are all closed counts as
/// worked on even if no agent started it, so a verdict against it, or a missing answer, counts.
fn worked_on(leaf: &TaskNode, found: &TaskVerdict) -> TaskState {
    match (leaf.state, found) {
        (
            TaskState::Stored(TaskStatus::Pending),
            TaskVerdict::Passed(_) | TaskVerdict::Unjudged,
        ) => leaf.state,
        (TaskState::Stored(TaskStatus::Pending), _) if has_only_closed_parts(leaf) => {
            TaskState::Stored(TaskStatus::InProgress)
        }
        (state, _) => state,
    }
}

/// Describes the work after the current task.
fn next(outline: &TaskOutline<'_>) -> String {
    match outline.following() {
        Following::Task(task) => {
            proceed(next_to_begin(std::slice::from_ref(task), Beginner::Leader).unwrap_or(task))
        }
        Following::Parent(parent) => {
            let id = &parent.task.id;
            format!(
                "close or review {} (`convoke task done {id}`), whose last open part it is",
                title(parent)
            )
        }
        Following::Waiting(task) => {
            let before: Vec<_> = task.task.waits_for.iter().map(ToString::to_string).collect();
            format!("finish {}, which {} waits for", before.join(", "), title(task))
        }
        Following::Elsewhere => "proceed to the task that `convoke task next` names".to_owned(),
        Following::Nothing => "finish the branch".to_owned(),
    }
}

fn list(roles: &[DeedRole]) -> String {
    roles.iter().map(DeedRole::as_str).collect::<Vec<_>>().join(" and ")
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests;
