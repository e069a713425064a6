//! The page of a run, with texts of friends and of enemies.

use std::collections::BTreeSet;

use maud::PreEscaped;

use super::*;
use crate::compare::{compare_runs, compare_with_single_pass};
use crate::hostile::texts;
use convoke_service::run::RunComparisonReport;

fn page(report: &RunShowReport, access: Access) -> String {
    page_beside(report, access, &[])
}

fn page_beside(report: &RunShowReport, access: Access, recent: &[RecentDesign]) -> String {
    let course = &report.timeline;
    run(&RunPage { report, course, lanes: &[], recent, access, csrf: "token" }).into_string()
}

/// The tags that pages have.
const TAGS: &str = "\
    a article b body br button caption code datalist dd del details div dl dt em fieldset figcaption \
    figure form h1 h2 h3 h4 h5 h6 head hr html iframe img input label legend li line link \
    main meta nav noscript ol option output p pre rect script section span strong style sub summary svg \
    time table tbody td textarea tfoot th thead title tr ul blockquote !doctype !--";

/// Fails if a page could run something, load something or send something elsewhere.
pub(crate) fn assert_inert(html: &str, name: &str) {
    let lower = html.to_lowercase();
    for (at, _) in lower.match_indices('<') {
        let tag = lower[at + 1..].split('>').next().unwrap_or_default();
        let word = tag.split([' ', '\n', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        assert!(TAGS.split_whitespace().any(|known| known == word), "{name}: <{tag}>");
        let bare = without_values(tag);
        assert!(!bare.contains(" on") && !bare.contains(" style="), "{name}: <{tag}>");
        if word == "script" && !tag.starts_with('/') {
            assert!(tag.contains(" src=\"/assets/"), "{name}: <{tag}>");
        }
    }
    for (at, _) in lower.match_indices("href=\"") {
        let value = lower[at + 6..].split('"').next().unwrap_or_default();
        let is_known =
            ["#", "/", "https://", "http://"].iter().any(|start| value.starts_with(start));
        assert!(is_known && !value.starts_with("//"), "{name}: {value}");
    }
    for (at, _) in lower.match_indices(" src=\"") {
        let value = lower[at + 6..].split('"').next().unwrap_or_default();
        let is_ours = value.starts_with("/assets/")
            || value.starts_with("/runs/")
            || value.starts_with("data:image/svg+xml;base64,");
        assert!(is_ours, "{name}: {value}");
    }
}

/// Returns a tag with its attributes' values left out.
fn without_values(tag: &str) -> String {
    tag.split('"').step_by(2).collect()
}

#[test]
fn hostile_texts_do_nothing_in_any_field() {
    for (name, text) in texts() {
        let report = example(&text);
        let other = RecentDesign {
            run: "20260304-050607-fffff".to_owned(),
            feature: text.clone(),
            started_at: text.clone(),
        };
        assert_inert(&page_beside(&report, Access::Full, &[other]), &name);
        assert_inert(&diagram_document(&report).into_string(), &name);
        let compared = RunComparisonReport::new(&report, &report);
        assert_inert(&compare_runs(&compared).into_string(), &name);
        let beside = compare_with_single_pass(&beside_single_pass(&text)).into_string();
        assert_inert(&beside, &name);
    }
}

#[test]
fn forms_are_there_only_where_a_person_may_act() {
    let report = example("text");
    let full = page(&report, Access::Full);
    assert!(full.contains("action=\"/runs/20260304-050607-abcde/answer\""), "{full}");
    assert!(full.contains("action=\"/runs/20260304-050607-abcde/decide\""));
    assert_eq!(full.matches("name=\"csrf\" value=\"token\"").count(), 3);
    for (report, access) in [
        (report.clone(), Access::ReadOnly),
        (RunShowReport { state: RunStateReport::Running, ..report.clone() }, Access::Full),
        (RunShowReport { is_rehearsal: true, ..report.clone() }, Access::Full),
    ] {
        let shown = page(&report, access);
        assert!(!shown.contains("method=\"post\""), "{}", report.state);
        assert!(shown.contains("convoke decide 20260304-050607-abcde FINDING_2 accept"));
    }
    let mut earlier = report;
    earlier.journal.at = 2;
    let shown = page(&earlier, Access::Full);
    assert!(!shown.contains("method=\"post\""), "the past cannot be answered");
    assert!(shown.contains("as of event 2 of 4"));
}

// A reader reaches every part from the top of the page.
#[test]
fn every_place_of_the_navigation_is_on_the_page() {
    let shown = page(&example("text"), Access::Full);
    for (place, name) in PLACES {
        assert!(shown.contains(&format!("<a href=\"#{place}\">{name}</a>")), "{place}");
        assert!(shown.contains(&format!("<section id=\"{place}\"")), "{place}");
    }
}

// A live page keeps open what its reader opened, and tells what is alike apart by this name.
#[test]
fn everything_that_unfolds_has_a_name_of_its_own() {
    let mut report = example("text");
    report.request = Some("text and more".to_owned());
    // Two findings with the same votes, and two decisions with the same defences, differ in their ids.
    let mut finding = report.results.findings[0].clone();
    finding.id = "FINDING_9".to_owned();
    report.results.findings.push(finding);
    let mut decision = report.results.decisions[0].clone();
    let mut debate = report.evidence.debates[0].clone();
    decision.id = "DECISION_9".to_owned();
    debate.decision = decision.id.clone();
    report.results.decisions.push(decision);
    report.evidence.debates.push(debate);
    let shown = page(&report, Access::Full);
    let unfolds: Vec<_> = shown.split("<details").skip(1).collect();
    let names: Vec<_> = unfolds
        .iter()
        .filter_map(|one| one.split('>').next()?.split("data-open=\"").nth(1)?.split('"').next())
        .collect();
    let different: BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), different.len()), (unfolds.len(), unfolds.len()), "{names:#?}");
    for kind in [
        "defence",
        "vote",
        "step",
        "lane",
        "waits",
        "events",
        "plan",
        "request",
        "synthesis",
        "diagram",
    ] {
        assert!(
            names.iter().any(|name| name.split(' ').next() == Some(kind)),
            "{kind}: {names:#?}"
        );
    }
}

