//! Whole runs with agents that answer from a table.

use super::super::*;
use super::world::{World, block, plan, sketch, synthesis, votes};
use crate::design::event::Tree;
use crate::design::seat::Available;
use crate::design::warning::ChairWarning;
use crate::tree::{TreeEvidence, TreeStatus};

fn suspect(status: TreeStatus, words: &str) -> Tree {
    Tree::Suspect { status, evidence: TreeEvidence::Sentence(words.to_owned()) }
}

// P-34, P-84, P-87, P-99, P-167, P-186, P-288, P-290, P-384
#[test]
fn a_run_goes_through_every_step_in_order() {
    let run = World::new().run();
    assert_eq!(run.ending, DesignEnding::Complete { degraded: Vec::new() });
    let shown = run.shown();
    let steps = shown.lines().filter(|line| line.starts_with("> **🔶"));
    let steps: Vec<_> =
        steps.map(|line| line.trim_start_matches("> **🔶 ").trim_end_matches("**")).collect();
    assert_eq!(
        steps,
        [
            "0: setup",
            "1: branch",
            "1c: questions",
            "1d: discussion r1",
            "2a: sketches",
            "2a.5: dialectic",
            "2b: full plan",
            "3: plan review",
            "3.5: discussion r2",
            "3b: arch diagram",
            "4: rejected findings",
            "5: cleanup",
        ]
    );
    run.shows("⏩ 1c: questions — skipped (auto mode) (0s)");
    run.shows("⏩ 2a.5: dialectic — no contested decisions (");
    run.shows("✅ 3b: arch diagram — generated (");
    assert!(
        shown.trim_end().lines().last().unwrap().starts_with("✅ 5: cleanup — design complete! (")
    );
}

// P-7, P-101, P-102, P-162, P-264
#[test]
fn lanes_follow_the_available_agents() {
    use Holder::{First, Host, Second};
    for (first, second, sketches, reviews, voters) in [
        (
            true,
            true,
            [First, First, Second, Second],
            [First, First, Second, Second],
            [Host, Second, First],
        ),
        (false, true, [Host, Host, Second, Second], [Second; 4], [Host, Second, Host]),
        (true, false, [First, First, Host, Host], [First; 4], [Host, Host, First]),
        (false, false, [Host; 4], [Host; 4], [Host; 3]),
    ] {
        let mut world = World::new();
        world.health = Available { first, second };
        let run = world.run();
        let who =
            |start: &str| run.lanes(start).iter().map(|(_, holder)| *holder).collect::<Vec<_>>();
        assert_eq!(who("sketch/"), sketches);
        assert_eq!(who("review/"), reviews);
        assert_eq!(who("vote/"), voters);
    }
    let mut world = World::new();
    world.settings.quick = true;
    let run = world.run();
    let sketches: Vec<_> = run.lanes("sketch/").iter().map(|(id, _)| *id).collect();
    assert_eq!(sketches, ["sketch/Cursor-Generic", "sketch/Codex-Generic"]);
    assert_eq!(run.lanes("review/").len(), 4);
}

// P-91, P-93, P-163, P-164, P-165, P-251, P-383
#[test]
fn a_failed_agent_is_replaced_for_the_rest_of_the_run() {
    let run = World::new()
        .failing("sketch/Cursor-Edge", "no quota")
        .answer("sketch/Cursor-Edge/host", sketch())
        .run();
    run.shows("📊 Sketches (regular): | Cursor-Arch: ✅ 1m1s | Cursor-Edge: ❌ 1m1s | Codex-Innovation: ⏳ |");
    run.shows("**⚠ Cursor failed — no quota. Using Claude replacement for remainder of session.**");
    assert_eq!(run.lanes("sketch/Cursor-Edge/host"), [("sketch/Cursor-Edge/host", Holder::Host)]);
    assert!(run.lanes("review/").iter().all(|(_, holder)| *holder == Holder::Second));
    let DesignEnding::Complete { degraded } = &run.ending else { panic!("{:?}", run.ending) };
    assert_eq!(degraded.len(), 1);
    let warnings = run.shown().matches("**⚠ Cursor failed — no quota.").count();
    assert_eq!(warnings, 2, "a warning comes when it happens, and again at the end");
    let thin = World::new()
        .answer("sketch/Codex-Pragmatic", "OK")
        .answer("sketch/Codex-Pragmatic/host", sketch())
        .run();
    thin.shows("sketch too thin: 1/40 words outside code");
}

