//! Generated plans, skills, lists and inboxes at every budget: the text fits, every message is
//! complete or announced, and the text names every other part that it leaves out.

mod hostile;
mod messages;
mod voice;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::Offset;

use super::*;
use crate::message::{
    ActivityEvent, ActivityReader, Message, MessageKind, activity, quote_as_written, quote_lines,
};
use crate::pin::Pin;
use crate::plan::SearchedPlan;
use crate::scope::AgentName;
use crate::skill::SkillId;
use crate::skill::prune::Forms;
use crate::task::TaskState;
use crate::task::fixture::tasks;
use crate::task::outline::{TaskOutline, clipped};
use crate::task::tree::{TaskNode, current_path, trees};
use crate::token::Estimate;
use crate::wake::deeds::KnownDeeds;
use crate::wake::{NewMessage, PlanText, SectionOrder, WakeProfile};

const BUDGETS: [u64; 4] = [300, 1000, 4000, 8000];

/// Texts as people and models write them, and worse.
fn texts() -> Vec<(&'static str, String)> {
    let list = "- one\n  - two\n    - three\n      1. four\n         and more of four\n";
    let fence = format!("# Code\n\n```rust\n{}```\n", "let x = \"## no heading\";\n".repeat(900));
    let sections = |body: &str| {
        let section = |n: usize| format!("## Part {n}\n\n{body}\n\n");
        format!("# Title\n\n{}", (0..40).map(section).collect::<Vec<_>>().concat())
    };
    let headings =
        (0..600).map(|n| format!("## Example {n} of what it is like\n\n")).collect::<Vec<_>>();
    let headings = headings.concat();
    let file = |name, text: &str| (name, text.to_owned());
    vec![
        // In the forms of skills and plans that are in use, written for this test.
        file("long skill", include_str!("../../../tests/fixtures/shapes/long-skill.md")),
        file("stepwise plan", include_str!("../../../tests/fixtures/shapes/stepwise-plan.md")),
        file("tasks of stories", include_str!("../../../tests/fixtures/shapes/story-tasks.md")),
        file("plan in a table", include_str!("../../../tests/fixtures/shapes/table-plan.md")),
        ("empty", String::new()),
        ("one line", "Do it.".to_owned()),
        ("one long line", "All on one line, and on and on. ".repeat(1000)),
        ("no blanks", "x".repeat(30_000)),
        ("no headings", "A line of prose that says what to do.\n".repeat(800)),
        ("nested lists", list.repeat(400)),
        ("sections", sections("Obey, and then obey again, in order. ".repeat(20).trim_end())),
        ("huge fence", fence.clone()),
        ("open fence", fence.trim_end_matches("```\n").to_owned()),
        ("CRLF", sections("Obey.\r\n\r\nAnd again.").replace('\n', "\r\n")),
        ("CJK", sections(&"가나다라마바사아자차카타파하 中文字符".repeat(20))),
        ("emoji", sections(&"👩‍👩‍👧‍👦 🇩🇪 🏳️‍🌈 ".repeat(60))),
        ("explaining headings", headings),
        ("one long heading", format!("## Example {}\n\nx\n", "heading ".repeat(4000))),
        ("diagrams", format!("# D\n\n{}", "```dot\ndigraph { a -> b }\n```\n\n".repeat(500))),
        ("front matter", format!("---\na: b\n---\n{}", sections("Obey."))),
        ("comments", format!("<!-- {} -->\n## A\n\nx\n", "hidden ".repeat(4000))),
        ("tables", "| a | b |\n|---|---|\n".to_owned() + &"| 1 | 2 |\n".repeat(2500)),
        ("control characters", "\u{0}\u{1b}[2J\u{200b}\u{feff}\n".repeat(2500)),
        ("quotes", "> quoted\n>> twice\n".repeat(2000)),
    ]
}

/// Wraps a text as the section of the current task of a plan, in the ways that plans have.
fn plans(text: &str) -> Vec<String> {
    let files = "**Files:**\n- Create: `a.rs`\n- Test: `b.rs`\n";
    vec![
        text.to_owned(),
        format!("# Plan\n\n{text}\n\n---\n\n### Task 2: Build\n\n{files}\n- [ ] **Step 1**\n"),
        format!("# Plan\n\n---\n\n### Task 2: Build\n\n{files}- [ ] **Step 1**\n\n{text}\n"),
        format!("### Task 2: Build\n\n{text}\n\n### Task 3: Later\n\n{text}\n"),
    ]
}

