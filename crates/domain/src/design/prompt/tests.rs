//! Every prompt as a person reads it, and what each must say.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::discussion::Questions;
use super::super::finding::FocusArea;
use super::super::outcome::resolutions;
use super::super::seat::Side;
use super::super::settled::PollRule::{self, All};
use super::super::sketch::SketchPanel;
use super::super::voting_block::MarkerWord;
use super::super::{decision, mermaid, parts, plan as planning};
use super::super::{merge as merging, review as reviewing};
use super::*;

mod content;
mod echo;

const FEATURE: &str = "Cap the retries of the uploader.";
const PLAN: &str = "## Files to modify/create\n\n- src/upload.rs: the cap";

fn a_debate(side: Side) -> String {
    debate(
        side,
        &Debate {
            feature: FEATURE,
            discussion: ANSWERED,
            synthesis: "The sketches agree on a cap.",
            decision_block: "### DECISION_1: Where the cap lives\n- **Chosen**: In the client",
            chosen: "In the client",
            alternative: "In the worker",
            tension: "Cursor-Arch kept it with the client",
            affected_files: "src/client.rs, src/worker.rs",
        },
    )
}

static WORD: LazyLock<MarkerWord> = LazyLock::new(|| MarkerWord::from_random(7));

fn on_ballot<'a>(ballot: &'a str, discussion: &'a str) -> Decided<'a> {
    Decided { feature: FEATURE, discussion, ballot, word: Some(&*WORD) }
}

fn a_voter(role: VoterRole, ballot: &str, reader: Reader) -> String {
    voter(role, &on_ballot(ballot, ANSWERED), PLAN, reader)
}

const ANSWERED: &str = "### Decision 1: Callers\n- **Question**: Must old callers work?";
const LISTING: &str = "R1: [correctness] Zero is open\nR2: Zero is not handled";

fn chair_prompts() -> Vec<(&'static str, String)> {
    let sketch = |label, text, failures| ShownSketch { label, text, failures };
    let sketches = [
        sketch("Cursor-Arch", "Put it into the client.", None),
        sketch("Codex-Pragmatic", "One constant.", None),
    ];
    let from = PlanMaterial {
        feature: FEATURE,
        discussion: ANSWERED,
        synthesis: "The sketches agree on a cap.",
        resolutions: "### DECISION_1: Where the cap lives\n**Disposition**: voted",
    };
    let change = Revision {
        feature: FEATURE,
        discussion: "",
        plan: PLAN,
        findings: "FINDING_1: Zero is open",
    };
    let about = Interview {
        feature: FEATURE,
        discussion: ANSWERED,
        accepted: "### FINDING_1: Zero",
        contested: "### DECISION_1: Where the cap lives",
        resolutions: "### DECISION_1: Where the cap lives\n**Disposition**: over-cap",
        plan: PLAN,
    };
    vec![
        ("chair_questions", questions(FEATURE)),
        ("chair_scope", scope(FEATURE, ANSWERED)),
        ("chair_synthesis", synthesis(FEATURE, ANSWERED, &sketches, SketchPanel::Full, All)),
        ("chair_synthesis_quick", synthesis(FEATURE, "", &sketches, SketchPanel::Quick, All)),
        (
            "chair_synthesis_adaptive",
            synthesis(FEATURE, "", &sketches, SketchPanel::Full, PollRule::UntilSettled),
        ),
        ("chair_plan", plan(&from)),
        ("chair_merge", merge(LISTING)),
        ("chair_revision", revision(&change)),
        ("chair_ruling", ruling(&change)),
        ("chair_interview", interview(&about)),
        (
            "chair_update",
            update(&PlanUpdate {
                feature: FEATURE,
                settled: ANSWERED,
                plan: PLAN,
                answers: ANSWERED,
            }),
        ),
        ("chair_diagram", diagram(FEATURE, PLAN)),
    ]
}

