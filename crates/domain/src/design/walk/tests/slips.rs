//! Runs in which agents answer in another form than the prompt requests.

use super::super::*;
use super::world::{World, plan, review};

// A slip of form costs an agent the seat of this phase at most.
#[test]
fn an_answer_in_another_form_is_requested_once_more() {
    use Holder::{First, Host};
    let prose = format!("I think that src/draft.rs should be synced, {}.", "and so on ".repeat(20));
    let once = World::new()
        .answer("review/Cursor-Arch", prose.clone())
        .answer("review/Cursor-Arch/again", review())
        .run();
    let lanes = once.lanes("review/Cursor-Arch");
    assert_eq!(lanes, [("review/Cursor-Arch", First), ("review/Cursor-Arch/again", First)]);
    let again = once.prompts("review/Cursor-Arch/again")[0];
    assert!(again.contains(prose.trim()) && again.contains("1. [correctness] What is"), "{again}");
    assert_eq!(once.ending, DesignEnding::Complete { degraded: Vec::new() });
    let twice = World::new()
        .answer("review/Cursor-Arch", prose.clone())
        .answer("review/Cursor-Arch/host", review())
        .run();
    twice.shows(
        "**⚠ Cursor gave no usable review in two tries (Cursor-Arch): the answer holds no numbered \
         finding, and does not say `NO_ISSUES_FOUND`. Claude answers in its place; Cursor keeps its \
         later seats.**",
    );
    assert_eq!(twice.lanes("review/Cursor-Arch/host"), [("review/Cursor-Arch/host", Host)]);
    assert!(twice.lanes("vote/").contains(&("vote/Cursor", First)), "it votes");
    // An agent that is gone the second time is gone.
    let gone = World::new()
        .answer("review/Cursor-Arch", prose.clone())
        .failing("review/Cursor-Arch/again", "no quota")
        .answer("review/Cursor-Arch/host", review())
        .run();
    gone.shows(
        "**⚠ Cursor failed — no quota. Using Claude replacement for remainder of session.**",
    );
    // P-163: the first version's rules.
    let mut seed = World::new()
        .answer("review/Cursor-Arch", prose)
        .answer("review/Cursor-Arch/host", review());
    seed.settings.policy = crate::design::policy::Policy::Seed;
    let seed = seed.run();
    assert_eq!(seed.lanes("review/Cursor-Arch").len(), 2, "the agent, and the host for it");
    seed.shows("Using Claude replacement for remainder of session.**");
}

// P-161: a reviewer that writes beside `NO_ISSUES_FOUND` may mean anything.
#[test]
fn no_issues_beside_other_words_are_requested_once_more() {
    let refusal = "The plan deletes all drafts: reject it.\n\nNO_ISSUES_FOUND";
    let world = || World::new().answer("review/", "NO_ISSUES_FOUND");
    let once = world()
        .answer("review/Cursor-Arch", refusal)
        .answer("review/Cursor-Arch/again", "NO_ISSUES_FOUND")
        .run();
    assert_eq!(once.lanes("review/Cursor-Arch").len(), 2);
    let again = once.prompts("review/Cursor-Arch/again")[0];
    assert!(again.contains("beside other words: \"The plan deletes all drafts"), "{again}");
    let twice = world()
        .answer("review/Cursor-Arch", refusal)
        .answer("review/Cursor-Arch/again", refusal)
        .run();
    twice.shows("**⚠ Cursor gave no usable review in two tries (Cursor-Arch): the answer says");
    // A run of earlier rules holds no second answer.
    let mut earlier = world().answer("review/Cursor-Arch", refusal);
    earlier.settings.rules = crate::design::rules::RulesVersion::READING_ORDERS;
    assert_eq!(earlier.run().lanes("review/Cursor-Arch").len(), 1);
}

#[test]
fn a_poor_chair_gets_its_defects_and_then_the_next_agent_a_request() {
    let poor = "## Approach\nA plan without any tasks.";
    let run = World::new()
        .answer("chair/plan/claude", poor)
        .answer("chair/plan/cursor", plan("new"))
        .answer("review/", "NO_ISSUES_FOUND")
        .run();
    let lanes: Vec<_> = run.lanes("chair/plan").iter().map(|(id, _)| *id).collect();
    assert_eq!(lanes, ["chair/plan/claude", "chair/plan/claude/again", "chair/plan/cursor"]);
    run.shows(
        "**⚠ Claude wrote no usable plan in two tries (the plan has no `## Files to \
         modify/create`; the plan has no `## Edge cases`; the plan has no `## Failure modes`; and 2 \
         more). Asking the next agent.**",
    );
    let again = run.prompts("chair/plan/claude/again")[0];
    for line in ["- the plan has no `## Edge cases`\n", "- the plan has no `## Tasks`\n"] {
        assert!(again.contains(line), "{again}");
    }
    assert!(again.contains("    ### Task 1: …\n    **Files:** …\n"), "{again}");
    assert_eq!(run.file("plan.txt"), plan("new"));
    // The agent missed the form of one document, and is still the chair for the next.
    assert_eq!(run.lanes("chair/diagram"), [("chair/diagram/claude", Holder::Host)]);
    // When all have tried, the best of it counts.
    let all = World::new().answer("chair/plan", poor).answer("review/", "NO_ISSUES_FOUND").run();
    assert_eq!(all.lanes("chair/plan").len(), 6);
    all.shows("**⚠ The chair's plan is incomplete (");
    assert_eq!(all.file("plan.txt"), "## Approach\nA plan without any tasks.\n");
    // A text without any part of a plan is no plan.
    let formless = World::new().answer("chair/plan", "I'd love to help!").run();
    formless.shows("**⚠ The chair's plan is incomplete (");
    let DesignEnding::Failed(failed) = formless.ending else { panic!("{:?}", formless.ending) };
    assert_eq!((failed.why.as_str(), failed.lanes.len()), ("no agent wrote a usable plan", 6));
    let other = World::new().failing("chair/plan/claude", "not logged in").run();
    other.shows("**⚠ Claude failed as the chair — not logged in. Asking the next agent.**");
    assert_eq!(other.lanes("chair/plan")[1], ("chair/plan/cursor", Holder::First));
    let silent = World::new().failing("chair/plan", "gone").run();
    let DesignEnding::Failed(failed) = silent.ending else { panic!("{:?}", silent.ending) };
    assert_eq!((failed.why.as_str(), failed.lanes.len()), ("no agent wrote a usable plan", 3));
}
