//! The page Messages: conversations, unread messages, writing one, and the wake-up of an agent.

use convoke_service::message::{ListedMessageReport, MessagePageReport};
use convoke_service::status::UnreadMessages;
use convoke_service::wake::WakeReport;
use maud::{Markup, html};

use crate::components::{csrf_field, empty, number, query, time, tokens};
use crate::layout::Access;
use crate::limits::{LONGEST_NAME, LONGEST_TEXT};
use crate::markdown::markdown;

/// Returns the list of messages.
pub fn messages_page(report: &MessagePageReport, access: Access, csrf: &str) -> Markup {
    html! {
        h1 { "Messages" }
        (unread(report, access, csrf))
        @if access == Access::Full { (write_form(csrf, None)) }
        h2 { "On this branch, newest first" }
        @if report.messages.is_empty() {
            (empty("No message was sent on this branch.", "convoke say \"@NAME TEXT\""))
        } @else {
            ul.rows { @for message in &report.messages { (row(message, None)) } }
        }
        @if let Some(before) = report.older_than {
            p { a.button rel="next" href={ "/messages?before=" (before) } { "Older messages" } }
        }
    }
}

fn unread(report: &MessagePageReport, access: Access, csrf: &str) -> Markup {
    let unread = &report.unread;
    html! {
        h2 { "Unread" }
        div.scroll tabindex="0" role="group" aria-label="Table" { table {
            thead { tr { th scope="col" { "Reader" } th.number scope="col" { "Unread" } th scope="col" { "Wake-up" } } }
            tbody { @for reader in unread {
                @let is_you = reader.reader == "human";
                tr {
                    th scope="row" { "@" (reader.reader) @if is_you { " (you)" } }
                    td.number { (number(reader.count as u64)) " " (if reader.count == 1 { "message" } else { "messages" }) }
                    td { @if is_you { "none" } @else {
                        a href={ "/messages/wake?agent=" (query(&reader.reader)) } { "Preview" span.hidden { " of @" (reader.reader) } }
                    } }
                }
            } }
        } }
        @if access == Access::Full { (mark_form(report, csrf)) }
    }
}

/// Shows the button by which you say that you have read what the page shows.
fn mark_form(report: &MessagePageReport, csrf: &str) -> Markup {
    let is_unread = |reader: &UnreadMessages| reader.reader == "human" && reader.count > 0;
    let shown: Vec<_> = report.messages.iter().map(|one| one.message.id.to_string()).collect();
    html! {
        @if report.unread.iter().any(is_unread) && !shown.is_empty() {
            form.row action="/messages/read" method="post" {
                (csrf_field(csrf))
                input type="hidden" name="read" value=(shown.join(" "));
                button { "I have read the messages below" }
            }
        }
    }
}

fn write_form(csrf: &str, re: Option<i64>) -> Markup {
    html! {
        h2 { @if re.is_some() { "Answer" } @else { "Write" } }
        form.stack action="/messages/say" method="post" {
            (csrf_field(csrf))
            @if let Some(re) = re { input type="hidden" name="re" value=(re); }
            label { "Text; " code { "@name" } " mentions an agent" textarea name="text" required maxlength=(LONGEST_TEXT) {} }
            label { "Only to (empty: everyone on the branch)" input type="text" name="to" maxlength=(LONGEST_NAME) placeholder="name"; }
            div { button.primary { "Send" } }
        }
    }
}

fn row(listed: &ListedMessageReport, branch: Option<&str>) -> Markup {
    let message = &listed.message;
    let address = |id: i64| match branch {
        Some(branch) => format!("/messages/{id}?branch={}#message-{id}", query(branch)),
        None => format!("/messages/{id}#message-{id}"),
    };
    html! {
        li #{ "message-" (message.id) } data-row {
            p.soft {
                a href=(address(message.id)) { "Message " (message.id) }
                " from @" (message.from)
                @if let Some(to) = &message.to { " to @" (to) }
                ", " (time(&message.created_at))
                @if let Some(re) = message.re { ", answers " a href=(address(re)) { (re) } }
                @if !listed.mentions.is_empty() { ", mentions " (listed.mentions.join(", ")) }
                @if listed.hop > 0 { ", " (listed.hop) " wake-ups in a row" }
            }
            div.prose.lines { (markdown(&message.content)) }
        }
    }
}

/// Returns one conversation; `branch` names one that is not checked out, on which Convoke sends nothing.
pub fn thread_page(
    id: i64,
    messages: &[ListedMessageReport],
    branch: Option<&str>,
    access: Access,
    csrf: &str,
) -> Markup {
    html! {
        p { a href="/messages" { "All messages" } }
        h1 { "Conversation of message " (id) }
        @if let Some(branch) = branch {
            p.notice { "On the branch " code { (branch) } ". Check it out to answer." }
        }
        ul.rows { @for message in messages { (row(message, branch)) } }
        @if access == Access::Full && branch.is_none() { (write_form(csrf, Some(id))) }
    }
}

/// Returns the wake-up that an agent would receive now.
pub fn wake_page(agent: &str, wake: &WakeReport) -> Markup {
    let used = wake.tokens_x10.div_ceil(10);
    html! {
        p { a href="/messages" { "All messages" } }
        h1 { "Wake-up of @" (agent) ", if it came now" }
        p.budget {
            label {
                "Uses about " (tokens(used)) " of " (tokens(wake.budget))
                @if wake.over_budget { " " span.tag.bad { "over the budget" } }
                progress value=(used.min(wake.budget)) max=(wake.budget.max(1)) {}
            }
        }
        dl.facts {
            dt { "Tells" } dd { (wake.extent) }
            dt { "Task" } dd { (wake.task.as_deref().unwrap_or("none")) }
            dt { "Plan" } dd { (wake.plan_file.as_deref().unwrap_or("none")) }
            dt { "Skill" } dd { (wake.skill.as_deref().unwrap_or("none"))
                @if let Some(why) = wake.skill_reason { " (" (why) ")" } }
            dt { "Rules" } dd { (number(wake.pins.len() as u64)) }
        }
        h2 { "Left out to fit the budget" }
        @if wake.steps.is_empty() { p { "Nothing: the whole wake-up fits." } } @else {
            ol { @for step in &wake.steps { li { (step) } } }
        }
        @if !wake.diagnostics.is_empty() {
            h2 { "Remarks" }
            ul { @for remark in &wake.diagnostics { li { (remark) } } }
        }
        h2 { "Text" }
        pre { (wake.text) }
    }
}

#[cfg(test)]
mod tests;