fn prompts() -> Vec<(&'static str, String)> {
    let dialectic = "## Dialectic Ballot\n\n<defense_content>\nA defence.\n</defense_content>";
    let ballot = "## Findings Ballot\n\n### FINDING_1: [correctness] Zero";
    let mut all = vec![
        ("sketch_arch", sketch(Personality::Arch, FEATURE, Reader::Vendor)),
        ("sketch_edge", sketch(Personality::Edge, FEATURE, Reader::Vendor)),
        ("sketch_innovation", sketch(Personality::Innovation, FEATURE, Reader::Vendor)),
        ("sketch_pragmatic", sketch(Personality::Pragmatic, FEATURE, Reader::Vendor)),
        ("sketch_generic", sketch(Personality::Generic, FEATURE, Reader::Vendor)),
        ("review_arch", review(Personality::Arch, FEATURE, PLAN)),
        ("review_edge", review(Personality::Edge, FEATURE, PLAN)),
        ("review_innovation", review(Personality::Innovation, FEATURE, PLAN)),
        ("review_pragmatic", review(Personality::Pragmatic, FEATURE, PLAN)),
        ("review_host", host_review(Personality::Edge, FEATURE, PLAN)),
        ("review_again", review_again("Review the plan.\n", "| a | b |", "there is no list")),
        ("sketch_again", sketch_again("Sketch it.\n", "sketch too thin: 3/40 words")),
        ("debate_thesis", a_debate(Side::Thesis)),
        ("debate_antithesis", a_debate(Side::Antithesis)),
        ("judge_vendor", judge(&on_ballot(dialectic, ANSWERED), Reader::Vendor)),
        ("judge_host", judge(&on_ballot(dialectic, ""), Reader::Host)),
        ("judge_seed", judge(&Decided { word: None, ..on_ballot(dialectic, "") }, Reader::Vendor)),
        ("voter_host", a_voter(VoterRole::SeniorReviewer, ballot, Reader::Host)),
        ("voter_vendor", a_voter(VoterRole::SeniorEngineer, ballot, Reader::Vendor)),
        ("voter_replacement", a_voter(VoterRole::SeniorEngineer, ballot, Reader::Host)),
        (
            "voter_seed",
            voter(
                VoterRole::SeniorEngineer,
                &Decided { word: None, ..on_ballot(ballot, "") },
                PLAN,
                Reader::Vendor,
            ),
        ),
        (
            "again",
            with_complaints(
                "Write a plan.\n",
                &["the plan has no `## Approach`", "Task 1 has no `**Source:**`"]
                    .map(str::to_owned),
                PLAN_SKELETON,
            ),
        ),
    ];
    all.extend(chair_prompts());
    all
}

#[test]
fn every_prompt_reads_well() {
    for (name, prompt) in prompts() {
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, prompt);
        });
    }
}

#[test]
fn no_gap_is_left_and_every_text_ends_once() {
    for (name, prompt) in prompts() {
        let gap = prompt.split('{').skip(1).find(|rest| rest.starts_with(char::is_uppercase));
        assert_eq!(gap, None, "{name}");
        assert!(prompt.ends_with('\n') && !prompt.ends_with("\n\n"), "{name}");
        assert!(!prompt.contains("\n\n\n"), "{name}");
    }
}

/// The example that a prompt gives: its indented lines.
fn example(prompt: &str) -> String {
    let lines = prompt.lines().filter_map(|line| line.strip_prefix("    "));
    lines.collect::<Vec<_>>().join("\n")
}

// P-252: an answer that copies the example is understood.
#[test]
fn the_examples_are_what_the_parsers_read() {
    // The example itself is no finding, so words of a reviewer's own take its place.
    let shown = example(&review(Personality::Arch, FEATURE, "p"));
    assert!(reviewing::remarks(&shown).is_err());
    let remarks = reviewing::remarks(&shown.replace("What is wrong, and where.", "Zero.")).unwrap();
    assert_eq!(remarks[0].focus.map(FocusArea::word), Some("correctness"));
    assert!(remarks[0].revision.is_some());
    let six = (0..6).map(|n| merging::RaisedRemark {
        proposer: "A".to_owned(),
        remark: reviewing::remarks(&format!("1. {n}")).unwrap().remove(0),
    });
    let groups = merging::distinct(six.collect());
    assert_eq!(merging::merged(&groups, &example(&merge(""))).unwrap().len(), 3);
    let all = chair_prompts();
    let prompt = |name: &str| example(&all.iter().find(|(known, _)| *known == name).unwrap().1);
    let both = prompt("chair_synthesis").replace(" ===\n", " ===\ntext\n");
    let [_, contested] =
        parts::split(&both, ["approach-synthesis.txt", "contested-decisions.md"]).unwrap();
    // The example itself is no decision.
    assert_eq!(decision::parse(contested).complaints.len(), 1);
    let contested = contested.replace("What your synthesis chose", "A file");
    assert_eq!(decision::parse(&contested).decisions.len(), 1);
    let both = prompt("chair_revision").replace(" ===\n", " ===\ntext\n");
    assert_eq!(
        parts::split(&both, ["plan.txt", "resolutions"]).map(|[_, text]| resolutions(text).len()),
        Ok(1)
    );
}

