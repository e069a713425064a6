//! Independent sketches side by side, and what each of them names alone.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::design::seat_name::label_seat;
use convoke_service::run::{RunShowReport, SketchReport};
use maud::{Markup, html};

use super::citations::citations;
use crate::markdown::{markdown, visible};

/// The longest name in code marks that is compared, in characters.
const LONGEST_NAME: usize = 60;

/// How many names of a sketch are listed.
const MOST_NAMES: usize = 30;

/// Shows the sketches and their differences.
pub(super) fn sketches(report: &RunShowReport) -> Markup {
    let sketches = &report.evidence.sketches;
    let names: Vec<_> = sketches.iter().map(|sketch| code_names(&sketch.text)).collect();
    html! {
        section #sketches aria-labelledby="sketches-title" {
            h2 #sketches-title { "Sketches" }
            @if sketches.is_empty() {
                p.soft { "There is no usable sketch yet." }
            } @else {
                p.soft {
                    "Each was written without knowledge of the others. "
                    @if !report.results.decisions.is_empty() {
                        a href="#decisions" { "Where they differ" } " is what the panel debated."
                    }
                }
                div.columns {
                    @for (place, sketch) in sketches.iter().enumerate() {
                        (one(report, sketch, &only_here(place, &names)))
                    }
                }
            }
            @if let Some(synthesis) = &report.evidence.synthesis {
                details data-open="synthesis" { summary { "Synthesis of the sketches" } div.prose.document tabindex="0" role="group" aria-label="Synthesis" { (markdown(synthesis)) } }
            }
        }
    }
}

fn one(report: &RunShowReport, sketch: &SketchReport, only: &[String]) -> Markup {
    let panel = report.panel.as_ref();
    let name = panel.map_or(sketch.seat.clone(), |panel| label_seat(&sketch.seat, panel));
    html! {
        article.card {
            h3 { (name) }
            @if sketch.written_by != sketch.owner {
                p.warn { "Written by " (sketch.written_by) " in place of " (sketch.owner) }
            }
            (only_names("Only this sketch names: ", only))
            div.prose.document tabindex="0" role="group" aria-label="Sketch" { (markdown(&sketch.text)) }
            (citations(report, |citation| {
                citation.part == "sketch" && citation.seat.as_deref() == Some(sketch.seat.as_str())
            }))
        }
    }
}

/// Lists the names that one text has alone.
pub(crate) fn only_names(words: &str, only: &[String]) -> Markup {
    html! {
        p {
            strong { (words) }
            @if only.is_empty() { span.soft { "nothing" } }
            @for (place, name) in only.iter().take(MOST_NAMES).enumerate() {
                @if place > 0 { ", " }
                code { (name) }
            }
            @if only.len() > MOST_NAMES { span.soft { " and " (only.len() - MOST_NAMES) " more" } }
        }
    }
}

/// Returns the names in code marks that only one of two texts has.
pub(crate) fn names_of_one(texts: [&str; 2]) -> [Vec<String>; 2] {
    let names = texts.map(code_names);
    [0, 1].map(|place| only_here(place, &names))
}

/// Returns the names in code marks, which are files, functions and settings.
fn code_names(text: &str) -> BTreeSet<String> {
    let text = visible(text);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("```"));
    let spans = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_name = |span: &&str| !span.trim().is_empty() && span.chars().count() <= LONGEST_NAME;
    spans.filter(is_name).map(|span| span.trim().to_owned()).collect()
}

/// Returns the names of a sketch that no other one has.
fn only_here(place: usize, names: &[BTreeSet<String>]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    names[place].iter().filter(|name| counts[name.as_str()] == 1).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_one_sketch_is_a_difference() {
        let names = ["Use `a.rs` and `b.rs`.\n```\n`no`\n```", "Use `b.rs`, ` c ` and ``."];
        let names = names.map(code_names);
        assert_eq!(only_here(0, &names), ["a.rs", "no"]);
        assert_eq!(only_here(1, &names), ["c"]);
    }
}
