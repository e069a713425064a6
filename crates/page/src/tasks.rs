//! The page Tasks: the tree of a branch, one task, and the user's rules.

mod pages;
mod plans;
mod work;

use convoke_service::pin::PinReport;
use convoke_service::task::{
    DeedReport, ShownTaskReport, TaskChangeReport, TaskPageReport, TaskPlans, TaskReport,
};
use maud::{Markup, html};

use self::pages::pages;
use self::plans::{chosen_fields, plans};
use self::work::work;
use crate::components::{csrf_field, empty, number, query, time};
use crate::layout::Access;
use crate::limits::{
    LONGEST_BODY, LONGEST_LINE, LONGEST_LIST, LONGEST_NAME, LONGEST_NOTE, LONGEST_TEXT,
};
use crate::markdown::markdown;

/// The longest title in a list, in characters.
const LONGEST_TITLE: usize = 300;

/// What the pages of tasks need beside their reports.
#[derive(Debug, Clone, Copy)]
pub struct TaskFrame<'a> {
    /// Whether the pages offer changes.
    pub access: Access,
    /// The token that every form sends along.
    pub csrf: &'a str,
    /// The branch whose tasks the page shows.
    pub branch: &'a str,
    /// The page of a long list.
    pub page: Option<usize>,
    /// The plans whose tasks the page shows.
    pub plans: &'a TaskPlans,
}

/// Returns the tree of a branch.
pub fn tasks_page(report: &TaskPageReport, frame: TaskFrame<'_>) -> Markup {
    html! {
        h1 { "Tasks" }
        (branches(report))
        (plans(report, frame.plans))
        @if report.tasks.is_empty() && *frame.plans != TaskPlans::All {
            p.empty { "This plan has no tasks on this branch." }
        } @else if report.tasks.is_empty() {
            (empty("This branch has no tasks.", "convoke task add \"TITLE\""))
            p.soft { "A plan's tasks come in with " code { "convoke task import PLAN.md" } "." }
        } @else {
            (pages(report, frame.plans, "Pages of tasks"))
            (tree_form(&report.tasks, frame))
            @if report.page.is_some() { (pages(report, frame.plans, "Pages of tasks, again")) }
        }
        @if frame.access == Access::Full {
            h2 { "Add a task" }
            (add_form(frame, None))
            form.row action="/tasks/undo" method="post" {
                (hidden_fields(frame))
                button { "Undo the last change" }
            }
        }
        (work(&report.agents, frame.branch))
        (rules(&report.rules, frame))
    }
}

fn branches(report: &TaskPageReport) -> Markup {
    html! {
        @if report.branches.iter().any(|branch| branch.branch != report.branch) {
            nav aria-label="Branches" {
                ul.tabs {
                    @for branch in &report.branches {
                        li { a href={ "/tasks?branch=" (query(&branch.branch)) }
                            aria-current=[(branch.branch == report.branch).then_some("page")]
                            { (branch.branch) " (" (number(u64::from(branch.tasks))) ")" } }
                    }
                }
            }
        }
    }
}

/// One form holds all buttons of the tree: each says which step it is, and of which task.
fn tree_form(tasks: &[TaskReport], frame: TaskFrame<'_>) -> Markup {
    html! {
        @if frame.access == Access::Full {
            form action="/tasks/change" method="post" {
                (hidden_fields(frame))
                (tree(tasks, frame))
            }
        } @else {
            (tree(tasks, frame))
        }
    }
}

fn tree(tasks: &[TaskReport], frame: TaskFrame<'_>) -> Markup {
    html! {
        ul.tree {
            @for (place, task) in tasks.iter().enumerate() {
                li {
                    (row(task, place.checked_sub(1).and_then(|before| tasks.get(before)), tasks.get(place + 1), frame))
                    @if !task.children.is_empty() { (tree(&task.children, frame)) }
                }
            }
        }
    }
}

fn row(
    task: &TaskReport,
    before: Option<&TaskReport>,
    behind: Option<&TaskReport>,
    frame: TaskFrame<'_>,
) -> Markup {
    let id = &task.id;
    let is_open = matches!(task.status, "pending" | "in_progress") && !task.cancelled;
    html! {
        div.task #{ "task-" (id) } .current[task.current] data-row {
            (state(task))
            " "
            a.title href={ "/tasks/" (id) "?branch=" (query(frame.branch)) } { (short(&task.content)) }
            " "
            span.soft.mono { (id) }
            @if task.current { " " span.tag.info { "current" } }
            @if task.priority != "normal" { " " span.tag { (task.priority) " priority" } }
            @if let Some(agent) = &task.agent { " " span.soft { "@" (agent) } }
            @if let Some(plan) = task.plan_file.as_ref().filter(|_| task.parent.is_none()) {
                " " span.soft { "from " (plan) }
            }
            @if !task.waits_for.is_empty() { " " span.tag.warn { "waits for " (task.waits_for.join(", ")) } }
            @if let Some(note) = &task.notes { p.note { (note) } }
            @if frame.access == Access::Full {
                span.actions {
                    @if is_open && task.status == "pending" { (button("start", id, "Start", "")) }
                    @if is_open { (button("done", id, "Done", "")) }
                    @if let Some(before) = before {
                        (button(&format!("before {}", before.id), id, "Up", "up"))
                    }
                    @if let Some(behind) = behind {
                        (button(&format!("after {}", behind.id), id, "Down", "down"))
                    }
                }
            }
        }
    }
}

