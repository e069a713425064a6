//! Warnings during a run.

use super::super::DesignEnding;
use super::world::{World, block, sketch, synthesis};
use crate::design::render::{independence_in_short, sentence};

// A repeated warning appears once, and names the seat that stays empty.
#[test]
fn each_failed_seat_has_its_own_warning() {
    let both = World::new()
        .failing("sketch/Cursor-", "no quota")
        .failing("sketch/Cursor-Edge/host", "gone")
        .answer("sketch/Cursor-Arch/host", sketch())
        .run();
    let warnings = both.shown().matches("**⚠ Cursor failed — no quota.").count();
    assert_eq!(warnings, 2, "{}", both.shown());
    both.shows("**⚠ Claude sketch failed (Cursor-Edge): gone. Going on without it.**");
}

// The chair may merge findings, but merging all of them leads to a remark.
#[test]
fn one_group_of_all_findings_is_remarked_on() {
    let more = |count: usize| {
        let found = |n: usize| {
            format!(
                "{n}. [correctness] Draft {n} in src/d{n}.rs is lost at the {n}th stop, and \
                     nobody is told that it is gone, not even whoever wrote it on that day.\n"
            )
        };
        (1..=count).map(found).collect::<String>()
    };
    let merged = |count: usize, groups: &str| {
        World::new().answer("review/", more(count)).answer("chair/merge", groups).run().shown()
    };
    let warning = "**⚠ The chair put all 3 findings together: there is one vote on all of them.**";
    assert_eq!(merged(3, "GROUP 1: R1, R2, R3").matches(warning).count(), 2);
    assert!(!merged(3, "GROUP 1: R1, R2\nGROUP 2: R3").contains("findings together"));
    assert!(!merged(2, "GROUP 1: R1, R2").contains("findings together"));
}

// A vote in a form that does not count is an abstention, and the report must say so.
#[test]
fn votes_that_do_not_count_give_a_warning() {
    let run = World::new()
        .answer("chair/synthesis", synthesis(&block(1, "Where")))
        .answer("judge/Codex", "**DECISION_1** — THESIS because it is shown better")
        .answer("vote/Codex", "FINDING_1: YES — it is so\n### OOS_1: NO\n")
        .run();
    for warning in [
        "**⚠ Codex voter: 1 line looks like a vote but does not count: \"### OOS_1: NO\"**",
        "**⚠ Codex judge: 1 line looks like a vote but does not count: \"**DECISION_1** — THESIS because \
         it is shown better\"**",
    ] {
        assert_eq!(run.shown().matches(warning).count(), 2, "{}", run.shown());
    }
}

// Three votes of one model are one opinion, and the final lines must show that.
#[test]
fn the_number_of_models_is_shown_at_the_end() {
    let two = synthesis(&block(1, "Where"));
    let full = World::new().answer("chair/synthesis", two).run();
    let voices = "3 answered, 3 of them different models";
    full.shows(&format!(
        "**ℹ Independence — vote: {voices}; judge: {voices}; nobody was replaced. More in \
         independence.md.**\n✅ 5: cleanup — design complete! ("
    ));
    let mut poor = World::new();
    poor.health.second = false;
    let poor = poor.run();
    let said = "vote: 3 answered, 2 of them different models; Claude answered for Codex 3 times; \
                Cursor answered for Codex 2 times";
    let settings = poor.progress.settings.as_ref().unwrap();
    let short = independence_in_short(&poor.progress.results.voices, settings);
    assert_eq!(short.as_deref(), Some(said));
    poor.shows(said);
    let mut nested = World::new();
    nested.settings.nested = true;
    assert!(!nested.run().shown().contains("Independence"));
}

// P-218, P-220, P-230: the panel of judges keeps its size, and a lost judge leads to a warning.
#[test]
fn a_judge_that_fails_is_a_warning_and_the_run_is_degraded() {
    let contested = || World::new().answer("chair/synthesis", synthesis(&block(1, "Where")));
    let silent = "**⚠ Codex judge failed — timed out. It casts no vote.**";
    let refusing = "**⚠ Claude judge failed — it gave no readable answer. It casts no vote.**";
    let run = contested()
        .failing("judge/Codex", "timed out")
        .answer("judge/Claude", "STATUS=FAILED\nDECISION_1: THESIS — x")
        .run();
    for warning in [silent, refusing] {
        assert_eq!(run.shown().matches(warning).count(), 2, "{}", run.shown());
    }
    let DesignEnding::Complete { degraded } = run.ending else { panic!("{:?}", run.ending) };
    let said = "**⚠ Claude judge: 1 line looks like a vote but does not count: \"DECISION_1: THESIS — x\"**";
    let degraded: Vec<_> = degraded.into_iter().map(sentence).collect();
    assert_eq!(degraded, [silent, refusing, said]);
}

// P-218: the probe before judging decides which judges vote, and a warning names an agent that the
// run had counted on.
#[test]
fn an_agent_that_fails_its_probe_before_judging_gives_one_warning() {
    let mut world = World::new().answer("chair/synthesis", synthesis(&block(1, "Where")));
    world.judges.second = false;
    let warning = "**⚠ Codex cannot judge (health check failed). Claude judges in its place.**";
    let run = world.run();
    assert_eq!(run.shown().matches(warning).count(), 2, "{}", run.shown());
    assert_eq!(run.lanes("judge/").len(), 3);
    // Later phases go by the session.
    assert_eq!(run.lanes("vote/Codex").len(), 1);
    // There is no second warning about an agent that the run had already lost.
    world.health.second = false;
    assert!(!world.run().shown().contains("cannot judge"));
}
