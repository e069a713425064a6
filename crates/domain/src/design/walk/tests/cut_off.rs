//! Runs in which answers are cut off.

use super::super::*;
use super::world::{World, plan, review, votes, words};

// P-165
#[test]
fn a_sketch_that_was_cut_off_counts_if_it_says_enough() {
    let beginning = format!("Drafts are kept in a ring. {}", words(40));
    let long = World::new().cut_off("sketch/Cursor-Edge", beginning.clone()).run();
    long.shows("**⚠ Cursor-Edge sketch is only a beginning: it was cut off.**");
    long.shows("| Cursor-Edge: ✅ 1m1s |");
    assert_eq!(long.lanes("sketch/Cursor-Edge/host"), [], "there is no replacement");
    assert!(long.prompts("chair/synthesis").iter().all(|prompt| prompt.contains(&beginning)));
    let DesignEnding::Complete { degraded } = &long.ending else { panic!("{:?}", long.ending) };
    assert_eq!(degraded.len(), 1);
    let short = World::new().cut_off("sketch/Cursor-Edge", words(39)).run();
    short.shows("**⚠ Cursor failed — it was cut off. Using Claude replacement");
    assert_eq!(short.lanes("sketch/Cursor-Edge/host").len(), 1);
    // Half a review may lack its worst finding, and half a ballot its votes.
    let review = World::new().cut_off("review/Cursor-Arch", review()).run();
    review.shows("**⚠ Cursor failed — it was cut off. Using Claude replacement");
    let vote = World::new().cut_off("vote/Cursor", votes("NO", "NO")).run();
    vote.shows("Cursor voter failed — it was cut off");
}

#[test]
fn a_chair_that_was_cut_off_gets_a_request_for_a_shorter_answer() {
    let short = World::new()
        .answer("review/", "NO_ISSUES_FOUND")
        .cut_off("chair/plan/claude", plan("begun"))
        .answer("chair/plan/claude/again", plan("short"))
        .run();
    let again = short.prompts("chair/plan/claude/again");
    assert!(again[0].contains("cut off at its longest; it must be shorter"), "{again:?}");
    assert!(short.file("plan.txt").contains("short"));
    assert_eq!(short.ending, DesignEnding::Complete { degraded: Vec::new() });
    // A plan that looks complete may lack its last tasks.
    let never = World::new()
        .answer("review/", "NO_ISSUES_FOUND")
        .cut_off("chair/plan/claude", plan("begun"))
        .cut_off("chair/plan/claude/again", plan("begun again"))
        .answer("chair/plan/cursor", "I'd rather not.")
        .answer("chair/plan/codex", "I'd rather not.")
        .run();
    never.shows(
        "**⚠ Claude wrote no usable plan in two tries (the answer was cut off at its longest",
    );
    never.shows("**⚠ The chair's plan is incomplete (the answer was cut off at its longest");
    assert!(never.file("plan.txt").contains("begun again"));
    assert_eq!(never.lanes("chair/plan/cursor").len(), 2, "the next agent is asked");
}
