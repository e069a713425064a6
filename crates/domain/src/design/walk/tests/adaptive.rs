//! Adaptive designs: no debate where all agree, and no vote that cannot matter.

use super::run::Run;
use super::world::{World, block, in_block, synthesis, votes};
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
