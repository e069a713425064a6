//! Votes that are taken back in their own reason: `YES — no wait, NO`.

use super::quote::EMPHASIS;

/// A word of a reason, with the punctuation around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said<'r> {
    /// The word, without marks around it.
    pub(super) word: &'r str,
    /// The word before it, likewise; empty at the beginning.
    pub(super) before: &'r str,
    /// Whether punctuation separates the word from the one before it.
    pub(super) is_set_off: bool,
    /// Whether punctuation follows, or nothing.
    pub(super) is_last: bool,
}

/// Leaves out quotations of several words: what a text says is not what the voter says.
pub(super) fn without_quotations(reason: &str) -> String {
    // A mark without its other half must not cost a search through the whole answer.
    const LONGEST: usize = 500;
    let mut said = String::new();
    let mut rest = reason;
    while let Some(at) = rest.find(['"', '`', '\u{201c}', '\u{201e}']) {
        let (before, marked) = rest.split_at(at);
        said.push_str(before);
        let Some(open) = marked.chars().next() else { break };
        let close = match open {
            '\u{201c}' => '\u{201d}',
            '\u{201e}' => '\u{201c}',
            same => same,
        };
        let quoted = &marked[open.len_utf8()..];
        let end = quoted[..quoted.floor_char_boundary(LONGEST)].find(close);
        let Some(end) = end.filter(|end| quoted[..*end].trim().contains(' ')) else {
            said.push(open);
            rest = quoted;
            continue;
        };
        said.push('\u{2026}');
        rest = &quoted[end + close.len_utf8()..];
    }
    said + rest
}

/// Splits a reason into words. A hyphen within a word belongs to it: `NO-OP` is another word than
/// `NO`.
pub(super) fn words(reason: &str) -> Vec<Said<'_>> {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, ',' | ';' | ':' | '!' | '?' | '\u{2014}' | '\u{2013}')
            || matches!(
                c,
                '\u{3001}' | '\u{3002}' | '\u{ff0c}' | '\u{ff1b}' | '\u{ff1a}' | '\u{ff01}'
            )
    };
    let is_mark = |c: char| !c.is_alphanumeric();
    let breaks = |marks: &str| marks.trim().contains(|c: char| !EMPHASIS.contains(&c));
    let mut words: Vec<Said<'_>> = Vec::new();
    for piece in reason.split_inclusive(ends) {
        let word = piece.trim_matches(is_mark);
        let marks =
            if word.is_empty() { piece } else { &piece.trim_start_matches(is_mark)[word.len()..] };
        let is_broken_off = breaks(marks);
        let last = words.last_mut();
        if word.is_empty() {
            if let Some(last) = last {
                last.is_last |= is_broken_off;
            }
            continue;
        }
        let (before, is_set_off) = last.map_or(("", false), |last| (last.word, last.is_last));
        words.push(Said { word, before, is_set_off, is_last: is_broken_off });
    }
    if let Some(last) = words.last_mut() {
        last.is_last = true;
    }
    words
}

/// Words with which people correct themselves, in the languages that agents answer in.
const CORRECTIONS: [&str; 24] = [
    "wait",
    "actually",
    "sorry",
    "rather",
    "correction",
    "no",
    "instead",
    "mean",
    "oops",
    "nein",
    "doch",
    "moment",
    "eigentlich",
    "korrektur",
    "sondern",
    "attends",
    "pardon",
    "plutôt",
    "espera",
    "perdón",
    "mejor",
    "anzi",
    "нет",
    "точнее",
];

/// Tells whether a writer corrects itself with a word in capitals. The name of a side also belongs to
/// ordinary reasons (`better shown than ANTI_THESIS.`), so its place is not enough: words of
/// correction come before it, it ends the reason and is set off from what comes before, or the reason
/// sides with it.
pub(super) fn is_correction(reason: &str, other: &str) -> bool {
    if !reason.contains(other) {
        return false;
    }
    let said = without_quotations(reason);
    let words = words(&said);
    let count = words.len();
    let is_sided = sides_with(&words, other);
    let mut places = words.into_iter().enumerate();
    is_sided
        || places.any(|(place, said)| {
            let before = said.before.to_lowercase();
            let is_corrected = CORRECTIONS.contains(&before.as_str());
            let is_end = said.is_set_off && place + 1 == count;
            said.word == other && said.is_last && (is_corrected || is_end)
        })
}

