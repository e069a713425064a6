//! The loop of reviews: which reviewers answer next, when an author fixes findings, and when the
//! loop ends.
//!
//! The next step follows from the recorded answers alone, so an interrupted loop continues where it
//! was.

use std::collections::{BTreeMap, BTreeSet};

use super::review::{Issue, NextRound};

/// A reviewer's answer in a round, as far as the loop depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewAnswer {
    /// The round, from one.
    pub iteration: u32,
    /// The reviewer's role.
    pub role: String,
    /// Whether it passes.
    pub passed: bool,
    /// Its findings, by stable ids.
    pub findings: BTreeSet<String>,
    /// Those of them that are warnings. A word that Convoke does not know never is one.
    pub warnings: BTreeSet<String>,
}

impl ReviewAnswer {
    /// Returns the findings that no person has dismissed.
    fn open<'s>(&'s self, dismissed: &'s BTreeSet<String>) -> impl Iterator<Item = &'s String> {
        self.findings.difference(dismissed)
    }

    /// Tells whether it passes, or holds only findings that a person dismissed. A rejection without
    /// any finding has nothing to dismiss.
    fn passes(&self, dismissed: &BTreeSet<String>) -> bool {
        let is_settled = !self.findings.is_empty() && self.open(dismissed).next().is_none();
        self.passed || is_settled
    }

    /// Tells whether nothing but warnings is left of it.
    fn has_only_warnings(&self, dismissed: &BTreeSet<String>) -> bool {
        let mut open = self.open(dismissed).peekable();
        open.peek().is_some() && open.all(|id| self.warnings.contains(id))
    }
}

/// How many fixes of an agent in a row a finding outlives before a person has to settle it.
const DISPUTED_AFTER: u32 = 2;

/// What lets a loop end before every reviewer approves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopLimits {
    /// The last permitted round.
    pub max: u32,
    /// The round from which on warnings alone are no reason for another one.
    pub floor_from: Option<u32>,
    /// The findings that a person dismissed, by their ids.
    pub dismissed: BTreeSet<String>,
}

/// The next step of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewStep {
    /// These reviewers answer.
    Review {
        /// The round they answer in, from one.
        iteration: u32,
        /// Whether it is the final one.
        is_final: bool,
        /// The reviewers without an answer in it yet.
        roles: Vec<String>,
    },
    /// An author fixes the findings of this round.
    Fix {
        /// The round that failed, from one.
        after: u32,
    },
    /// The loop is over.
    Stop(LoopStop),
}

/// Why a loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopStop {
    /// All passed in the final round.
    Approved,
    /// There may be no further round.
    Capped,
    /// The same was found twice in a row, with an agent's fix in between.
    NoProgress,
    /// A finding outlived two fixes of an agent in a row.
    Disputed,
    /// Only warnings are left, in a round in which they are no reason for another one.
    BelowFloor,
    /// A person has to fix the findings.
    ByHand,
    /// A lane ended without an answer.
    LaneFailed,
    /// A reviewer gave two answers in a row that are neither an approval nor a rejection.
    Ambiguous,
    /// A reviewer approved without having read what it had to read.
    Unproven,
    /// An earlier call ended approved, and files changed since.
    Outdated,
    /// An agent cost more than it may.
    OverBudget,
    /// A person stopped it.
    Cancelled,
}

impl LoopStop {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Approved,
        Self::Capped,
        Self::NoProgress,
        Self::Disputed,
        Self::BelowFloor,
        Self::ByHand,
        Self::LaneFailed,
        Self::Ambiguous,
        Self::Unproven,
        Self::Outdated,
        Self::OverBudget,
        Self::Cancelled,
    ];

    /// Returns the word that is stored, and that programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Capped => "capped",
            Self::NoProgress => "no_progress",
            Self::Disputed => "disputed",
            Self::BelowFloor => "below_floor",
            Self::ByHand => "by_hand",
            Self::LaneFailed => "lane_failed",
            Self::Ambiguous => "ambiguous",
            Self::Unproven => "unproven",
            Self::Outdated => "outdated",
            Self::OverBudget => "over_budget",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns why the reviewers' approval is missing, in words for a person; `None` after an approval.
    pub const fn obstacle(self) -> Option<&'static str> {
        Some(match self {
            Self::Approved => return None,
            Self::Capped => "no further round is allowed",
            Self::NoProgress => "the fix left exactly the findings of the round before",
            Self::Disputed => "a finding outlived two fixes",
            Self::BelowFloor => "only warnings are left",
            Self::ByHand => "you have to fix what was found",
            Self::LaneFailed => "an agent gave no answer",
            Self::Ambiguous => "a reviewer gave two answers without a verdict",
            Self::Unproven => "a reviewer approved without having read everything",
            Self::Outdated => "files changed since the reviewers approved",
            Self::OverBudget => "the budget is spent",
            Self::Cancelled => "you stopped it",
        })
    }

    /// Returns the reason stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stop| stop.name() == name)
    }
}

