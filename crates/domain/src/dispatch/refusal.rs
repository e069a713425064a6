//! A reviewer's words that refuse an approval, or make it conditional.

/// Words that refuse an approval anywhere in a review, unless the program under review is its
/// subject. The list cannot be complete: it only turns approvals into questions.
const REFUSALS: [&str; 112] = [
    "not approve",
    "n't approve",
    "cannot approve",
    "not approving",
    "not be approved",
    "unable to approve",
    "disapprove",
    "i reject",
    "reject this",
    "verdict: reject",
    "decision: reject",
    "rejected.",
    "is rejected",
    "request changes",
    "requesting changes",
    "changes requested",
    "changes required",
    "do not merge",
    "don't merge",
    "not ready to",
    "not ready for",
    "verdict: fail",
    "verdict: no",
    "blocker:",
    "not read the",
    "n't read the",
    "could not read",
    "could not open",
    "i withdraw",
    "withdraw my",
    "withdraw the approval",
    "withdrawing my",
    "withdrawn",
    "nicht genehmig",
    "genehmige das nicht",
    "genehmige nicht",
    "nicht freigegeben",
    "nicht frei",
    "nicht zustimmen",
    "stimme nicht zu",
    "lehne ",
    "abgelehnt",
    "ablehnung",
    "n'approuve pas",
    "pas approuver",
    "je rejette",
    "je refuse",
    "refusé",
    "rejeté",
    "no apruebo",
    "no puedo aprobar",
    "rechazo",
    "rechazado",
    "non approvo",
    "rifiuto",
    "respinto",
    "não aprovo",
    "reprovado",
    "rejeito",
    "keur niet goed",
    "afgekeurd",
    "afgewezen",
    "godkänner inte",
    "godkender ikke",
    "godkjenner ikke",
    "avvisar",
    "avviser",
    "avslår",
    "en hyväksy",
    "nie zatwierdzam",
    "odrzucam",
    "odrzucone",
    "neschvaluji",
    "zamítám",
    "zamítnuto",
    "elutasítom",
    "onaylamıyorum",
    "reddediyorum",
    "reddedildi",
    "δεν εγκρίνω",
    "απορρίπτω",
    "не одобр",
    "не утвержда",
    "отклон",
    "не схвалю",
    "відхиля",
    "لا أوافق",
    "أرفض",
    "مرفوض",
    "לא מאשר",
    "דוחה",
    "नहीं करता",
    "अस्वीकार",
    "ไม่อนุมัติ",
    "ปฏิเสธ",
    "không phê duyệt",
    "từ chối",
    "tidak menyetujui",
    "ditolak",
    "不批准",
    "不同意",
    "不通过",
    "拒绝",
    "拒絕",
    "驳回",
    "承認しません",
    "承認できません",
    "却下",
    "승인하지",
    "승인할 수 없",
    "거부",
    "반려",
];

/// Nouns for what programs approve and reject, by their beginnings in the singular.
const THINGS: [&str; 16] = [
    "request",
    "token",
    "input",
    "login",
    "password",
    "call",
    "query",
    "header",
    "payload",
    "connection",
    "message",
    "upload",
    "value",
    "session",
    "cookie",
    "signature",
];

/// Words that make a sentence one about the review, or about the change under review.
const OF_REVIEW: [&str; 29] = [
    "i",
    "i'm",
    "i'd",
    "i'll",
    "we",
    "my",
    "our",
    "me",
    "us",
    "reviewer",
    "reviewers",
    "review",
    "team",
    "approve",
    "approved",
    "approval",
    "merge",
    "merged",
    "fix",
    "fixed",
    "until",
    "unless",
    "verdict",
    "answer",
    "object",
    "change",
    "changes",
    "this",
    "pr",
];

/// Words that describe when a program rejects its input.
const CAUSES: [&str; 14] = [
    "if",
    "when",
    "whenever",
    "without",
    "expired",
    "expires",
    "invalid",
    "malformed",
    "unknown",
    "every",
    "any",
    "each",
    "all",
    "over",
];

/// Words that spoil "that is fixed now".
const SPOILING: [&str; 31] = [
    "not",
    "never",
    "nothing",
    "none",
    "no",
    "neither",
    "nor",
    "without",
    "only",
    "partly",
    "partially",
    "except",
    "but",
    "still",
    "should",
    "must",
    "once",
    "if",
    "unless",
    "until",
    "after",
    "when",
    "needs",
    "be",
    "remains",
    "hardly",
    "barely",
    "half",
    "cannot",
    "unfixed",
    "however",
];