fn grown(list: &[String]) -> Vec<TaskNode> {
    trees(tasks(&list.join("\n")), |task| TaskState::of(task.status, None))
}

/// The same list with titles as a wake-up shortens them.
fn shortened(list: &[String]) -> Vec<String> {
    list.iter().map(|line| clipped(line, 90)).collect()
}

fn list(tasks: usize, title: &str) -> Vec<String> {
    let line = |n: usize| {
        let status = if n == 1 { "completed" } else { "pending" };
        format!("{n} - {n} - {status} Task {n}: Build {title}")
    };
    (1..=tasks).map(line).collect()
}

/// The material of a wake-up; of the `unread` messages, the facts hold the newest eleven.
struct Material<'a> {
    roots: &'a [TaskNode],
    short: &'a [TaskNode],
    plan: &'a str,
    skill: &'a str,
    unread: &'a [String],
    /// Those of the unread messages that another session is being given.
    taken: &'a [i64],
    pins: &'a [Pin],
    profile: WakeProfile,
    order: SectionOrder,
}

/// Returns the stored form of an unread message.
fn stored(id: i64, content: &str) -> Message {
    Message {
        id,
        from: AgentName::known("ana"),
        to: Some(AgentName::known("june")),
        kind: MessageKind::Say,
        content: content.to_owned(),
        mentions: Vec::new(),
        re: None,
        hop: 0,
        created_at: Timestamp::from_second(36_000 + id).unwrap(),
        member: None,
    }
}

