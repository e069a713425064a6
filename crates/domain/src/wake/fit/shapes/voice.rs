//! No line of a stranger's passes for one that Convoke writes, in a skill, a plan or a message.

use std::collections::BTreeSet;

use super::*;
use crate::pin::fixture::pins;
use crate::task::TaskStatus;
use crate::task::deed::fixture::deeds;
use crate::wake::ElsewhereLines;
use crate::wake::deeds::MessageVerdict;
use crate::wake::frame::{framed, quote_line};

/// The lines that engine and service add to a wake-up, each as they write it.
const ADDED: [&str; 23] = [
    "> shortened to fit; the whole text: `convoke wake june --budget 1000000`",
    "> Convoke ignores unusable settings of `convoke.toml`; run `convoke doctor`",
    "> skill version changed: 1 -> 2",
    "> skill not found: my-skill, which the task names",
    "(skill not found: my-skill)",
    "No skill is chosen. Installed skills that share words with the task: `a`.",
    "Choose one: `convoke skill use NAME`; `convoke skill list` shows all.",
    "No task is on branch `main`; branch `x` has 2 open. See them with `convoke task tree`.",
    "No task is assigned to you. `convoke task next --as june` shows the next one.",
    "High priority outside this plan: A (`convoke task show t-81af1`)",
    "(2 unread to you on branch `x`: `convoke inbox june --branch x --mark`)",
    "[convoke] 1 unread message to you, @june: read with `convoke inbox june --mark`",
    "[convoke wake-up 1/2 0123abcd]",
    "[end of convoke wake-up 1/2 0123abcd]",
    "(Clients hand the 2 parts over in any order; part 1 has the rules.)",
    "> branch x, which is gone, has 2 rules of the user; the user brings them here",
    "> branch x, which is gone, has 2 open tasks; if they are work of this branch, ask the user",
    "> this project was in `/x`; its tasks, rules and messages followed it here",
    "> this repository was in `/x`, which is gone, and has 2 tasks there",
    "> this folder was another project before, which has 2 tasks",
    "> another repository is in this folder than before, so the tasks are not used here",
    "> everything of this folder was merged into the project in `/x`, which has 2 tasks",
    "> from a copy of 3 minutes ago; the store's server does not answer",
];

/// Tells whether a skill may have such a line of its own: a list, a step, or a word in brackets.
fn is_ordinary(line: &str) -> bool {
    let line = line.trim_start();
    let step = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let starts = ["- [ ] ", "- [x] ", "**File:** ", "Current task: "];
    step || line.is_empty()
        || line == "(none)"
        || starts.iter().any(|start| line.starts_with(start))
}

/// Collects Convoke's own lines: all that are not the texts of others, which have a `zz`.
fn own_lines(woken: &WakeUp, own: &mut BTreeSet<String>) {
    let is_own = |line: &&str| !line.contains("zz") && !is_ordinary(line) && *line != ">";
    own.extend(woken.text.lines().filter(is_own).map(str::to_owned));
}

#[expect(clippy::too_many_lines, reason = "one wake-up of each kind")]
fn rendered() -> BTreeSet<String> {
    let mut own: BTreeSet<_> = ADDED.map(str::to_owned).into();
    let parts = ["2 - 2 - pending Task 2: Build", "2a 2 1 - completed A", "2b 2 2 - in_progress B"];
    let lists = [list(60, "it"), list(3, "it"), parts.map(str::to_owned).to_vec()];
    let skill = format!("# zz\n\n{}", "## Example zz\n\nzz zz zz\n\n".repeat(200));
    let plan =
        "# zz\n\nzz opening\n\n### Task 2: Build zz\n\n**Files:** zz\n- zz.rs\n\n- zz step\n";
    let unread: Vec<_> = (0..14).map(|n| format!("zz {n} {}", "zz ".repeat(n * 120))).collect();
    let rules = pins(&["Never push", "Never force"]);
    for roots in lists.iter().map(|list| grown(list)) {
        let cases =
            [WakeProfile::Orchestrator, WakeProfile::Agent].into_iter().flat_map(|profile| {
                let orders = [SectionOrder::Contract, SectionOrder::CriticalFirst];
                orders.map(|order| (profile, order))
            });
        for (profile, order) in cases {
            let material = Material {
                roots: &roots,
                short: &roots,
                plan,
                skill: &skill,
                unread: &unread,
                taken: &[],
                pins: &rules,
                profile,
                order,
            };
            let mut facts = material.facts();
            facts.skill.others = vec![(SkillId::parse("other").unwrap(), "/x/SKILL.md".to_owned())];
            facts.elsewhere = ElsewhereLines {
                urgent: Some(ADDED[9].to_owned()),
                unread: Some(ADDED[10].to_owned()),
            };
            let judged = deeds("2", &["pass spec", "fail quality"]);
            for of_task in [Vec::new(), judged.clone()] {
                facts.known.of_task = of_task;
                let verdict = MessageVerdict {
                    deed: judged[0].clone(),
                    title: "x".to_owned(),
                    state: TaskState::Stored(TaskStatus::Pending),
                };
                facts.known.of_message = vec![verdict];
                for budget in [60, 90, 120, 200, 300, 450, 700, 1000, 2000, 4000, 60_000] {
                    let room = WakeLimits::from(Budget::at_least_one(budget));
                    own_lines(&wake_up(&facts, room, &Estimate), &mut own);
                }
            }
            let plans = [
                PlanText::Missing { file: "plan.md" },
                PlanText::Found {
                    file: "plan.md",
                    plan: SearchedPlan::new("### Task 9: zz\n\nzz\n"),
                },
                PlanText::Found {
                    file: "plan.md",
                    plan: SearchedPlan::new("### Task 2: zz\n\nzz\n"),
                },
            ];
            for plan in plans {
                facts.plan = Some(plan);
                (facts.message, facts.outline) = (None, None);
                let room = WakeLimits::from(Budget::at_least_one(60_000));
                own_lines(&wake_up(&facts, room, &Estimate), &mut own);
                facts.outline = material.facts().outline;
                own_lines(&wake_up(&facts, room, &Estimate), &mut own);
            }
        }
    }
    own
}

// W-39: no skill, plan or message has a line that Convoke writes as a line of its own.
#[test]
fn no_stranger_writes_a_line_of_convokes() {
    let own = rendered();
    for (start, what) in [
        ("You are @june, the orchestrator", "the name"),
        ("(shortened: without ", "a short plan"),
        ("Also follow: ", "another skill"),
        ("> truncated: ", "a short skill"),
        ("Next action: ", "the action"),
        ("With it was recorded: ", "a verdict"),
        ("There is no new message.", "no message"),
        ("This wake-up of @june", "the smallest text"),
        ("(plan file not found: ", "a missing plan"),
        ("(only the number ", "a doubt"),
    ] {
        assert!(own.iter().any(|line| line.starts_with(start)), "{what} is not rendered: {own:#?}");
    }
    for line in &own {
        let text = framed(line);
        assert!(text.starts_with('\\'), "a skill keeps {line:?}");
        for words in [line.as_str(), line.trim_start_matches("> ")] {
            let mut quoted = "> ".to_owned();
            quote_line(words, &mut quoted);
            assert!(!own.contains(&quoted), "a plan has {quoted:?}");
            let message = quote_lines(&AgentName::known("ana"), &format!("zz\n{words}\nzz"));
            let is_ours = message.lines().skip(1).any(|line| own.contains(line));
            assert!(!is_ours, "a message has {words:?}: {message}");
        }
    }
}
