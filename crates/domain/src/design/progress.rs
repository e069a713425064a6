//! The way through a design as it is shown: steps, breadcrumbs and times.
//!
//! Programs read these lines, so each is exact.

use super::quote;

/// A step of a design, in the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Branch facts, gate, folder, probes.
    Setup,
    /// A feature branch.
    Branch,
    /// Clarifying questions, asked together.
    Questions,
    /// The scope interview.
    DiscussionOne,
    /// Sketches and their synthesis.
    Sketches,
    /// Debates and judges.
    Dialectic,
    /// The chair writes the plan.
    Plan,
    /// Reviewers, voters, revision.
    Review,
    /// The design interview.
    DiscussionTwo,
    /// The architecture diagram.
    Diagram,
    /// Findings that were not accepted.
    Rejected,
    /// Export and tidying up.
    Cleanup,
    /// A person's decisions after the end.
    Decisions,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Self; 13] = [
        Self::Setup,
        Self::Branch,
        Self::Questions,
        Self::DiscussionOne,
        Self::Sketches,
        Self::Dialectic,
        Self::Plan,
        Self::Review,
        Self::DiscussionTwo,
        Self::Diagram,
        Self::Rejected,
        Self::Cleanup,
        Self::Decisions,
    ];

    /// Returns the number: not always one.
    pub const fn number(self) -> &'static str {
        match self {
            Self::Setup => "0",
            Self::Branch => "1",
            Self::Questions => "1c",
            Self::DiscussionOne => "1d",
            Self::Sketches => "2a",
            Self::Dialectic => "2a.5",
            Self::Plan => "2b",
            Self::Review => "3",
            Self::DiscussionTwo => "3.5",
            Self::Diagram => "3b",
            Self::Rejected => "4",
            Self::Cleanup => "5",
            Self::Decisions => "6",
        }
    }

    /// Returns the short name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Branch => "branch",
            Self::Questions => "questions",
            Self::DiscussionOne => "discussion r1",
            Self::Sketches => "sketches",
            Self::Dialectic => "dialectic",
            Self::Plan => "full plan",
            Self::Review => "plan review",
            Self::DiscussionTwo => "discussion r2",
            Self::Diagram => "arch diagram",
            Self::Rejected => "rejected findings",
            Self::Cleanup => "cleanup",
            Self::Decisions => "decisions",
        }
    }

    /// Returns the step with this number.
    pub fn parse(number: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.number() == number)
    }
}

/// The design's place in the workflow that started it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefix {
    /// The text before every number, such as `1.`.
    pub number: String,
    /// The text before every name, such as `design plan`.
    pub path: String,
}

impl Prefix {
    /// Reads `NUMBER::PATH`, or a number alone.
    pub fn parse(value: &str) -> Self {
        let (number, path) = value.split_once("::").unwrap_or((value, ""));
        Self { number: number.to_owned(), path: path.to_owned() }
    }
}

/// Formats seconds: `45s`, `2m31s`, `1h3m`, with no zero but the only one.
pub fn elapsed(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, rest) => format!("{rest}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, rest) => format!("{minutes}m{rest}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h{minutes}m"),
    }
}

/// How wide the rule above a step's first line is.
const RULE: usize = 80;

/// Makes the lines of steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breadcrumbs {
    /// The texts before numbers and names.
    pub prefix: Prefix,
}

impl Breadcrumbs {
    /// A step begins: a rule, and the step in bold in a quotation.
    pub fn start(&self, step: Step) -> String {
        format!("{}\n> **🔶 {}**", "━".repeat(RULE), self.place(step))
    }

    /// Renders the first line of a step with a remark, such as a branch that is kept.
    pub fn start_with(&self, step: Step, payload: &str) -> String {
        format!("{}\n> **🔶 {} — {}**", "━".repeat(RULE), self.place(step), quote::line(payload))
    }

    /// A step or a part of it is done.
    pub fn done(&self, step: Step, payload: &str, seconds: u64) -> String {
        self.line("✅", step, payload, seconds)
    }

    /// A round of questions is over. The contract has the plural for one decision, too (P-179, P-185).
    pub fn resolved(&self, step: Step, count: usize, seconds: u64) -> String {
        self.done(step, &format!("{count} decisions resolved"), seconds)
    }

    /// A part was passed over as a matter of course.
    pub fn skipped(&self, step: Step, payload: &str, seconds: u64) -> String {
        self.line("⏩", step, payload, seconds)
    }

    /// Renders the line for a step that was left out because a prerequisite is missing.
    pub fn bypassed(&self, step: Step, payload: &str, seconds: u64) -> String {
        self.line("⏭️", step, payload, seconds)
    }

    /// A step went on with less than it should have.
    pub fn warning(&self, step: Step, payload: &str, seconds: u64) -> String {
        format!("**{}**", self.line("⚠", step, payload, seconds))
    }

    /// An artifact was saved, whose text is not shown.
    pub fn saved(&self, saved: Saved, seconds: u64) -> String {
        self.done(saved.step(), &format!("{} saved", saved.words()), seconds)
    }

