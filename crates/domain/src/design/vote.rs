//! Parses a voter's answer into votes.
//!
//! A vote is a line that begins with an id and has one of three words directly behind the colon.
//! Later words in the line cannot change it, and a line that is not exactly a vote does not count:
//! a person notices an abstention, but not a guessed vote. [`voting_block`](super::voting_block)
//! decides which lines of an answer count.

use std::collections::{BTreeMap, BTreeSet};

use super::afterthought;
use super::correction::{corrections, is_withdrawn};
use super::finding::FindingId;
use super::quote::{self, EMPHASIS, after_list_mark};
use super::voting_block::{Counted, Form, Reading, counted, without_usage};

/// A voter's vote on one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// Do it; for an item out of scope, file it.
    Yes,
    /// Leave it.
    No,
    /// A fair concern, but not now.
    Exonerate,
}

impl Vote {
    /// All votes.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Exonerate];

    /// Returns the word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "YES",
            Self::No => "NO",
            Self::Exonerate => "EXONERATE",
        }
    }
}

/// A vote, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    /// The cast vote.
    pub vote: Vote,
    /// The reason on one line; may be empty.
    pub reason: String,
}

impl Cast {
    /// Returns the other vote that the reason ends or breaks off with: `YES — no wait, NO`. Within a
    /// sentence the word is only a word: `YES — there is NO lock`.
    /// Neither a quotation nor a vote on another item changes this one.
    fn other(&self, id: FindingId) -> Option<Vote> {
        let said = afterthought::without_quotations(&self.reason);
        let is_elsewhere = |before| FindingId::split(before).is_some_and(|(named, _)| named != id);
        let words = afterthought::words(&said);
        let last = words.iter().filter(|said| said.is_last && !is_elsewhere(said.before));
        let votes = last.map(|said| Vote::ALL.into_iter().find(|vote| vote.word() == said.word));
        let mut others = Vote::ALL.into_iter().filter(|vote| *vote != self.vote);
        votes
            .flatten()
            .find(|vote| *vote != self.vote)
            .or_else(|| others.find(|vote| afterthought::sides_with(&words, vote.word())))
    }
}

/// All votes of one voter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Votes {
    /// One for each item, sorted.
    cast: Vec<(FindingId, Cast)>,
    /// Items that were voted on again; the first vote counts.
    pub repeated: Vec<FindingId>,
    /// Items with contradictory votes, none of which counts; with the first two.
    pub contradicted: BTreeMap<FindingId, [Vote; 2]>,
    /// The form of the answer.
    pub form: Form,
    /// The words with which the voter disowns its block of votes, so that the block does not count.
    pub disowned: Option<String>,
    /// Items on which the voter withdraws its vote in the reason.
    pub withdrawn: BTreeSet<FindingId>,
    /// The voter's text after its block.
    pub after: String,
}

impl Votes {
    /// Reads a voter's answer. An answer without a single vote is an abstention on everything. Two
    /// different votes on one item are one, too; only the original takes the first of them.
    pub fn parse(answer: &str, reading: Reading<'_>) -> Self {
        let mut counted = counted(answer, reading, vote_line);
        let mut cast = std::mem::take(&mut counted.votes);
        // Votes on one item stay in their order.
        cast.sort_by_key(|(id, _)| *id);
        let (mut repeated, mut contradicted) = (Vec::new(), BTreeMap::new());
        let mut withdrawn = BTreeSet::new();
        if reading != Reading::Plain {
            let changed =
                cast.iter().filter_map(|(id, cast)| Some((*id, [cast.vote, cast.other(*id)?])));
            contradicted.extend(changed);
            let taken = cast.iter().filter(|(_, cast)| is_withdrawn(&cast.reason));
            withdrawn.extend(taken.map(|(id, _)| *id));
        }
        cast.dedup_by(|(again, other), (id, cast)| {
            let is_again = again == id;
            let is_other = other.vote != cast.vote && reading != Reading::Plain;
            if is_again && is_other {
                contradicted.entry(*id).or_insert([cast.vote, other.vote]);
            } else if is_again {
                repeated.push(*id);
            }
            is_again
        });
        let outside =
            std::mem::take(&mut counted.outside).into_iter().map(|(id, cast)| (id, cast.vote));
        for (id, other) in outside.chain(corrected(&counted.after)) {
            let place = cast.binary_search_by_key(&id, |(id, _)| *id).ok();
            let inside = place.map(|place| cast[place].1.vote);
            if let Some(inside) = inside.filter(|inside| *inside != other) {
                contradicted.entry(id).or_insert([inside, other]);
            }
        }
        withdrawn.retain(|id| !contradicted.contains_key(id));
        let is_open = |id: &FindingId| !contradicted.contains_key(id) && !withdrawn.contains(id);
        cast.retain(|(id, _)| is_open(id));
        repeated.retain(is_open);
        let Counted { form, disowned, after, .. } = counted;
        Self { cast, repeated, contradicted, form, disowned, withdrawn, after }
    }