/// Finds words that refuse an approval or make it conditional, ignoring emphasis and line breaks
/// between them.
pub fn refusal(text: &str) -> Option<String> {
    let marks = |c: char| "*_~`".contains(c);
    let plain: String = text.chars().filter(|c| !marks(*c)).collect();
    let plain = plain.replace('\u{2019}', "'").to_lowercase().replace("can not", "cannot");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let places = |phrase: &'static str| plain.match_indices(phrase);
    let found = REFUSALS.iter().flat_map(|phrase| places(phrase));
    let refused = found.filter(|(at, phrase)| !is_harmless(&plain, *at, phrase)).map(|(at, _)| at);
    // A verdict that is one word of its own line needs no other words.
    let alone = || text.lines().map(|line| line.trim_matches(|c: char| !c.is_alphanumeric()));
    let refusing = ["reject", "rejected", "fail", "failed", "denied", "blocked"];
    let word = || alone().find(|line| refusing.contains(&line.to_lowercase().as_str()));
    let condition = || sentences(&plain).into_iter().find(|sentence| has_condition(sentence));
    refused
        .min()
        .map(|at| plain[plain.floor_char_boundary(at.saturating_sub(40))..].to_owned())
        .or_else(|| word().map(str::to_owned))
        .or_else(|| condition().map(str::to_owned))
}

/// Splits a line at the ends of its sentences.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line.trim();
    while let Some(end) = [". ", "! ", "? "].iter().filter_map(|end| rest.find(end)).min() {
        found.push(&rest[..=end]);
        rest = rest[end + 1..].trim_start();
    }
    found.push(rest);
    found
}

/// Tells whether a sentence in small letters is about the review or the change under review.
pub(super) fn speaks_of_verdict(sentence: &str) -> bool {
    words(sentence).any(|word| OF_REVIEW.contains(&word))
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty())
}

/// Tells whether a phrase that may refuse is about the program under review, or an earlier round.
fn is_harmless(plain: &str, at: usize, phrase: &str) -> bool {
    let ends = [". ", "! ", "? "];
    let begin = ends.iter().filter_map(|end| plain[..at].rfind(end)).max().map_or(0, |end| end + 2);
    let before = &plain[begin..at];
    let end = ends.iter().filter_map(|end| plain[at..].find(end)).min();
    let sentence = end.map_or(&plain[begin..], |end| &plain[begin..=at + end]);
    let after = &plain[at + phrase.len()..];
    let is_third = before.ends_with("does ") || before.ends_with("does");
    match phrase {
        "i reject" | "i withdraw" if before.ends_with(char::is_alphanumeric) => true,
        "i reject" => after.starts_with("ed ") && was_settled(sentence, &plain[begin..]),
        "not approve" | "n't approve" => {
            let object = after.strip_prefix(' ').and_then(|after| words(after).next());
            // The phrase itself is no word about the review here.
            let others = format!(
                "{before} {}",
                sentence.get(before.len() + phrase.len()..).unwrap_or_default()
            );
            is_third && object.is_some_and(is_thing) && !speaks_of_verdict(&others)
        }
        "not read the" | "n't read the" => is_third && !speaks_of_verdict(sentence),
        "request changes" => {
            let last = words(before).last();
            last.is_some_and(|word| ["the", "a", "each", "every"].contains(&word))
        }
        "is rejected" | "rejected." => is_rejected_by_program(before, sentence),
        _ => false,
    }
}

fn is_thing(word: &str) -> bool {
    let plural =
        |thing: &str| word.strip_prefix(thing).is_some_and(|end| matches!(end, "" | "s" | "es"));
    THINGS.iter().any(|thing| plural(thing)) || word == "queries"
}

/// Tells whether the words before a verb end with a noun from `THINGS`, and not with a pull request
/// or similar.
fn ends_with_thing(before: &str) -> bool {
    const HELPERS: [&str; 8] = ["is", "are", "be", "gets", "get", "being", "will", "then"];
    const OTHERS: [&str; 10] =
        ["pull", "merge", "change", "feature", "review", "approval", "this", "your", "my", "that"];
    let mut backwards = words(before)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .skip_while(|word| HELPERS.contains(word));
    backwards.next().is_some_and(is_thing)
        && !backwards.next().is_some_and(|word| OTHERS.contains(&word))
}

