//! A person's decisions after the panel.

use super::super::*;
use super::run::Run;
use super::world::{World, block, plan, synthesis, words};
use crate::design::event::{Event, Export, Kept, Stamped, StopReason};
use crate::design::export::ExportFailure;
use crate::design::matter::RulingChoice::{Accept, Reject};
use crate::design::matter::{Matter, MatterId, Ruling};

/// Has the chair revise the plan for decisions.
fn world() -> World {
    let revised = format!(
        "=== plan.txt ===\n{}\n=== resolutions ===\nFINDING_1: It is synced at last.\n",
        plan("decided")
    );
    World::new().answer("chair/decided-", revised)
}

/// Two of three voters are there, and differ.
fn tied() -> World {
    world()
        .failing("vote/Cursor", "timed out")
        .answer("vote/Codex", "FINDING_1: YES — so\nOOS_1: NO — no")
        .answer("vote/Claude", "FINDING_1: NO — so\nOOS_1: NO — no")
}

fn standing<'r>(run: &'r Run, id: &str) -> &'r Matter {
    run.progress.matters.iter().find(|matter| matter.id.to_string() == id).unwrap()
}

fn is_complete(run: &Run) -> bool {
    matches!(run.ending, DesignEnding::Complete { .. })
}

// P-274: a panel without votes decides nothing, and a person can.
#[test]
fn what_no_voter_decided_is_decided_by_a_person_and_the_plan_revised() {
    let world = world().failing("vote/", "timed out");
    let run = world.run();
    run.shows(
        "**ℹ Undecided: FINDING_1 (undecided), OOS_1 (undecided). `convoke decide` lists them and \
         records your decisions.**",
    );
    assert!(standing(&run, "FINDING_1").is_open());
    let decided = world.decide(&run, "FINDING_1", Accept, "Drafts\nmust not be lost");
    assert!(is_complete(&decided));
    assert_eq!(decided.lanes("").len(), 1, "the chair alone is asked");
    let prompt = decided.prompts("chair/decided-1/claude")[0];
    for said in ["is not synced", "A person accepted it: Drafts must not be lost"] {
        assert!(prompt.contains(said), "{prompt}");
    }
    decided.shows("🔶 6: decisions**\n**ℹ A person accepted FINDING_1: Drafts must not be lost**");
    decided.shows("✅ 6: decisions — plan revised for FINDING_1 (");
    assert!(decided.file("plan.txt").contains("src/draft.rs: decided"));
    assert!(decided.file("accepted-plan-findings.md").ends_with(
        "- **Resolution**: It is synced at last.\n\
         - **Accepted by a person**: Drafts must not be lost\n"
    ));
    let tally = decided.file("voting-tally.md");
    assert!(tally.contains("| 0 | 0 | 0 | accepted by a person |"), "{tally}");
    let because = "## Decided by a person\n\n- FINDING_1: accepted by a person: Drafts must not";
    assert!(tally.contains(because), "{tally}");
    assert_eq!(decided.file("rejected-findings.md"), "");
    assert!(!standing(&decided, "FINDING_1").is_open() && standing(&decided, "OOS_1").is_open());
}

// A split vote decides nothing; without a change of the plan no agent is needed.
#[test]
fn a_tie_is_ended_by_a_person_without_an_agent() {
    let run = tied().run();
    run.shows("**ℹ Undecided: FINDING_1 (tied). `convoke decide`");
    let left = run.file("rejected-findings.md");
    assert!(left.contains("The panel is divided on it, and no person has decided."), "{left}");
    let silent = tied().failing("chair/decided-", "gone");
    let decided = silent.decide(&run, "FINDING_1", Reject, "The disk syncs by itself");
    assert!(is_complete(&decided) && decided.lanes("").is_empty());
    let left = decided.file("rejected-findings.md");
    assert!(left.contains("A person rejected it: The disk syncs by itself\n"), "{left}");
    assert_eq!(decided.file("plan.txt"), run.file("plan.txt"));
    decided.shows("✅ 6: decisions — FINDING_1 rejected; the plan is unchanged (");
}