// P-255, P-273, P-280, P-283, P-377
#[test]
fn votes_decide_what_becomes_of_findings() {
    let accepted = World::new().run();
    accepted.shows("## Plan Review Findings (Voted In)");
    assert!(
        accepted.file("accepted-plan-findings.md").contains("- **Resolution**: It is synced now.")
    );
    assert!(accepted.file("plan.txt").contains("new, synced"));
    accepted.shows("✅ 4: rejected findings — all suggestions implemented (");
    let rejected = World::new().answer("vote/", votes("NO", "YES")).run();
    rejected.shows("**ℹ Voting panel rejected all in-scope findings. Plan unchanged.**");
    rejected.shows("## Unimplemented Plan Review Suggestions");
    assert!(!rejected.file("plan.txt").contains("synced"));
    assert_eq!(rejected.lanes("chair/revision"), []);
    let nothing = World::new().answer("review/", "NO_ISSUES_FOUND").run();
    assert_eq!(
        nothing.file("voting-tally.md"),
        "No findings were raised — voting was not needed.\n"
    );
    assert_eq!(nothing.lanes("vote/"), []);
    let voteless = World::new().failing("vote/", "gone").run();
    voteless.shows("**⚠ No voter answered. No finding is accepted until a person decides.**");
    assert_eq!(voteless.file("accepted-plan-findings.md"), "");
}

// P-196, P-198, P-199, P-200, P-202, P-204, P-210, P-212, P-216, P-218, P-233, P-239
#[test]
fn contested_decisions_are_debated_and_judged() {
    let two = format!("{}\n{}", block(1, "Where"), block(2, "When"));
    let debated = World::new().answer("chair/synthesis", synthesis(&two)).run();
    debated.shows("✅ 2a.5: dialectic — 2 voted (");
    let resolutions = debated.file("dialectic-resolutions.md");
    assert!(
        resolutions.contains("### DECISION_1: Where\n**Resolution**: A file\n"),
        "{resolutions}"
    );
    assert!(
        resolutions.contains("### DECISION_2: When\n**Resolution**: A table\n"),
        "{resolutions}"
    );
    let who: Vec<_> = debated.lanes("debate/").iter().map(|(_, holder)| *holder).collect();
    assert_eq!(who, [Holder::First, Holder::First, Holder::Second, Holder::Second]);
    assert!(!debated.file("dialectic-ballot.txt").to_lowercase().contains("cursor"));
    for (number, side) in [(1, "thesis"), (1, "antithesis"), (2, "thesis"), (2, "antithesis")] {
        let kept = debated.file(&format!("debate-{number}-{side}-prompt.txt"));
        assert_eq!(debated.prompts(&format!("debate/{number}/{side}")), [kept]);
    }

    let failed = World::new()
        .answer("chair/synthesis", synthesis(&two))
        .failing("debate/1/thesis", "timed out")
        .run();
    failed.shows("**⚠ Cursor dialectic debate (decision 1, thesis) failed: timed out.");
    failed.shows(
        "**⚠ Debate for DECISION_1 failed quorum (reason: no_output). Fallback to synthesis.**",
    );
    failed.shows("✅ 2a.5: dialectic — 1 voted, 1 fallback (");
    assert!(
        failed.lanes("review/").iter().any(|(_, holder)| *holder == Holder::First),
        "it is back"
    );

    let mut alone = World::new().answer("chair/synthesis", synthesis(&two));
    alone.health = Available { first: false, second: false };
    let alone = alone.run();
    alone.shows("✅ 2a.5: dialectic — 2 bucket-skipped (");
    assert_eq!((alone.lanes("debate/"), alone.lanes("judge/")), (Vec::new(), Vec::new()));
}

