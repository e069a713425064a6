//! Shortening a wake-up until it fits: history first, explanations next, the skill last.
//!
//! Nothing is left out in silence. Messages that are not shown whole stay unread and are counted,
//! and the text names every other omitted part in its place.

mod give_back;
pub(super) mod minimal;
#[cfg(test)]
mod shapes;
mod step;

use std::sync::Arc;

use self::minimal::Minimal;
pub use self::step::ShorteningStep;
use super::layout::{read, render};
use super::next_step;
use super::plan_section::PlanSection;
use super::{SkillText, WakeFacts, WakeFit, WakeProfile};
use crate::cut::{self, Accept};
use crate::skill::SkillId;
use crate::skill::prune::{PruneLevel, Pruned};
use crate::task::outline::TaskOutline;
use crate::text::{CharOffset, Text};
use crate::token::{Budget, Tokenizer, Tokens};

/// How much of a message is shown if it is too long to be complete: the largest that fits.
pub(super) const SHORT_MESSAGE: [usize; 2] = [2000, 200];

/// How much is shown of an old message that is longer than this, in characters.
const SHORT_LINE: usize = 300;

/// How many lines are shown on each side of the current task, where all are too many, and where
/// there is hardly any room.
const AROUND: usize = 12;
const FEW: usize = 3;

/// The length of a task list, in lines, from which it is shortened first.
const LONG_LIST: usize = 40;

/// The limits of a wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeLimits {
    /// The most tokens that it may cost.
    pub budget: Budget,
    /// The most bytes that the client passes on completely.
    pub most_bytes: Option<usize>,
}

impl From<Budget> for WakeLimits {
    fn from(budget: Budget) -> Self {
        Self { budget, most_bytes: None }
    }
}

impl WakeLimits {
    /// Returns how many bytes of a plan may fit at most: no character has more than four, and four
    /// characters cost at least a token.
    fn most_plan_bytes(self, fit: WakeFit) -> usize {
        let bytes = usize::try_from(self.budget.get().saturating_mul(16)).unwrap_or(usize::MAX);
        match fit {
            WakeFit::Seed => usize::MAX,
            WakeFit::Kept => self.most_bytes.map_or(bytes, |most| most.min(bytes)),
        }
    }

    /// Tells whether a text fits.
    pub fn holds(self, text: &str, tokenizer: &dyn Tokenizer) -> bool {
        self.most_bytes.is_none_or(|most| text.len() <= most)
            && tokenizer.count(Text::new(text)) <= self.budget.tokens()
    }
}

/// How much of the plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanForm {
    /// Only the file's name.
    Nothing,
    /// The current task's heading and files.
    HeadingAndFiles,
    /// The whole section of the current task, without the plan's opening.
    Task,
    /// The opening and the current task.
    Full,
}

/// How much of the task list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskForm {
    /// Every task has a line.
    Full,
    /// Finished tasks before the current one are drawn together.
    Short,
    /// So many lines on each side of the current task.
    Near(usize),
}

/// How much of each section is left after shortening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The most lines of activity.
    pub(super) activity: usize,
    /// The most characters of a line of activity that holds no unread message.
    pub(super) line: Option<usize>,
    /// How much of the plan.
    pub(super) plan: PlanForm,
    /// The plan's section in every form.
    plan_forms: Option<Arc<PlanSection>>,
    /// How much of the task list.
    pub(super) tasks: TaskForm,
    /// Whether the titles of tasks are cut short.
    pub(super) short_titles: bool,
    /// The most characters of the new message.
    pub(super) message: Option<usize>,
    /// The parts that stay in the skill.
    level: PruneLevel,
    /// The offset of the skill's cut.
    cut: Option<CharOffset>,
}

impl Shape {
    fn full(facts: &WakeFacts<'_>, room: WakeLimits) -> Self {
        let plan_forms = match facts.profile {
            WakeProfile::Agent => None,
            WakeProfile::Orchestrator => PlanSection::new(facts, room.most_plan_bytes(facts.fit)),
        };
        Self {
            activity: facts.activity.len(),
            line: None,
            plan: PlanForm::Full,
            plan_forms: plan_forms.map(Arc::new),
            tasks: TaskForm::Full,
            short_titles: false,
            message: None,
            level: PruneLevel::WHOLE,
            cut: None,
        }
    }

    pub(super) fn plan_section(&self) -> Option<String> {
        self.plan_forms.as_ref().and_then(|forms| forms.at(self.plan)).map(str::to_owned)
    }

