//! A reviewer's words that approve and nevertheless demand work, or deny that there was a review.

use super::refusal::{sentences, words};

/// Finds a sentence of a summary that demands work on what is approved, or says that the reviewer
/// did not look at it.
pub fn reservation(summary: &str) -> Option<String> {
    let plain = summary.replace('\u{2019}', "'").to_lowercase();
    let reserves = |sentence: &&str| demands_work(sentence) || denies_review(sentence);
    sentences(&plain).into_iter().find(reserves).map(str::to_owned)
}

/// Tells whether a sentence says that something must be fixed.
fn demands_work(sentence: &str) -> bool {
    const DEMANDS: [&str; 7] = ["must", "should", "needs", "need", "has", "have", "requires"];
    const WORK: [&str; 11] = [
        "fix", "chang", "rework", "resolv", "address", "correct", "revis", "rewrit", "remov",
        "replac", "redo",
    ];
    const NOTHING: [&str; 4] = ["nothing", "no", "none", "not"];
    const ON_THE_WAY: [&str; 8] = ["to", "be", "a", "an", "the", "first", "still", "some"];
    let all: Vec<_> = words(sentence).collect();
    all.iter().enumerate().any(|(at, word)| {
        let is_negated = all[..at].iter().any(|word| NOTHING.contains(word));
        // "has a fix" demands nothing, and "has to be fixed" does.
        let is_demand = match *word {
            "has" | "have" => all.get(at + 1) == Some(&"to"),
            word => DEMANDS.contains(&word),
        };
        let next = all[at + 1..].iter().find(|word| !ON_THE_WAY.contains(word));
        let is_work = next.is_some_and(|next| WORK.iter().any(|work| next.starts_with(work)));
        is_demand && !is_negated && is_work
    })
}

/// Tells whether a reviewer says in the first person that it did not look.
fn denies_review(sentence: &str) -> bool {
    const LOOKING: [&str; 11] = [
        "review", "read", "look", "open", "check", "inspect", "examin", "verif", "access",
        "assess", "evaluat",
    ];
    let all: Vec<_> = words(sentence).collect();
    let is_own = all.iter().any(|word| matches!(*word, "i" | "i've" | "we"));
    let denies = |word: &str| {
        matches!(word, "not" | "never" | "unable" | "cannot" | "without") || word.ends_with("n't")
    };
    is_own
        && all.iter().enumerate().any(|(at, word)| {
            let mut behind = all[at + 1..].iter().take(3);
            denies(word) && behind.any(|word| LOOKING.iter().any(|verb| word.starts_with(verb)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_demands_work_or_denies_a_review_is_found() {
        for (text, is_found) in [
            ("Critical SQL injection must be fixed first.", true),
            ("Fine. The limit still has to be changed.", true),
            ("I did not review anything.", true),
            ("I was unable to open any of the files.", true),
            ("Nothing needs to be fixed.", false),
            ("I did not find any issue.", false),
            ("Every request must be signed, and it is.", false),
            ("The plan has a fix for the race.", false),
        ] {
            assert_eq!(reservation(text).is_some(), is_found, "{text}");
        }
    }
}