/// A round after which the loop went on to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// The round that failed, from one.
    pub after: u32,
    /// The author who had to fix its findings.
    pub by: FixedBy,
}

/// The author of fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedBy {
    /// An agent, which reported the fix.
    Agent,
    /// A person. Convoke does not know whether the person fixed them.
    Person,
}

/// Findings with the number of an agent's fixes in a row that each has outlived.
type Outlived<'a> = BTreeMap<&'a String, u32>;

/// Decides the next step of a loop with these reviewers. `fixed` are the rounds after which an
/// author had to fix findings.
pub fn next_step(
    reviewers: &[String],
    answers: &[ReviewAnswer],
    fixed: &[Fixed],
    limits: &LoopLimits,
) -> ReviewStep {
    let LoopLimits { max, dismissed, .. } = limits;
    let mut latest: BTreeMap<&str, &ReviewAnswer> = BTreeMap::new();
    let (mut asked, mut is_final) = (reviewers.to_vec(), false);
    let mut before: Option<Outlived<'_>> = None;
    for iteration in 1..=*max {
        let of_round = answers.iter().filter(|answer| answer.iteration == iteration);
        latest.extend(of_round.map(|answer| (answer.role.as_str(), answer)));
        let has_answered = |role: &String| {
            latest.get(role.as_str()).is_some_and(|answer| answer.iteration == iteration)
        };
        asked.retain(|role| !has_answered(role));
        if !asked.is_empty() {
            return ReviewStep::Review { iteration, is_final, roles: asked };
        }
        let has_passed = |role: &&String| {
            latest.get(role.as_str()).is_some_and(|answer| answer.passes(dismissed))
        };
        let passed: Vec<_> = reviewers.iter().map(|role| has_passed(&role)).collect();
        let next = if is_final { NextRound::after_final } else { NextRound::after_round };
        match next(&passed) {
            NextRound::Done => return ReviewStep::Stop(LoopStop::Approved),
            NextRound::Final => (asked, is_final) = (reviewers.to_vec(), true),
            NextRound::Failed => {
                let failed: Vec<_> =
                    latest.values().filter(|answer| !answer.passes(dismissed)).copied().collect();
                let found = outlived(&failed, before.as_ref(), dismissed);
                let attempts: Vec<_> = fixed.iter().filter(|fix| fix.after == iteration).collect();
                if attempts.is_empty() {
                    let round = FailedRound { iteration, failed: &failed, found, before };
                    return round
                        .stop(limits)
                        .map_or(ReviewStep::Fix { after: iteration }, ReviewStep::Stop);
                }
                // Only an agent's fix can have failed: a person may not have tried.
                let is_agents = attempts.iter().all(|fix| fix.by == FixedBy::Agent);
                before = is_agents.then_some(found);
                asked = reviewers.iter().filter(|role| !has_passed(role)).cloned().collect();
                is_final = false;
            }
        }
    }
    ReviewStep::Stop(LoopStop::Capped)
}

/// Returns the open findings of failed answers, with how many fixes each has outlived since it was
/// first found. `before` are those of the round before, if an agent fixed them.
fn outlived<'a>(
    failed: &[&'a ReviewAnswer],
    before: Option<&Outlived<'_>>,
    dismissed: &'a BTreeSet<String>,
) -> Outlived<'a> {
    let found = failed.iter().flat_map(|answer| answer.open(dismissed));
    let times = |id: &String| before.and_then(|before| before.get(id)).map_or(0, |times| times + 1);
    found.map(|id| (id, times(id))).collect()
}

/// A round that failed, before an author has fixed its findings.
struct FailedRound<'r> {
    iteration: u32,
    failed: &'r [&'r ReviewAnswer],
    found: Outlived<'r>,
    before: Option<Outlived<'r>>,
}