/// Tells whether a sentence describes when a program rejects its input.
fn is_rejected_by_program(before: &str, sentence: &str) -> bool {
    ends_with_thing(before)
        && words(sentence).any(|word| CAUSES.contains(&word))
        && !speaks_of_verdict(sentence)
}

/// Tells whether a sentence is about an earlier round, and the next words call it settled.
fn was_settled(sentence: &str, text: &str) -> bool {
    const EARLIER: [&str; 7] =
        ["last", "previous", "earlier", "first", "before", "initially", "originally"];
    const SETTLED: [&str; 3] = ["fixed", "resolved", "addressed"];
    let is_spoilt = |word: &str| SPOILING.contains(&word) || word.ends_with("n't");
    let settles = |later: &&str| {
        words(later).any(|word| SETTLED.contains(&word)) && !words(later).any(is_spoilt)
    };
    words(sentence).any(|word| EARLIER.contains(&word))
        && sentences(text).iter().skip(1).any(settles)
}

/// Tells whether a sentence approves under a condition: "approved once it is fixed".
fn has_condition(sentence: &str) -> bool {
    const BEHIND: [&str; 10] = [
        "once",
        "if",
        "unless",
        "until",
        "after",
        "when",
        "provided",
        "pending",
        "conditional",
        "assuming",
    ];
    const AHEAD: [&str; 5] = ["once", "if", "unless", "until", "provided"];
    let all: Vec<_> = words(sentence).collect();
    let near =
        |at: usize, list: &[&str]| all[at + 1..].iter().take(3).any(|word| list.contains(word));
    all.iter().enumerate().any(|(at, word)| match *word {
        "approve" | "approved" | "approving" | "lgtm" => {
            let is_own = all[..at].iter().rev().take(2).any(|word| is_first_person(word));
            let is_ahead = is_own && all[..at].iter().any(|word| AHEAD.contains(word));
            is_ahead || near(at, &BEHIND) && !ends_with_thing(&all[..at].join(" "))
        }
        "approval" => near(at, &["conditional", "pending", "depends", "subject"]),
        _ => false,
    })
}

fn is_first_person(word: &str) -> bool {
    matches!(word, "i" | "i'd" | "i'll")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_under_review_may_refuse_and_the_reviewer_may_not() {
        for (text, refuses) in [
            ("The login endpoint does not approve requests without a token: good.", false),
            ("The security team does not approve requests like this.", true),
            ("The author's reviewer does not approve it.", true),
            ("The endpoint does not approve pull requests.", true),
            ("If a token expires, the request is rejected, as designed.", false),
            ("Requests without a token are rejected.", false),
            ("The API rejects expired tokens.", false),
            ("The request is rejected.", true),
            ("The pull request is rejected if it stays so.", true),
            ("Each request changes the state.", false),
            ("I request changes.", true),
            ("The handler does not read the header.", false),
            ("I did not read the design.", true),
            ("Users withdraw money.", false),
            ("I withdraw my approval.", true),
        ] {
            assert_eq!(refusal(text).is_some(), refuses, "{text}");
        }
    }

    #[test]
    fn a_rejection_of_an_earlier_round_counts_until_it_is_settled() {
        let past = "In the last round I rejected this because of the missing limit.";
        assert_eq!(refusal(&format!("{past} That is fixed now.")), None);
        for rest in ["", " That is not fixed.", " It must be fixed.", " I reject it again."] {
            assert!(refusal(&format!("{past}{rest}")).is_some(), "{rest}");
        }
        assert!(refusal("I rejected this. That is fixed now.").is_some(), "no round is named");
    }

    #[test]
    fn an_approval_with_a_condition_is_found() {
        for (text, is_found) in [
            ("approve once the SQL injection is fixed", true),
            ("Once the limit is there, I approve.", true),
            ("I will approve this after the fix.", true),
            ("LGTM if the tests pass", true),
            ("After reading both files, I approve.", false),
            ("A request is approved if its token is valid.", false),
            ("Approved. If you like, rename the constant.", false),
        ] {
            assert_eq!(refusal(text).is_some(), is_found, "{text}");
        }
    }
}
