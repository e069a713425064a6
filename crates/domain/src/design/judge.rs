//! Judges: the ballot that they read, the votes that they give, and what those decide.
//!
//! These votes are of another kind than those on findings and share nothing with them.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::afterthought::is_correction;
use super::correction::{corrections, is_withdrawn, names_vote};
use super::policy::Policy;
use super::quorum;
use super::quote::{self, EMPHASIS};
use super::seat::Side;
use super::vote::{after_decoration, holds_one_of, in_cell, reason, unwrapped, without_mark};
use super::voting_block::{Form, Reading, counted, without_usage};
use super::warning::{DebateWarning, DesignWarning, VoteOddity};
use crate::markdown::lines;

mod contest;
mod orders;
mod verdict;

pub use contest::{Ballot, Contest, ballot};
pub use orders::OrderCheck;
pub use verdict::JudgesVerdict;

/// One judge's vote on one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeVote {
    /// The side that wins in the judge's eyes.
    pub side: Side,
    /// Why, on one line.
    pub rationale: String,
}

impl JudgeVote {
    /// Tells whether the rationale takes the vote back: `THESIS — no wait, ANTI_THESIS`.
    fn is_taken_back(&self) -> bool {
        let mut others = Side::BOTH.into_iter().filter(|side| *side != self.side).map(Side::token);
        others.any(|side| is_correction(&self.rationale, side))
    }
}

/// All that one judge voted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgeVotes {
    /// The votes by decision. A decision without one is abstained on.
    pub votes: BTreeMap<usize, JudgeVote>,
    /// Decisions that were voted on more than once; the first vote counts.
    pub repeated: BTreeSet<usize>,
    /// Decisions on which both votes were cast, so that neither counts.
    pub contradicted: BTreeSet<usize>,
    /// Decisions on which the judge withdraws its vote in the rationale.
    pub withdrawn: BTreeSet<usize>,
    /// Decisions on which the vote changed with the order of the ballot, so that none counts.
    pub flipped: BTreeSet<usize>,
    /// The form of the answer.
    pub form: Form,
    /// The judge's text after its block.
    pub after: String,
}

impl JudgeVotes {
    /// Lists what is odd about them.
    fn oddities(&self) -> Vec<VoteOddity> {
        let item = |number: &usize| format!("DECISION_{number}");
        let votes = Side::BOTH.map(Side::token);
        let unmarked = (self.form == Form::Unmarked).then_some(VoteOddity::Unmarked);
        let repeated = self.repeated.iter().map(|id| VoteOddity::Repeated { item: item(id) });
        let contradicted =
            self.contradicted.iter().map(|id| VoteOddity::Contradicted { item: item(id), votes });
        let withdrawn = self.withdrawn.iter().map(|id| VoteOddity::Withdrawn { item: item(id) });
        let after =
            names_vote(&self.after).then(|| VoteOddity::AfterThem { words: self.after.clone() });
        let flipped = self.flipped.iter().map(|id| VoteOddity::Flipped { item: item(id) });
        let all = unmarked.into_iter().chain(repeated).chain(contradicted);
        all.chain(withdrawn).chain(flipped).chain(after).collect()
    }

    /// Takes away what the judge says otherwise outside of its block, and all that counts for nothing.
    fn settle(&mut self, outside: impl Iterator<Item = (usize, Side)>) {
        for (number, side) in outside {
            if self.votes.get(&number).is_some_and(|vote| vote.side != side) {
                self.contradicted.insert(number);
            }
        }
        self.withdrawn.retain(|number| !self.contradicted.contains(number));
        for number in self.contradicted.iter().chain(&self.withdrawn) {
            self.votes.remove(number);
            self.repeated.remove(number);
        }
    }
}

/// The reading of a judge's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The answer is unusable, so the judge has no vote on any decision.
    Ineligible,
    /// Nothing in the answer is a vote: an abstention on everything.
    Unparseable,
    /// The judge disowned its block of votes with these words: an abstention, too.
    Disowned(String),
    /// The judge voted.
    Votes(JudgeVotes),
}