// P-232, P-236: judges who are divided leave the synthesis, until a person says otherwise.
#[test]
fn a_person_takes_the_alternative_where_judges_were_divided() {
    let world = world()
        .answer("chair/synthesis", synthesis(&block(1, "Where")))
        .failing("judge/Codex", "timed out")
        .answer("judge/Claude", "DECISION_1: ANTI_THESIS — simpler");
    let run = world.run();
    run.shows("**ℹ Undecided: DECISION_1 (fallback-to-synthesis). `convoke decide`");
    let matter = standing(&run, "DECISION_1");
    assert_eq!(matter.votes, "1-1 tie with 2 voters");
    assert_eq!(matter.text, "accept keeps \"A file\", reject takes \"A table\"");
    let kept = world.decide(&run, "DECISION_1", Accept, "fine");
    assert!(is_complete(&kept) && kept.lanes("").is_empty());
    let decided = world.decide(&run, "DECISION_1", Reject, "we have tables");
    let prompt = decided.prompts("chair/decided-1/")[0];
    assert!(prompt.contains("The plan goes by: A file\nIt must go by: A table\n"), "{prompt}");
    let file = decided.file("dialectic-resolutions.md");
    assert!(file.contains("**Resolution**: A table\n**Disposition**: fallback-to-synthesis\n"));
    assert!(file.ends_with("**Decided by a person**: rejected: we have tables\n"));
    assert!(decided.file("plan.txt").contains("src/draft.rs: decided"));
}

// A decision is never lost: it waits until an agent can revise the plan, and then is done once.
#[test]
fn a_decision_that_no_agent_can_act_on_waits() {
    let run = tied().run();
    let silent = tied().failing("chair/decided-", "no quota");
    let waiting = silent.decide(&run, "FINDING_1", Accept, "it matters");
    let DesignEnding::Failed(failed) = &waiting.ending else { panic!("{:?}", waiting.ending) };
    assert_eq!(
        (failed.why.as_str(), failed.step),
        ("no agent revised the plan for FINDING_1", Step::Decisions)
    );
    assert_eq!(waiting.lanes("chair/decided-1/").len(), 3, "every agent was asked");
    assert!(standing(&waiting, "FINDING_1").is_pending);
    assert!(waiting.file("accepted-plan-findings.md").contains("has still to be revised"));
    let again = silent.resume(&waiting);
    assert!(matches!(again.ending, DesignEnding::Failed(_)));
    let done = tied().resume(&again);
    assert!(is_complete(&done) && !standing(&done, "FINDING_1").is_pending);
    assert_eq!(done.lanes("chair/decided-1/").len(), 1);
    let once = tied().resume(&done);
    assert!(once.lanes("").is_empty(), "it is not revised twice");
    assert_eq!(once.file("plan.txt"), done.file("plan.txt"));
}

// A decision that waits can be changed: the later one takes its place, and the run goes on.
#[test]
fn a_later_decision_replaces_one_that_no_agent_acted_on() {
    let run = tied().run();
    let silent = tied().failing("chair/decided-", "no quota");
    let waiting = silent.decide(&run, "FINDING_1", Accept, "it matters");
    let twice = silent.resume(&waiting);
    let budget = Event::BudgetReached(BudgetStop::Sentence("used 2 of 1 tokens".to_owned()));
    let stopped = Event::Interrupted(StopReason::Sentence("killed".to_owned()));
    for waiting in [&waiting, &twice] {
        for last in [None, Some(budget.clone()), Some(stopped.clone()), Some(Event::Resumed)] {
            let mut waiting = waiting.clone();
            if let Some(event) = last {
                waiting.facts.take(Stamped { at: 0, event });
            }
            let decided = silent.decide(&waiting, "FINDING_1", Reject, "it does not");
            assert!(is_complete(&decided), "{:?}", decided.ending);
            assert!(decided.lanes("").is_empty(), "the plan was never revised for it");
            decided.shows(
                "**ℹ decision changed: FINDING_1 rejected instead of accepted; no agent had acted \
                 on the earlier decision**\n**ℹ A person rejected FINDING_1: it does not**\n",
            );
            assert_eq!(decided.file("plan.txt"), run.file("plan.txt"));
            assert_eq!(decided.file("accepted-plan-findings.md"), "");
            let tally = decided.file("voting-tally.md");
            assert!(tally.contains("- FINDING_1: rejected by a person: it does not\n"), "{tally}");
            assert!(!tally.contains("it matters"), "{tally}");
            let matter = standing(&decided, "FINDING_1");
            assert!(!matter.is_pending && !matter.is_accepted());
        }
    }
    // The plan is revised once, for the reason that holds.
    let again = tied().decide(&waiting, "FINDING_1", Accept, "it matters much");
    assert!(is_complete(&again));
    let asked: Vec<_> = again.lanes("").iter().map(|(lane, _)| *lane).collect();
    assert_eq!(asked, ["chair/decided-2/claude"]);
    again.shows("decision changed: FINDING_1 accepted for another reason; no agent");
}