// P-6, P-241, P-250, P-345, P-347, P-348, P-349
#[test]
fn a_changed_tree_stops_the_way() {
    let dirty = suspect(TreeStatus::Dirty, "src/draft.rs");
    let mut world = World::new();
    world.trees.insert("sketch-collection", vec![dirty]);
    let run = world.run();
    run.shows("the working tree is dirty after sketch-collection: src/draft.rs");
    assert!(matches!(run.ending, DesignEnding::Complete { .. }), "it was put in order");
    // With `--auto`, this is the only question; and Convoke checks the tree at every boundary.
    for boundary in Boundary::ALL {
        let two = format!("{}\n{}", block(1, "Where"), block(2, "When"));
        let mut world = World::new().answer("chair/synthesis", synthesis(&two));
        let unknown = suspect(TreeStatus::Unknown, "?");
        world.trees.insert(boundary.name(), vec![unknown.clone(), unknown]);
        let run = world.run();
        let found = format!("the working tree is unknown after {}: ?", boundary.name());
        assert_eq!(run.shown().matches(&found).count(), 4, "twice, and again at the end");
    }
}

// P-170, P-175, P-178, P-179, P-184
#[test]
fn peoples_answers_are_kept() {
    let question = |number: usize, title: &str| {
        format!(
            "### Question {number}: {title}\n- **Question**: Is it so?\n- **Options**: yes; no\n\
             - **Recommended**: yes\n\n"
        )
    };
    let two = format!("{}{}", question(1, "Offline"), question(2, "Mobile"));
    let mut world = World::new().answer("chair/scope", two);
    world.settings.auto = false;
    world.replies.insert("1d/1", "Only for a day");
    let run = world.run();
    run.shows("✅ 1c: questions — no clarifying questions needed (");
    run.shows("✅ 1d: discussion r1 — 2 decisions resolved (");
    run.shows("⏩ 3.5: discussion r2 — no additional decisions require discussion (");
    let file = run.file("discussion-round1.md");
    assert!(file.contains("- **Resolution**: Only for a day\n- **Source**: user\n"), "{file}");
    assert!(file.contains("- **Resolution**: yes\n"), "{file}");
}

// Resuming a failed run repeats only the lanes that failed.
#[test]
fn a_run_that_failed_goes_on_when_it_is_resumed() {
    let dirty = suspect(TreeStatus::Dirty, "a.rs");
    let failed_run = World::new().failing("sketch/", "no quota").run();
    assert!(matches!(failed_run.ending, DesignEnding::Failed(_)), "{:?}", failed_run.ending);
    let mut later = World::new();
    later.trees.insert("sketch-collection", vec![dirty]);
    let resumed = later.resume(&failed_run);
    assert!(resumed.shown().starts_with(&failed_run.shown()));
    resumed.shows(
        "**ℹ Resumed: no agent produced a usable sketch. Asking again.**\n📊 Sketches (regular): | Cursor-Arch: ⏳ |",
    );
    resumed.shows("the working tree is dirty after sketch-collection");
    assert_eq!(resumed.lanes("sketch/").len(), 4, "and by themselves, not by the host");
    assert!(matches!(resumed.ending, DesignEnding::Complete { .. }));

    let unplanned = World::new().failing("chair/plan", "gone").run();
    let still = World::new().failing("chair/plan", "still gone").resume(&unplanned);
    assert_eq!(still.lanes("").len(), 3, "three chairs, and no lane that had answered");
    assert!(matches!(still.ending, DesignEnding::Failed(_)));
    let planned = World::new().resume(&still);
    assert_eq!(planned.lanes("chair/plan"), [("chair/plan/claude", Holder::Host)]);
    assert_eq!(planned.lanes("sketch/"), []);
    assert_eq!(planned.ending, DesignEnding::Complete { degraded: Vec::new() });
    assert_eq!(planned.shown().matches("**ℹ Resumed: no agent wrote a usable plan.").count(), 2);
    assert_eq!(planned.shown().matches("> **🔶 2b: full plan**").count(), 1);
}