/// The ballot that a judge received; it decides how to read the answer.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The decisions that can be voted on.
    pub on_ballot: &'a BTreeSet<usize>,
    /// The rules. The original counts nothing but the exact form of a vote; the safe rules also take
    /// what can mean nothing else, as they do with votes on findings.
    pub policy: Policy,
    /// Which lines count.
    pub reading: Reading<'a>,
}

/// Reads a judge's answer. `None` means that its lane failed.
pub fn read(answer: Option<&str>, asked: Asked<'_>) -> Judgement {
    let Some(answer) = answer.filter(|answer| is_answer(answer)) else {
        return Judgement::Ineligible;
    };
    let counted = counted(answer, asked.reading, form(asked.policy));
    let mut votes =
        JudgeVotes { form: counted.form, after: counted.after, ..JudgeVotes::default() };
    for (number, vote) in counted.votes {
        if !asked.on_ballot.contains(&number) {
            continue;
        }
        if asked.reading != Reading::Plain && vote.is_taken_back() {
            votes.contradicted.insert(number);
        }
        if asked.reading != Reading::Plain && is_withdrawn(&vote.rationale) {
            votes.withdrawn.insert(number);
        }
        match votes.votes.entry(number) {
            Entry::Vacant(place) => {
                place.insert(vote);
            }
            Entry::Occupied(first) => {
                let is_other = first.get().side != vote.side && asked.reading != Reading::Plain;
                let again = if is_other { &mut votes.contradicted } else { &mut votes.repeated };
                again.insert(number);
            }
        }
    }
    let outside = counted.outside.into_iter().map(|(number, vote)| (number, vote.side));
    let corrected = corrected(&votes.after);
    votes.settle(outside.chain(corrected));
    let is_nothing =
        votes.votes.is_empty() && votes.contradicted.is_empty() && votes.withdrawn.is_empty();
    match counted.disowned {
        Some(words) if is_nothing => Judgement::Disowned(words),
        _ if is_nothing => Judgement::Unparseable,
        _ => Judgement::Votes(votes),
    }
}

/// Reads the votes that sentences after a block give to decisions.
fn corrected(after: &str) -> impl Iterator<Item = (usize, Side)> + use<> {
    let id = |word: &str| numbered(word).map(|(number, _)| number);
    let found = corrections(after, id, &Side::BOTH.map(Side::token));
    found.into_iter().filter_map(|(number, token)| Some((number, Side::parse(token)?)))
}

/// Returns what these rules take for a vote.
fn form(policy: Policy) -> fn(&str) -> Option<(usize, JudgeVote)> {
    match policy {
        Policy::Seed => exact_vote,
        Policy::Safe => clear_vote,
    }
}

/// Warns of lines that a judge may have meant as votes on decisions that it cast none on.
pub fn near_votes(judge: &str, answer: &str, asked: Asked<'_>) -> Option<DesignWarning> {
    let Asked { on_ballot, policy, reading } = asked;
    let judgement = read(Some(answer), asked);
    let is_open = |number| on_ballot.contains(&number) && !judgement.settles(number);
    let lines = without_usage(answer, reading, |line| {
        let named = numbered(after_decoration(in_cell(line, reading)));
        named.is_some_and(|(number, _)| is_open(number))
            && (reading != Reading::Plain || form(policy)(line).is_none())
            && holds_one_of(line, &["THESIS", "ANTI_THESIS", "ANTITHESIS"])
    });
    (!lines.is_empty()).then(|| VoteOddity::Near { lines }.of(&format!("{judge} judge")))
}