// The revised plan stays if only a change of the decision could not be acted on.
#[test]
fn a_decision_that_was_acted_on_holds_again_when_its_change_is_taken_back() {
    let run = tied().run();
    let accepted = tied().decide(&run, "FINDING_1", Accept, "it matters");
    let silent = tied().failing("chair/decided-", "no quota");
    let waiting = silent.decide(&accepted, "FINDING_1", Reject, "it does not");
    assert!(matches!(waiting.ending, DesignEnding::Failed(_)));
    let done = silent.decide(&waiting, "FINDING_1", Accept, "it does");
    assert!(is_complete(&done) && done.lanes("").is_empty());
    assert_eq!(done.file("plan.txt"), accepted.file("plan.txt"));
    assert!(done.file("accepted-plan-findings.md").contains("**Resolution**: It is synced at"));
    // A decision on something else changes nothing about one that waits.
    let other = silent.decide(&waiting, "OOS_1", Accept, "file it");
    assert!(matches!(other.ending, DesignEnding::Failed(_)));
}

// Files that were written down before a decision say nothing about those after it.
#[test]
fn a_decision_makes_an_ended_run_unfinished() {
    let mut facts = tied().run().facts;
    facts.take(Stamped { at: 0, event: Event::Kept(Kept::default()) });
    assert!(facts.kept().is_some());
    let ruling = Ruling {
        matter: MatterId::parse("FINDING_1").unwrap(),
        choice: Reject,
        because: "no".to_owned(),
    };
    facts.take(Stamped { at: 0, event: Event::Decided(ruling) });
    assert!(facts.kept().is_none());
}

// Only the failed lane runs again, not one that answered for an earlier decision.
#[test]
fn an_earlier_decision_is_not_acted_on_again() {
    let run = tied().run();
    let first = tied().decide(&run, "FINDING_1", Accept, "it matters");
    let silent = tied().failing("chair/decided-2", "no quota");
    let waiting = silent.decide(&first, "FINDING_1", Reject, "it does not");
    assert!(matches!(waiting.ending, DesignEnding::Failed(_)));
    let revised = format!(
        "=== plan.txt ===\n{}\n=== resolutions ===\nFINDING_1: Taken back.\n",
        plan("decided again")
    );
    let done = tied().answer("chair/decided-2", revised).resume(&waiting);
    assert!(is_complete(&done));
    let asked: Vec<_> = done.lanes("").iter().map(|(lane, _)| *lane).collect();
    assert_eq!(asked, ["chair/decided-2/claude"]);
}

// One person can change another's decision, and the plan follows.
#[test]
fn a_changed_decision_is_taken_back_in_the_plan() {
    let run = tied().run();
    let accepted = tied().decide(&run, "FINDING_1", Accept, "it matters");
    let same = tied().decide(&accepted, "FINDING_1", Accept, "it matters much");
    assert!(same.lanes("").is_empty());
    let rejected = tied().decide(&same, "FINDING_1", Reject, "it does not");
    let prompt = rejected.prompts("chair/decided-3/")[0];
    assert!(prompt.contains("A person rejects it now: it does not Take back"), "{prompt}");
    assert_eq!(rejected.file("accepted-plan-findings.md"), "");
    let tally = rejected.file("voting-tally.md");
    assert_eq!(tally.matches("rejected by a person: it does not").count(), 1, "{tally}");
}

