//! The slider that plays a run again, event by event.
//!
//! Without a script it is a form and links: each event has a page of its own. With the script the
//! slider moves the line of the time axis and shows events as it goes.

use convoke_service::run::{RunEventReport, RunShowReport, RunTimelineReport};
use maud::{Markup, html};
use serde::Serialize;

use super::run_path;
use super::summary::millis;
use crate::markdown::{plain, visible};

/// How many events before and after the present one are listed.
const AROUND: usize = 12;

/// Shows the slider and its links.
pub(super) fn replay(report: &RunShowReport, course: &RunTimelineReport) -> Markup {
    let last = course.events.len() as u64;
    let at = report.journal.at.min(last);
    if last == 0 {
        return html! {};
    }
    let path = run_path(&report.run);
    let link = |words: &str, to: u64| {
        html! {
            @if to == at { span.button.off aria-disabled="true" { (words) } }
            @else { a.button href=(place(&path, to, last)) { (words) } }
        }
    };
    html! {
        form.replay #replay method="get" action=(path) data-events=(moments(course)) {
            label for="at" { "Replay: event " output #at-number for="at" { (at) } " of " (last) }
            input #at type="range" name="at" min="1" max=(last) value=(at) step="1";
            p.replay-event #at-text role="status" { (text(course, at)) }
            div.buttons {
                (link("First", 1))
                (link("Back", at.saturating_sub(1).max(1)))
                (link("Next", (at + 1).min(last)))
                (link("Last", last))
                button type="submit" { "Show the run after this event" }
            }
        }
    }
}

/// Returns the address of a run after an event. The page of the last event is that of the run now.
fn place(path: &str, to: u64, last: u64) -> String {
    if to == last { path.to_owned() } else { format!("{path}?at={to}") }
}

fn text(course: &RunTimelineReport, at: u64) -> Markup {
    let event = usize::try_from(at).ok().and_then(|at| course.events.get(at.checked_sub(1)?));
    html! { @if let Some(event) = event { (plain(&event.text)) } }
}

/// An event for the script: its time and its words.
#[derive(Serialize)]
struct Told<'e>(i64, &'e str);

fn moments(course: &RunTimelineReport) -> String {
    let texts: Vec<_> = course.events.iter().map(|event| visible(&event.text)).collect();
    let told = course.events.iter().zip(&texts);
    let told: Vec<_> = told.map(|(event, text)| Told(event.at_ms, text)).collect();
    serde_json::to_string(&told).unwrap_or_default()
}

/// Lists the events around the present one.
pub(super) fn events(report: &RunShowReport, course: &RunTimelineReport) -> Markup {
    let at = usize::try_from(report.journal.at).unwrap_or(usize::MAX).min(course.events.len());
    let from = at.saturating_sub(AROUND + 1);
    let to = (at + AROUND).min(course.events.len());
    let shown: &[RunEventReport] = course.events.get(from..to).unwrap_or_default();
    let (path, last) = (run_path(&report.run), course.events.len() as u64);
    html! {
        details.events data-open="events" {
            summary { "Events " (from + 1) " to " (to) " of " (course.events.len()) }
            ol start=(from + 1) {
                @for event in shown {
                    li aria-current=[(event.event == report.journal.at).then_some("step")] {
                        a href=(place(&path, event.event, last)) { (millis(event.at_ms)) }
                        " " (plain(&event.text))
                    }
                }
            }
        }
    }
}