impl Judgement {
    /// Returns the warnings to show for a judge.
    pub fn warnings(&self, judge: &str) -> Vec<DesignWarning> {
        let who = format!("{judge} judge");
        match self {
            Self::Ineligible => Vec::new(),
            Self::Unparseable => {
                vec![DebateWarning::JudgeUnreadable { judge: judge.to_owned() }.into()]
            }
            Self::Disowned(words) => vec![VoteOddity::Disowned { words: words.clone() }.of(&who)],
            Self::Votes(votes) => votes.oddities().into_iter().map(|odd| odd.of(&who)).collect(),
        }
    }

    /// Tells whether a decision needs no further vote: it has one, or contradictory ones.
    fn settles(&self, number: usize) -> bool {
        match self {
            Self::Votes(votes) => {
                votes.votes.contains_key(&number)
                    || votes.contradicted.contains(&number)
                    || votes.withdrawn.contains(&number)
            }
            Self::Ineligible | Self::Unparseable | Self::Disowned(_) => false,
        }
    }

    /// Returns the vote that counts on a decision.
    pub fn on(&self, number: usize) -> Option<&JudgeVote> {
        match self {
            Self::Votes(votes) => votes.votes.get(&number),
            Self::Ineligible | Self::Unparseable | Self::Disowned(_) => None,
        }
    }
}

/// Tells whether an answer has content, and does not begin with a report of failure.
fn is_answer(answer: &str) -> bool {
    let first = lines(answer).map(str::trim).find(|line| !line.is_empty());
    first.is_some_and(|line| line.strip_prefix("STATUS=").is_none_or(|status| status == "OK"))
}

/// Reads `DECISION_2: THESIS — because`. A word of the two without a dash behind it is no vote.
fn exact_vote(line: &str) -> Option<(usize, JudgeVote)> {
    let (number, rest) = numbered(unwrapped(line.trim()))?;
    let rest = rest.strip_prefix(':')?.trim_start();
    let end = rest.find(|c: char| c.is_whitespace() || c == '—').unwrap_or(rest.len());
    let (token, rest) = rest.split_at(end);
    // A hyphen without a blank before it is part of the token, and such a token is invalid.
    let rationale = rest.trim_start().strip_prefix(['—', '-'])?;
    Some((number, JudgeVote { side: Side::parse(token)?, rationale: quote::line(rationale) }))
}

/// Reads the same in a list, in bold, behind another dash or without a reason. A sentence is no vote.
fn clear_vote(line: &str) -> Option<(usize, JudgeVote)> {
    let line = unwrapped(without_mark(line.trim()));
    let (number, rest) = numbered(line.trim_start_matches(EMPHASIS))?;
    let rest = rest.trim_start_matches(EMPHASIS).trim_start().strip_prefix(':')?;
    let rest = rest.trim_start_matches(EMPHASIS).trim_start().trim_start_matches(EMPHASIS);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
    let (token, rest) = rest.split_at(end);
    let side = Side::parse(token.trim_end_matches('_'))?;
    let rationale = reason(rest.trim_start_matches(EMPHASIS))?;
    Some((number, JudgeVote { side, rationale: quote::line(rationale) }))
}

/// Splits `DECISION_2` off.
fn numbered(line: &str) -> Option<(usize, &str)> {
    const START: &str = "DECISION_";
    let (start, rest) = line.split_at_checked(START.len())?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(end);
    let number = digits.parse().ok().filter(|_| start.eq_ignore_ascii_case(START))?;
    Some((number, rest))
}

/// Counts the votes on a decision. A judge who abstained does not count, so of three votes two
/// decide, and of two both.
pub fn verdict(number: usize, judges: &[Judgement]) -> JudgesVerdict {
    let [thesis, antithesis] = votes_for(number, judges);
    let Some(side) = winner(thesis, antithesis) else {
        let votes = thesis + antithesis;
        return if quorum::is_enough(votes) {
            JudgesVerdict::Tie(thesis)
        } else {
            JudgesVerdict::TooFew(votes)
        };
    };
    let votes = judges.iter().filter_map(|judge| judge.on(number));
    let winning = votes.filter(|vote| vote.side == side && !vote.rationale.is_empty());
    let rationales = winning.map(|vote| vote.rationale.clone()).collect();
    JudgesVerdict::Won { side, thesis, antithesis, rationales }
}

