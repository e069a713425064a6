//! What a reader needs first: the outcome in a few lines; and at the end where it comes from.

use convoke_service::run::{RunShowReport, RunStateReport};
use maud::{Markup, html};

use crate::components::{duration, money, number, time};
use crate::markdown::{markdown, plain};
use crate::verdict_words::findings_in_words;

/// Shows the outcome of a run.
pub fn summary(report: &RunShowReport) -> Markup {
    let tone = match report.state {
        RunStateReport::Ended if report.warnings.is_empty() => "good",
        RunStateReport::Ended => "warn",
        RunStateReport::Running => "info",
        RunStateReport::Stopped | RunStateReport::Refused | RunStateReport::Unfinished => "soft",
    };
    html! {
        h1 { (plain(&report.feature)) }
        p {
            span.tag.(tone) { (report.ending) }
            @if report.is_rehearsal { " " span.tag.info { "rehearsal: every answer was recorded" } }
            @if report.journal.at < report.journal.events {
                " "
                span.tag.info { "as of event " (report.journal.at) " of " (report.journal.events) }
            }
        }
        (request(report))
        dl.facts {
            dt { "Run" } dd.mono { (report.run) }
            @if let Some(begun) = report.journal.begun_ms {
                dt { "Began" } dd { (millis(begun)) }
            }
            @if let (Some(begun), Some(at)) = (report.journal.begun_ms, report.journal.at_ms) {
                dt { "Took" } dd { (duration(u64::try_from(at - begun).unwrap_or_default())) }
            }
            @for (name, value) in facts(report) {
                dt { (name) } dd { (value) }
            }
        }
    }
}

/// Shows the whole request if the title does not have all of it.
fn request(report: &RunShowReport) -> Markup {
    let request = report.request.as_deref().unwrap_or_default();
    if request.trim() == report.feature.trim() {
        return html! {};
    }
    html! {
        details data-open="request" {
            summary { "The request in full" } div.prose { (markdown(request)) }
        }
    }
}

fn facts(report: &RunShowReport) -> Vec<(&'static str, Markup)> {
    let mut facts = Vec::new();
    let results = &report.results;
    if !results.decisions.is_empty() {
        let voted = results.decisions.iter();
        let voted = voted.filter(|decision| decision.disposition == Some("voted")).count();
        let all = results.decisions.len();
        facts.push(("Decisions", html! { (all) " contested, " (voted) " decided by judges" }));
    }
    if !results.findings.is_empty() {
        facts.push(("Findings", html! { (findings_in_words(&results.findings)) }));
    }
    if let Some(size) = &results.plan {
        let words = number(size.words as u64);
        facts.push(("Plan", html! { (size.tasks) " tasks, " (words) " words" }));
    }
    if let Some(words) = &report.independence {
        facts.push(("Independence", html! { (plain(words)) }));
    }
    let cost = &report.cost.total;
    let tokens = number(cost.input_tokens + cost.output_tokens);
    let paid = if report.cost.is_recorded { "recorded" } else { "spent" };
    let money = money(cost.micro_dollars);
    facts.push((
        "Cost",
        html! { (tokens) " tokens " (paid) ", " (money) ", " (cost.lanes) " lanes" },
    ));
    if !report.matters.undecided.is_empty() {
        let open = report.matters.undecided.len();
        facts.push(("Undecided", html! { (open) " left to you" }));
    }
    facts
}

/// Shows a time that is kept in milliseconds since 1970.
pub(super) fn millis(at: i64) -> Markup {
    let at = jiff::Timestamp::from_millisecond(at);
    html! { @if let Ok(at) = at { (time(&at.to_string())) } @else { "unknown" } }
}

/// Shows every warning of a run.
pub fn warnings(report: &RunShowReport) -> Markup {
    html! {
        section #warnings aria-labelledby="warnings-title" {
            h2 #warnings-title { "Warnings" }
            @if report.warnings.is_empty() {
                p.soft { "None." }
            } @else {
                ul.warnings {
                    @for warning in &report.warnings { li { (markdown(warning)) } }
                }
            }
        }
    }
}

/// Shows what all of the page follows from.
pub fn journal(report: &RunShowReport) -> Markup {
    let journal = &report.journal;
    html! {
        section #journal aria-labelledby="journal-title" {
            h2 #journal-title { "Journal" }
            p { "All of this follows from the run's journal. Each event's hash covers the one before it." }
            dl.facts {
                dt { "Event" } dd { (number(journal.at)) " of " (number(journal.events)) }
                dt { "Hash" } dd.mono { (journal.hash) }
                dt { "State" } dd { (journal.state) }
                dt { "Rules" } dd {
                    "counted by version " (report.rules.rules) ", written under version "
                    (report.rules.written_under)
                }
            }
        }
    }
}
