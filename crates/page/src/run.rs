//! The page of a run: what its panel decided, why, and what that cost.
//!
//! The page takes the report that `convoke show --json` prints. At an earlier event of the journal
//! it takes the report of that event, and the time axis of the whole run.

mod citations;
mod cost;
mod decisions;
mod diagram;
mod findings;
mod forms;
mod gantt;
mod independence;
mod plan;
mod replay;
mod sketches;
mod summary;

use convoke_service::now::LiveLaneReport;
use convoke_service::run::{RecentDesign, RunShowReport, RunStateReport, RunTimelineReport};
use maud::{Markup, html};

pub use self::cost::cost;
pub use self::decisions::decisions;
pub use self::diagram::{
    DIAGRAM_POLICY, DRAW_SCRIPT, DRAW_SCRIPT_PATH, DiagramView, MERMAID, MERMAID_PATH, diagram,
    diagram_document, diagram_path,
};
pub use self::findings::findings;
pub use self::gantt::gantt;
pub use self::independence::independence;
pub use self::plan::plan;
pub(crate) use self::sketches::{names_of_one, only_names};
pub use self::summary::{journal, summary, warnings};
use crate::compare::single_pass_path;
use crate::components::minute;
use crate::layout::Access;
use crate::markdown::plain;
use crate::now::{LivePart, lane_cards};

/// The style sheet of runs, beside that of all pages.
pub const RUN_STYLE: &str = include_str!("../assets/run.css");

/// Where the server has that style sheet.
pub const RUN_STYLE_PATH: &str = "/assets/run.css";

/// The script of the slider.
pub const RUN_SCRIPT: &str = include_str!("../assets/run.js");

/// Where the server has that script.
pub const RUN_SCRIPT_PATH: &str = "/assets/run.js";

/// What the page of a run shows.
#[derive(Debug, Clone, Copy)]
pub struct RunPage<'r> {
    /// The run, now or after an event.
    pub report: &'r RunShowReport,
    /// The course of the whole run.
    pub course: &'r RunTimelineReport,
    /// The lanes of the run that run now.
    pub lanes: &'r [LiveLaneReport],
    /// The last designs of the project, to put one beside this.
    pub recent: &'r [RecentDesign],
    /// Whether a person may answer, decide and stop here.
    pub access: Access,
    /// The token that every form sends along.
    pub csrf: &'r str,
}

/// Returns the path of a run's page.
pub fn run_path(run: &str) -> String {
    format!("/runs/{run}")
}

/// Returns the content of the page.
///
/// Its forms post to the run's path with `/answer` (fields `csrf`, `question`, `answer` and `words`;
/// words count before a chosen option), for `convoke_service::background::answer_question`, and with
/// `/decide` (fields `csrf`, `matter`, `choice` and `because`), for `rule_run` beside it.
pub fn run(page: &RunPage<'_>) -> Markup {
    html! {
        link rel="stylesheet" href=(RUN_STYLE_PATH);
        script src=(RUN_SCRIPT_PATH) defer {}
        @for (id, content) in run_parts(page) {
            div id=(id) data-part { (content) }
            // Below the summary: a run has more screens than a reader wants to scroll through.
            @if id == SUMMARY { (places()) }
        }
        (comparison(page))
    }
}

/// Returns the parts of the page that change while a run goes on, with [`lanes_part`] among them.
pub fn run_parts(page: &RunPage<'_>) -> Vec<LivePart> {
    let RunPage { report, course, .. } = *page;
    vec![
        (SUMMARY, html! { (summary(report)) (stop_link(page)) }),
        ("run-waiting", forms::forms(page)),
        lanes_part(page.lanes, page.access),
        ("run-course", course_part(report, course)),
        ("run-decisions", decisions(report)),
        ("run-findings", findings(report)),
        ("run-plan", plan(report)),
        ("run-sketches", sketches::sketches(report)),
        ("run-diagram", diagram(report, &DiagramView::Frame(&diagram_path(&report.run)))),
        ("run-independence", independence(report)),
        ("run-cost", cost(report)),
        ("run-warnings", warnings(report)),
        ("run-journal", journal(report)),
    ]
}

/// Returns the part with the lanes that run now; it changes more often than the journal.
pub fn lanes_part(lanes: &[LiveLaneReport], access: Access) -> LivePart {
    let content = html! {
        @if !lanes.is_empty() {
            section aria-labelledby="lanes-title" {
                h2 #lanes-title { "Running lanes " span.count { (lanes.len()) } }
                (lane_cards(lanes, access))
            }
        }
    };
    ("run-lanes", content)
}

fn course_part(report: &RunShowReport, course: &RunTimelineReport) -> Markup {
    html! {
        section #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title { "Course" }
            (replay::replay(report, course))
            (gantt(course, Some(report.journal.at)))
            (replay::events(report, course))
        }
    }
}

/// The part that a page begins with.
const SUMMARY: &str = "run-summary";

/// The sections of a run, in their order: the place on the page, and its name. Each is there in every
/// run, and says so if it has nothing yet.
const PLACES: [(&str, &str); 11] = [
    ("timeline", "Course"),
    ("decisions", "Decisions"),
    ("findings", "Findings and votes"),
    ("plan", "Plan"),
    ("sketches", "Sketches"),
    ("diagram", "Diagram"),
    ("independence", "Independence"),
    ("cost", "Cost"),
    ("warnings", "Warnings"),
    ("journal", "Journal"),
    ("compare", "Compare"),
];

fn places() -> Markup {
    html! {
        nav aria-label="Parts of this run" {
            ul.places { @for (place, name) in PLACES { li { a href={ "#" (place) } { (name) } } } }
        }
    }
}

/// Returns the button that stops a run which a process works on.
fn stop_link(page: &RunPage<'_>) -> Markup {
    let is_running = page.report.state == RunStateReport::Running && page.access == Access::Full;
    html! {
        @if is_running {
            p { a.button.danger href={ (run_path(&page.report.run)) "/stop" } { "Stop the design…" } }
        }
    }
}

/// Shows what can be put beside this run: another one, or the plan of one agent alone.
fn comparison(page: &RunPage<'_>) -> Markup {
    let RunPage { report, recent, .. } = *page;
    let others: Vec<_> = recent.iter().filter(|other| other.run != report.run).collect();
    // The agents of a rehearsal are gone with it.
    let has_single_pass = !report.is_rehearsal && !report.evidence.plans.is_empty();
    html! {
        section #compare aria-labelledby="compare-title" {
            h2 #compare-title { "Compare" }
            @if has_single_pass {
                p { a href=(single_pass_path(&report.run)) { "Beside a plan that one agent wrote alone" } }
            }
            form.row method="get" action="/compare" {
                input type="hidden" name="first" value=(report.run);
                div {
                    label for="second" {
                        @if others.is_empty() { "Compare with the run (its id, or the beginning of it)" }
                        @else { "Compare with the run (choose one, or type its id)" }
                    }
                    input #second name="second" required maxlength="64" pattern="[0-9A-Za-z][0-9A-Za-z\\-]*"
                        list=[(!others.is_empty()).then_some("recent-designs")] autocomplete="off";
                    @if !others.is_empty() {
                        datalist #recent-designs {
                            @for other in others {
                                option value=(other.run) { (plain(&other.feature)) ", " (minute(&other.started_at)) }
                            }
                        }
                    }
                }
                button type="submit" { "Compare" }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
#[path = "run/tests.rs"]
pub(crate) mod tests_of_pages;