// P-91, P-94: an unusable answer fails immediately, and the table shows the replacement.
#[test]
fn the_table_shows_unusable_answers_and_their_replacements() {
    let run = World::new()
        .answer("sketch/Codex-Pragmatic", "OK")
        .answer("sketch/Codex-Pragmatic/host", sketch())
        .run();
    let (arch, edge, innovation) =
        ("Cursor-Arch: ✅ 1m1s", "Cursor-Edge: ✅ 1m1s", "Codex-Innovation: ✅ 1m1s");
    let table = |last: &str| {
        format!(
            "📊 Sketches (regular): | {arch} | {edge} | {innovation} | Codex-Pragmatic: {last} |"
        )
    };
    let shown = run.shown();
    let tables: Vec<_> = shown.lines().filter(|line| line.starts_with("📊 Sketches")).collect();
    assert_eq!(tables[tables.len() - 3..], [table("❌ 1m1s"), table("⏳"), table("✅ 1m1s")]);
    let reviewed = World::new().answer("review/Cursor-Arch", "Fine.").run();
    reviewed.shows("📊 Reviewers: | Cursor-Arch: ❌ 1m1s | Cursor-Edge: ⏳ |");
}

// P-108: no prompt for a sketch contains another sketch.
#[test]
fn sketches_know_nothing_of_each_other() {
    let run = World::new().answer("sketch/Cursor-Arch", format!("MARK {}", sketch())).run();
    let prompts = run.prompts("sketch/");
    assert_eq!(prompts.len(), 4);
    assert!(prompts.iter().all(|prompt| !prompt.contains("MARK")));
    assert!(run.prompts("chair/synthesis")[0].contains("MARK"));
}

// P-189, P-240, P-242, P-247, P-248
#[test]
fn a_plan_is_written_from_settled_decisions_and_replaced_as_a_whole() {
    let two = format!("{}\n{}", block(1, "Where"), block(2, "When"));
    let run = World::new().answer("chair/synthesis", synthesis(&two)).run();
    run.shows("## Approach Synthesis\n\nAll agree on a local copy.");
    assert_eq!(run.file("approach-synthesis.txt"), "All agree on a local copy.\n");
    let asked = run.prompts("chair/plan")[0];
    assert!(
        asked.contains("All agree on a local copy.") && asked.contains("**Resolution**: A table")
    );
    assert!(run.prompts("review/").iter().all(|prompt| prompt.contains(plan("new").trim())));
    assert_eq!(run.file("plan.txt"), plan("new, synced"));
}

// P-292, P-294, P-295, P-308
#[test]
fn a_diagram_that_will_not_do_is_left_out() {
    let bad = "## Architecture Diagram\n\n```mermaid\nflowchart TD\n  A[a|b] --> B\n```\n";
    let rejected = World::new().answer("chair/diagram", bad).run();
    rejected.shows("**⚠ 3b: architecture diagram — rejected by mermaid sanitizer (REASON_TOKEN=pipe-in-node-label); proceeding without diagram.**");
    assert_eq!(rejected.file("architecture-diagram.md"), "(none)");
    let none = World::new().answer("chair/diagram", "I would rather not.").run();
    none.shows("**⚠ 3b: arch diagram — generation failed, proceeding without diagram (");
    let gone = World::new().failing("chair/diagram", "gone").run();
    gone.shows("generation failed");
}

// P-3, P-4, P-12, P-96, P-97
#[test]
fn a_nested_design_only_announces_saved_artifacts() {
    let mut world = World::new();
    world.settings.nested = true;
    world.settings.prefix = crate::design::progress::Prefix::parse("1.::design plan");
    let run = world.run();
    run.shows("> **🔶 1.2a: design plan | sketches**");
    run.shows("✅ 1.2b: design plan | full plan — saved (");
    run.shows("✅ 1.3b: design plan | arch diagram — saved (");
    let shown = run.shown();
    assert!(!shown.contains("## Implementation Plan") && !shown.contains("design complete!"));
    assert!(run.file("oos-accepted-design.md").contains("### OOS_1:"));
}