impl FailedRound<'_> {
    /// Returns why the loop ends here; nothing if an author fixes the findings.
    fn stop(&self, limits: &LoopLimits) -> Option<LoopStop> {
        let Self { iteration, failed, found, before } = self;
        let is_same = before.as_ref().is_some_and(|before| before.keys().eq(found.keys()));
        if is_same && !found.is_empty() {
            return Some(LoopStop::NoProgress);
        }
        if found.values().any(|times| *times >= DISPUTED_AFTER) {
            return Some(LoopStop::Disputed);
        }
        let is_above = limits.floor_from.is_some_and(|from| *iteration >= from);
        if is_above && failed.iter().all(|answer| answer.has_only_warnings(&limits.dismissed)) {
            return Some(LoopStop::BelowFloor);
        }
        (*iteration == limits.max).then_some(LoopStop::Capped)
    }
}

/// The state of a finding after the round that reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingOutcome {
    /// Its reviewer has not answered since.
    Open,
    /// It was found again, unchanged.
    Returned,
    /// Its reviewer answered again without it.
    Gone,
}

impl FindingOutcome {
    /// Returns the word that is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Returned => "returned",
            Self::Gone => "gone",
        }
    }
}

/// Returns the state of every finding, by its reviewer's next answer after the last report.
pub fn fates(answers: &[ReviewAnswer]) -> BTreeMap<(String, String), FindingOutcome> {
    let mut fates: BTreeMap<(String, String), FindingOutcome> = BTreeMap::new();
    let mut in_order: Vec<_> = answers.iter().collect();
    in_order.sort_by_key(|answer| answer.iteration);
    for answer in in_order {
        for ((role, id), fate) in &mut fates {
            if *role == answer.role {
                let again = answer.findings.contains(id);
                *fate = if again { FindingOutcome::Returned } else { FindingOutcome::Gone };
            }
        }
        for id in &answer.findings {
            fates.entry((answer.role.clone(), id.clone())).or_insert(FindingOutcome::Open);
        }
    }
    fates
}

