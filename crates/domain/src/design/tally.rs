//! Counts votes: which findings are accepted, and the points of those who raised them.

use std::collections::HashMap;
use std::fmt::Write;

use super::finding::{Finding, FindingId, FindingScope};
use super::policy::Policy;
use super::vote::{Vote, Votes};
use super::{quorum, quote};

/// One voter with its votes. A voter that failed has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voter {
    /// The name of its column: a role, never a model.
    pub name: String,
    /// The voter's votes.
    pub votes: Votes,
}

/// The result of the votes on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingVerdict {
    /// It is done; an item out of scope is filed.
    Accepted,
    /// At least one vote for it, but too few.
    Neutral,
    /// No vote for it, but at least one to exonerate it.
    Exonerated,
    /// No vote for it.
    Rejected,
    /// No votes, so no decision. The finding is not accepted.
    Undecided,
    /// As many voted for it as did not. It is not accepted.
    Tied,
}

impl FindingVerdict {
    /// Every verdict.
    pub const ALL: [Self; 6] = [
        Self::Accepted,
        Self::Neutral,
        Self::Exonerated,
        Self::Rejected,
        Self::Undecided,
        Self::Tied,
    ];

    /// Returns the verdict that is shown as `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// Returns the word that is shown.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Neutral => "neutral",
            Self::Exonerated => "exonerated",
            Self::Rejected => "rejected",
            Self::Undecided => "undecided",
            Self::Tied => "tied",
        }
    }

    /// Tells whether the votes decide anything.
    pub const fn is_decided(self) -> bool {
        !matches!(self, Self::Undecided | Self::Tied)
    }

    /// Returns what a finding with this verdict earns each that raised it.
    const fn points(self, scope: FindingScope) -> i64 {
        match (self, scope) {
            (Self::Accepted, _) => 1,
            (Self::Rejected, FindingScope::In) => -1,
            _ => 0,
        }
    }
}

/// How often each vote was cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// For it.
    pub yes: usize,
    /// Against it.
    pub no: usize,
    /// Fair, but not now.
    pub exonerate: usize,
}

impl Counts {
    fn of(votes: impl Iterator<Item = Vote>) -> Self {
        let mut counts = Self::default();
        for vote in votes {
            match vote {
                Vote::Yes => counts.yes += 1,
                Vote::No => counts.no += 1,
                Vote::Exonerate => counts.exonerate += 1,
            }
        }
        counts
    }

    /// Tells whether as many are for it as are not.
    const fn is_tied(self) -> bool {
        self.yes > 0 && self.yes == self.no + self.exonerate
    }

    const fn all(self) -> usize {
        self.yes + self.no + self.exonerate
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "YES={}, NO={}, EXONERATE={}", self.yes, self.no, self.exonerate)
    }
}

/// One finding's votes, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The finding's id.
    pub id: FindingId,
    /// The sums of the votes.
    pub counts: Counts,
    /// The result by the votes, or by a person.
    pub verdict: FindingVerdict,
    /// The person's reason, if a person decided.
    pub person: Option<String>,
}

impl Counted {
    /// Returns the result in words, with a note if a person decided.
    pub fn result(&self) -> String {
        let by = if self.person.is_some() { " by a person" } else { "" };
        format!("{}{by}", self.verdict.word())
    }
}

/// One voter's votes on all findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The voter's name.
    pub voter: String,
    /// A vote or an abstention on each finding, in the order of the ballot.
    pub votes: Vec<Option<Vote>>,
}

impl Column {
    fn of(voter: &Voter, findings: &[Finding]) -> Self {
        let cast = voter.votes.on_each(findings.iter().map(|finding| finding.id));
        let cast = cast.map(|cast| cast.map(|cast| cast.vote));
        Self { voter: voter.name.clone(), votes: cast.collect() }
    }
}

/// All findings' votes, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The votes of each voter.
    pub columns: Vec<Column>,
    /// How many of them voted on an item of the ballot.
    pub eligible: usize,
    /// One entry for each finding, in the order of the ballot.
    pub items: Vec<Counted>,
}