    /// Tells whether no other work goes on after the design. A nested design does not announce that
    /// it is complete.
    pub const fn is_alone(&self) -> bool {
        self.prefix.number.is_empty()
    }

    /// Returns a step's number and path.
    pub fn place(&self, step: Step) -> String {
        self.named_place(step, step.name())
    }

    /// Returns a step's number, and a path that ends in another name than the step's own.
    pub(super) fn named_place(&self, step: Step, name: &str) -> String {
        let Prefix { number, path } = &self.prefix;
        let path = match quote::line(path).as_str() {
            "" => name.to_owned(),
            path => format!("{path} | {name}"),
        };
        format!("{}{}: {path}", quote::line(number), step.number())
    }

    fn line(&self, icon: &str, step: Step, payload: &str, seconds: u64) -> String {
        let place = self.place(step);
        format!("{icon} {place} — {} ({})", quote::line(payload), elapsed(seconds))
    }
}

/// A warning that belongs to no step.
pub fn unnumbered_warning(text: &str) -> String {
    format!("**⚠ {}**", quote::line(text))
}

/// An artifact that is saved without being shown when a design is part of another workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// The synthesis of the sketches.
    Synthesis,
    /// The plan, before the review changed it.
    Plan,
    /// The tally of votes.
    Tally,
    /// The findings that were voted in.
    Accepted,
    /// The plan after them.
    RevisedPlan,
    /// The drawing of the plan, in Mermaid.
    Diagram,
    /// Findings that were not accepted.
    Rejected,
}

impl Saved {
    /// All of them, in the order they are saved.
    pub const ALL: [Self; 7] = [
        Self::Synthesis,
        Self::Plan,
        Self::Tally,
        Self::Accepted,
        Self::RevisedPlan,
        Self::Diagram,
        Self::Rejected,
    ];

    const fn step(self) -> Step {
        match self {
            Self::Synthesis => Step::Sketches,
            Self::Plan => Step::Plan,
            Self::Tally | Self::Accepted | Self::RevisedPlan => Step::Review,
            Self::Diagram => Step::Diagram,
            Self::Rejected => Step::Rejected,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Synthesis => "synthesis",
            Self::Tally => "voting tally",
            Self::Accepted => "accepted findings",
            Self::RevisedPlan => "revised plan",
            Self::Plan | Self::Diagram | Self::Rejected => "",
        }
    }
}

/// A text that is shown whole, under a header of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The synthesis of the sketches.
    Synthesis,
    /// How the debates ended.
    Resolutions,
    /// The plan, before the review changed it.
    Plan,
    /// The findings that were voted in.
    Accepted,
    /// The plan after them.
    RevisedPlan,
    /// Observations outside of the planned change.
    OutOfScope,
    /// The drawing of the plan, in Mermaid.
    Diagram,
    /// Findings that were not accepted.
    Rejected,
}

impl Shown {
    /// Returns the header.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Synthesis => "## Approach Synthesis",
            Self::Resolutions => "## Dialectic Resolutions",
            Self::Plan => "## Implementation Plan",
            Self::Accepted => "## Plan Review Findings (Voted In)",
            Self::RevisedPlan => "## Revised Implementation Plan",
            Self::OutOfScope => "## Out-of-Scope Observations",
            Self::Diagram => "## Architecture Diagram",
            Self::Rejected => "## Unimplemented Plan Review Suggestions",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inside() -> Breadcrumbs {
        Breadcrumbs { prefix: Prefix::parse("1.::design plan") }
    }

    // P-13, P-14, N-7: split at the first `::`, or a number alone.
    #[test]
    fn a_prefix_is_a_number_with_an_optional_path() {
        for (value, number, path) in [
            ("", "", ""),
            ("1.", "1.", ""),
            ("1.::x", "1.", "x"),
            ("1.::a::b", "1.", "a::b"),
            ("::x", "", "x"),
        ] {
            let found = Prefix::parse(value);
            assert_eq!((found.number.as_str(), found.path.as_str()), (number, path), "{value}");
        }
    }

    // P-15, P-16, P-17, P-18
    #[test]
    fn a_prefix_precedes_every_number_and_name() {
        assert_eq!(inside().place(Step::Branch), "1.1: design plan | branch");
        assert_eq!(inside().place(Step::Dialectic), "1.2a.5: design plan | dialectic");
        assert_eq!(
            Breadcrumbs { prefix: Prefix::parse("1.") }.place(Step::Plan),
            "1.2b: full plan"
        );
        assert_eq!(Breadcrumbs::default().place(Step::DiscussionTwo), "3.5: discussion r2");
        for step in Step::ALL {
            let lines = [
                inside().start(step),
                inside().done(step, "x", 1),
                inside().skipped(step, "x", 1),
                inside().bypassed(step, "x", 1),
                inside().warning(step, "x", 1),
            ];
            for line in lines {
                let place = format!("1.{}: design plan | {}", step.number(), step.name());
                assert!(line.contains(&place), "{line}");
            }
        }
    }

