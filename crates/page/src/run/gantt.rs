//! The time axis of a run: a row for every lane, drawn as our own SVG.
//!
//! Names and times are text of the page, so that they keep their size on every screen; only the bars
//! are stretched. Status words stand beside the bars, so that no colour is needed to read them.

use convoke_service::run::{LaneBarReport, RunTimelineReport, RunWaitReport, StepSpanReport};
use maud::{Markup, html};

use crate::components::{duration, money, number};
use crate::markdown::plain;

/// The width of the axis in units of the drawing.
const WIDTH: i64 = 10_000;

/// The least width of a bar, so that a short lane can be seen.
const LEAST: i64 = 20;

/// With more rows, steps are folded: a browser opens them when a reader wants them.
const MOST_OPEN_ROWS: usize = 200;

/// The part of time that the axis has.
#[derive(Debug, Clone, Copy)]
struct Scale {
    from: i64,
    to: i64,
}

impl Scale {
    fn of(course: &RunTimelineReport) -> Option<Self> {
        let events = course.events.iter().map(|event| event.at_ms);
        let lanes = course.lanes.iter().flat_map(|lane| [Some(lane.from_ms), lane.to_ms]);
        let times: Vec<_> = events.chain(lanes.flatten()).collect();
        Some(Self { from: *times.iter().min()?, to: *times.iter().max()? })
    }

    /// Returns the place of a time on the axis.
    fn place(self, at: i64) -> i64 {
        let whole = (self.to - self.from).max(1);
        let part = (at.clamp(self.from, self.to) - self.from).saturating_mul(WIDTH);
        part / whole
    }

    /// Returns the times from the beginning at the marks of the axis.
    fn marks(self) -> [String; 5] {
        let whole = u64::try_from(self.to - self.from).unwrap_or_default();
        [0, 1, 2, 3, 4].map(|quarter| duration(whole * quarter / 4))
    }
}

/// A lane and all its starts.
struct Row<'r> {
    bars: Vec<&'r LaneBarReport>,
}

/// Draws the course of a run, with a line at an event.
pub fn gantt(course: &RunTimelineReport, at: Option<u64>) -> Markup {
    let Some(scale) = Scale::of(course) else {
        return html! { p.soft { "Nothing has happened yet." } };
    };
    let rows = rows(course);
    let is_open = rows.len() <= MOST_OPEN_ROWS;
    let cursor = at.and_then(|at| course.events.get(usize::try_from(at).ok()?.checked_sub(1)?));
    html! {
        div.gantt role="group" aria-label="Lanes on a time axis" data-width=(WIDTH)
            data-from=(scale.from) data-to=(scale.to) {
            div.gantt-row.gantt-axis aria-hidden="true" {
                span.gantt-name {}
                span.gantt-marks { @for mark in scale.marks() { span { (mark) } } }
                span.gantt-end {}
            }
            @if !course.waits.is_empty() { (waits(&course.waits, scale)) }
            @for step in &course.steps {
                @let of_step: Vec<_> = rows.iter().filter(|row| row.bars[0].step == step.number).collect();
                @if of_step.is_empty() {
                    (step_row(step, scale))
                } @else {
                    details.gantt-step data-open={ "step " (step.number) } open[is_open] {
                        summary { (step_row(step, scale)) }
                        @for row in of_step { (lane_row(row, scale, &course.waits)) }
                    }
                }
            }
            @if let Some(cursor) = cursor {
                svg.gantt-cursor viewBox={ "0 0 " (WIDTH) " 10" } preserveAspectRatio="none" aria-hidden="true" {
                    line x1=(scale.place(cursor.at_ms)) x2=(scale.place(cursor.at_ms)) y1="0" y2="10"
                        vector-effect="non-scaling-stroke" {}
                }
            }
        }
        p.soft.legend {
            "Bars: "
            span.key.ok { "answered" } " " span.key.failed { "failed" } " " span.key.cut { "cut off" } " "
            span.key.open { "open" } " " span.key.wait { "waiting" }
        }
    }
}

fn rows(course: &RunTimelineReport) -> Vec<Row<'_>> {
    let mut places = std::collections::HashMap::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for lane in &course.lanes {
        let place = *places.entry(lane.lane.as_str()).or_insert(rows.len());
        match rows.get_mut(place) {
            Some(row) => row.bars.push(lane),
            None => rows.push(Row { bars: vec![lane] }),
        }
    }
    rows
}

fn step_row(step: &StepSpanReport, scale: Scale) -> Markup {
    let took = u64::try_from(step.to_ms - step.from_ms).unwrap_or_default();
    html! {
        span.gantt-row.gantt-head {
            span.gantt-name { (step.number) " " (step.name) }
            (track(&bar("step", step.from_ms, Some(step.to_ms), scale)))
            span.gantt-end { (duration(took)) }
        }
    }
}