/// Returns the identity of a finding across rounds: its role, weight, place and words. Line numbers
/// do not count: they move with every fix above them.
pub fn identity(role: &str, issue: &Issue) -> String {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let words: Vec<_> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let place = |text: &str| {
        let end = |c: char| c.is_ascii_digit() || ":-,#L ".contains(c);
        words(text.trim_end_matches(end))
    };
    let location = issue.location.as_deref().map(place).unwrap_or_default();
    let severity = words(issue.severity.word());
    [role, &severity, &location, &words(&issue.description)].join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::review::Severity;
    use super::*;

    fn answer(iteration: u32, role: &str, findings: &[&str]) -> ReviewAnswer {
        ReviewAnswer {
            iteration,
            role: role.to_owned(),
            passed: findings.is_empty(),
            findings: findings.iter().map(|finding| (*finding).to_owned()).collect(),
            // A finding in these tests is a warning if its name says so.
            warnings: findings
                .iter()
                .filter(|id| id.starts_with('w'))
                .map(|id| (*id).to_owned())
                .collect(),
        }
    }

    fn shown(answers: &[ReviewAnswer], fixed: &[u32], max: u32) -> String {
        shown_by(FixedBy::Agent, answers, fixed, max)
    }

    fn shown_by(by: FixedBy, answers: &[ReviewAnswer], fixed: &[u32], max: u32) -> String {
        shown_within(&LoopLimits { max, ..LoopLimits::default() }, by, answers, fixed)
    }

    fn shown_within(
        limits: &LoopLimits,
        by: FixedBy,
        answers: &[ReviewAnswer],
        fixed: &[u32],
    ) -> String {
        let fixed: Vec<_> = fixed.iter().map(|after| Fixed { after: *after, by }).collect();
        match next_step(&["a".to_owned(), "b".to_owned()], answers, &fixed, limits) {
            ReviewStep::Review { iteration, is_final, roles } => {
                let word = if is_final { "final" } else { "review" };
                format!("{word} {iteration} {}", roles.join(""))
            }
            ReviewStep::Fix { after } => format!("fix {after}"),
            ReviewStep::Stop(stop) => stop.name().to_owned(),
        }
    }

    // D-26, D-27: all, then who failed, then all once more; a failure there begins again.
    #[test]
    fn a_loop_goes_on_by_its_recorded_answers() {
        let (a1, b1) = (answer(1, "a", &[]), answer(1, "b", &["x"]));
        let b2 = answer(2, "b", &[]);
        let (a3, b3) = (answer(3, "a", &["y"]), answer(3, "b", &[]));
        let mut answers = Vec::new();
        let mut said = vec![shown(&answers, &[], 5)];
        for (next, fixed) in [
            (a1, &[][..]),
            (b1, &[]),
            (b2.clone(), &[1]),
            (a3, &[1]),
            (b3, &[1]),
            (answer(4, "a", &[]), &[1, 3]),
            (answer(5, "a", &[]), &[1, 3]),
            (answer(5, "b", &[]), &[1, 3]),
        ] {
            answers.push(next);
            said.push(shown(&answers, fixed, 5));
        }
        assert_eq!(
            said,
            [
                "review 1 ab",
                "review 1 b",
                "fix 1",
                "final 3 ab",
                "final 3 b",
                "fix 3",
                "final 5 ab",
                "final 5 b",
                "approved"
            ]
        );
        assert_eq!(shown(&answers[..2], &[1], 5), "review 2 b", "only who failed");
        assert_eq!(shown(&answers[..2], &[], 1), "capped");
        assert_eq!(shown(&answers[..3], &[1], 2), "capped", "without a final round");
        let twice = [answers[0].clone(), answers[1].clone(), answer(2, "b", &["x"])];
        assert_eq!(shown(&twice, &[1], 5), "no_progress");
        assert_eq!(shown(&twice, &[1, 2], 5), "review 3 b", "it was fixed by hand");
        // After a person's turn, Convoke does not know that a fix failed.
        assert_eq!(shown_by(FixedBy::Person, &twice, &[1], 5), "fix 2");
        assert_eq!(shown_by(FixedBy::Person, &twice, &[1], 2), "capped");
        let other = [answers[0].clone(), answers[1].clone(), answer(2, "b", &["z"])];
        assert_eq!(shown(&other, &[1], 5), "fix 2");
        let fates: Vec<_> = fates(&twice).into_values().map(FindingOutcome::name).collect();
        assert_eq!(fates, ["returned"]);
        let fates: Vec<_> = super::fates(&other).into_values().map(FindingOutcome::name).collect();
        assert_eq!(fates, ["gone", "open"]);
    }

    /// A loop whose reviewer `b` finds this in each round, with a fix after each but the last.
    fn rounds(limits: &LoopLimits, by: FixedBy, found: &[&[&str]]) -> String {
        let of_b = (1..).zip(found).map(|(round, ids)| answer(round, "b", ids));
        let answers: Vec<_> = [answer(1, "a", &[])].into_iter().chain(of_b).collect();
        let fixed: Vec<_> = (1..).take(found.len() - 1).collect();
        shown_within(limits, by, &answers, &fixed)
    }

    // D-93: a warning is worth two fixes; a word that Convoke does not know may mean the worst.
    #[test]
    fn from_the_third_round_on_warnings_alone_start_no_other() {
        let limits = LoopLimits { max: 9, floor_from: Some(3), ..LoopLimits::default() };
        let shown = |found: &[&[&str]]| rounds(&limits, FixedBy::Agent, found);
        assert_eq!(shown(&[&["w1"]]), "fix 1");
        assert_eq!(shown(&[&["w1"], &["w2"]]), "fix 2");
        assert_eq!(shown(&[&["w1"], &["w2"], &["w3"]]), "below_floor", "the same in other words");
        assert_eq!(shown(&[&["w1"], &["w2"], &["w3", "x"]]), "fix 3", "a blocker is above it");
        assert_eq!(shown(&[&["w1"], &["w2"], &["catastrophe"]]), "fix 3", "an invented word");
        let mut nothing = answer(3, "b", &["x"]);
        nothing.findings.clear();
        let answers =
            [answer(1, "a", &[]), answer(1, "b", &["w"]), answer(2, "b", &["v"]), nothing];
        let rejected = shown_within(&limits, FixedBy::Agent, &answers, &[1, 2]);
        assert_eq!(rejected, "fix 3", "a rejection that names nothing may mean anything");
        let without = LoopLimits { floor_from: None, ..limits.clone() };
        let found: [&[&str]; 3] = [&["w1"], &["w2"], &["w3"]];
        assert_eq!(rounds(&without, FixedBy::Agent, &found), "fix 3");
        assert_eq!(rounds(&LoopLimits { max: 3, ..without }, FixedBy::Agent, &found), "capped");
    }

    // D-94
    #[test]
    fn a_finding_that_outlives_two_fixes_is_a_persons_to_settle() {
        let limits = LoopLimits { max: 9, ..LoopLimits::default() };
        let found: [&[&str]; 3] = [&["x", "p"], &["x", "q"], &["x", "r"]];
        assert_eq!(
            rounds(&limits, FixedBy::Agent, &found[..2]),
            "fix 2",
            "the fix may have missed it"
        );
        assert_eq!(rounds(&limits, FixedBy::Agent, &found), "disputed");
        assert_eq!(
            rounds(&limits, FixedBy::Person, &found),
            "fix 3",
            "a person may not have tried"
        );
        let pause: [&[&str]; 3] = [&["x", "p"], &["q"], &["x", "r"]];
        assert_eq!(rounds(&limits, FixedBy::Agent, &pause), "fix 3", "it was gone meanwhile");
        let dismissing = |ids: &[&str]| LoopLimits {
            dismissed: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..limits.clone()
        };
        assert_eq!(rounds(&dismissing(&["x"]), FixedBy::Agent, &found), "fix 3");
        assert_eq!(rounds(&dismissing(&["x", "r"]), FixedBy::Agent, &found), "final 4 ab");
        assert_eq!(rounds(&dismissing(&["z"]), FixedBy::Agent, &found), "disputed");
    }

    // A person dismisses findings, not verdicts: what names none stays a rejection.
    #[test]
    fn a_rejection_without_findings_cannot_be_dismissed() {
        let mut empty = answer(1, "b", &["x"]);
        empty.findings.clear();
        assert!(!empty.passes(&BTreeSet::from(["x".to_owned()])));
        assert!(!empty.has_only_warnings(&BTreeSet::new()));
    }

    fn issue(severity: &str, location: Option<&str>, description: &str) -> Issue {
        Issue {
            severity: Severity::parse(severity),
            category: None,
            description: description.to_owned(),
            location: location.map(str::to_owned),
            suggestion: None,
        }
    }

    #[test]
    fn a_finding_is_known_again() {
        let first = identity("r", &issue("blocker", Some("src/a.rs:12-14"), "`x` is never read."));
        for (same, role, other) in [
            (true, "r", issue("Blocker", Some("src/a.rs:40"), "`x`  is never\nread")),
            (true, "r", issue("blocker", Some("src/a.rs"), "X is never read!")),
            (false, "q", issue("blocker", Some("src/a.rs"), "x is never read")),
            (false, "r", issue("warning", Some("src/a.rs"), "x is never read")),
            (false, "r", issue("blocker", Some("src/b.rs"), "x is never read")),
            (false, "r", issue("blocker", None, "x is never read")),
            (false, "r", issue("blocker", Some("src/a.rs"), "y is never read")),
        ] {
            assert_eq!(identity(role, &other) == first, same, "{other:?}");
        }
    }

    proptest! {
        // Any sequence of answers has a next step, and that step is within the limit of rounds.
        #[test]
        fn there_is_always_a_next_step(
            answers in prop::collection::vec((0_u32..7, "[abc]", prop::bool::ANY, "[xy]?"), 0..12),
            fixed in prop::collection::vec((0_u32..7, prop::bool::ANY), 0..4),
            max in 0_u32..6,
        ) {
            let answers: Vec<_> = answers
                .into_iter()
                .map(|(iteration, role, passed, finding)| ReviewAnswer {
                    iteration, role, passed, warnings: BTreeSet::new(),
                    findings: std::iter::once(finding).collect(),
                })
                .collect();
            let reviewers = ["a".to_owned(), "b".to_owned()];
            let by = |is_agent| if is_agent { FixedBy::Agent } else { FixedBy::Person };
            let fixed: Vec<_> =
                fixed.into_iter().map(|(after, is_agent)| Fixed { after, by: by(is_agent) }).collect();
            let dismissed = BTreeSet::from(["x".to_owned()]);
            let limits = LoopLimits { max, floor_from: Some(2), dismissed };
            match next_step(&reviewers, &answers, &fixed, &limits) {
                ReviewStep::Review { iteration, roles, .. } => {
                    prop_assert!((1..=max).contains(&iteration) && !roles.is_empty());
                }
                ReviewStep::Fix { after } => prop_assert!(after < max),
                ReviewStep::Stop(_) => {}
            }
        }

        #[test]
        fn any_words_have_an_identity(text in ".{0,60}") {
            identity(&text, &issue(&text, Some(&text), &text));
        }
    }
}