    // P-84, P-85, P-88
    #[test]
    fn a_line_is_icon_place_payload_and_time() {
        let lines = Breadcrumbs::default();
        assert_eq!(
            lines.done(Step::Sketches, "4 sketches", 151),
            "✅ 2a: sketches — 4 sketches (2m31s)"
        );
        assert_eq!(
            lines.skipped(Step::Questions, "skipped (auto mode)", 0),
            "⏩ 1c: questions — skipped (auto mode) (0s)"
        );
        assert_eq!(
            lines.bypassed(Step::Diagram, "no plan", 60),
            "⏭️ 3b: arch diagram — no plan (1m)"
        );
        assert_eq!(
            lines.warning(Step::Diagram, "generation failed, proceeding without diagram", 5),
            "**⚠ 3b: arch diagram — generation failed, proceeding without diagram (5s)**"
        );
        assert_eq!(unnumbered_warning("Codex is not there"), "**⚠ Codex is not there**");
    }

    // P-86
    #[test]
    fn a_step_begins_under_a_rule_in_bold_in_a_quotation() {
        let text = Breadcrumbs::default().start(Step::Sketches);
        let (rule, line) = text.split_once('\n').unwrap();
        assert_eq!((rule.chars().count(), rule.chars().all(|c| c == '━')), (80, true));
        assert_eq!(line, "> **🔶 2a: sketches**");
        let kept = Breadcrumbs::default().start_with(Step::Branch, "using existing: me/x");
        assert!(kept.ends_with("\n> **🔶 1: branch — using existing: me/x**"), "{kept}");
        let done = Breadcrumbs::default().done(Step::Sketches, "x", 1);
        assert!(!done.contains(['━', '>', '*']), "{done}");
    }

    // P-87
    #[test]
    fn only_a_design_of_its_own_says_that_it_is_complete() {
        assert!(Breadcrumbs::default().is_alone() && !inside().is_alone());
        assert!(Breadcrumbs { prefix: Prefix::parse("::x") }.is_alone());
    }

    // P-89, N-6
    #[test]
    fn times_are_short() {
        for (seconds, expected) in [
            (0, "0s"),
            (45, "45s"),
            (59, "59s"),
            (60, "1m"),
            (61, "1m1s"),
            (119, "1m59s"),
            (120, "2m"),
            (3599, "59m59s"),
            (3600, "1h"),
            (3659, "1h"),
            (3660, "1h1m"),
            (7325, "2h2m"),
        ] {
            assert_eq!(elapsed(seconds), expected, "{seconds}");
        }
    }

    // P-97
    #[test]
    fn a_saved_artifact_is_named_in_a_line() {
        let lines: Vec<_> =
            Saved::ALL.iter().map(|saved| Breadcrumbs::default().saved(*saved, 9)).collect();
        assert_eq!(
            lines,
            [
                "✅ 2a: sketches — synthesis saved (9s)",
                "✅ 2b: full plan — saved (9s)",
                "✅ 3: plan review — voting tally saved (9s)",
                "✅ 3: plan review — accepted findings saved (9s)",
                "✅ 3: plan review — revised plan saved (9s)",
                "✅ 3b: arch diagram — saved (9s)",
                "✅ 4: rejected findings — saved (9s)",
            ]
        );
    }

    // P-90, P-98: headers are headers, with no breadcrumb before them.
    #[test]
    fn a_shown_artifact_has_a_header() {
        for (shown, header) in [
            (Shown::Synthesis, "## Approach Synthesis"),
            (Shown::Resolutions, "## Dialectic Resolutions"),
            (Shown::Plan, "## Implementation Plan"),
            (Shown::Accepted, "## Plan Review Findings (Voted In)"),
            (Shown::RevisedPlan, "## Revised Implementation Plan"),
            (Shown::OutOfScope, "## Out-of-Scope Observations"),
            (Shown::Diagram, "## Architecture Diagram"),
            (Shown::Rejected, "## Unimplemented Plan Review Suggestions"),
        ] {
            assert_eq!(shown.header(), header);
        }
    }

    #[test]
    fn steps_are_found_by_their_numbers() {
        for step in Step::ALL {
            assert_eq!(Step::parse(step.number()), Some(step));
        }
        assert_eq!(Step::parse("7"), None);
    }

    proptest! {
        // P-84: for any payload and prefix, a line stays one line with its time at the end.
        #[test]
        fn a_payload_cannot_begin_a_line(payload in any::<String>(), prefix in any::<String>(), seconds: u64) {
            let lines = Breadcrumbs { prefix: Prefix::parse(&prefix) };
            for step in Step::ALL {
                let line = lines.done(step, &payload, seconds);
                prop_assert!(!line.contains(char::is_control));
                let time = format!("({})", elapsed(seconds));
                prop_assert!(line.ends_with(&time));
                prop_assert_eq!(lines.start_with(step, &payload).lines().count(), 2);
            }
        }

        #[test]
        fn any_prefix_is_read(value in any::<String>()) {
            let Prefix { number, path } = Prefix::parse(&value);
            let same = value == number && path.is_empty() || value == format!("{number}::{path}");
            prop_assert!(same);
        }
    }
}
