//! Judges that read their ballot in both orders.

use super::run::Run;
use super::world::{World, block, in_block, synthesis};
use crate::design::reading_order::JudgeOrders;
use crate::design::settled::PollRule;

/// A world with one contested decision, whose judges read in both orders.
fn twice() -> World {
    let mut world = World::new().answer("chair/synthesis", synthesis(&block(1, "Where")));
    world.settings.judge_orders = JudgeOrders::Both;
    world.answer("judge/", in_block("DECISION_1: THESIS — it is safer"))
}

fn judges(run: &Run) -> Vec<&str> {
    run.lanes("judge/").into_iter().map(|(id, _)| id).collect()
}

fn against() -> String {
    in_block("DECISION_1: ANTI_THESIS — it is simpler")
}

// P-388
#[test]
fn each_judge_reads_the_ballot_in_both_orders() {
    let run = twice().run();
    assert_eq!(judges(&run).len(), 6, "{:?}", judges(&run));
    let prompts = run.prompts("judge/Codex");
    let place = |prompt: &str, words: &str| prompt.find(words).unwrap();
    let first =
        |prompt: &str| place(prompt, "(defends A file)") < place(prompt, "(defends A table)");
    assert_eq!(prompts.len(), 2);
    assert_ne!(first(prompts[0]), first(prompts[1]), "the sides have changed places");
    run.shows("0 of 3 judges' votes changed with the order");
    let once = World::new().answer("chair/synthesis", synthesis(&block(1, "Where"))).run();
    assert_eq!(judges(&once).len(), 3);
    assert!(!once.shown().contains("with the order"), "{}", once.shown());
}

// P-388
#[test]
fn a_judge_that_flips_with_the_order_abstains() {
    let run = twice().answer("judge/Codex/turned", against()).run();
    run.shows("Codex judge changed its vote on DECISION_1 with the order of the ballot");
    run.shows("1 of 3 judges' votes changed with the order");
    // Two flips leave one vote, which decides nothing.
    let turned = ["judge/Codex/turned", "judge/Cursor/turned"];
    let run = turned.iter().fold(twice(), |world, lane| world.answer(lane, against())).run();
    run.shows("2 of 3 judges' votes changed with the order");
}

// P-388: what cannot be compared is not a flip.
#[test]
fn a_judge_without_a_second_answer_keeps_its_vote() {
    let run = twice().failing("judge/Codex/turned", "it timed out").run();
    run.shows("Codex (reverse order)");
    run.shows("0 of 2 judges' votes changed with the order");
}

// P-386, P-388: only votes that hold in both orders settle a poll.
#[test]
fn an_adaptive_design_goes_on_after_a_flip() {
    let adaptive = |world: World| {
        let mut world = world;
        world.settings.poll_rule = PollRule::UntilSettled;
        world.run()
    };
    assert_eq!(judges(&adaptive(twice())).len(), 4);
    let flips = twice().answer("judge/Codex/turned", against());
    assert_eq!(judges(&adaptive(flips)).len(), 6);
}