    /// Returns the vote on an item; none is an abstention.
    pub fn on(&self, id: FindingId) -> Option<&Cast> {
        let place = self.cast.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.cast.get(place).map(|(_, cast)| cast)
    }

    /// Returns the reasons of all votes that count.
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.cast.iter().map(|(_, cast)| cast.reason.as_str())
    }

    /// Returns the votes on several items. For ids in ballot order, each search continues behind
    /// the last match; only other orders search from the start.
    pub fn on_each(
        &self,
        ids: impl Iterator<Item = FindingId>,
    ) -> impl Iterator<Item = Option<&Cast>> {
        let mut next = 0;
        ids.map(move |id| {
            if self.cast.get(next).is_none_or(|(voted, _)| *voted != id) {
                next = self.cast.partition_point(|(voted, _)| *voted < id);
            }
            let (found, cast) = self.cast.get(next)?;
            (*found == id).then(|| {
                next += 1;
                cast
            })
        })
    }

    /// Tells whether the voter voted on an item in a way that counts for nothing.
    fn is_withheld(&self, id: FindingId) -> bool {
        self.contradicted.contains_key(&id) || self.withdrawn.contains(&id)
    }

    /// Tells whether there are no votes.
    pub fn is_empty(&self) -> bool {
        self.cast.is_empty()
    }
}

/// Finds lines that a voter may have meant as votes: they begin with the id of an item that it cast
/// no vote on, and hold one of the words, but do not count. Convoke does not guess what they mean; a
/// warning shows them.
pub fn near_votes(
    answer: &str,
    reading: Reading<'_>,
    on_ballot: impl Iterator<Item = FindingId>,
) -> Vec<String> {
    let votes = Votes::parse(answer, reading);
    let is_settled = |id| votes.on(id).is_some() || votes.is_withheld(id);
    let open: BTreeSet<_> = on_ballot.filter(|id| !is_settled(*id)).collect();
    without_usage(answer, reading, |line| {
        let named = FindingId::split(after_decoration(in_cell(line, reading)));
        named.is_some_and(|(id, _)| open.contains(&id))
            && (reading != Reading::Plain || vote_line(line).is_none())
            && holds_one_of(line, &Vote::ALL.map(Vote::word))
    })
}

/// Passes over the edge of a table's cell and quotation marks, which a vote cannot begin with.
pub(super) fn in_cell<'l>(line: &'l str, reading: Reading<'_>) -> &'l str {
    let edges = |c: char| c.is_whitespace() || "|\"'\u{201c}\u{201e}\u{ab}".contains(c);
    if reading == Reading::Plain { line } else { line.trim_start_matches(edges) }
}

/// Skips decoration before an id: marks of headings, quotations and lists, emphasis.
pub(super) fn after_decoration(line: &str) -> &str {
    let decoration = |c: char| c.is_whitespace() || EMPHASIS.contains(&c) || "#>[(".contains(c);
    without_mark(line.trim_start_matches(decoration)).trim_start_matches(decoration)
}

/// Tells whether a line holds one of these words, whole and in any case.
pub(super) fn holds_one_of(line: &str, words: &[&str]) -> bool {
    let mut held = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    held.any(|held| words.iter().any(|word| word.eq_ignore_ascii_case(held.trim_matches('_'))))
}

/// Reads `FINDING_1: YES — because`. The reason may be left out.
fn vote_line(line: &str) -> Option<(FindingId, Cast)> {
    let line = unwrapped(without_mark(line.trim()));
    let (id, rest) = FindingId::split(line.trim_start_matches(EMPHASIS))?;
    let rest = rest.trim_start_matches(EMPHASIS).trim_start().strip_prefix(':')?;
    let rest = rest.trim_start_matches(EMPHASIS).trim_start().trim_start_matches(EMPHASIS);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, rest) = rest.split_at(end);
    let vote = Vote::ALL.into_iter().find(|vote| vote.word().eq_ignore_ascii_case(word))?;
    let reason = reason(rest.trim_start_matches(EMPHASIS))?;
    Some((id, Cast { vote, reason: quote::line(reason) }))
}