fn button(deed: &str, id: &str, words: &str, press: &str) -> Markup {
    html! {
        button name="do" value={ (deed) " " (id) } data-press=[(!press.is_empty()).then_some(press)] {
            (words) span.hidden { " " (id) }
        }
    }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST_TITLE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn state(task: &TaskReport) -> Markup {
    let (mark, words) = match (task.cancelled, task.status) {
        (true, _) => ("×", "cancelled"),
        (false, "completed") => ("✓", "completed"),
        (false, "in_progress") => ("▸", "in progress"),
        (false, "skipped") => ("–", "skipped"),
        (false, _) => ("○", "pending"),
    };
    let is_good = task.status == "completed";
    let is_begun = task.status == "in_progress" && !task.cancelled;
    html! { span.tag.good[is_good].info[is_begun] { span aria-hidden="true" { (mark) } " " (words) } }
}

fn hidden_fields(frame: TaskFrame<'_>) -> Markup {
    html! {
        (csrf_field(frame.csrf))
        input type="hidden" name="branch" value=(frame.branch);
        @if let Some(page) = frame.page { input type="hidden" name="page" value=(page); }
        (chosen_fields(frame.plans))
    }
}

fn add_form(frame: TaskFrame<'_>, parent: Option<&str>) -> Markup {
    html! {
        form.stack action="/tasks/add" method="post" {
            (hidden_fields(frame))
            @if let Some(parent) = parent { input type="hidden" name="parent" value=(parent); }
            label { "Title" input type="text" name="title" required maxlength=(LONGEST_LINE); }
            details { summary { "Description, agent, priority" }
                label { "Description" textarea name="body" maxlength=(LONGEST_TEXT) {} }
                label { "Agent" input type="text" name="agent" maxlength=(LONGEST_NAME) placeholder="name"; }
                (priority_field("normal"))
            }
            div { button.primary { "Add" } }
        }
    }
}

fn priority_field(chosen: &str) -> Markup {
    html! {
        label { "Priority"
            select name="priority" {
                @for priority in ["high", "normal", "low"] {
                    option value=(priority) selected[priority == chosen] { (priority) }
                }
            }
        }
    }
}

fn rules(rules: &[PinReport], frame: TaskFrame<'_>) -> Markup {
    html! {
        h2 #rules { "Rules" }
        p.soft { "Lines of yours that every agent receives first, also after it lost its memory." }
        @if rules.is_empty() {
            (empty("No rule holds here.", "convoke pin add \"RULE\""))
        } @else {
            ul.rows {
                @for rule in rules { li data-row { (rule_row(rule, frame)) } }
            }
        }
        @if frame.access == Access::Full {
            form.row action="/pins/add" method="post" {
                (hidden_fields(frame))
                label { "New rule" input type="text" name="text" required maxlength=(LONGEST_NOTE) size="50"; }
                label { "Holds on"
                    select name="scope" {
                        option value="project" { "every branch" }
                        option value="branch" { (frame.branch) " only" }
                    }
                }
                button { "Add rule" }
            }
        }
    }
}

fn rule_row(rule: &PinReport, frame: TaskFrame<'_>) -> Markup {
    html! {
        strong { (rule.text) }
        span.soft {
            " rule " (rule.id)
            @if let Some(branch) = &rule.branch { ", on " (branch) }
            @if let Some(task) = &rule.task { ", while " (task) " is open" }
            @if let Some(until) = &rule.until { ", until " (time(until)) }
            @match &rule.last_delivery {
                Some(delivery) => { ", last delivered " (time(&delivery.delivered_at)) " to " (delivery.client) },
                None => ", not delivered yet",
            }
        }
        @if frame.access == Access::Full {
            " "
            form.inline action="/pins/remove" method="post" {
                (hidden_fields(frame))
                button name="rule" value=(rule.id) { "Remove" span.hidden { " rule " (rule.id) } }
            }
        }
    }
}

/// Returns the page of one task.
pub fn task_page(
    shown: &ShownTaskReport,
    history: &[TaskChangeReport],
    frame: TaskFrame<'_>,
) -> Markup {
    let task = &shown.task;
    html! {
        p { a href={ "/tasks?branch=" (query(frame.branch)) "#task-" (task.id) } { "All tasks of " (frame.branch) } }
        h1 { (short(&task.content)) }
        p { (state(task)) " " span.mono.soft { (task.id) } }
        (facts(task, frame))
        @if let Some(body) = &task.body { h2 { "Description" } div.prose.lines { (markdown(body)) } }
        @if let Some(section) = &shown.plan_section { h2 { "From the plan" } div.prose { (markdown(section)) } }
        @if !task.children.is_empty() {
            h2 { "Parts" }
            (tree_form(&task.children, frame))
        }
        (deeds(&shown.deeds))
        (log(history))
        @if frame.access == Access::Full { (forms(task, frame)) }
    }
}

fn facts(task: &TaskReport, frame: TaskFrame<'_>) -> Markup {
    let link = |id: &String| {
        html! {
            a href={ "/tasks/" (id) "?branch=" (query(frame.branch)) } { (id) } " "
        }
    };
    html! {
        dl.facts {
            dt { "Agent" } dd { @match &task.agent { Some(agent) => { "@" (agent) }, None => "none" } }
            dt { "Priority" } dd { (task.priority) }
            @if let Some(parent) = &task.parent { dt { "Part of" } dd { (link(parent)) } }
            @if let Some(plan) = &task.plan_file { dt { "Plan" } dd { (plan) } }
            @if let Some(skill) = &task.skill { dt { "Skill" } dd { (skill) } }
            @if !task.after.is_empty() {
                dt { "After" } dd { @for id in &task.after { (link(id)) } }
            }
            @if !task.waits_for.is_empty() {
                dt { "Waits for" } dd { @for id in &task.waits_for { (link(id)) } }
            }
            @if let Some(note) = &task.notes { dt { "Note" } dd { (note) } }
            dt { "Added" } dd { (time(&task.created_at)) }
            dt { "Changed" } dd { (time(&task.updated_at)) }
            @if let Some(at) = &task.completed_at { dt { "Completed" } dd { (time(at)) } }
        }
    }
}

fn deeds(deeds: &[DeedReport]) -> Markup {
    html! {
        @if !deeds.is_empty() {
            h2 { "Verdicts" }
            div.scroll tabindex="0" role="group" aria-label="Table" { table {
                thead { tr { th scope="col" { "When" } th scope="col" { "Role" } th scope="col" { "Verdict" }
                    th scope="col" { "Recorded by" } th scope="col" { "Because" } } }
                tbody { @for deed in deeds { tr {
                    td { (time(&deed.at)) } td { (deed.role) } td { (deed.verdict) } td { "@" (deed.recorded_by) }
                    td { (deed.because.as_deref().unwrap_or("no reason recorded")) }
                } } }
            } }
        }
    }
}

fn log(history: &[TaskChangeReport]) -> Markup {
    html! {
        h2 { "History" }
        @if history.is_empty() { p.soft { "No change is recorded." } } @else {
            div.scroll tabindex="0" role="group" aria-label="Table" { table {
                thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } } }
                tbody { @for change in history { tr {
                    td { (time(&change.at)) } td { "@" (change.actor) }
                    td { (change.what) @if change.undone { " " span.tag { "undone" } } @if change.undo { " " span.tag { "undo" } } }
                } } }
            } }
        }
    }
}