    pub(super) fn skill_text(&self, skill: &SkillText) -> String {
        let pruned = skill.forms.at(self.level);
        // The following text is not code, although a fence is still open.
        let closed = |kept: &str| {
            cut::closing_fence(kept).map_or(String::new(), |fence| format!("\n{fence}"))
        };
        let Some(at) = self.cut else {
            let text = format!("{}{}", pruned.text, closed(&pruned.text));
            return Pruned { text, omitted: pruned.omitted.clone() }.render();
        };
        let kept = Text::new(&pruned.text).before(at).as_str().trim_end_matches(['\r', '\n']);
        let closed = closed(kept);
        let name = skill.id.as_ref().map_or("skill", SkillId::bare);
        let marker = format!("> truncated: {name} at char_offset={at}");
        // For a skill that is left out completely, there are no headings to name.
        let omitted = if at == CharOffset::START { Vec::new() } else { pruned.omitted.clone() };
        Pruned { text: format!("{kept}{closed}\n\n{marker}"), omitted }.render()
    }
}

/// A wake-up that is ready to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeUp {
    /// The text for the agent's client, shortened by `steps`.
    pub text: String,
    /// The text's cost.
    pub cost: Tokens,
    /// The shortening steps that were needed, in order.
    pub steps: Vec<ShorteningStep>,
    /// Whether it costs more than the budget.
    pub over_budget: bool,
    /// The stored messages whose whole text it holds. All other unread ones stay unread, and the
    /// text counts them or marks the one that is cut.
    pub read: Vec<i64>,
}

impl WakeUp {
    pub(super) fn new(
        text: String,
        read: Vec<i64>,
        steps: Vec<ShorteningStep>,
        room: WakeLimits,
        tokenizer: &dyn Tokenizer,
    ) -> Self {
        let cost = tokenizer.count(Text::new(&text));
        Self { text, cost, steps, over_budget: cost > room.budget.tokens(), read }
    }
}

/// Renders the facts, shortened step by step until they fit.
///
/// With [`WakeFit::Kept`] the text always fits. With [`WakeFit::Seed`] some sections may not
/// shrink, so the text may exceed the budget; the result then reports it.
pub fn wake_up(facts: &WakeFacts<'_>, room: WakeLimits, tokenizer: &dyn Tokenizer) -> WakeUp {
    let shape = Shape::full(facts, room);
    let mut fitting = Fitting { facts, shape, room, tokenizer, steps: Vec::new() };
    let steps: &[ShorteningStep] = match facts.fit {
        WakeFit::Seed => &ShorteningStep::SEED,
        WakeFit::Kept => &ShorteningStep::KEPT,
    };
    fitting.skip_long_plan();
    for step in steps {
        if fitting.fits() {
            break;
        }
        fitting.take(*step);
    }
    match facts.fit {
        WakeFit::Kept if !fitting.fits() => {
            let outline = facts.short_outline.as_ref().or(facts.outline.as_ref());
            let short = WakeFacts { outline: outline.cloned(), ..facts.clone() };
            let next = match facts.profile {
                WakeProfile::Agent => None,
                WakeProfile::Orchestrator => Some(next_step::render(&short)),
            };
            let task = outline.and_then(TaskOutline::leaf);
            let task = task.map(|leaf| leaf.task.content.as_str());
            let minimal = Minimal {
                reader: &facts.reader,
                task,
                next: next.as_deref(),
                message: facts.message.as_ref(),
                message_id: facts.message_id,
                unread: facts.unread,
                pins: &facts.pins,
            };
            return minimal.wake_up(room, tokenizer);
        }
        WakeFit::Kept => fitting.give_back(),
        WakeFit::Seed => {}
    }
    let (text, read) = (render(facts, &fitting.shape), read(facts, &fitting.shape));
    WakeUp::new(text, read, fitting.steps, room, tokenizer)
}

struct Fitting<'a> {
    facts: &'a WakeFacts<'a>,
    shape: Shape,
    room: WakeLimits,
    tokenizer: &'a dyn Tokenizer,
    steps: Vec<ShorteningStep>,
}