/// Reads the votes that sentences after a block give to items.
fn corrected(after: &str) -> impl Iterator<Item = (FindingId, Vote)> {
    let id = |word: &str| FindingId::split(word).map(|(id, _)| id);
    let found = corrections(after, id, &Vote::ALL.map(Vote::word));
    found.into_iter().filter_map(|(id, word)| {
        Some((id, Vote::ALL.into_iter().find(|vote| vote.word() == word)?))
    })
}

/// Takes off the mark of a list.
pub(super) fn without_mark(line: &str) -> &str {
    after_list_mark(line).unwrap_or(line).trim_start()
}

/// Takes off a pair of marks around the whole line.
pub(super) fn unwrapped(line: &str) -> &str {
    let pair = |mark: &str| line.strip_prefix(mark)?.strip_suffix(mark);
    pair("**").or_else(|| pair("__")).map_or(line, str::trim)
}

/// Splits off the separator between a vote and its reason. Words without a separator would make a
/// sentence, such as `NO objection to this`, and a sentence is not a vote.
pub(super) fn reason(rest: &str) -> Option<&str> {
    let trimmed = rest.trim_start();
    let dashes = |text: &str| text.trim_start_matches(['\u{2014}', '\u{2013}', '-']).len();
    if trimmed.is_empty() || trimmed == "." {
        return Some("");
    }
    if trimmed.starts_with(['\u{2014}', '\u{2013}', ':', '(']) {
        return Some(trimmed.trim_start_matches(['\u{2014}', '\u{2013}', ':', '-', ' ']));
    }
    // A hyphen needs a blank before it; `NO-BRAINER` is a word.
    let hyphen = trimmed.starts_with('-') && rest.starts_with(char::is_whitespace);
    hyphen.then(|| &trimmed[trimmed.len() - dashes(trimmed)..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::finding::FindingScope::{In, Out};
    use super::super::voting_block::MarkerWord;
    use super::*;
    use crate::design::render::sentence;
    use crate::design::warning::VoteOddity;

    // P-269: a fence beside votes holds an example; one around all of them is only how they came.
    #[test]
    fn votes_may_all_stand_in_a_fence() {
        let answer = |text: &str| {
            let votes = Votes::parse(text, Reading::Plain);
            [1, 2].map(|number| votes.on(FindingId { scope: In, number }).map(|cast| cast.vote))
        };
        let fenced = "My votes:\n```\nFINDING_1: YES — a\nFINDING_2: NO — b\n```\n";
        assert_eq!(answer(fenced), [Some(Vote::Yes), Some(Vote::No)]);
        let example = "```\nFINDING_2: NO — so\n```\nFINDING_1: YES — a\n";
        assert_eq!(answer(example), [Some(Vote::Yes), None]);
    }

    fn read(line: &str) -> Option<(String, Vote, String)> {
        vote_line(line).map(|(id, cast)| (id.to_string(), cast.vote, cast.reason))
    }

    // P-268, P-270, N-8
    #[test]
    fn a_vote_is_an_id_a_colon_and_a_word() {
        for (line, id, vote, reason) in [
            (
                "FINDING_1: YES \u{2014} zero is reachable",
                "FINDING_1",
                Vote::Yes,
                "zero is reachable",
            ),
            ("OOS_2: EXONERATE\u{2014}fair", "OOS_2", Vote::Exonerate, "fair"),
            ("finding_3:no - wrong", "FINDING_3", Vote::No, "wrong"),
            ("  FINDING_1: YES", "FINDING_1", Vote::Yes, ""),
            ("**FINDING_1: NO \u{2014} wrong**", "FINDING_1", Vote::No, "wrong"),
            ("__FINDING_1: NO__", "FINDING_1", Vote::No, ""),
            ("- **FINDING_1**: **YES** \u{2014} right", "FINDING_1", Vote::Yes, "right"),
            ("1. FINDING_1: NO \u{2014} wrong", "FINDING_1", Vote::No, "wrong"),
            ("FINDING_1: `NO`: wrong", "FINDING_1", Vote::No, "wrong"),
            ("FINDING_1: NO \u{2014} rather EXONERATE", "FINDING_1", Vote::No, "rather EXONERATE"),
            ("FINDING_1: YES \u{2014} FINDING_2: NO", "FINDING_1", Vote::Yes, "FINDING_2: NO"),
        ] {
            assert_eq!(read(line), Some((id.to_owned(), vote, reason.to_owned())), "{line}");
        }
    }

    // P-270
    #[test]
    fn a_line_that_is_not_quite_a_vote_does_not_count() {
        for line in [
            "",
            "FINDING_1",
            "FINDING_1 YES",
            "FINDING_1: MAYBE \u{2014} YES",
            "FINDING_1: YESTERDAY",
            "FINDING_1: NO-BRAINER",
            "FINDING_1: YES|NO|EXONERATE \u{2014} <reason>",
            "FINDING_1: <YES>",
            "FINDING_1: No objection to this",
            "FINDING_1: YES or NO",
            "I vote FINDING_1: YES",
            "### FINDING_1: YES \u{2014} a title",
            "> FINDING_1: YES",
            "DECISION_1: YES",
            "FINDING_X: YES",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    // P-269, P-270
    #[test]
    fn the_first_valid_vote_counts_and_a_missing_one_is_an_abstention() {
        let answer = "My votes:\nFINDING_1: perhaps\nFINDING_1: NO \u{2014} a\nFINDING_1: YES \u{2014} b\nOOS_1: YES\n";
        let votes = Votes::parse(answer, Reading::Plain);
        let id = |scope, number| FindingId { scope, number };
        assert_eq!(votes.on(id(In, 1)).map(|cast| cast.vote), Some(Vote::No));
        assert_eq!(votes.on(id(Out, 1)).map(|cast| cast.vote), Some(Vote::Yes));
        assert_eq!(votes.on(id(In, 2)), None);
        assert_eq!(votes.repeated, [id(In, 1)]);
        assert!(Votes::parse("I abstain from all of it: YES, NO.", Reading::Plain).is_empty());
    }

    // Two different votes are no vote; only the original takes the first one.
    #[test]
    fn different_votes_on_one_item_are_an_abstention() {
        let word = MarkerWord::from_random(1);
        let id = |number| FindingId { scope: In, number };
        let votes = "FINDING_1: NO — a\nFINDING_2: NO — b\nFINDING_1: YES — c\nFINDING_2: NO — d\n\
                     FINDING_1: NO — e\n";
        for answer in [votes.to_owned(), format!("{}\n{votes}{}", word.begin(), word.end())] {
            let read = Votes::parse(&answer, Reading::Marked(&word));
            assert_eq!(read.on(id(1)), None);
            assert_eq!(read.contradicted, [(id(1), [Vote::No, Vote::Yes])].into());
            let second = read.on(id(2)).map(|cast| (cast.vote, cast.reason.as_str()));
            assert_eq!((second, &read.repeated), (Some((Vote::No, "b")), &vec![id(2)]));
            let near = near_votes(&answer, Reading::Marked(&word), [id(1), id(2)].into_iter());
            assert_eq!(near, [""; 0]);
        }
        let plain = Votes::parse(votes, Reading::Plain);
        assert_eq!(plain.on(id(1)).map(|cast| cast.vote), Some(Vote::No));
    }

    // A word of a vote that ends a reason, or breaks it off, is a second vote.
    #[test]
    fn a_vote_that_its_reason_takes_back_is_an_abstention() {
        let word = MarkerWord::from_random(1);
        let id = FindingId { scope: In, number: 1 };
        let read = |line: &str| {
            let votes = Votes::parse(line, Reading::Marked(&word));
            (votes.on(id).map(|cast| cast.vote), votes.contradicted.get(&id).copied())
        };
        for line in [
            "FINDING_1: YES \u{2014} no wait, NO",
            "FINDING_1: YES \u{2014} hm\u{2014}**NO**.",
            "FINDING_1: YES (actually NO)",
            "FINDING_1: YES \u{2014} doch NO, es fehlt nichts",
        ] {
            assert_eq!(read(line), (None, Some([Vote::Yes, Vote::No])), "{line}");
        }
        for line in [
            "FINDING_1: YES \u{2014} there is NO lock here",
            "FINDING_1: YES \u{2014} a NO-OP.",
            "FINDING_1: YES \u{2014} no.",
            "FINDING_1: YES \u{2014} as said: YES.",
        ] {
            assert_eq!(read(line), (Some(Vote::Yes), None), "{line}");
        }
        let votes = Votes::parse("FINDING_1: YES \u{2014} no wait, NO", Reading::Plain);
        assert_eq!(votes.on(id).map(|cast| cast.vote), Some(Vote::Yes));
    }

    // A near miss that counts as an abstention leads to a warning; a voter whose votes count gets
    // none.
    #[test]
    fn lines_that_look_like_votes_are_found() {
        let ballot = || [(In, 1), (In, 2), (In, 3), (Out, 1)].into_iter();
        let near = |answer: &str| {
            let ids = ballot().map(|(scope, number)| FindingId { scope, number });
            near_votes(answer, Reading::Plain, ids)
        };
        for line in [
            "FINDING_3 \u{2014} YES",
            "### FINDING_2: NO",
            "OOS_1: YES, because",
            "- **FINDING_1** is a clear exonerate",
            "> FINDING_1: YES",
            "__FINDING_1__ (YES)",
        ] {
            assert_eq!(near(line), [line]);
            assert_eq!(near(&format!("```\n{line}\n```")), [line]);
        }
        for answer in [
            "FINDING_3: YES",
            "FINDING_3: YES\nFINDING_3 is a YES because",
            "FINDING_9 \u{2014} YES",
            "FINDING_1 is about yesterday",
            "I say YES to FINDING_1",
            "",
        ] {
            assert_eq!(near(answer), [""; 0], "{answer}");
        }
    }

    #[test]
    fn of_many_lines_a_few_are_shown() {
        let lines =
            |count: usize| vec![format!("FINDING_1 \u{2014} YES {}", "x".repeat(99)); count];
        let shown = |lines| sentence(VoteOddity::Near { lines }.of("Codex voter"));
        let one = shown(vec!["OOS_1 \"YES\"".to_owned()]);
        assert_eq!(
            one,
            "**⚠ Codex voter: 1 line looks like a vote but does not count: \"OOS_1 'YES'\"**"
        );
        let many = shown(lines(1000));
        assert!(many.contains(": 1000 lines look like votes but do not count: "), "{many}");
        assert!(many.chars().count() < 300, "{many}");
    }

    #[test]
    fn a_hundred_thousand_votes_are_read() {
        let votes: Vec<_> = (1..=100_000).map(|n| format!("FINDING_{n}: YES")).collect();
        let answer = votes.join("\n");
        let word = MarkerWord::from_random(1);
        for reading in [Reading::Plain, Reading::Marked(&word)] {
            assert_eq!(Votes::parse(&answer, reading).cast.len(), 100_000);
        }
    }

    proptest! {
        // P-270: no reason can turn a vote into another one.
        #[test]
        fn a_reason_cannot_change_a_vote(which in 0..3_usize, reason in "[^\n\r]{0,40}") {
            let vote = Vote::ALL[which];
            let line = format!("FINDING_7: {} \u{2014} {reason}", vote.word());
            prop_assert_eq!(read(&line).map(|(_, vote, _)| vote), Some(vote));
        }

        // For any order of ids, the result is the same as for each id alone.
        #[test]
        fn votes_are_found_in_any_order(cast in "[1-9]{0,9}", asked in "[1-9]{0,9}") {
            let id = |digit: char| FindingId { scope: In, number: digit.to_digit(10).unwrap() };
            let lines: Vec<_> = cast.chars().map(|digit| format!("FINDING_{digit}: YES \u{2014} {digit}")).collect();
            let votes = Votes::parse(&lines.join("\n"), Reading::Plain);
            let found: Vec<_> = votes.on_each(asked.chars().map(id)).collect();
            let alone: Vec<_> = asked.chars().map(|digit| votes.on(id(digit))).collect();
            prop_assert_eq!(&found, &alone);
            for (digit, vote) in asked.chars().zip(found) {
                let reason = cast.contains(digit).then(|| digit.to_string());
                prop_assert_eq!(vote.map(|vote| vote.reason.clone()), reason);
            }
        }

        #[test]
        fn any_answer_can_be_read(answer in "((FINDING|OOS)_[0-9]|[:*_`\u{2014} -]|YES|NO|\n|[a-z]{0,3}){0,20}|\\PC*") {
            let votes = Votes::parse(&answer, Reading::Plain);
            prop_assert!(votes.cast.len() + votes.repeated.len() <= answer.lines().count());
            let first = FindingId { scope: In, number: 1 };
            let near = near_votes(&answer, Reading::Plain, std::iter::once(first));
            prop_assert!(near.is_empty() || votes.on(first).is_none());
            sentence(VoteOddity::Near { lines: near }.of("Codex voter"));
        }
    }
}
