//! Designs whose heavy part another process does.

use super::super::*;
use super::run::Run;
use super::world::World;
use crate::design::heavy::{GiveUpReason, WorkerResult};
use crate::design::outline::DesignOutline;

fn heavy() -> World {
    let mut world = World::new();
    world.settings.subagent = true;
    world
}

/// Returns the first line of everything that was shown from step 2a on.
fn shown(run: &Run) -> Vec<String> {
    let lines = run.lines().into_iter();
    let later = lines.skip_while(|line| !line.contains("🔶 2a: sketches")).skip(1);
    let first = |line: String| {
        let mut lines = line.lines().filter(|line| !line.starts_with('━'));
        lines.next().unwrap_or_default().split(" (0s").next().unwrap_or_default().to_owned()
    };
    later.map(first).filter(|line| !line.is_empty()).collect()
}

fn headers(run: &Run) -> Vec<String> {
    shown(run)
        .into_iter()
        .map(|line| line.split(" — ").next().unwrap_or_default().to_owned())
        .collect()
}

const MADE: [&str; 4] = [
    "## Implementation Plan",
    "## Voting Tally and Reviewer Competition Scoreboard",
    "## Plan Review Findings (Voted In)",
    "## Out-of-Scope Observations",
];

// P-313, P-315, P-321: nothing until it is over, and then everything in its order.
#[test]
fn what_a_worker_made_is_shown_when_it_is_done() {
    let run = heavy().run();
    let mut expected = MADE.to_vec();
    expected.extend(["## Architecture Diagram", "## Plan Review"]);
    expected.extend(["> **🔶 5: cleanup**", "**ℹ Independence", "✅ 5: cleanup"]);
    assert_eq!(headers(&run), expected);
    assert!(shown(&run).contains(&"## Plan Review — All Suggestions Implemented".to_owned()));
    assert_eq!(run.files(), World::new().run().files(), "it makes the same");

    let mut person = heavy();
    person.settings.auto = false;
    let lines = headers(&person.run());
    assert_eq!(lines[..4], MADE);
    assert_eq!(lines[4], "> **🔶 3.5: discussion r2**", "{lines:#?}");
}

// P-321: a diagram that is missing is missed.
#[test]
fn a_missing_diagram_is_reported_after_the_work() {
    let refused = heavy().answer("chair/diagram", "```mermaid\nflowchart TD\n  A[a|b] --> B\n```");
    let refused = shown(&refused.run());
    let line = "**⚠ Architecture diagram unavailable (rejected by sanitizer).**".to_owned();
    assert!(refused.contains(&line), "{refused:#?}");
    let none = shown(&heavy().answer("chair/diagram", "There is none.").run());
    let line = "**⚠ Architecture diagram unavailable (Step 3b generation failed in subagent).**"
        .to_owned();
    assert!(none.contains(&line), "{none:#?}");
}

// P-320
#[test]
fn for_another_workflow_a_worker_is_silent() {
    let mut world = heavy();
    world.settings.nested = true;
    world.settings.session_env = Some("/parent/env".to_owned());
    assert_eq!(shown(&world.run()), ["> **🔶 5: cleanup**"]);
}

// P-9
#[test]
fn two_sketches_are_not_worth_a_worker() {
    let quick = |subagent: bool| {
        let mut world = World::new();
        (world.settings.quick, world.settings.subagent) = (true, subagent);
        // The requests differ, and the results are equal.
        DesignOutline { settings: None, ..world.run().progress }
    };
    assert_eq!(quick(true), quick(false));
}

// P-322, P-323: a worker that failed ends the run, and resuming the run starts another.
#[test]
fn a_failed_worker_is_reported_and_can_be_followed() {
    let mut world = heavy();
    world.workers = vec![WorkerResult::nothing_made()];
    let run = world.run();
    let reason = GiveUpReason::parse("worker-yielded-without-artifacts").unwrap();
    assert_eq!(run.ending, DesignEnding::HeavyFailed(reason));
    assert_eq!(
        shown(&run),
        [
            "**⚠ 2a: sketches — heavy worker subagent failed: worker-yielded-without-artifacts. Preserving /state/runs/x for inspection.**",
            "> **🔶 5: cleanup**",
        ]
    );
    let again = world.resume(&run);
    assert!(matches!(again.ending, DesignEnding::Complete { .. }), "{:?}", again.ending);

    world.settings.nested = true;
    world.settings.session_env = Some("/parent/env".to_owned());
    let nested = world.run();
    assert_eq!(
        shown(&nested)[0],
        "**⚠ 2a: sketches — heavy worker subagent failed: worker-yielded-without-artifacts. No design manifest will be exported. Parent /implement will see MANIFEST_FAILED at Step 1 and re-invoke /design.**"
    );
    assert_eq!(nested.facts.exports(), []);
}