#[test]
fn another_run_to_compare_with_is_chosen_from_a_list() {
    let report = example("text");
    let design = |run: &str, feature: &str| RecentDesign {
        run: run.to_owned(),
        feature: feature.to_owned(),
        started_at: "2026-03-04T05:06:07Z".to_owned(),
    };
    let recent =
        [design("20260304-050607-fffff", "Keep <drafts>"), design(&report.run, "This one")];
    let shown = page_beside(&report, Access::ReadOnly, &recent);
    let option = "<option value=\"20260304-050607-fffff\">Keep &lt;drafts&gt;, 2026-03-04 05:06 UTC</option>";
    assert!(shown.contains(option) && shown.contains("list=\"recent-designs\""), "{shown}");
    assert_eq!(shown.matches("<option").count(), 1, "a run is not compared with itself");
    // With no other design, the page offers no empty list.
    let alone = page_beside(&report, Access::ReadOnly, &recent[1..]);
    assert!(!alone.contains("datalist") && !alone.contains(" list="), "{alone}");
}

// Without a script, every event is a link.
#[test]
fn the_slider_works_as_links() {
    let mut report = example("text");
    report.journal.at = 2;
    let shown = page(&report, Access::Full);
    for link in ["?at=1\"", "?at=3\"", "href=\"/runs/20260304-050607-abcde\""] {
        assert!(shown.contains(link), "{link}");
    }
    assert!(
        shown.contains(
            "<input id=\"at\" type=\"range\" name=\"at\" min=\"1\" max=\"4\" value=\"2\""
        )
    );
}

#[test]
fn a_run_without_anything_says_so() {
    let mut report = example("text");
    report.results.decisions.clear();
    report.results.findings.clear();
    report.results.voices.clear();
    report.evidence = convoke_service::run::RunEvidenceReport::default();
    report.timeline = RunTimelineReport::default();
    report.matters.undecided.clear();
    report.warnings.clear();
    report.results.diagram = None;
    let shown = page(&report, Access::Full);
    for words in [
        "The sketches are not compared yet.",
        "No reviewer has raised a finding.",
        "There is no plan yet.",
        "There is no usable sketch yet.",
        "There is no diagram yet.",
        "No answer counts yet.",
        "Nothing has happened yet.",
    ] {
        assert!(shown.contains(words), "{words}");
    }
}

#[test]
fn a_page_tells_the_course_and_the_votes() {
    let PreEscaped(shown) = findings(&example("A half-written file"));
    insta::assert_snapshot!(words(&shown));
    let PreEscaped(shown) = decisions(&example("A half-written file"));
    insta::assert_snapshot!(words(&shown));
    let PreEscaped(shown) = gantt(&example("A half-written file").timeline, Some(2));
    insta::assert_snapshot!(words(&shown));
    let PreEscaped(shown) = plan(&example("A half-written file"));
    insta::assert_snapshot!(words(&shown));
}

#[test]
fn a_run_beside_its_single_pass_says_what_each_has_alone() {
    let report = beside_single_pass("A half-written file in `a.rs`");
    let PreEscaped(shown) = compare_with_single_pass(&report);
    insta::assert_snapshot!(words(&shown));
}

/// Returns the words of a page, a line for each element with text.
pub(crate) fn words(html: &str) -> String {
    let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let texts = texts.map(str::trim).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

// A run of 10,000 events opens: its page is small enough, and its steps are folded.
#[test]
fn a_long_run_is_folded() {
    let mut report = example("text");
    let (lane, event) = (report.timeline.lanes[0].clone(), report.timeline.events[1].clone());
    report.timeline.lanes = (0..5000)
        .map(|number| LaneBar { lane: format!("sketch/{number}"), ..lane.clone() })
        .collect();
    report.timeline.events =
        (1..=10_000).map(|event_number| Event { event: event_number, ..event.clone() }).collect();
    (report.journal.at, report.journal.events) = (10_000, 10_000);
    let shown = page(&report, Access::Full);
    assert!(shown.contains("<details class=\"gantt-step\"") && !shown.contains(" open><summary>"));
    assert!(shown.len() < 12_000_000, "{}", shown.len());
}

type LaneBar = convoke_service::run::LaneBarReport;
type Event = convoke_service::run::RunEventReport;

use super::examples::{beside_single_pass, example};
