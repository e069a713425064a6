//! Plans that a stranger wrote, and rules that are long: neither takes the place of what matters.

use super::*;
use crate::pin::fixture::pins;

/// Plans that a stranger may have written.
pub(super) fn hostile_plans() -> Vec<(&'static str, String)> {
    let file = |name, text: &str| (name, text.to_owned());
    let megabyte = "x".repeat(1 << 20);
    vec![
        file("many files", include_str!("../../../../tests/fixtures/plans/many-files.md")),
        file("long heading", include_str!("../../../../tests/fixtures/plans/long-heading.md")),
        file("long lines", include_str!("../../../../tests/fixtures/plans/long-file-lines.md")),
        file("our voice", include_str!("../../../../tests/fixtures/plans/convokes-voice.md")),
        file("controls", include_str!("../../../../tests/fixtures/plans/control-characters.md")),
        file("open fence", include_str!("../../../../tests/fixtures/plans/open-fence.md")),
        ("a megabyte of heading", format!("### Task 2: Build {megabyte}\n\nBody.\n")),
        ("a megabyte of opening", format!("# Plan\n\n{megabyte}\n\n### Task 2: Build\n")),
    ]
}

// W-82: no plan wipes out the task, the message, the rules or the next action, at any budget.
#[test]
fn no_plan_displaces_what_matters_or_speaks_for_convoke() {
    let roots = grown(&list(4, "it"));
    let unread = ["please hurry".to_owned()];
    let rules = pins(&["Never push"]);
    for (name, plan) in hostile_plans() {
        for (budget, order) in [300, 500, 1000, 2000, 8000].into_iter().flat_map(|budget| {
            [SectionOrder::Contract, SectionOrder::CriticalFirst].map(|order| (budget, order))
        }) {
            let material = Material {
                roots: &roots,
                short: &roots,
                plan: &plan,
                skill: "Do it.",
                unread: &unread,
                taken: &[],
                pins: if budget == 300 { &[] } else { &rules },
                profile: WakeProfile::Orchestrator,
                order,
            };
            let what = format!("{name} at {budget}");
            let woken = material.check(WakeLimits::from(Budget::at_least_one(budget)), &what);
            assert!(woken.text.contains("Never push") || budget == 300, "{what}");
            for words in ["please hurry", "<-- CURRENT", "\n## Your Next Action\n"] {
                assert!(woken.text.contains(words), "{what}: {words}\n{}", woken.text);
            }
        }
    }
}

// One long rule keeps no short one out, and a room for hardly anything says that there are rules.
#[test]
fn as_many_rules_as_fit_are_given() {
    let roots = grown(&list(3, "x"));
    let long = "x".repeat(1900);
    let rules = pins(&[&long, "Never push", "Never force"]);
    let material = Material {
        roots: &roots,
        short: &roots,
        plan: "",
        skill: "Do it.",
        unread: &[],
        taken: &[],
        pins: &rules,
        profile: WakeProfile::Orchestrator,
        order: SectionOrder::CriticalFirst,
    };
    let given = |budget| {
        let room = WakeLimits::from(Budget::at_least_one(budget));
        material.check(room, &budget.to_string()).text
    };
    let text = given(500);
    assert!(text.contains("- [rule 2] Never push\n- [rule 3] Never force\n- 1 pinned"), "{text}");
    for budget in 8..45 {
        let text = given(budget);
        assert!(text.contains("convoke pin list"), "{budget}: {text}");
    }
}

// A title as long as a book moves nothing else out.
#[test]
fn a_long_title_does_not_displace_a_message() {
    let title = "and another thing ".repeat(1700);
    let roots = grown(&list(3, &title[..400]));
    let short = grown(&list(3, &title[..60]));
    let unread = ["please hurry".to_owned()];
    for budget in [200, 300, 1000, 8000] {
        let material = Material {
            roots: &roots,
            short: &short,
            plan: "",
            skill: "Do it.",
            unread: &unread,
            taken: &[],
            pins: &[],
            profile: WakeProfile::Orchestrator,
            order: SectionOrder::Contract,
        };
        let room = WakeLimits::from(Budget::at_least_one(budget));
        let woken = material.check(room, "long title");
        assert_eq!(woken.text.contains("please hurry"), woken.read == [1], "{}", woken.text);
        assert!(budget < 1000 || woken.read == [1], "{}", woken.text);
    }
}