fn lane_row(row: &Row<'_>, scale: Scale, waits: &[RunWaitReport]) -> Markup {
    let last = row.bars[row.bars.len() - 1];
    let drawing = html! {
        @for wait in waits { (bar("wait", wait.from_ms, wait.to_ms, scale)) }
        @for lane in &row.bars { (lane_bar(lane, scale)) }
    };
    html! {
        div.gantt-row {
            span.gantt-name { (plain(&last.seat)) }
            (track(&drawing))
            span.gantt-end {
                details.lane data-open={ "lane " (last.lane) } {
                    summary { (words(last)) @if row.bars.len() > 1 { " (" (row.bars.len()) " starts)" } }
                    @for lane in &row.bars { (facts(lane)) }
                }
            }
        }
    }
}

/// Returns how a lane ended, and how long it took.
fn words(lane: &LaneBarReport) -> String {
    let status = match lane.status {
        "OK" => "answered",
        "open" => "open",
        "cut-off" => "cut off",
        other => other,
    };
    match lane.to_ms {
        Some(to) => {
            let took = u64::try_from(to - lane.from_ms).unwrap_or_default();
            format!("{status}, {}", duration(took))
        }
        None => status.to_owned(),
    }
}

fn facts(lane: &LaneBarReport) -> Markup {
    let tokens = lane.input_tokens.zip(lane.output_tokens);
    html! {
        dl.facts {
            dt { "Lane" } dd.mono { (plain(&lane.lane)) }
            dt { "Agent" } dd { (plain(&lane.agent)) }
            dt { "Model requested" } dd { (plain(lane.requested_model.as_deref().unwrap_or("client's choice"))) }
            dt { "Model that answered" } dd { (plain(lane.model.as_deref().unwrap_or("unknown"))) }
            @if lane.is_second_request { dt { "Request" } dd { "repeated, after an answer in another form" } }
            @if lane.is_substitute { dt { "Seat" } dd { "the host, in place of another agent" } }
            @if lane.restarts > 0 { dt { "Start" } dd { "number " (lane.restarts + 1) } }
            @if let Some((input, output)) = tokens {
                dt { "Tokens" } dd { (number(input)) " read, " (number(output)) " written, " (money(lane.micro_dollars)) }
            } @else {
                dt { "Tokens" } dd { "not reported" }
            }
            @if let Some(reason) = &lane.reason { dt { "Reason" } dd { (plain(reason)) } }
        }
    }
}

fn waits(waits: &[RunWaitReport], scale: Scale) -> Markup {
    let drawing = html! {
        @for wait in waits { (bar("wait", wait.from_ms, wait.to_ms, scale)) }
    };
    html! {
        div.gantt-row {
            span.gantt-name { "Waits" }
            (track(&drawing))
            span.gantt-end {
                details.lane data-open="waits" {
                    summary { (waits.len()) @if waits.len() == 1 { " wait" } @else { " waits" } }
                    ul {
                        @for wait in waits {
                            li {
                                (match wait.kind { "person" => "for a person", "stopped" => "stopped", _ => "lost" })
                                ": " (plain(&wait.reason)) ", "
                                @match wait.to_ms {
                                    Some(to) => { (duration(u64::try_from(to - wait.from_ms).unwrap_or_default())) }
                                    None => { "still" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn track(drawing: &Markup) -> Markup {
    html! {
        svg.gantt-track viewBox={ "0 0 " (WIDTH) " 10" } preserveAspectRatio="none" aria-hidden="true" { (drawing) }
    }
}

fn lane_bar(lane: &LaneBarReport, scale: Scale) -> Markup {
    let class = match lane.status {
        "OK" => "ok",
        "open" => "open",
        "cut-off" => "cut",
        _ => "failed",
    };
    let (x, width) = extent(lane.from_ms, lane.to_ms, scale);
    html! {
        rect.(class) x=(x) y="1" width=(width) height="8" data-from=(lane.from_event) data-to=[lane.to_event] {}
    }
}

fn bar(class: &str, from: i64, to: Option<i64>, scale: Scale) -> Markup {
    let (x, width) = extent(from, to, scale);
    html! { rect.(class) x=(x) y="0" width=(width) height="10" {} }
}

fn extent(from: i64, to: Option<i64>, scale: Scale) -> (i64, i64) {
    let start = scale.place(from);
    let end = to.map_or(WIDTH, |to| scale.place(to));
    let width = (end - start).max(LEAST);
    (start.min(WIDTH - LEAST), width)
}