/// Counts the votes. Votes on items that are not on the ballot do not count.
pub fn tally(findings: &[Finding], voters: &[Voter], policy: Policy) -> Tally {
    let columns: Vec<_> = voters.iter().map(|voter| Column::of(voter, findings)).collect();
    let took_part = |column: &&Column| column.votes.iter().any(Option::is_some);
    let eligible = columns.iter().filter(took_part).count();
    let counted = |(place, finding): (usize, &Finding)| {
        let counts = Counts::of(columns.iter().filter_map(|column| column.votes[place]));
        let verdict = verdict(counts, eligible, policy);
        Counted { id: finding.id, counts, verdict, person: None }
    };
    let items = findings.iter().enumerate().map(counted).collect();
    Tally { columns, eligible, items }
}

/// Decides by a majority: under the safe rules of all voters that cast any vote, under the seed's
/// of those that voted on this item.
pub(super) fn verdict(counts: Counts, panel: usize, policy: Policy) -> FindingVerdict {
    let eligible = match policy {
        Policy::Safe => panel,
        Policy::Seed => counts.all(),
    };
    if policy == Policy::Seed && has_too_few_voters(eligible) {
        return FindingVerdict::Accepted;
    }
    match counts {
        _ if counts.all() == 0 => FindingVerdict::Undecided,
        _ if counts.yes >= quorum::majority(eligible) => FindingVerdict::Accepted,
        _ if policy == Policy::Safe && counts.is_tied() => FindingVerdict::Tied,
        Counts { yes: 1.., .. } => FindingVerdict::Neutral,
        Counts { exonerate: 1.., .. } => FindingVerdict::Exonerated,
        Counts { .. } => FindingVerdict::Rejected,
    }
}

/// Tells whether fewer voters answered than a vote needs. With fewer of them the seed does not vote.
pub const fn has_too_few_voters(eligible: usize) -> bool {
    !quorum::is_enough(eligible)
}

/// One reviewer's line on the scoreboard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Score {
    /// The reviewer's name.
    pub reviewer: String,
    /// How many findings it raised in scope.
    pub findings: usize,
    /// How many of them were accepted.
    pub accepted: usize,
    /// How many had too few votes.
    pub neutral: usize,
    /// How many were found fair.
    pub exonerated: usize,
    /// How many were rejected.
    pub rejected: usize,
    /// How many it raised out of scope.
    pub oos_proposed: usize,
    /// How many of those were accepted.
    pub oos_accepted: usize,
    /// The total of points.
    pub points: i64,
}

impl Score {
    fn add(&mut self, scope: FindingScope, verdict: FindingVerdict) {
        self.points += verdict.points(scope);
        match scope {
            FindingScope::Out => {
                self.oos_proposed += 1;
                self.oos_accepted += usize::from(verdict == FindingVerdict::Accepted);
            }
            FindingScope::In => {
                self.findings += 1;
                match verdict {
                    FindingVerdict::Accepted => self.accepted += 1,
                    FindingVerdict::Neutral | FindingVerdict::Tied => self.neutral += 1,
                    FindingVerdict::Exonerated => self.exonerated += 1,
                    FindingVerdict::Rejected => self.rejected += 1,
                    FindingVerdict::Undecided => {}
                }
            }
        }
    }

    fn row(&self) -> String {
        let sign = if self.points > 0 { "+" } else { "" };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {sign}{} |\n",
            quote::cell(&self.reviewer),
            self.findings,
            self.accepted,
            self.neutral,
            self.exonerated,
            self.rejected,
            self.oos_proposed,
            self.oos_accepted,
            self.points
        )
    }
}

/// Scores every reviewer: those of the panel in their order, then all others who raised a finding.
pub fn scores<'a>(findings: &'a [Finding], tally: &Tally, reviewers: &'a [String]) -> Vec<Score> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut scores: Vec<Score> = Vec::new();
    let mut place = |reviewer: &'a str, scores: &mut Vec<Score>| {
        *places.entry(reviewer).or_insert_with(|| {
            scores.push(Score { reviewer: reviewer.to_owned(), ..Score::default() });
            scores.len() - 1
        })
    };
    for reviewer in reviewers {
        place(reviewer, &mut scores);
    }
    for (finding, counted) in findings.iter().zip(&tally.items) {
        for proposer in &finding.proposers {
            let place = place(proposer, &mut scores);
            scores[place].add(finding.id.scope, counted.verdict);
        }
    }
    scores
}