// P-245
#[test]
fn the_chair_is_shown_what_the_rules_read() {
    let all = chair_prompts();
    let prompt = |name: &str| example(&all.iter().find(|(known, _)| *known == name).unwrap().1);
    for name in ["chair_questions", "chair_scope", "chair_interview"] {
        assert_eq!(Questions::parse(&prompt(name)).questions, [], "the example is no question");
        let asked = prompt(name).replace("The question, in one or two sentences", "Is it so?");
        let found = Questions::parse(&asked);
        assert_eq!((found.questions.len(), found.complaints.len()), (1, 0), "{name}");
        assert_eq!(found.questions[0].options.len(), 3, "{name}");
        assert!(found.questions[0].answered.is_some(), "{name}");
    }
    for name in ["chair_plan", "chair_update"] {
        let text = prompt(name).replace("## ", "Something.\n\n## ").replace("#Something.\n\n", "#");
        let said = [
            "A short title",
            "What can be checked when it is done",
            "Which part of the plan it comes from",
            "src/one.rs",
        ];
        let text = said.iter().fold(text, |text, words| text.replace(words, "Approach, src/a.rs"));
        assert_eq!(planning::check(&text), [], "{name}:\n{text}");
    }
    let report = mermaid::check(&prompt("chair_diagram"), mermaid::DiagramText::Markdown);
    assert!(report.is_safe() && report.is_one_diagram());
}

fn hostile_sketches(text: &str) -> [ShownSketch<'_>; 2] {
    let sketch = |label, failures| ShownSketch { label, text, failures };
    [sketch("A", None), sketch(text, Some(text))]
}

proptest! {
    // For any text from outside, a prompt has the same tags, once each.
    #[test]
    fn no_text_can_close_its_delimiter(
        text in "(</?|< / )(panel_(feature|plan|findings|ballot|sketch)|reviewer_plan|debater_decision|defense_content)( >|>)|\n|[a-z]{0,4}|\\{MATERIAL\\}",
    ) {
        let tags = |prompt: &str| {
            let squeezed: String = prompt.chars().filter(|c| !c.is_whitespace() && *c != '/').collect();
            Tag::ALL.iter().map(|tag| squeezed.matches(&format!("<{}", tag.name())).count()).sum::<usize>()
        };
        let all = |text: &str| {
            let side = Debate {
                feature: text,
                discussion: text,
                synthesis: text,
                decision_block: text,
                chosen: text,
                alternative: text,
                tension: text,
                affected_files: text,
            };
            [
                sketch(Personality::Edge, text, Reader::Vendor),
                host_review(Personality::Edge, text, text),
                debate(Side::Thesis, &side),
                judge(&Decided { feature: text, discussion: text, ballot: "b", word: None }, Reader::Host),
                voter(
                    VoterRole::SeniorEngineer,
                    &Decided { feature: text, discussion: text, ballot: "b", word: Some(&*WORD) },
                    text,
                    Reader::Host,
                ),
                merge(text),
                synthesis(text, text, &hostile_sketches(text), SketchPanel::Full, All),
                update(&PlanUpdate { feature: text, settled: text, plan: text, answers: text }),
                with_complaints("x", &[text.to_owned()], PLAN_SKELETON),
                review_again("x", text, "x"),
            ]
        };
        let text = format!("x{text}");
        for (hostile, harmless) in all(&text).iter().zip(all("x")) {
            prop_assert_eq!(tags(hostile), tags(&harmless), "{}", hostile);
        }
    }
}