/// Tells whether the words of a reason side with another vote than its own: `the ANTI_THESIS is
/// right, so I take it`. A concession (`ANTI_THESIS is right about the cost`) does not.
pub(super) fn sides_with(words: &[Said<'_>], other: &str) -> bool {
    const LINKS: [&str; 4] = ["is", "was", "seems", "looks"];
    const PRAISE: [&str; 8] =
        ["right", "correct", "better", "stronger", "preferable", "convincing", "best", "true"];
    const TAKEN: [&str; 10] =
        ["take", "choose", "pick", "prefer", "support", "adopt", "favour", "favor", "for", "with"];
    const BUTS: [&str; 11] = [
        "but", "yet", "though", "although", "however", "only", "if", "when", "unless", "while",
        "were",
    ];
    let lower = |place: usize| words.get(place).map(|said| said.word.to_lowercase());
    let is = |place: usize, list: &[&str]| {
        lower(place).is_some_and(|word| list.contains(&word.as_str()))
    };
    let has_but = (0..words.len()).any(|place| is(place, &BUTS));
    let named = (0..words.len()).filter(|place| words[*place].word == other);
    let mut sided = named.filter(|&place| {
        let is_praised = is(place + 1, &LINKS)
            && is(place + 2, &PRAISE)
            && words.get(place + 2).is_some_and(|said| said.is_last);
        let verb = place
            .checked_sub(1)
            .map(|before| before - usize::from(is(before, &["the"]) && before > 0));
        let is_first_person = |verb: usize| {
            (verb.saturating_sub(2)..verb).any(|place| is(place, &["i", "we", "i'd"]))
        };
        let is_taken = verb.is_some_and(|verb| is(verb, &TAKEN) && is_first_person(verb));
        is_praised || is_taken
    });
    !has_but && sided.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_taken_apart_into_words() {
        let last = |reason| {
            let words = words(reason);
            let last = words.into_iter().filter(|said| said.is_last).map(|said| said.word);
            last.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(last("no wait, NO"), "wait NO");
        assert_eq!(last("no wait\u{2014}**NO**"), "wait NO");
        assert_eq!(last("hm,NO. It is"), "hm NO is");
        assert_eq!(last("(actually NO)"), "NO");
        assert_eq!(last("there is NO lock"), "lock");
        assert_eq!(last("a NO-OP, `NO_COLOR` is - NO"), "NO-OP is NO");
        assert_eq!(last(""), "");
    }

    #[test]
    fn a_quotation_of_several_words_is_left_out() {
        for (reason, said) in [
            ("it says \"wait, NO\", which", "it says \u{2026}, which"),
            ("`a NO` and \u{201e}b NO\u{201c}.", "\u{2026} and \u{2026}."),
            ("wait, \"NO\"", "wait, \"NO\""),
            ("5\" of NO", "5\" of NO"),
        ] {
            assert_eq!(without_quotations(reason), said);
        }
    }

    #[test]
    fn a_reason_may_side_with_the_other_vote() {
        for (reason, expected) in [
            ("the ANTI_THESIS is right, so I take it", true),
            ("I prefer the ANTI_THESIS here", true),
            ("on balance I go with ANTI_THESIS", true),
            ("ANTI_THESIS is right about the cost", false),
            ("ANTI_THESIS is right, but slow", false),
            ("better shown than ANTI_THESIS", false),
            ("\"ANTI_THESIS is right, so\" is all it says", false),
        ] {
            assert_eq!(is_correction(reason, "ANTI_THESIS"), expected, "{reason}");
        }
    }

    #[test]
    fn a_side_is_named_in_many_reasons_and_a_correction_in_few() {
        for (reason, expected) in [
            ("no wait, ANTI_THESIS", true),
            ("sorry, ANTI_THESIS \u{2014} it cites the owner", true),
            ("Moment, doch ANTI_THESIS.", true),
            ("better shown than ANTI_THESIS.", false),
            ("ANTI_THESIS, though safer, is slow", false),
            ("cheaper; ANTI_THESIS, though safer, is slow", false),
        ] {
            assert_eq!(is_correction(reason, "ANTI_THESIS"), expected, "{reason}");
        }
    }
}