/// Counts the votes on a decision: those for the chosen option, and those for the alternative.
pub(super) fn votes_for(number: usize, judges: &[Judgement]) -> [usize; 2] {
    let votes = || judges.iter().filter_map(|judge| judge.on(number));
    [Side::Thesis, Side::Antithesis].map(|side| votes().filter(|vote| vote.side == side).count())
}

/// Returns the side with more votes, if there are enough.
pub(super) const fn winner(thesis: usize, antithesis: usize) -> Option<Side> {
    let votes = thesis + antithesis;
    if !quorum::is_enough(votes) {
        None
    } else if thesis >= quorum::majority(votes) {
        Some(Side::Thesis)
    } else if antithesis >= quorum::majority(votes) {
        Some(Side::Antithesis)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::anonymity::Hidden;
    use super::super::debate::Defense;
    use super::super::decision::{self, Decision};
    use super::super::reading_order::ReadingOrder;
    use super::super::seat::Panel;
    use super::super::voting_block::MarkerWord;
    use super::*;
    use crate::design::render::sentence;

    fn shown<W: Into<DesignWarning>>(warnings: Vec<W>) -> Vec<String> {
        warnings.into_iter().map(sentence).collect()
    }

    fn defense(claim: &str) -> Defense {
        Defense {
            steelman: None,
            claim: claim.to_owned(),
            evidence: "See a.rs:1 there.".to_owned(),
            concession: "They have a point.".to_owned(),
            counter: "It is outweighed.".to_owned(),
            risk: "We would lose time.".to_owned(),
        }
    }

    fn decided(title: &str) -> Decision {
        Decision {
            title: title.to_owned(),
            chosen: "a client setting".to_owned(),
            alternative: "a worker setting".to_owned(),
            tension: "Cursor-Arch differs".to_owned(),
            impact: decision::Impact::High,
            affected: "a.rs".to_owned(),
            positions: None,
        }
    }

    fn on(numbers: &[usize]) -> BTreeSet<usize> {
        numbers.iter().copied().collect()
    }

    /// Reads an answer to a ballot on these decisions, without marker lines.
    fn read_plain(answer: Option<&str>, numbers: &[usize], policy: Policy) -> Judgement {
        read(answer, Asked { on_ballot: &on(numbers), policy, reading: Reading::Plain })
    }

    fn judged(answer: &str) -> Judgement {
        read_plain(Some(answer), &[1], Policy::Safe)
    }

    fn voted(answer: &str, policy: Policy) -> Vec<(usize, Side, String)> {
        let Judgement::Votes(found) = read_plain(Some(answer), &[1, 2, 3], policy) else {
            return Vec::new();
        };
        found.votes.into_iter().map(|(number, vote)| (number, vote.side, vote.rationale)).collect()
    }

    // P-221, P-222, P-223
    #[test]
    fn the_ballot_shows_both_cases() {
        let decisions = [decided("Cap"), decided("Name")];
        let defenses = [defense("It belongs to the client."), defense("The worker sees all.")];
        let contests = [
            Contest {
                number: 1,
                decision: &decisions[0],
                defenses: &defenses,
                looked_up: [None, None],
            },
            Contest {
                number: 2,
                decision: &decisions[1],
                defenses: &defenses,
                looked_up: [None, None],
            },
        ];
        let ballot = ballot(&contests, &Hidden::of(&Panel::default()), ReadingOrder::WRITTEN);
        let text = ballot.text.unwrap();
        assert!(text.starts_with("## Dialectic Ballot\n\n"), "{text}");
        let rest =
            "See a.rs:1 there.\n\nThey have a point.\n\nIt is outweighed.\n\nWe would lose time.";
        let expected = format!(
            "\n### DECISION_1: Cap\n\nVote `THESIS` for Defense A, or `ANTI_THESIS` for Defense B.\n\n\
             Defense A (defends a client setting):\n<defense_content>\n\
             It belongs to the client.\n\n{rest}\n</defense_content>\n\n\
             Defense B (defends a worker setting):\n<defense_content>\nThe worker sees all.\n\n{rest}\n\
             </defense_content>\n\n### DECISION_2: Name\n\n\
             Vote `THESIS` for Defense B, or `ANTI_THESIS` for Defense A.\n\n\
             Defense A (defends a worker setting):\n\
             <defense_content>\nThe worker sees all.\n\n{rest}\n</defense_content>\n\n\
             Defense B (defends a client setting):\n<defense_content>\nIt belongs to the client.\n\n{rest}\n\
             </defense_content>\n"
        );
        assert!(text.ends_with(&expected), "{text}");
        assert_eq!(ballot.numbers, on(&[1, 2]));
    }

    // P-222, N-9: the order follows the number, also when others are missing.
    #[test]
    fn the_first_place_changes_with_the_number() {
        let decision = decided("T");
        let defenses = [defense("One says so."), defense("Two says so.")];
        for number in [1, 2, 4, 5, 6] {
            let contest = Contest {
                number,
                decision: &decision,
                defenses: &defenses,
                looked_up: [None, None],
            };
            let (entry, _) =
                contest.entry(&Hidden::of(&Panel::default()), ReadingOrder::WRITTEN).unwrap();
            let first = entry.contains("Defense A (defends a client setting)");
            assert_eq!(first, number % 2 == 1, "{entry}");
        }
    }

    // P-219
    #[test]
    fn nothing_to_vote_on_is_no_ballot() {
        assert_eq!(
            ballot(&[], &Hidden::of(&Panel::default()), ReadingOrder::WRITTEN),
            Ballot::default()
        );
    }

    // P-224, P-225
    #[test]
    fn the_author_of_a_case_is_hidden() {
        let decisions = [decided("Let Claude do it"), decided("Path"), decided("Plain")];
        let named = [defense("I, CODEX, claim it."), defense("cursor would not.")];
        let path = [defense("See src/cursor.rs:1 for it."), defense("No, it is not.")];
        let plain = [defense("It is so."), defense("It is not.")];
        let contests = [
            Contest {
                number: 1,
                decision: &decisions[0],
                defenses: &named,
                looked_up: [None, None],
            },
            Contest {
                number: 2,
                decision: &decisions[1],
                defenses: &path,
                looked_up: [None, None],
            },
            Contest {
                number: 3,
                decision: &decisions[2],
                defenses: &plain,
                looked_up: [None, None],
            },
        ];
        let ballot = ballot(&contests, &Hidden::of(&Panel::default()), ReadingOrder::WRITTEN);
        let text = ballot.text.clone().unwrap();
        assert!(text.contains("\nSee src/cursor.rs:1 for it.\n"), "a path is evidence: {text}");
        let lower = text.to_lowercase().replace("src/cursor.rs", "");
        assert!(!["cursor", "codex", "claude"].iter().any(|name| lower.contains(name)), "{text}");
        assert!(text.contains("### DECISION_1: Let the tool do it\n"), "{text}");
        assert_eq!((ballot.renamed.as_slice(), &ballot.numbers), (&[1][..], &on(&[1, 2, 3])));
        assert_eq!(
            shown(ballot.warnings()),
            ["**⚠ An agent's name was replaced on the ballot of DECISION_1.**"]
        );
    }

    // P-227, P-228
    #[test]
    fn a_vote_is_a_number_a_token_and_a_reason() {
        use Side::{Antithesis, Thesis};
        for (line, expected) in [
            ("DECISION_1: THESIS — cites the owner", Some((1, Thesis, "cites the owner"))),
            (
                "**DECISION_2: ANTI_THESIS - parking keeps it**",
                Some((2, Antithesis, "parking keeps it")),
            ),
            ("  decision_3:anti_thesis—x ", Some((3, Antithesis, "x"))),
            ("__Decision_1: Thesis —__", Some((1, Thesis, ""))),
            ("DECISION_1: THESIS — not ANTI_THESIS — x", Some((1, Thesis, "not ANTI_THESIS — x"))),
            ("DECISION_1: THESIS", None),
            ("DECISION_1: THESIS because", None),
            ("DECISION_1: THESIS-x", None),
            ("DECISION_1: ANTITHESIS — x", None),
            ("DECISION_1: ABSTAIN — x", None),
            ("DECISION_9: THESIS — not on the ballot", None),
            ("DECISION_+1: THESIS — x", None),
            ("DECISION_99999999999999999999999: THESIS — x", None),
            ("I vote DECISION_1: THESIS — x", None),
            ("**DECISION_1**: THESIS — x", None),
        ] {
            let expected: Vec<_> =
                expected.map(|(n, side, why)| (n, side, why.to_owned())).into_iter().collect();
            assert_eq!(voted(line, Policy::Seed), expected, "{line}");
        }
    }

    // A near miss that counts as an abstention leads to a warning.
    #[test]
    fn a_line_that_looks_like_a_vote_gives_a_warning() {
        let near = |answer, policy| {
            let on_ballot = &on(&[1]);
            near_votes("Codex", answer, Asked { on_ballot, policy, reading: Reading::Plain })
        };
        let line = "- **DECISION_1**: **ANTI_THESIS** because";
        let warning =
            format!("**⚠ Codex judge: 1 line looks like a vote but does not count: \"{line}\"**");
        assert_eq!(near(line, Policy::Safe).map(sentence), Some(warning));
        let in_a_list = "- DECISION_1: THESIS — x";
        assert!(near(in_a_list, Policy::Seed).is_some());
        for answer in
            [in_a_list, "DECISION_1: THESIS\nDECISION_1 — THESIS, I say", "DECISION_2 — THESIS", ""]
        {
            assert_eq!(near(answer, Policy::Safe), None, "{answer}");
        }
    }

    // Judges who write as people do lose no vote under the safe rules, and a sentence is no vote.
    #[test]
    fn a_vote_that_can_mean_nothing_else_counts() {
        use Side::{Antithesis, Thesis};
        for (line, side, why) in [
            ("DECISION_1: THESIS — cites the owner", Thesis, "cites the owner"),
            ("- DECISION_1: THESIS — x", Thesis, "x"),
            ("2. **DECISION_1**: `ANTI_THESIS` – x", Antithesis, "x"),
            ("**DECISION_1:** __THESIS__ — x", Thesis, "x"),
            ("* **DECISION_1: ANTI_THESIS - x**", Antithesis, "x"),
            ("decision_1: thesis", Thesis, ""),
            ("DECISION_1: ANTI_THESIS: x — not THESIS", Antithesis, "x — not THESIS"),
        ] {
            assert_eq!(voted(line, Policy::Safe), [(1, side, why.to_owned())], "{line}");
        }
        for line in [
            "DECISION_1: THESIS because",
            "DECISION_1: THESIS|ANTI_THESIS — x",
            "DECISION_1: THESIS / ANTI_THESIS",
            "DECISION_1: THESIS-x",
            "DECISION_1: ANTITHESIS — x",
            "DECISION_1: ABSTAIN — x",
            "DECISION_9: THESIS — not on the ballot",
            "DECISION_: THESIS — x",
            "DECISION_99999999999999999999999: THESIS — x",
            "I vote DECISION_1: THESIS — x",
            "> DECISION_1: THESIS — x",
            "### DECISION_1: THESIS — a title",
        ] {
            assert_eq!(voted(line, Policy::Safe), [], "{line}");
        }
    }

    // P-228: the first valid vote counts; a decision without a vote is an abstention.
    #[test]
    fn the_first_valid_vote_counts() {
        let answer = "DECISION_1: MAYBE — x\nDECISION_1: THESIS — a\nDECISION_1: ANTI_THESIS — b\n\
                      DECISION_2: ANTI_THESIS — c\n";
        let judgement = read_plain(Some(answer), &[1, 2, 3], Policy::Seed);
        assert_eq!(
            voted(answer, Policy::Seed),
            [(1, Side::Thesis, "a".to_owned()), (2, Side::Antithesis, "c".to_owned())]
        );
        assert_eq!(
            shown(judgement.warnings("Codex")),
            ["**⚠ Codex judge voted on DECISION_1 twice; the first vote counts.**"]
        );
    }

    // P-227: a judge who votes both ways on one decision has not decided.
    #[test]
    fn both_votes_on_one_decision_are_an_abstention() {
        let word = MarkerWord::from_random(1);
        let asked = Asked {
            on_ballot: &on(&[1, 2]),
            policy: Policy::Safe,
            reading: Reading::Marked(&word),
        };
        let block = |votes: &str| format!("{}\n{votes}\n{}", word.begin(), word.end());
        let both = block(
            "DECISION_1: THESIS — a\nDECISION_1: ANTI_THESIS — b\nDECISION_2: THESIS — c\n\
             DECISION_2: THESIS — d",
        );
        let judgement = read(Some(&both), asked);
        assert_eq!(
            (judgement.on(1), judgement.on(2).map(|vote| vote.side)),
            (None, Some(Side::Thesis))
        );
        assert_eq!(
            shown(judgement.warnings("Codex")),
            [
                "**⚠ Codex judge voted on DECISION_2 twice; the first vote counts.**",
                "**⚠ Codex judge voted THESIS and ANTI_THESIS on DECISION_1; Convoke counts that as \
                 an abstention.**",
            ]
        );
        assert_eq!(near_votes("Codex", &both, asked), None);
        let blocks = [block("DECISION_1: THESIS — a"), block("DECISION_1: ANTI_THESIS — b")];
        for both in [blocks.join("\n"), block("DECISION_1: THESIS — no wait, ANTI_THESIS")] {
            assert_eq!(read(Some(&both), asked).on(1), None, "{both}");
            assert_eq!(read(Some(&both), asked).warnings("Codex").len(), 1);
        }
        let disowned = format!("The format is:\n{}", blocks[0]);
        assert_eq!(
            shown(read(Some(&disowned), asked).warnings("Codex")),
            ["**⚠ Codex judge disowned its block of votes (\"The format is:\"); Convoke does not \
                 count it.**"]
        );
        let outside = "DECISION_1: THESIS — a";
        assert_eq!(
            shown(read(Some(outside), asked).warnings("Codex")),
            ["**⚠ Codex judge answered without block: no votes between the marker lines. \
                 Convoke counted the votes in the rest of the answer.**"]
        );
    }

    // P-229, P-230
    #[test]
    fn a_failed_answer_has_no_votes() {
        let vote = "DECISION_1: THESIS — a";
        for answer in [None, Some(""), Some(" \n"), Some("\nSTATUS=FAILED\nDECISION_1: THESIS — a")]
        {
            let judgement = read_plain(answer, &[1], Policy::Safe);
            assert_eq!(judgement, Judgement::Ineligible, "{answer:?}");
            assert_eq!(shown(judgement.warnings("Cursor")), [""; 0]);
        }
        let ok = format!("STATUS=OK\n{vote}");
        assert!(matches!(judged(&ok), Judgement::Votes(_)));
        let judgement = judged("I like both");
        assert_eq!(
            shown(judgement.warnings("Cursor")),
            [
                "**⚠ Cursor judge output unparseable — treated as abstention for all decisions on this ballot.**"
            ]
        );
    }

    // P-232, P-220, P-227: a vote for the thesis supports the chosen option, in either position.
    #[test]
    fn two_of_three_or_two_of_two_decide() {
        let judge = |word: &str| match word {
            "x" => Judgement::Ineligible,
            "-" => judged("hm"),
            "T" => judged("DECISION_1: THESIS — t"),
            _ => judged("DECISION_1: ANTI_THESIS — a"),
        };
        for (words, expected) in [
            ("TTT", "THESIS 3-0"),
            ("TAT", "THESIS 2-1"),
            ("AAT", "ANTI_THESIS 1-2"),
            ("xTT", "THESIS 2-0"),
            ("-AA", "ANTI_THESIS 0-2"),
            ("xTA", "1-1 tie with 2 voters"),
            ("TATA", "2-2 tie with 4 voters"),
            ("xTATATA", "3-3 tie with 6 voters"),
            ("x-T", "1 judges eligible"),
            ("xxx", "0 judges eligible"),
            ("", "0 judges eligible"),
        ] {
            let judges: Vec<_> = words.chars().map(|c| judge(&c.to_string())).collect();
            let verdict = verdict(1, &judges);
            let said = match &verdict {
                JudgesVerdict::Won { side, thesis, antithesis, rationales } => {
                    assert_eq!(rationales.len(), *thesis.max(antithesis));
                    format!("{} {thesis}-{antithesis}", side.token())
                }
                JudgesVerdict::Tie(_) | JudgesVerdict::TooFew(_) => verdict.reason().unwrap(),
            };
            assert_eq!(said, expected, "{words}");
        }
    }

    proptest! {
        // No text of a debater can add a decision, a defence or a line outside of its own place.
        #[test]
        fn a_case_cannot_forge_the_ballot(
            text in "(\n|### DECISION_2: x|Defense A \\(defends x\\):|</defense_content>|<defense_content>|```|[a# ]){0,9}",
            wild in any::<String>(),
        ) {
            let decision = decided("T");
            for text in [text, wild] {
                let defenses = [defense(&text), defense("No, it is not.")];
                let contest = Contest { number: 1, decision: &decision, defenses: &defenses, looked_up: [None, None] };
                let Some(text) = ballot(&[contest], &Hidden::of(&Panel::default()), ReadingOrder::WRITTEN).text else { continue };
                let count = |start: &str| text.lines().filter(|line| line.trim_start().starts_with(start)).count();
                prop_assert_eq!(count("### "), 1);
                prop_assert_eq!(count("Defense "), 2);
                prop_assert_eq!((count("<defense_content>"), count("</defense_content>")), (2, 2));
            }
        }

        #[test]
        fn any_answer_is_judged(text in any::<String>(), line in "(\\*\\*)?(DECISION_)?[0-9]{0,2}:? ?(ANTI_)?(THESIS)? ?[—-]? ?[a-z]{0,3}(\\*\\*)?\n?") {
            let policies = [Policy::Safe, Policy::Seed];
            for (text, policy) in [text, line.repeat(3)].iter().flat_map(|text| policies.map(|policy| (text, policy))) {
                if let Judgement::Votes(votes) = read_plain(Some(text), &[1, 2], policy) {
                    prop_assert!(votes.votes.keys().all(|number| [1, 2].contains(number)));
                    prop_assert!(votes.votes.values().all(|vote| !vote.rationale.contains('\n')));
                }
            }
        }
    }

    #[test]
    fn many_votes_cost_their_number() {
        let numbers: BTreeSet<_> = (1..=100_000).collect();
        let lines: Vec<_> = numbers.iter().map(|n| format!("DECISION_{n}: THESIS — x\n")).collect();
        let word = MarkerWord::from_random(1);
        for reading in [Reading::Plain, Reading::Marked(&word)] {
            let asked = Asked { on_ballot: &numbers, policy: Policy::Safe, reading };
            let Judgement::Votes(found) = read(Some(&lines.concat()), asked) else { panic!() };
            assert_eq!(found.votes.len(), 100_000);
        }
    }
}