#[test]
fn a_good_plan_is_not_given_up_for_a_bad_revision() {
    let bad = "=== plan.txt ===\nIt stays as it was.\n=== resolutions ===\nFINDING_1: done\n";
    let run = World::new().answer("chair/revision", bad).run();
    assert_eq!(run.file("plan.txt"), plan("new"));
    assert!(!run.shown().contains("## Revised Implementation Plan"));
    assert!(run.file("accepted-plan-findings.md").contains("the plan was not revised for it"));
}

// Convoke requests a revision that changes nothing once more, and then warns of it.
#[test]
fn a_plan_that_the_chair_leaves_as_it_was_is_not_called_revised() {
    let same = format!(
        "=== plan.txt ===\n{}\n\n=== resolutions ===\nFINDING_1: It is synced already.\n",
        plan("new")
    );
    let run = World::new().answer("chair/revision", same.clone()).run();
    let asked: Vec<_> = run.lanes("chair/revision").iter().map(|(id, _)| *id).collect();
    assert_eq!(asked, ["chair/revision/claude", "chair/revision/claude/again"]);
    assert!(run.prompts("chair/revision/claude/again")[0].contains("the same as before"));
    assert_eq!(run.file("plan.txt"), plan("new"));
    assert!(!run.shown().contains("## Revised Implementation Plan"));
    let unchanged = ChairWarning::PlanUnchanged { ids: "FINDING_1".to_owned() };
    assert_eq!(run.ending, DesignEnding::Complete { degraded: vec![unchanged.into()] });
    let warning = "**⚠ The chair left the plan as it was for FINDING_1.**";
    run.shows(warning);
    let note = "The chair left the plan as it was. The chair says: It is synced already.";
    assert!(run.file("accepted-plan-findings.md").contains(note));
    // A run of earlier rules holds no second answer; its count is as plain.
    let mut world = World::new().answer("chair/revision", same);
    world.settings.rules = crate::design::rules::RulesVersion::new(2);
    let run = world.run();
    assert_eq!(run.lanes("chair/revision").len(), 1);
    run.shows(warning);
}

// P-224
#[test]
fn no_name_hides_behind_what_cannot_be_seen() {
    let two = format!("{}\n{}", block(1, "Where"), block(2, "When"));
    let named = "<claim>The Cur\u{200b}sor way is right here.</claim>\n<evidence>See src/draft.rs:1 for it.</evidence>\n\
        <strongest_concession>It costs one more file.</strongest_concession>\n\
        <counter_to_opposition>The other way costs more.</counter_to_opposition>\n\
        <risk_if_wrong>We would move one file.</risk_if_wrong>\nRECOMMEND: THESIS\n";
    let world = World::new().answer("chair/synthesis", synthesis(&two));
    let run = world.answer("debate/1/thesis", named).run();
    assert!(!run.file("dialectic-ballot.txt").to_lowercase().contains("cursor"));
    assert!(run.file("dialectic-ballot.txt").contains("the tool way is right"));
}

#[test]
fn contradictory_answers_give_a_warning() {
    let same = block(1, "Where").replace("A table", "a file!");
    let two = format!("{same}\n{}", block(2, "When"));
    let run = World::new().answer("chair/synthesis", synthesis(&two)).run();
    run.shows("**⚠ The decision \"Where\" is not debated: what was chosen and the alternative are the same (A file).**");
    assert_eq!(run.lanes("debate/").len(), 2);
    assert!(run.file("contested-decisions.md").starts_with("### DECISION_1: When\n"));
    let answer = "NO_ISSUES_FOUND\n\n1. [correctness] The draft in src/draft.rs is not synced.\n";
    let run = World::new()
        .answer("review/", "NO_ISSUES_FOUND")
        .answer("review/Cursor-Arch", answer)
        .run();
    run.shows("**⚠ Cursor-Arch said NO_ISSUES_FOUND and went on: 1 findings are taken, 0 untagged entries are not.**");
    assert!(
        run.file("accepted-plan-findings.md").contains("The draft in src/draft.rs is not synced.")
    );
}