impl Fitting<'_> {
    fn fits(&self) -> bool {
        self.room.holds(&render(self.facts, &self.shape), self.tokenizer)
    }

    /// Takes a step, and records it if it changed anything.
    fn take(&mut self, step: ShorteningStep) {
        let before = render(self.facts, &self.shape);
        match step {
            ShorteningStep::ShortActivity => self.shape.line = Some(SHORT_LINE),
            ShorteningStep::LessActivity => self.activity_down_to(3),
            ShorteningStep::PlanTask => self.shape.plan = self.shape.plan.min(PlanForm::Task),
            ShorteningStep::SkillExplanations => self.shape.level.explanations = false,
            ShorteningStep::SkillDiagrams => self.shape.level.diagrams = false,
            ShorteningStep::PlanFiles => {
                self.shape.plan = self.shape.plan.min(PlanForm::HeadingAndFiles);
            }
            ShorteningStep::NoPlan => self.drop_plan(),
            ShorteningStep::NoActivity => self.activity_down_to(0),
            ShorteningStep::ShortTasks if self.shape.tasks == TaskForm::Full => {
                self.shape.tasks = TaskForm::Short;
            }
            ShorteningStep::ShortTitles => self.shape.short_titles = true,
            ShorteningStep::SkillCut => self.cut_skill(),
            ShorteningStep::NearTasks if self.has_long_list() => {
                self.shape.tasks = TaskForm::Near(AROUND);
            }
            ShorteningStep::FewTasks if self.is_skill_crowded_out() => {
                self.shape.tasks = TaskForm::Near(FEW);
            }
            ShorteningStep::ShortMessage => self.cut_message(),
            ShorteningStep::ShortTasks
            | ShorteningStep::NearTasks
            | ShorteningStep::FewTasks
            | ShorteningStep::Minimal
            | ShorteningStep::FewerPins => {}
        }
        if render(self.facts, &self.shape) != before {
            self.steps.push(step);
        }
    }

    /// Takes the steps that a plan makes inevitable, before anything is measured with it: a plan may
    /// have megabytes.
    fn skip_long_plan(&mut self) {
        let Some(forms) = self.shape.plan_forms.clone() else { return };
        if self.facts.fit == WakeFit::Seed {
            return;
        }
        for (step, shorter) in [
            (ShorteningStep::PlanTask, PlanForm::Task),
            (ShorteningStep::PlanFiles, PlanForm::HeadingAndFiles),
        ] {
            let (text, next) = (forms.at(self.shape.plan), forms.at(shorter));
            if text.is_some_and(|text| self.room.holds(text, self.tokenizer)) {
                return;
            }
            if text.is_none() || text != next {
                self.steps.push(step);
            }
            self.shape.plan = shorter;
        }
    }

    /// Leaves the plan out, and gives the skill what that leaves.
    fn drop_plan(&mut self) {
        self.shape.plan = PlanForm::Nothing;
        if self.shape.cut.is_some() {
            self.cut_skill();
        }
    }

    fn has_long_list(&self) -> bool {
        let outline = self.facts.outline.as_ref();
        outline.is_some_and(|outline| outline.lines().len() > LONG_LIST)
    }

    /// Tells whether everything else leaves the skill less than a quarter of the room.
    fn is_skill_crowded_out(&self) -> bool {
        let without =
            render(self.facts, &Shape { cut: Some(CharOffset::START), ..self.shape.clone() });
        let budget = self.room.budget.get();
        let three_quarters = WakeLimits {
            budget: Budget::at_least_one(budget - budget / 4),
            most_bytes: self.room.most_bytes.map(|most| most - most / 4),
        };
        !three_quarters.holds(&without, self.tokenizer)
    }

    fn activity_down_to(&mut self, fewest: usize) {
        while self.shape.activity > fewest && !self.fits() {
            self.shape.activity -= 1;
        }
    }

    /// Gives the skill the room that everything else leaves.
    fn cut_skill(&mut self) {
        if !self.facts.skill.found {
            return;
        }
        self.shape.cut = Some(CharOffset::START);
        let without = render(self.facts, &self.shape);
        let used = self.tokenizer.count(Text::new(&without));
        let mut room = self.room.budget.tokens().less(used);
        if let Some(most) = self.room.most_bytes {
            // A character has at least one byte, so no more than these can fit.
            let bytes = most.saturating_sub(without.len()) as u64;
            room = room.min(Tokens::from_tenths(bytes.saturating_mul(11).div_ceil(4)));
        }
        let forms = &self.facts.skill.forms;
        let text = Text::new(&forms.at(self.shape.level).text);
        loop {
            let cut = cut::find(text, CharOffset::START, room, Accept::Anything, self.tokenizer);
            self.shape.cut = Some(cut.map_or(CharOffset::START, |cut| cut.at));
            if cut.is_none() || self.fits() {
                return;
            }
            // Wide characters take more bytes than the room was computed for.
            room = Tokens::from_tenths(room.tenths() * 9 / 10);
        }
    }

    /// Cuts the message as little as possible, and gives the skill what that leaves.
    fn cut_message(&mut self) {
        for most in SHORT_MESSAGE {
            self.shape.message = Some(most);
            if self.shape.cut.is_some() {
                self.cut_skill();
            }
            if self.fits() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::deeds::{KnownDeeds, NextActionRule};
    use super::super::{NewMessage, PlanText, SectionOrder};
    use super::*;
    use crate::message::ActivityLine;
    use crate::pin::fixture::pins;
    use crate::plan::SearchedPlan;
    use crate::scope::AgentName;
    use crate::skill::prune::Forms;
    use crate::task::TaskState;
    use crate::task::fixture::{LOGIN, tasks};
    use crate::task::tree::{TaskNode, current_path, trees};
    use crate::token::Estimate;

    const PLAN_FILE: &str = "docs/plans/2025-12-24-authentication.md";

    fn grown(lines: &str) -> Vec<TaskNode> {
        trees(tasks(lines), |task| TaskState::of(task.status, None))
    }

    fn facts<'a>(roots: &'a [TaskNode], profile: WakeProfile, plan: &'a str) -> WakeFacts<'a> {
        let line = |text: &str| ActivityLine { text: text.to_owned(), message: None };
        WakeFacts {
            reader: AgentName::parse("june").unwrap(),
            profile,
            order: SectionOrder::Contract,
            skill: SkillText {
                id: SkillId::parse("superpowers:subagent-driven-development").ok(),
                forms: Arc::new(Forms::new("[Full skill content here]")),
                found: true,
                notices: Vec::new(),
                others: Vec::new(),
            },
            outline: Some(TaskOutline::new(roots, &current_path(roots))),
            plan: Some(PlanText::Found { file: PLAN_FILE, plan: SearchedPlan::new(plan) }),
            no_task: None,
            elsewhere: crate::wake::ElsewhereLines::default(),
            plan_task: current_path(roots).first().map(|node| node.task.content.clone()),
            activity: vec![
                line("- 10:32 - @backend: \"Task 2 implementation complete, ready for review\""),
                line("- 10:33 - You dispatched spec-reviewer subagent"),
                line("- 10:45 - @spec-reviewer: \"Review complete, approved with no issues\""),
            ],
            message: Some(NewMessage {
                from: AgentName::parse("spec-reviewer").unwrap(),
                content: "Spec review complete. All requirements met, no extras added.".to_owned(),
            }),
            message_id: Some(4),
            unread: 1,
            fit: WakeFit::Kept,
            short_outline: None,
            known: KnownDeeds { rule: NextActionRule::Seed, ..KnownDeeds::default() },
            pins: Vec::new(),
        }
    }

    fn rendered(facts: &WakeFacts<'_>, budget: u64) -> WakeUp {
        wake_up(facts, Budget::new(budget).unwrap().into(), &Estimate)
    }

    const SEED: &str = "\
# Orchestrator Wake-up Context

You are @june, the orchestrator for this project.

## Current Skill
You are using `subagent-driven-development` to execute the implementation plan.

[Full skill content here]

## Active Plan
**File:** docs/plans/2025-12-24-authentication.md

[Summarized plan content or key sections]

## Current Tasks
- [x] Task 1: Add user model (@backend, completed)
- [ ] Task 2: Add login endpoint (@backend, in spec review)  <-- CURRENT
    - [x] Implementation (completed)
    - [ ] Spec review (in progress)
    - [ ] Code quality review (pending)
- [ ] Task 3: Add JWT middleware (pending)

**Current position:** Task 2 implementation is complete. Spec review is in progress.
Next action: Check if spec reviewer has completed, then proceed to code quality review.

## Recent Activity
- 10:32 - @backend: \"Task 2 implementation complete, ready for review\"
- 10:33 - You dispatched spec-reviewer subagent
- 10:45 - @spec-reviewer: \"Review complete, approved with no issues\"

## New Message
@spec-reviewer: \"Spec review complete. All requirements met, no extras added.\"

## Your Next Action
The spec review passed. You should:
1. Mark spec review subtask complete
2. Dispatch code-quality-reviewer subagent for Task 2
3. Continue with the subagent-driven-development workflow
";

    // W-31..W-38 and section 11: the worked example, byte for byte, with the original's plan.
    #[test]
    fn the_orchestrators_wake_up_is_the_worked_example() {
        let roots = grown(LOGIN);
        let plan = "[Summarized plan content or key sections]\n";
        let mut facts = facts(&roots, WakeProfile::Orchestrator, plan);
        let quoted = SEED.replace("[Summarized", "> [Summarized");
        assert_eq!(rendered(&facts, 8000).text, quoted);
        facts.fit = WakeFit::Seed;
        let wake_up = rendered(&facts, 8000);
        assert_eq!(wake_up.text, SEED);
        assert_eq!(wake_up.text.chars().count(), 1_297);
        assert_eq!((wake_up.steps, wake_up.over_budget), (vec![], false));
    }

    // W-39: a plan changes, and another task may have the number of this one.
    #[test]
    fn a_section_that_is_not_surely_the_tasks_is_marked() {
        let roots = grown("1 - 1 a in_progress Task 1: A");
        let marked = |plan| {
            let facts = facts(&roots, WakeProfile::Orchestrator, plan);
            let text = rendered(&facts, 8000).text;
            let note = text.lines().find(|line| line.ends_with("check which is meant)"));
            note.map(str::to_owned)
        };
        assert_eq!(marked("## Task 1: A\nx\n## Task 2: B\n"), None);
        assert_eq!(marked("only prose"), None);
        assert_eq!(
            marked("## Task 1: B\nx\n").as_deref(),
            Some("(only the number of this section is the task's; check which is meant)")
        );
        let unknown = "(the plan has no section of Task 1, or several; check which is meant)";
        assert_eq!(marked("## Task 2: B\n").as_deref(), Some(unknown));
        assert_eq!(marked("## Task 1: B\n## Task 1: C\n").as_deref(), Some(unknown));
    }

    // W-39, W-54: without room for the doubt, the text still says that the plan has more.
    #[test]
    fn sections_that_are_not_surely_the_tasks_are_not_left_out_in_silence() {
        let roots = grown("1 - 1 a in_progress Task 1: A");
        let mut facts = facts(&roots, WakeProfile::Orchestrator, "## Task 1: B\n## Task 1: C\n");
        facts.skill.forms = Arc::new(Forms::new("Obey this rule.\n".repeat(500)));
        let mut shown = 0;
        for budget in 100..400 {
            let text = rendered(&facts, budget).text;
            if text.contains("## Active Plan") {
                shown += 1;
                let is_said =
                    ["(the plan has no section of Task 1, or several;", "(shortened: without "];
                assert!(is_said.iter().any(|words| text.contains(words)), "{budget}: {text}");
            }
        }
        assert!(shown > 0);
    }

    // W-30, W-37
    #[test]
    fn an_agents_wake_up_has_four_parts() {
        let roots = grown("1 - 1 a in_progress Task 1: A");
        let mut facts = facts(&roots, WakeProfile::Agent, "");
        facts.activity.clear();
        assert_eq!(
            rendered(&facts, 8000).text,
            "\n## Your Current Skill\n[Full skill content here]\n\n## Your Current Task\n\
             - [ ] Task 1: A (in progress)  <-- CURRENT\n\n## Recent Messages\n(none)\n\n\
             ## New Message\n@spec-reviewer: \"Spec review complete. All requirements met, no \
             extras added.\"\n"
                .replace("(in progress)", "(@a, in progress)")
        );
        facts.outline = None;
        facts.message = None;
        assert!(rendered(&facts, 8000).text.ends_with(
            "\n\n## Your Current Task\n(none)\n\n## Recent Messages\n(none)\n\n## New Message\n(none)\n"
        ));
    }

    #[test]
    fn what_must_not_be_missed_can_come_first() {
        let roots = grown(LOGIN);
        let mut facts = facts(&roots, WakeProfile::Orchestrator, "plan");
        facts.order = SectionOrder::CriticalFirst;
        let text = rendered(&facts, 8000).text;
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(
            headings,
            [
                "## Current Tasks",
                "## New Message",
                "## Your Next Action",
                "## Recent Activity",
                "## Active Plan",
                "## Current Skill"
            ]
        );
        facts.profile = WakeProfile::Agent;
        assert!(rendered(&facts, 8000).text.starts_with("\n## Your Current Task\n"));
    }

    // W-31: empty middle sections go with their headings; the last two never do.
    #[test]
    fn an_orchestrator_without_work_gets_a_note() {
        let mut facts = facts(&[], WakeProfile::Orchestrator, "");
        facts.outline = None;
        facts.plan = None;
        facts.activity.clear();
        facts.message = None;
        let text = rendered(&facts, 8000).text;
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            headings,
            [
                "# Orchestrator Wake-up Context",
                "## Current Skill",
                "## New Message",
                "## Your Next Action"
            ]
        );
    }

    // W-38: the variations of section 11.
    #[test]
    fn the_next_action_follows_the_message_and_the_list() {
        let next = |lines: &str, message: &str| {
            let roots = grown(lines);
            let mut facts = facts(&roots, WakeProfile::Orchestrator, "");
            facts.message.as_mut().unwrap().content = message.to_owned();
            let text = rendered(&facts, 8000).text;
            text.split("## Your Next Action\n").nth(1).unwrap().to_owned()
        };
        assert_eq!(
            next(LOGIN, "Issues found: missing rate limit"),
            "The spec review found issues. You should:\n\
             1. Send the issues to the implementer of Task 2\n\
             2. Dispatch spec-reviewer subagent again for Task 2\n\
             3. Continue with the subagent-driven-development workflow\n"
        );
        assert_eq!(
            next(LOGIN, "hm"),
            "Read the new message and decide. You should:\n\
             1. Update spec review if its state changed\n\
             2. Continue with the subagent-driven-development workflow\n"
        );
        let without_2c = LOGIN.replace("2c 2 3 - pending Code quality review\n", "");
        assert!(next(&without_2c, "approved").contains("\n2. Start Task 3\n"));
        let without_3 = without_2c.replace("\n3 - 3 - pending Task 3: Add JWT middleware", "");
        assert!(next(&without_3, "approved").contains("\n2. Use finishing-a-development-branch\n"));
    }

    // W-39
    #[test]
    fn a_plan_is_shown_by_its_opening_and_the_current_task() {
        let roots = grown(LOGIN);
        let plan = "# Auth\n\n---\n\n### Task 1: x\n\n### Task 2: Add login endpoint\n\nbody\n";
        let text = rendered(&facts(&roots, WakeProfile::Orchestrator, plan), 8000).text;
        let shown = "**File:** docs/plans/2025-12-24-authentication.md\n\n> # Auth\n>\n\
                     > ### Task 2: Add login endpoint\n>\n> body\n\n## Current Tasks\n";
        assert!(text.contains(shown), "{text}");
        let seed =
            WakeFacts { fit: WakeFit::Seed, ..facts(&roots, WakeProfile::Orchestrator, plan) };
        let shown = shown.replace("> ", "").replace(">\n", "\n");
        assert!(rendered(&seed, 8000).text.contains(&shown));
        let mut missing = facts(&roots, WakeProfile::Orchestrator, "");
        missing.plan = Some(PlanText::Missing { file: "gone.md" });
        assert!(rendered(&missing, 8000).text.contains("(plan file not found: gone.md)"));
        let why = crate::finding::Unreadable::InvalidUtf8;
        missing.plan = Some(PlanText::Unreadable { file: "latin.md", why });
        let text = rendered(&missing, 8000).text;
        assert!(text.contains(&format!("(plan file cannot be read: latin.md: {why})")), "{text}");
    }

    /// Facts that can be shortened by every step.
    fn long_facts(roots: &[TaskNode]) -> WakeFacts<'_> {
        let mut facts = facts(
            roots,
            WakeProfile::Orchestrator,
            "# Plan\n\nopening opening opening opening opening opening\n\n---\n\n\
             ### Task 9: Last\n\n**Files:**\n- a.rs\n\nbody body body body body body body body\n",
        );
        let line =
            |n| ActivityLine { text: format!("- 10:{n:02} - @a: \"message {n}\""), message: None };
        facts.activity = (0..12).map(line).collect();
        let skill = "# Skill\n\n## Example\nlong long long long long long long\n\n\
            ```dot\ndigraph { a -> b }\n```\n\n## Rules\n\nobey obey obey obey obey obey obey obey obey obey\n\n\
            ```dot\ndigraph { c -> d }\n```\n\n## More rules\n\nobey too, obey too, obey too, obey too, obey too\n";
        facts.skill.forms = Arc::new(Forms::new(skill));
        facts
    }

    // W-82: the steps are taken in order, each only when the ones before were not enough.
    #[test]
    fn a_wake_up_is_shortened_step_by_step() {
        let lines: Vec<_> =
            (1..9).map(|n| format!("{n} - {n} - completed Task {n}: Done")).collect();
        let roots = grown(&format!("{}\n9 - 9 - in_progress Task 9: Last", lines.join("\n")));
        let facts = WakeFacts { fit: WakeFit::Seed, ..long_facts(&roots) };
        let full = rendered(&facts, 8000);
        assert!(full.steps.is_empty());
        let mut seen = Vec::new();
        for budget in (1..full.cost.tenths() / 10).rev() {
            let shorter = rendered(&facts, budget);
            assert!(shorter.over_budget || shorter.cost <= Tokens::whole(budget));
            assert!(ShorteningStep::SEED.starts_with(&shorter.steps), "{:?}", shorter.steps);
            assert!(shorter.steps.len() >= seen.len(), "less room never needs fewer steps");
            assert!(
                shorter.text.contains("## New Message\n@spec-reviewer: \"Spec review complete.")
            );
            assert!(shorter.text.contains("Task 9: Last (in progress)  <-- CURRENT"));
            seen = shorter.steps;
        }
        assert_eq!(seen, ShorteningStep::SEED);
        let first = (1..full.cost.tenths() / 10)
            .rev()
            .map(|budget| rendered(&facts, budget))
            .find(|woken| woken.steps.contains(&ShorteningStep::PlanTask))
            .unwrap();
        assert_eq!(first.text.matches("@a: \"message").count(), 3, "down to three, not further");
    }

    // W-82c, W-82h
    #[test]
    fn omitted_parts_of_a_skill_are_named() {
        let roots = grown(LOGIN);
        let facts = WakeFacts { fit: WakeFit::Seed, ..long_facts(&roots) };
        let full = rendered(&facts, 8000).cost.tenths() / 10;
        let texts: Vec<_> = (1..full).map(|budget| rendered(&facts, budget)).collect();
        assert!(texts.iter().any(|woken| woken.text.contains("> omitted sections: Example\n")));
        assert!(texts.iter().any(|woken| {
            woken.text.contains("> truncated: subagent-driven-development at char_offset=9\n")
        }));
        assert!(texts[0].over_budget && texts[0].text.contains("char_offset=0\n"));
    }

    // W-21: an unread message outlives what the agent may have read, and is shown whole or not at all.
    #[test]
    fn an_unread_line_outlives_other_activity_and_stays_whole() {
        let roots = grown(LOGIN);
        let mut facts = long_facts(&roots);
        let line = format!("- 09:00 - @a: \"{}\"", "unread ".repeat(60).trim_end());
        facts.activity[0] = ActivityLine { text: line.clone(), message: Some(7) };
        facts.unread = 2;
        let full = rendered(&facts, 8000).cost.tenths() / 10;
        let is_less = |woken: &WakeUp| woken.steps.contains(&ShorteningStep::LessActivity);
        let mut short = None;
        for budget in (1..full).rev().step_by(7) {
            let woken = rendered(&facts, budget);
            assert_eq!(woken.read.contains(&7), woken.text.contains(&line), "{}", woken.text);
            short = short.or(Some(woken).filter(is_less));
        }
        let text = short.unwrap().text;
        assert!(text.contains(&line) && !text.contains("message 1\""), "{text}");
    }

    // The user's rules come first in every form, and are never shortened away.
    #[test]
    fn rules_come_first_and_stay() {
        let roots = grown(LOGIN);
        for (profile, order) in [
            (WakeProfile::Agent, SectionOrder::Contract),
            (WakeProfile::Agent, SectionOrder::CriticalFirst),
            (WakeProfile::Orchestrator, SectionOrder::Contract),
            (WakeProfile::Orchestrator, SectionOrder::CriticalFirst),
        ] {
            let mut facts = long_facts(&roots);
            (facts.profile, facts.order) = (profile, order);
            facts.pins = pins(&["Never push to main", "Never delete a test"]);
            let full = rendered(&facts, 8000).cost.tenths() / 10;
            for budget in (1..=full).rev().step_by(9) {
                let woken = rendered(&facts, budget);
                let text = &woken.text;
                // Below that not even the command that prints everything fits beside the count.
                let is_told = budget < 45
                    || text.starts_with("=== RULES OF THE USER ===\n")
                    || text.starts_with("2 pinned rules do not fit here");
                assert!(is_told, "{budget}: {text}");
                let is_cut = woken.steps.contains(&ShorteningStep::FewerPins);
                assert!(!is_cut || budget < 500, "{budget}");
                if budget < 45 {
                    continue;
                }
                let shown = text.matches("\n- [rule ").count();
                let said =
                    (0..2).find(|shown| text.contains(&format!("{} pinned rule", 2 - shown)));
                assert_eq!(said.unwrap_or(2), shown, "what is left out is counted: {}", woken.text);
            }
        }
    }

    // Ten rules that fit are shown, and every other section shrinks for them.
    #[test]
    fn rules_stay_while_anything_else_is_shown() {
        let lines: Vec<_> =
            (1..31).map(|n| format!("{n} - {n} - pending Task {n}: To be done")).collect();
        let roots = grown(&lines.join("\n"));
        let mut facts = long_facts(&roots);
        facts.order = SectionOrder::CriticalFirst;
        facts.message.as_mut().unwrap().content = "x".repeat(190);
        let rule = "Never do this, that or the other thing. ".repeat(6);
        facts.pins = pins(&[rule.as_str(); 10]);
        let woken = rendered(&facts, 1000);
        assert_eq!(woken.text.matches("\n- [rule ").count(), 10, "{}", woken.text);
        assert!(!woken.over_budget && woken.text.contains("Current task: "), "{}", woken.text);
        let tight = rendered(&facts, 500);
        let shown = tight.text.matches("\n- [rule ").count();
        assert!((3..10).contains(&shown) && !tight.over_budget, "{}", tight.text);
        assert!(tight.text.contains(&format!("{} pinned rules do not fit", 10 - shown)));
        assert!(!tight.text.contains("Current task: "), "{}", tight.text);
    }

    // One long rule and the count of messages fit into 300 tokens.
    #[test]
    fn messages_are_counted_beside_a_long_rule() {
        let roots = grown(LOGIN);
        let mut facts = long_facts(&roots);
        facts.pins = pins(&["x".repeat(780).as_str()]);
        facts.message.as_mut().unwrap().content = "y".repeat(500);
        facts.unread = 3;
        let woken = rendered(&facts, 300);
        assert!(woken.text.contains("xxx") && !woken.over_budget, "{}", woken.text);
        assert!(woken.text.contains("(3 more unread to you: "), "{}", woken.text);
    }

    // The smallest wake-up still says what to do next, and how a long message begins.
    #[test]
    fn three_hundred_tokens_hold_the_next_action_and_the_start_of_a_message() {
        let roots = grown(LOGIN);
        let mut facts = long_facts(&roots);
        facts.known = KnownDeeds::default();
        facts.pins = pins(&["Never push to main"]);
        facts.message.as_mut().unwrap().content = "y".repeat(1_500);
        let woken = rendered(&facts, 300);
        assert_eq!(woken.steps, [ShorteningStep::Minimal], "{}", woken.text);
        let (wrote, count) = ("\n@spec-reviewer wrote: \"yyy", "(1 more unread to you: ");
        for part in ["Never push to main", "Next action:\n", "\n1. ", wrote, count] {
            assert!(woken.text.contains(part), "{part}: {}", woken.text);
        }
        let room = rendered(&facts, 400);
        let steps = [ShorteningStep::Minimal, ShorteningStep::ShortMessage];
        assert_eq!(room.steps, steps, "{}", room.text);
        let more = "… [1300 characters more: `convoke inbox june --mark`]";
        assert!(room.text.contains(more) && room.read.is_empty(), "{}", room.text);
        assert!(room.text.contains("Next action:\n"), "{}", room.text);
    }

    // A long skill is cut in any case; the steps of the task cost hardly more than the note that
    // they are missing.
    #[test]
    fn a_short_plan_stays_beside_a_skill_that_is_cut() {
        let roots = grown("1 - 1 - in_progress Task 1: Model");
        let plan = "# Login\n\n### Task 1: Model\n\n1. Write a test.\n2. Make it pass.\n";
        let mut facts = facts(&roots, WakeProfile::Orchestrator, plan);
        let rule = "## Rule\n\nObey this rule, and then obey the next one.\n\n";
        facts.skill.forms = Arc::new(Forms::new(rule.repeat(800).as_str()));
        for budget in [1_000, 4_000, 8_000] {
            let woken = rendered(&facts, budget);
            let (steps, text) = (&woken.steps, &woken.text);
            assert!(steps.contains(&ShorteningStep::SkillCut) && !woken.over_budget, "{steps:?}");
            assert!(text.contains("> # Login\n") && text.contains("> 2. Make it pass."), "{text}");
            assert!(!steps.contains(&ShorteningStep::PlanTask), "{steps:?}");
        }
        // A long plan is not bought with the skill.
        let plan = plan.to_owned() + &"3. Write one more test, and make it pass.\n".repeat(300);
        facts.plan = Some(PlanText::Found { file: PLAN_FILE, plan: SearchedPlan::new(&plan) });
        let woken = rendered(&facts, 8_000);
        assert!(woken.steps.contains(&ShorteningStep::PlanFiles), "{:?}", woken.steps);
    }

    // A skill that ends inside a code block does not take the rest along.
    #[test]
    fn an_open_fence_of_a_whole_skill_is_closed() {
        let roots = grown(LOGIN);
        let mut facts = long_facts(&roots);
        facts.skill.forms = Arc::new(Forms::new("# S\n\n````sh\nx"));
        let text = rendered(&facts, 8000).text;
        assert!(text.contains("````sh\nx\n````\n"), "{text}");
        assert_eq!(cut::closing_fence(&text), None);
    }

    // The client would cut the text off, so here even tasks and message are shortened, with a note.
    #[test]
    fn a_text_that_must_fit_does() {
        let lines: Vec<_> =
            (1..1200).map(|n| format!("{n} - {n} - pending Task {n}: To be done")).collect();
        let roots = grown(&lines.join("\n"));
        let mut facts = facts(&roots, WakeProfile::Orchestrator, "# Plan\n");
        let content = "A long story. ".repeat(100_000);
        facts.message = Some(NewMessage { from: AgentName::known("ana"), content });
        let woken = rendered(&facts, 2000);
        assert!(!woken.over_budget, "{}", woken.cost);
        assert!(woken.text.contains("Task 1: To be done (pending)  <-- CURRENT"));
        assert!(
            woken.text.contains("`convoke task tree`")
                && woken.text.contains("## Your Next Action")
        );
        assert!(
            woken.text.contains("… [1398000 characters more: `convoke inbox june --mark`]"),
            "{}",
            woken.text
        );
        facts.fit = WakeFit::Seed;
        let seed = rendered(&facts, 2000);
        assert!(seed.over_budget, "the contract never cuts them");
        assert_eq!(seed.read, [4]);
        assert_eq!(woken.read, Vec::<i64>::new(), "what is shown in part stays unread");
    }
}
