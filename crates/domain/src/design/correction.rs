//! The text of voters and judges after their block, and votes that they change or withdraw there.
//!
//! A correction does not count, since it is not in the block; but the vote that it corrects is no
//! longer its writer's, so that it does not count either.

use super::afterthought::{self, without_quotations};

/// Words with which people correct a vote.
const CUES: [&str; 37] = [
    "correction",
    "corrected",
    "correcting",
    "change",
    "changed",
    "changing",
    "revise",
    "revised",
    "amend",
    "amended",
    "update",
    "switch",
    "misread",
    "misunderstood",
    "mistake",
    "mistaken",
    "mistyped",
    "typo",
    "meant",
    "instead",
    "replaces",
    "replace",
    "replaced",
    "sorry",
    "oops",
    "actually",
    "wait",
    "reconsidered",
    "korrektur",
    "statt",
    "stattdessen",
    "ändere",
    "pardon",
    "correctif",
    "corrijo",
    "corrección",
    "исправление",
];

/// Words between an item and the vote that a sentence gives it.
const LINKS: [&str; 27] = [
    "is", "be", "been", "should", "must", "to", "now", "becomes", "became", "read", "reads",
    "have", "has", "had", "as", "a", "an", "the", "vote", "gets", "my", "would", "ought", "rather",
    "sollte", "ist", "wird",
];

/// Finds the votes that sentences below a block give to items: `Correction: FINDING_4 should be NO`.
/// What only weighs (`FINDING_4 could have been NO`) gives none. `item` reads an id, and `tokens` are
/// the words of votes in capitals.
pub(super) fn corrections<I: Copy>(
    after: &str,
    item: impl Fn(&str) -> Option<I>,
    tokens: &[&'static str],
) -> Vec<(I, &'static str)> {
    let mut found = Vec::new();
    for sentence in sentences(after) {
        let said = without_quotations(sentence);
        let words: Vec<_> = afterthought::words(&said).into_iter().map(|said| said.word).collect();
        let is_corrected = words.iter().any(|word| CUES.contains(&word.to_lowercase().as_str()));
        let token = |word: &str| tokens.iter().copied().find(|token| *token == word);
        let items: Vec<_> =
            words.iter().enumerate().filter_map(|(at, word)| Some((at, item(word)?))).collect();
        for (place, (at, id)) in items.iter().enumerate() {
            let end = items.get(place + 1).map_or(words.len(), |(next, _)| *next);
            let behind = &words[at + 1..end];
            let links = behind.iter().take_while(|word| is_link(word)).count();
            // A line in the form of a vote is read elsewhere, with what introduces it.
            let is_said = links > 0 || *at > 0;
            let linked = behind.get(links).filter(|_| is_said).and_then(|word| token(word));
            let mut given: Vec<_> = linked.into_iter().collect();
            if is_corrected {
                given.extend(behind.iter().filter_map(|word| token(word)));
                if given.is_empty() {
                    given.extend(words[..*at].iter().filter_map(|word| token(word)));
                }
            }
            found.extend(given.into_iter().map(|token| (*id, token)));
        }
    }
    found
}

fn is_link(word: &str) -> bool {
    LINKS.contains(&word.to_lowercase().as_str())
}

/// Splits a text into sentences. A point within a word, as in `a.rs`, ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let clauses = text.split(['!', '?', '\n', ';', '\u{3002}', '\u{ff01}', '\u{ff1b}']);
    clauses.flat_map(|clause| clause.split(". "))
}

/// Tells whether a reason withdraws its own vote: `YES — I withdraw this vote`.
pub(super) fn is_withdrawn(reason: &str) -> bool {
    const VERBS: [&str; 20] = [
        "withdraw",
        "withdrawn",
        "withdrawing",
        "retract",
        "retracted",
        "revoke",
        "revoked",
        "rescind",
        "rescinded",
        "cancel",
        "cancelled",
        "void",
        "ignore",
        "disregard",
        "discard",
        "ziehe",
        "zurück",
        "retire",
        "retiro",
        "ritiro",
    ];
    const VOTES: [&str; 11] = [
        "this vote",
        "my vote",
        "that vote",
        "vote withdrawn",
        "vote is withdrawn",
        "diese stimme",
        "meine stimme",
        "ce vote",
        "mon vote",
        "este voto",
        "mi voto",
    ];
    const NEGATIONS: [&str; 6] = ["not", "never", "don't", "won't", "cannot", "nicht"];
    // Most reasons name no vote; leaving out quotations costs more than this check.
    let lower = reason.to_lowercase();
    if !VOTES.iter().any(|vote| lower.contains(vote)) {
        return false;
    }
    sentences(&without_quotations(reason)).any(|sentence| {
        let sentence = sentence.to_lowercase();
        let has = |words: &[&str]| {
            afterthought::words(&sentence).iter().any(|said| words.contains(&said.word))
        };
        VOTES.iter().any(|vote| sentence.contains(vote)) && has(&VERBS) && !has(&NEGATIONS)
    })
}

