//! The results of a search.

use convoke_service::search::{MOST_HITS, SearchHitReport, SearchReport};
use maud::{Markup, html};

use crate::components::{number, query};

/// The kinds of results: the word in the report, and the heading.
const KINDS: [(&str, &str); 4] =
    [("run", "Runs"), ("finding", "Findings"), ("task", "Tasks"), ("message", "Messages")];

/// Returns the page.
pub fn search_page(report: &SearchReport) -> Markup {
    html! {
        h1 { "Search" }
        @if report.words.trim().is_empty() {
            p { "Type words into the field above: " kbd { "/" } " leads there. All of them must occur." }
        } @else {
            p { (number(report.hits.len() as u64)) @if !report.more.is_empty() { " of more" }
                @if report.hits.len() == 1 { " result" } @else { " results" }
                " for “" (report.words) "”" }
            @if report.hits.is_empty() {
                div.empty { p { "No run, finding, task or message of this project has all of these words. Fewer words, or the beginning of one, find more." } }
            }
            @if report.unseen_messages > 0 {
                p.notice { "The index is being made: " (number(report.unseen_messages)) " messages are not in it yet. Search again to see them." }
            }
            @if report.has_unseen_runs {
                p.notice { "Findings of some runs are not in the index yet. Search again to see them." }
            }
            @for (kind, heading) in KINDS {
                @let hits: Vec<_> = report.hits.iter().filter(|hit| hit.kind == kind).collect();
                @if !hits.is_empty() {
                    h2 { (heading) }
                    @if report.more.contains(&kind) {
                        p.soft { "The newest " (MOST_HITS) "; more words narrow it." }
                    }
                    ul.rows { @for hit in hits { (row(hit)) } }
                }
            }
        }
    }
}

fn row(hit: &SearchHitReport) -> Markup {
    let branch = hit.branch.as_deref().unwrap_or_default();
    let address = match hit.kind {
        "run" => format!("/runs/{}", query(&hit.id)),
        "finding" => {
            format!("/runs/{}#{}", query(hit.run.as_deref().unwrap_or_default()), query(&hit.id))
        }
        "task" => format!("/tasks/{}?branch={}", query(&hit.id), query(branch)),
        _ => format!("/messages/{}?branch={}", query(&hit.id), query(branch)),
    };
    let title =
        if hit.kind == "message" { format!("from @{}", hit.title) } else { hit.title.clone() };
    html! {
        li data-row {
            a href=(address) { (title) }
            " " span.soft.mono { (hit.id) }
            @if let Some(run) = &hit.run { " " span.soft { "in " (run) } }
            @if let Some(branch) = &hit.branch { " " span.soft { "on " (branch) } }
            @if !hit.text.is_empty() { p.note { (hit.text) } }
        }
    }
}