/// The scoreboard's heading and columns.
const SCOREBOARD: &str = "\
## Reviewer Competition Scoreboard

| Reviewer | Findings | Accepted | Neutral (1 YES) | Exonerated (0 YES, 1+ EXON.) | Rejected (0 YES, 0 EXON.) | OOS Proposed | OOS Accepted | Score |
|----------|----------|----------|-----------------|-------------------------------|---------------------------|--------------|--------------|-------|
";

/// Renders the scoreboard.
pub fn scoreboard(scores: &[Score]) -> String {
    let rows: String = scores.iter().map(Score::row).collect();
    format!("{SCOREBOARD}{rows}")
}

/// The file `voting-tally.md` of a review without findings.
pub const NO_FINDINGS: &str = "No findings were raised \u{2014} voting was not needed.\n";

/// Renders the file `voting-tally.md`: every vote, then the scoreboard.
pub fn report(tally: &Tally, scores: &[Score]) -> String {
    let names: Vec<_> = tally.columns.iter().map(|column| quote::cell(&column.voter)).collect();
    let names = names.join(" | ");
    let rules = "---|".repeat(tally.columns.len());
    let mut text = format!(
        "# Plan Review Voting Tally\n\n## Per-finding vote breakdown\n\n\
         | Item | {names} | YES | NO | EXONERATE | Result |\n|---|{rules}---:|---:|---:|---|\n"
    );
    for (place, counted) in tally.items.iter().enumerate() {
        let votes = tally.columns.iter().map(|column| column.votes[place]);
        add_row(&mut text, counted, votes);
    }
    text + &decided_by_people(tally) + "\n" + &scoreboard(scores)
}

/// Lists what people decided, with their reasons.
fn decided_by_people(tally: &Tally) -> String {
    let line = |counted: &Counted| {
        let because = quote::line(counted.person.as_ref()?);
        Some(format!("- {}: {}: {because}\n", counted.id, counted.result()))
    };
    let lines: String = tally.items.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n## Decided by a person\n\n{lines}") }
}