impl Material<'_> {
    fn facts(&self) -> WakeFacts<'_> {
        self.facts_in(WakeFit::Kept)
    }

    fn facts_in(&self, fit: WakeFit) -> WakeFacts<'_> {
        let from = AgentName::known("ana");
        let reader = AgentName::known("june");
        let said = |(content, id): (&String, i64)| stored(id, content);
        let mut unread: Vec<_> = self.unread.iter().zip(1..).map(said).collect();
        unread.reverse();
        unread.truncate(11);
        // Convoke shows none that another session is being given.
        unread.retain(|message| !self.taken.contains(&message.id));
        let new = (!unread.is_empty()).then(|| unread.remove(0));
        let ids: BTreeSet<i64> = unread.iter().map(|message| message.id).collect();
        let deed = ActivityEvent {
            id: 1,
            actor: reader.clone(),
            verb_phrase: "did it".to_owned(),
            created_at: Timestamp::from_second(40_000).unwrap(),
        };
        let (clock, marks) = (Offset::UTC, fit.quotation_marks());
        let activity = activity(
            &unread,
            &[deed],
            ActivityReader { name: &reader, clock, marks, unread: &ids },
        );
        let outline = |roots| Some(TaskOutline::new(roots, &current_path(roots)));
        WakeFacts {
            reader,
            profile: self.profile,
            order: self.order,
            fit,
            skill: SkillText {
                id: SkillId::parse("superpowers:test-driven-development").ok(),
                forms: Arc::new(Forms::new(self.skill.trim_end_matches(['\r', '\n']))),
                found: true,
                notices: Vec::new(),
                others: Vec::new(),
            },
            outline: outline(self.roots),
            short_outline: outline(self.short),
            plan: Some(PlanText::Found { file: "plan.md", plan: SearchedPlan::new(self.plan) }),
            no_task: None,
            elsewhere: crate::wake::ElsewhereLines::default(),
            plan_task: current_path(self.roots).first().map(|node| node.task.content.clone()),
            activity,
            message_id: new.as_ref().map(|message| message.id),
            message: new.map(|message| NewMessage { from, content: message.content }),
            unread: self.unread.len(),
            known: KnownDeeds::default(),
            pins: self.pins.to_vec(),
        }
    }

    /// Fits the text into a room, and checks all that must hold of it.
    #[track_caller]
    fn check(&self, room: WakeLimits, what: &str) -> WakeUp {
        let facts = self.facts();
        let woken = wake_up(&facts, room, &Estimate);
        let text = &woken.text;
        assert!(
            room.holds(text, &Estimate),
            "{what}: {} in {room:?}: {:?}",
            woken.cost,
            woken.steps
        );
        assert!(!woken.over_budget, "{what}");
        self.check_messages(&woken, room, &quote_lines, what);
        self.check_rules(&woken, room, what);
        Self::check_quotation(text, what);
        let says = |step, words: &str| {
            let is_said = !woken.steps.contains(&step) || text.contains(words);
            assert!(is_said, "{what}: {step:?} without {words}\n{text}");
        };
        says(ShorteningStep::SkillCut, "> truncated: test-driven-development at char_offset=");
        if !text.contains("at char_offset=0\n") {
            says(ShorteningStep::SkillExplanations, "> omitted sections: ");
            says(ShorteningStep::SkillDiagrams, "> omitted sections: ");
        }
        says(ShorteningStep::LessActivity, "left out");
        says(ShorteningStep::NoActivity, "left out");
        says(ShorteningStep::PlanTask, "(shortened: without ");
        says(ShorteningStep::PlanFiles, "(shortened: without ");
        says(ShorteningStep::NoPlan, "(shortened: without ");
        says(ShorteningStep::NearTasks, "`convoke task tree`");
        says(ShorteningStep::FewTasks, "`convoke task tree`");
        says(ShorteningStep::ShortMessage, "characters more: `convoke inbox june --mark`]");
        if !is_tiny(room) && self.pins.is_empty() {
            says(ShorteningStep::Minimal, "convoke wake june");
        }
        woken
    }

    /// Every rule is complete and first, or counted; while one is missing, the text shows only the
    /// count of messages beside.
    #[track_caller]
    fn check_rules(&self, woken: &WakeUp, room: WakeLimits, what: &str) {
        let text = &woken.text;
        let shown = self.pins.iter().filter(|pin| text.lines().any(|line| line == pin.line()));
        let left_out = self.pins.len() - shown.count();
        if left_out == 0 || (is_tiny(room) && !text.contains("pinned")) {
            return;
        }
        assert!(
            woken.steps == [ShorteningStep::Minimal, ShorteningStep::FewerPins],
            "{what}: {:?}",
            woken.steps
        );
        assert!(text.contains(&crate::pin::left_out_line(left_out)), "{what}: {text}");
        let is_other = ["## ", "Current task: ", "@ana: "].iter().any(|words| text.contains(words));
        assert!(!is_other, "{what}: {text}");
    }

    /// No line of the plan can be taken for one of Convoke's own.
    #[track_caller]
    fn check_quotation(text: &str, what: &str) {
        let Some(section) = text.split("## Active Plan\n").nth(1) else { return };
        let mut lines = section.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("**File:** ")), "{what}");
        let is_ours = |line: &str| {
            let notes = [
                "(shortened: without ",
                "(only the number of this section ",
                "(the plan has no section of ",
            ];
            line.is_empty() || notes.iter().any(|note| line.starts_with(note))
        };
        let own = lines.skip_while(|line| line.starts_with('>') || is_ours(line));
        let next = own.into_iter().next();
        assert!(next.is_none_or(|line| line.starts_with("## Current ")), "{what}: {next:?}");
        let is_unseen = |c: char| c != '\n' && c != '\t' && crate::text::is_disruptive(c);
        let plan = section.split("\n## Current ").next().unwrap_or_default();
        assert!(!plan.contains(is_unseen), "{what}: {plan:?}");
        assert!(!plan.to_ascii_lowercase().contains("</system-reminder"), "{what}");
    }

    /// Every unread message is complete, cut with a mark, or counted; no other is. A complete one is
    /// as `quote` shows it, with its lines where those are kept.
    #[track_caller]
    fn check_messages(
        &self,
        woken: &WakeUp,
        room: WakeLimits,
        quote: &dyn Fn(&AgentName, &str) -> String,
        what: &str,
    ) {
        let text = &woken.text;
        let counted = text.lines().find_map(|line| {
            let number = line
                .strip_prefix('(')?
                .strip_suffix(" more unread to you: `convoke inbox june --mark`)")?;
            number.parse::<usize>().ok()
        });
        let cut = usize::from(woken.steps.contains(&ShorteningStep::ShortMessage));
        let announced = counted.unwrap_or_default() + cut;
        let is_tiny = is_tiny(room) && !text.contains("convoke inbox");
        assert!(
            is_tiny || woken.read.len() + announced == self.unread.len(),
            "{what}: {:?} and {announced} of {}\n{text}",
            woken.read,
            self.unread.len()
        );
        for id in &woken.read {
            let content = &self.unread[usize::try_from(*id).unwrap() - 1];
            let whole = quote(&AgentName::known("ana"), content);
            assert!(text.contains(&whole), "{what}: {id}");
            assert!(!self.taken.contains(id), "{what}: {id} is another session's");
        }
    }
}

