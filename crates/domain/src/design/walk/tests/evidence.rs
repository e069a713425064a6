//! What a run keeps beside its results, for those who ask why.

use super::super::*;
use super::world::{World, block, synthesis};
use crate::design::debate::DebateFault;
use crate::design::evidence::PlanCause;
use crate::design::finding::{FindingId, FindingScope};
use crate::design::judge::Judgement;
use crate::design::matter::MatterId;
use crate::design::seat::Side;

#[test]
fn a_run_keeps_who_wrote_and_voted_what() {
    let decisions = format!("{}{}", block(1, "Where"), block(2, "When"));
    let run = World::new()
        .answer("chair/synthesis", synthesis(&decisions))
        .failing("sketch/Cursor-Edge", "no quota")
        .failing("judge/Claude", "timed out")
        .run();
    let evidence = &run.progress.results.evidence;
    let sketches: Vec<_> =
        evidence.sketches.iter().map(|sketch| (sketch.label.as_str(), sketch.runner)).collect();
    let usable = [
        ("Cursor-Arch", Holder::First),
        ("Codex-Innovation", Holder::Second),
        ("Codex-Pragmatic", Holder::Second),
    ];
    assert_eq!(sketches, usable);
    let judged: Vec<_> = evidence
        .judges
        .iter()
        .map(|judge| (judge.label.as_str(), judge.judgement.on(2).map(|vote| vote.side.word())))
        .collect();
    assert!(judged.contains(&("Codex", Some("antithesis"))), "{judged:?}");
    assert!(judged.contains(&("Claude", None)), "{judged:?}");
    let claude = evidence.judges.iter().find(|judge| judge.label == "Claude").unwrap();
    assert_eq!(claude.judgement, Judgement::Ineligible);
    let finding = MatterId::Finding(FindingId { scope: FindingScope::In, number: 1 });
    let causes: Vec<_> = evidence.plans.iter().map(|plan| plan.cause.clone()).collect();
    assert_eq!(causes, [PlanCause::Draft, PlanCause::Matters(vec![finding])]);
    assert_ne!(evidence.plans[0].text, evidence.plans[1].text);
}

// A case that does not reach the judges is still kept, with the reason.
#[test]
fn a_debate_is_kept_with_its_fault() {
    let run = World::new()
        .answer("chair/synthesis", synthesis(&block(1, "Where")))
        .answer("debate/1/antithesis", "I agree with them.")
        .run();
    let debate = &run.progress.results.evidence.debates[0];
    assert!(debate.sides[0].defense.is_ok());
    assert_eq!(debate.sides[1].defense, Err(DebateFault::MissingTag));
    assert!(run.progress.results.evidence.judges.is_empty());
}

// P-385: what the evidence says of a judge's order is what its prompt has.
#[test]
fn the_order_of_each_judge_is_that_of_its_prompt() {
    let decisions = format!("{}{}", block(1, "Where"), block(2, "When"));
    let run = World::new().answer("chair/synthesis", synthesis(&decisions)).run();
    let judges = &run.progress.results.evidence.judges;
    assert_eq!(judges.len(), 3);
    for judge in judges.iter() {
        let [prompt] = run.prompts(&format!("judge/{}", judge.label))[..] else {
            panic!("one prompt")
        };
        for number in [1, 2] {
            let entry = prompt.split(&format!("### DECISION_{number}:")).nth(1).unwrap();
            let letter = if judge.order.first_side(number) == Side::Thesis { "A" } else { "B" };
            let line = format!("Vote `THESIS` for Defense {letter}, ");
            assert!(entry.find(&line) < entry.find("defense_content"), "{entry}");
        }
    }
}