fn add_row(text: &mut String, counted: &Counted, votes: impl Iterator<Item = Option<Vote>>) {
    let Counted { id, counts: Counts { yes, no, exonerate }, .. } = counted;
    write!(text, "| {id} | ").ok();
    for vote in votes {
        text.push_str(vote.map_or("\u{2014}", Vote::word));
        text.push_str(" | ");
    }
    writeln!(text, "{yes} | {no} | {exonerate} | {} |", counted.result()).ok();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::finding::Remark;
    use super::super::voting_block::Reading;
    use super::*;
    use crate::design::render::sentence;
    use crate::design::warning::ReviewWarning;

    fn finding(scope: FindingScope, number: u32, proposers: &[&str]) -> Finding {
        let remark = Remark {
            scope,
            focus: None,
            title: "t".to_owned(),
            concern: "c".to_owned(),
            revision: None,
        };
        let proposers = proposers.iter().map(|&name| name.to_owned()).collect();
        Finding { id: FindingId { scope, number }, proposers, focus: None, remark, others: vec![] }
    }

    fn voter(name: &str, answer: &str) -> Voter {
        Voter { name: name.to_owned(), votes: Votes::parse(answer, Reading::Plain) }
    }

    /// Votes of up to three voters on one finding: `y`, `n`, `e`, `-` for a voter that abstains on
    /// it but voted on another item, or a blank for one that failed.
    fn decide(votes: &str, policy: Policy) -> FindingVerdict {
        let answer = |c| match c {
            'y' => "FINDING_1: YES",
            'n' => "FINDING_1: NO",
            'e' => "FINDING_1: EXONERATE",
            '-' => "FINDING_2: YES",
            _ => "FINDING_9: YES",
        };
        let panel: Vec<_> = votes.chars().map(|c| voter("V", answer(c))).collect();
        let findings = [finding(FindingScope::In, 1, &["A"]), finding(FindingScope::In, 2, &["A"])];
        tally(&findings, &panel, policy).items[0].verdict
    }

    // P-273, P-276
    #[test]
    fn the_seed_counts_the_voters_on_the_item() {
        use FindingVerdict::{Accepted, Exonerated, Neutral, Rejected};
        for (votes, expected) in [
            ("yyn", Accepted),
            ("yye", Accepted),
            ("ynn", Neutral),
            ("yee", Neutral),
            ("nne", Exonerated),
            ("nnn", Rejected),
            ("yy-", Accepted),
            ("yn-", Neutral),
            ("ne ", Exonerated),
            ("nn ", Rejected),
            // Fewer than two: everything is accepted.
            ("n--", Accepted),
            ("n  ", Accepted),
            ("   ", Accepted),
        ] {
            assert_eq!(decide(votes, Policy::Seed), expected, "{votes}");
        }
    }

    // P-274
    #[test]
    fn a_panel_that_lost_voters_accepts_nothing_by_itself() {
        use FindingVerdict::{Accepted, Exonerated, Neutral, Rejected, Tied, Undecided};
        for (votes, expected) in [
            ("yyn", Accepted),
            ("ynn", Neutral),
            ("yne", Neutral),
            ("yy ", Accepted),
            // Half of the votes decide nothing.
            ("yn ", Tied),
            ("ye ", Tied),
            ("yn-", Tied),
            // A voter that abstains on one item stays on the panel.
            ("y--", Neutral),
            ("y- ", Neutral),
            ("yy-", Accepted),
            ("n--", Rejected),
            ("e--", Exonerated),
            // A single voter decides; without voters nothing is decided.
            ("y  ", Accepted),
            ("n  ", Rejected),
            ("-  ", Undecided),
            ("   ", Undecided),
        ] {
            assert_eq!(decide(votes, Policy::Safe), expected, "{votes}");
        }
    }

    // P-273, P-274
    #[test]
    fn too_few_voters_give_a_warning() {
        assert!(!has_too_few_voters(2) && has_too_few_voters(1));
        let too_few = |eligible, policy| sentence(ReviewWarning::TooFewVoters { eligible, policy });
        assert_eq!(
            too_few(1, Policy::Seed),
            "**\u{26a0} Voting skipped (1 voter(s) available, minimum 2 required). All findings \
             accepted.**"
        );
        assert!(too_few(0, Policy::Safe).contains("No finding is accepted"));
        assert!(too_few(1, Policy::Safe).contains("decide alone"));
    }

    // P-272
    #[test]
    fn a_warning_names_a_failed_voter_and_the_remaining_ones() {
        let warning = ReviewWarning::VoterFailed {
            voter: "Codex".to_owned(),
            reason: "timed out\nafter 20m".to_owned(),
            left: ["Claude", "Cursor"].map(str::to_owned).to_vec(),
        };
        assert_eq!(
            sentence(warning),
            "**\u{26a0} Codex voter failed \u{2014} timed out after 20m. Proceeding with 2 voters \
             (Claude, Cursor).**"
        );
    }

    fn sample() -> (Vec<Finding>, Vec<Voter>) {
        let findings = vec![
            finding(FindingScope::In, 1, &["Cursor-Edge", "Codex-Pragmatic"]),
            finding(FindingScope::In, 2, &["Codex-Innovation"]),
            finding(FindingScope::In, 3, &["Code"]),
            finding(FindingScope::Out, 1, &["Cursor-Arch"]),
            finding(FindingScope::Out, 2, &["Codex-Innovation"]),
        ];
        let voters = vec![
            voter(
                "Claude",
                "FINDING_1: YES\nFINDING_2: EXONERATE\nFINDING_3: NO\nOOS_1: YES\nOOS_2: NO",
            ),
            voter("Codex", "FINDING_1: YES\nFINDING_2: NO\nFINDING_3: NO\nOOS_1: YES"),
            voter("Cursor", "FINDING_1: NO\nFINDING_2: EXONERATE\nOOS_1: YES\nOOS_2: NO"),
        ];
        (findings, voters)
    }

    // P-275, P-276, P-277, P-278, P-279
    #[test]
    fn the_report_shows_every_vote_and_what_it_earned() {
        let (findings, voters) = sample();
        let panel = ["Cursor-Arch", "Cursor-Edge", "Codex-Innovation", "Codex-Pragmatic"];
        let tally = tally(&findings, &voters, Policy::Safe);
        let scores = scores(&findings, &tally, &panel.map(str::to_owned));
        assert_eq!(
            report(&tally, &scores),
            "# Plan Review Voting Tally\n\n## Per-finding vote breakdown\n\n\
             | Item | Claude | Codex | Cursor | YES | NO | EXONERATE | Result |\n\
             |---|---|---|---|---:|---:|---:|---|\n\
             | FINDING_1 | YES | YES | NO | 2 | 1 | 0 | accepted |\n\
             | FINDING_2 | EXONERATE | NO | EXONERATE | 0 | 1 | 2 | exonerated |\n\
             | FINDING_3 | NO | NO | \u{2014} | 0 | 2 | 0 | rejected |\n\
             | OOS_1 | YES | YES | YES | 3 | 0 | 0 | accepted |\n\
             | OOS_2 | NO | \u{2014} | NO | 0 | 2 | 0 | rejected |\n\
             \n## Reviewer Competition Scoreboard\n\n\
             | Reviewer | Findings | Accepted | Neutral (1 YES) | Exonerated (0 YES, 1+ EXON.) | \
             Rejected (0 YES, 0 EXON.) | OOS Proposed | OOS Accepted | Score |\n\
             |----------|----------|----------|-----------------|-------------------------------|\
             ---------------------------|--------------|--------------|-------|\n\
             | Cursor-Arch | 0 | 0 | 0 | 0 | 0 | 1 | 1 | +1 |\n\
             | Cursor-Edge | 1 | 1 | 0 | 0 | 0 | 0 | 0 | +1 |\n\
             | Codex-Innovation | 1 | 0 | 0 | 1 | 0 | 1 | 0 | 0 |\n\
             | Codex-Pragmatic | 1 | 1 | 0 | 0 | 0 | 0 | 0 | +1 |\n\
             | Code | 1 | 0 | 0 | 0 | 1 | 0 | 0 | -1 |\n"
        );
    }

    // P-257
    #[test]
    fn without_findings_nothing_is_counted() {
        assert_eq!(NO_FINDINGS, "No findings were raised \u{2014} voting was not needed.\n");
    }

    #[test]
    fn a_name_cannot_break_out_of_its_cell() {
        let tally =
            tally(&[finding(FindingScope::In, 1, &["A|B"])], &[voter("x|\ny", "")], Policy::Safe);
        let report = report(&tally, &[Score { reviewer: "A|B\n".to_owned(), ..Score::default() }]);
        assert!(report.contains("| Item | x\\| y | YES |") && report.contains("\n| A\\|B | 0 |"));
    }

    #[test]
    fn a_hundred_thousand_findings_are_counted() {
        let names: Vec<_> = (0..1000).map(|n| format!("R{n}")).collect();
        let findings: Vec<_> = (1..=100_000_u32)
            .map(|n| finding(FindingScope::In, n, &[&names[n as usize % 1000]]))
            .collect();
        let answer: Vec<_> = (1..=100_000).map(|n| format!("FINDING_{n}: YES")).collect();
        let answer = answer.join("\n");
        let voters = [voter("A", &answer), voter("B", &answer), voter("C", "FINDING_100000: NO")];
        let tally = tally(&findings, &voters, Policy::Safe);
        let scores = scores(&findings, &tally, &names);
        assert_eq!((tally.eligible, scores.len(), scores[7].points), (3, 1000, 100));
    }

    proptest! {
        // The sums agree with the columns, and one more vote for a finding never rejects it.
        #[test]
        fn votes_are_counted_as_cast(votes in "[yne -]{3}", policy in 0..2_usize) {
            let policy = [Policy::Safe, Policy::Seed][policy];
            let before = decide(&votes, policy);
            for (index, _) in votes.match_indices(['n', 'e']) {
                let mut more = votes.clone();
                more.replace_range(index..=index, "y");
                if before == FindingVerdict::Accepted {
                    prop_assert_eq!(decide(&more, policy), before, "{} to {}", votes, more);
                }
            }
            if policy == Policy::Safe && before == FindingVerdict::Accepted {
                prop_assert!(votes.contains('y'));
            }
        }
    }
}