/// Tells whether a room has no place for two lines that count rules and messages.
fn is_tiny(room: WakeLimits) -> bool {
    room.budget.get() < 45 || room.most_bytes.is_some_and(|most| most < 160)
}

#[test]
fn every_shape_fits_and_nothing_is_left_out_in_silence() {
    let roots = grown(&list(9, "the parser"));
    let unread = ["please hurry".to_owned()];
    for (name, text) in texts() {
        for (index, plan) in plans(&text).iter().enumerate() {
            let material = Material {
                roots: &roots,
                short: &roots,
                plan,
                skill: &text,
                unread: &unread,
                taken: &[],
                pins: &[],
                profile: WakeProfile::ALL[index % 2],
                order: if index < 2 { SectionOrder::Contract } else { SectionOrder::CriticalFirst },
            };
            for budget in BUDGETS {
                let room = WakeLimits::from(Budget::at_least_one(budget));
                let what = format!("{name} {index} at {budget}");
                let woken = material.check(room, &what);
                assert!(woken.text.contains("please hurry"), "{what}");
                let is_placed =
                    ["<-- CURRENT", "Current task: "].iter().any(|mark| woken.text.contains(mark));
                assert!(is_placed, "{what}");
            }
        }
    }
}

// The list shrinks before the skill does, and the skill uses its room.
#[test]
fn four_hundred_tasks_leave_the_skill_its_room() {
    let roots = grown(&list(400, "another ordinary part of the whole thing"));
    let skill = "## Rule\n\nObey this rule, and then the next one.\n\n".repeat(1500);
    let unread = ["please hurry".to_owned()];
    for (budget, most_bytes) in [(8000, None), (100_000, Some(39_000)), (4000, Some(9_000))] {
        let material = Material {
            roots: &roots,
            short: &roots,
            plan: "# Plan\n",
            skill: &skill,
            unread: &unread,
            taken: &[],
            pins: &[],
            profile: WakeProfile::Orchestrator,
            order: SectionOrder::CriticalFirst,
        };
        let room = WakeLimits { budget: Budget::at_least_one(budget), most_bytes };
        let woken = material.check(room, &format!("{budget} {most_bytes:?}"));
        let used = woken.text.len() as u64 * 100;
        let bytes = most_bytes.map_or(budget * 4 * 10 / 11, |most| most as u64);
        assert!(used > bytes.min(budget * 40 / 11) * 95, "{} of {bytes} bytes", woken.text.len());
        assert!(woken.text.matches("Obey this rule").count() > 50);
        assert!(
            woken.text.contains("- … 386 later tasks (386 open, 0 closed): `convoke task tree`")
        );
    }
}

// If nothing fits, the beginning of the commands that show the rest is the text.
#[test]
fn the_smallest_budget_is_kept() {
    let roots = grown(&list(3, "x"));
    let unread: Vec<_> = (0..5).map(|n| format!("message {n}")).collect();
    for budget in 1..300 {
        let material = Material {
            roots: &roots,
            short: &roots,
            plan: "",
            skill: "Do it.",
            unread: &unread,
            taken: &[],
            pins: &[],
            profile: WakeProfile::Orchestrator,
            order: SectionOrder::Contract,
        };
        let room = WakeLimits::from(Budget::at_least_one(budget));
        let woken = wake_up(&material.facts(), room, &Estimate);
        assert!(!woken.over_budget, "{budget}: {}", woken.text);
        if budget >= 40 {
            material.check(room, &budget.to_string());
            assert!(woken.text.contains("convoke inbox june --mark") || woken.read.len() == 5);
        }
    }
}
