//! Adaptive designs: no debate where all agree, and no vote that cannot matter.

use super::super::Facts;
use super::run::Run;
use super::world::{World, block, in_block, synthesis, votes};
use crate::design::event::{Event, Stamped};
use crate::design::settled::PollRule;

/// A world in which a design stops to ask once a poll is settled.
fn adaptive() -> World {
    let mut world = World::new();
    world.settings.poll_rule = PollRule::UntilSettled;
    world
}

fn contested(positions: &str) -> World {
    let decision = format!("{}- **Positions**: {positions}\n", block(1, "Where"));
    adaptive().answer("chair/synthesis", synthesis(&decision))
}

fn names<'r>(run: &'r Run, start: &str) -> Vec<&'r str> {
    run.lanes(start).into_iter().map(|(id, _)| id).collect()
}

// P-386
#[test]
fn voters_whose_votes_cannot_matter_are_not_asked() {
    let run = adaptive().run();
    assert_eq!(names(&run, "vote/"), ["vote/Claude", "vote/Codex"]);
    run.shows("| FINDING_1 | YES | YES | 2 | 0 | 0 | accepted |");
    run.shows(
        "**ℹ Not asked: voter Cursor. No vote of theirs could change a result; saved: unknown.**",
    );
    let whole = World::new().run();
    assert_eq!(names(&whole, "vote/").len(), 3);
    assert_eq!(whole.file("plan.txt"), run.file("plan.txt"));
}

// P-386: one open item is enough to go on.
#[test]
fn convoke_asks_a_voter_who_can_matter() {
    for answer in [votes("NO", "YES"), "I cannot tell.".to_owned(), in_block("OOS_1: YES — so")] {
        let run = adaptive().answer("vote/Codex", answer).run();
        assert_eq!(names(&run, "vote/"), ["vote/Claude", "vote/Codex", "vote/Cursor"]);
        assert!(!run.shown().contains("Not asked"), "{}", run.shown());
    }
    let failed = adaptive().failing("vote/Claude", "it timed out").run();
    assert_eq!(names(&failed, "vote/").len(), 3);
    failed.shows("| FINDING_1 | — | YES | YES | 2 | 0 | 0 | accepted |");
}

// P-386
#[test]
fn judges_whose_votes_cannot_matter_are_not_asked() {
    let run = contested("Cursor-Arch: chosen").run();
    assert_eq!(names(&run, "judge/").len(), 2, "{:?}", names(&run, "judge/"));
    run.shows("**ℹ Not asked: judge ");
    let split = in_block("DECISION_1: ANTI_THESIS — simpler");
    let run = contested("Cursor-Arch: chosen").answer("judge/Codex", split).run();
    assert_eq!(names(&run, "judge/").len(), 3);
}

// P-386: killed after every event of its polls, a design asks for no answer again and spares the
// same lanes.
#[test]
fn a_killed_adaptive_design_spares_the_same_lanes() {
    let world = contested("Cursor-Arch: chosen");
    let whole = world.run();
    assert_eq!((names(&whole, "judge/").len(), names(&whole, "vote/").len()), (2, 2));
    let is_judge = |event: &Event| matches!(event, Event::LaneStarted(id) if id.as_str().starts_with("judge/"));
    let first = whole.events.iter().position(|stamped| is_judge(&stamped.event)).unwrap();
    for cut in first..whole.events.len() {
        let before = &whole.events[..cut];
        let resumed = world.go_on(Facts::fold(before.iter().cloned()), Event::Resumed);
        for (id, _) in &resumed.asked {
            let is_this = |stamped: &Stamped| matches!(&stamped.event, Event::LaneEnded(ended, _) if ended.as_str() == id);
            assert!(!before.iter().any(is_this), "{id} again after {cut} events");
        }
        for name in ["plan.txt", "voting-tally.md", "dialectic-resolutions.md"] {
            assert_eq!(resumed.file(name), whole.file(name), "{name} after {cut} events");
        }
        let spared = |run: &Run| run.progress.results.not_asked.clone();
        assert_eq!(spared(&resumed), spared(&whole), "after {cut} events");
    }
}

// P-387: only a complete and plain agreement spares a debate.
#[test]
fn a_decision_on_which_all_sketches_agree_is_not_debated() {
    let whole = adaptive().run();
    let labels: Vec<_> =
        names(&whole, "sketch/").into_iter().map(|id| id.trim_start_matches("sketch/")).collect();
    let joined = |labels: &[&str], option: &str| {
        let positions = labels.iter().map(|label| format!("{label}: {option}"));
        positions.collect::<Vec<_>>().join("; ")
    };
    let agreed = joined(&labels, "chosen");
    let run = contested(&agreed).run();
    assert!(names(&run, "debate/").is_empty() && names(&run, "judge/").is_empty());
    run.shows("**ℹ All sketches agree, so no agent debates: \"Where\".**");
    let [decision] = run.progress.results.agreed.as_slice() else { panic!("it is kept") };
    let positions: Vec<_> = labels.iter().map(|label| (*label, "chosen")).collect();
    assert_eq!((decision.title.as_str(), decision.stated_positions()), ("Where", positions));
    let rest = joined(&labels[1..], "chosen");
    for doubtful in [
        joined(&labels, "alternative"),
        format!("{rest}; {}: alternative", labels[0]),
        format!("{rest}; {}: neither", labels[0]),
        format!("{rest}; {}: chosen or alternative", labels[0]),
        format!("{agreed}; {}: alternative", labels[0]),
        rest,
        "all: chosen".to_owned(),
        "<label>: chosen; <label>: alternative; <label>: neither".to_owned(),
        "every sketch takes the chosen option".to_owned(),
    ] {
        let run = contested(&doubtful).run();
        assert!(!names(&run, "debate/").is_empty(), "{doubtful}");
    }
    // The same words decide nothing in a design that did not ask for them.
    let decision = format!("{}- **Positions**: {agreed}\n", block(1, "Where"));
    let run = World::new().answer("chair/synthesis", synthesis(&decision)).run();
    assert!(!names(&run, "debate/").is_empty());
}