fn forms(task: &TaskReport, frame: TaskFrame<'_>) -> Markup {
    let id = &task.id;
    html! {
        h2 { "Change" }
        form.row action="/tasks/change" method="post" {
            (hidden_fields(frame))
            input type="hidden" name="back" value=(id);
            (button("start", id, "Start", ""))
            (button("done", id, "Done", ""))
            (button("skip", id, "Skip", ""))
        }
        form.row action="/tasks/note" method="post" {
            (hidden_fields(frame))
            input type="hidden" name="task" value=(id);
            label { "Note" input type="text" name="note" required maxlength=(LONGEST_NOTE) size="50"; }
            button { "Set note" }
        }
        form.row action="/tasks/assign" method="post" {
            (hidden_fields(frame))
            input type="hidden" name="task" value=(id);
            label { "Agent (empty: none)" input type="text" name="agent" maxlength=(LONGEST_NAME) value=[task.agent.as_deref()]; }
            button { "Assign" }
        }
        details { summary { "Edit title, description, priority" }
            form.stack action="/tasks/edit" method="post" {
                (hidden_fields(frame))
                input type="hidden" name="task" value=(id);
                label { "Title" input type="text" name="title" required maxlength=(LONGEST_LINE) value=(task.content); }
                label { "Description (empty: none)" textarea name="body" maxlength=(LONGEST_BODY) { (task.body.as_deref().unwrap_or("")) } }
                label { "After (ids of tasks, separated by spaces)" input type="text" name="after" maxlength=(LONGEST_LIST) value=(task.after.join(" ")); }
                (priority_field(task.priority))
                div { button.primary { "Save" } }
            }
        }
        details { summary { "Add a part" } (add_form(frame, Some(id))) }
        details { summary { "Remove" }
            p { "Removes the task with everything below it. " code { "convoke task restore " (id) } " brings it back." }
            form action="/tasks/remove" method="post" {
                (hidden_fields(frame))
                button.danger name="task" value=(id) { "Remove " (id) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