/// Tells whether words after votes say so much that they are worth showing.
pub(super) fn is_long(after: &str) -> bool {
    const SHORT: usize = 12;
    // Some scripts have no blanks between words.
    let wide = after.chars().filter(|c| *c >= '\u{2e80}').count() / 2;
    afterthought::words(after).len() + wide > SHORT
}

/// Tells whether words after votes mention a vote or an item.
pub(super) fn names_vote(after: &str) -> bool {
    const VOTES: [&str; 5] = ["YES", "NO", "EXONERATE", "THESIS", "ANTI_THESIS"];
    const IDS: [&str; 3] = ["FINDING_", "OOS_", "DECISION_"];
    afterthought::words(after).iter().any(|said| {
        let upper = said.word.to_ascii_uppercase();
        VOTES.contains(&said.word) || IDS.iter().any(|id| upper.starts_with(id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::render::sentence;
    use crate::design::warning::VoteOddity;

    fn given(after: &str) -> String {
        let item = |word: &str| word.strip_prefix("FINDING_")?.parse::<u32>().ok();
        let found = corrections(after, item, &["YES", "NO"]);
        found.iter().map(|(id, vote)| format!("{id}={vote}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_sentence_below_a_block_gives_a_vote_if_it_corrects_or_says_so() {
        for (after, expected) in [
            ("Correction: FINDING_4 should be NO.", "4=NO 4=NO"),
            ("FINDING_4 should have been NO.", "4=NO"),
            ("I change my vote to NO on FINDING_4.", "4=NO"),
            ("I misread it. Change FINDING_4 from YES to NO.", "4=YES 4=NO"),
            ("FINDING_4 is NO, and FINDING_5 is YES.", "4=NO 5=YES"),
            ("My vote on FINDING_4: NO.", "4=NO"),
            ("- FINDING_4: NO", ""),
            ("FINDING_4 could have been NO.", ""),
            ("FINDING_4 should not be NO.", ""),
            ("FINDING_4 touches a.rs, which has NO lock.", ""),
            ("Correction: it says \"FINDING_4 should be NO\".", ""),
            ("I hope this helps!", ""),
        ] {
            assert_eq!(given(after), expected, "{after}");
        }
    }

    #[test]
    fn a_reason_withdraws_its_own_vote_and_nothing_else() {
        for reason in ["I withdraw this vote", "sorry. My vote is withdrawn.", "je retire mon vote"]
        {
            assert!(is_withdrawn(reason), "{reason}");
        }
        for reason in [
            "users cannot withdraw a vote",
            "we must drop the block cache",
            "I will not withdraw this vote",
            "it says \"I withdraw this vote\"",
        ] {
            assert!(!is_withdrawn(reason), "{reason}");
        }
    }

    #[test]
    fn a_short_friendly_line_after_the_votes_gives_no_warning() {
        for after in ["", "I hope this helps!", "谢谢。", "Let me know if you need more detail."]
        {
            assert!(!is_long(after) && !names_vote(after), "{after}");
        }
        let shown = |words: &str| {
            sentence(VoteOddity::AfterThem { words: words.to_owned() }.of("Codex voter"))
        };
        assert!(names_vote("On reflection NO.") && names_vote("See finding_4 again."));
        assert_eq!(
            shown("On reflection NO."),
            "**⚠ Codex voter wrote after its votes: \"On reflection NO.\"**"
        );
        let long = "word ".repeat(100);
        assert!(is_long(&long) && !names_vote(&long), "it is only shown");
        let long = shown(&long);
        assert!(long.chars().count() < 220 && long.contains('\u{2026}'), "{long}");
    }
}