// P-286: a vulnerability is shown to the person who ran the review, and is in no published file.
#[test]
fn withheld_findings_are_counted_and_a_person_can_decide_them() {
    let review = format!(
        "1. [correctness] The draft in src/draft.rs is not synced. {}\n\
         2. [OUT_OF_SCOPE] [security] Tokens are in the log of src/log.rs:1-9.\n",
        words(30)
    );
    let world = world().answer("review/", review);
    let run = world.run();
    run.shows(
        "**ℹ Withheld from published files: 1 finding out of scope that may be about security \
         (OOS_1; 1 accepted).**",
    );
    assert!(!run.shown().contains("Undecided:"));
    let decided = world.decide(&run, "OOS_1", Reject, "the token is a dummy");
    decided.shows("**ℹ A person rejected OOS_1**\n");
    assert!(!decided.shown().contains("dummy") && !decided.shown().contains("in the log of"));
    for (name, text) in &decided.files() {
        let is_private = name == "held-back.md";
        assert_eq!(text.contains("dummy"), is_private, "{name}");
    }
    let tally = decided.file("voting-tally.md");
    assert!(tally.contains("- OOS_1: rejected by a person: the reason is withheld\n"), "{tally}");
    assert!(!standing(&decided, "OOS_1").is_accepted());
}

// P-334, P-335: the calling workflow gets the files with the decision.
#[test]
fn a_nested_design_is_handed_over_again() {
    let mut world = tied();
    world.settings.nested = true;
    world.settings.session_env = Some("/parent/session-env.sh".to_owned());
    let run = world.run();
    assert!(!run.shown().contains("Undecided:"), "another workflow reads these lines");
    let failed = Export::Failed {
        folder: "/x".to_owned(),
        why: ExportFailure::Sentence("disk full".to_owned()),
    };
    let written = Export::Written { manifest: "/parent/m".to_owned() };
    world.exports = vec![written.clone(), failed.clone(), written.clone()];
    let first = world.decide(&run, "FINDING_1", Accept, "it matters");
    assert!(matches!(&first.ending, DesignEnding::NotExported(why) if why == "disk full"));
    let second = world.decide(&first, "OOS_1", Accept, "file it");
    assert!(!is_complete(&second) || second.facts.exports().len() == 3);
    let done = world.resume(&second);
    assert!(is_complete(&done));
    assert_eq!(done.facts.exports().len(), 3, "once for both");
    assert!(done.file("oos-accepted-design.md").contains("(accepted by a person: file it)"));
}

// A decision that was made before the end waits for it.
#[test]
fn a_decision_on_a_run_that_stopped_is_acted_on_at_its_end() {
    let stopped = tied().failing("chair/revision", "x").failing("chair/diagram", "x");
    let mut world = stopped;
    world.settings.session_env = Some("/parent/session-env.sh".to_owned());
    let failed = Export::Failed {
        folder: "/x".to_owned(),
        why: ExportFailure::Sentence("disk full".to_owned()),
    };
    world.exports = vec![failed];
    let run = world.run();
    assert!(matches!(run.ending, DesignEnding::NotExported(_)));
    let decided = world.decide(&run, "FINDING_1", Reject, "no");
    assert!(is_complete(&decided), "{:?}", decided.ending);
    assert_eq!(decided.facts.exports().len(), 2);
}

// By the first version's rules a split vote is neutral, and few voters accept everything.
#[test]
fn the_seed_leaves_no_finding_undecided() {
    for mut world in [tied(), world().failing("vote/", "timed out")] {
        world.settings.policy = crate::design::policy::Policy::Seed;
        let run = world.run();
        assert!(run.progress.matters.iter().all(|matter| !matter.is_open()));
    }
}

// If the chair changes nothing for a decision, the run says so and does not call the plan revised.
#[test]
fn a_decision_that_changes_no_plan_is_not_called_a_revision() {
    let run = tied().run();
    let unchanged = format!(
        "=== plan.txt ===\n{}\n=== resolutions ===\nFINDING_1: Nothing to do.\n",
        run.file("plan.txt")
    );
    let world = tied().answer("chair/decided-", unchanged);
    let decided = world.decide(&run, "FINDING_1", Accept, "It matters");
    assert_eq!(decided.lanes("chair/decided-1/").len(), 2, "Convoke asks once more");
    decided.shows("**⚠ The chair left the plan as it was for FINDING_1.**");
    assert!(!decided.shown().contains("plan revised for"), "{}", decided.shown());
}
