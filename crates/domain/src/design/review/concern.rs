//! Words beside `NO_ISSUES_FOUND` that raise an issue after all.

use crate::design::quote::after_list_mark;
use crate::lane::substance::is_provenance;

/// Words that contradict the words before them.
const CONTRASTS: [&str; 21] = [
    "but",
    "however",
    "although",
    "though",
    "except",
    "unless",
    "aber",
    "jedoch",
    "allerdings",
    "mais",
    "cependant",
    "toutefois",
    "pero",
    "però",
    "mas",
    "porém",
    "но",
    "однако",
    "maar",
    "echter",
    "nonetheless",
];

/// Words that demand a change, or report a gap.
const DEMANDS: [&str; 42] = [
    "should",
    "must",
    "needs",
    "need",
    "consider",
    "recommend",
    "suggest",
    "never",
    "lacks",
    "misses",
    "forgets",
    "ignores",
    "overlooks",
    "doesn't",
    "isn't",
    "aren't",
    "won't",
    "can't",
    "cannot",
    "fehlt",
    "fehlen",
    "sollte",
    "sollten",
    "muss",
    "müsste",
    "manque",
    "manquent",
    "devrait",
    "doit",
    "falta",
    "faltan",
    "debería",
    "debe",
    "manca",
    "dovrebbe",
    "deveria",
    "отсутствует",
    "следует",
    "ignoriert",
    "vergisst",
    "oublie",
    "olvida",
];

/// The beginnings of words for defects.
const FAULTS: [&str; 44] = [
    "concern",
    "issue",
    "problem",
    "bug",
    "risk",
    "missing",
    "fail",
    "wrong",
    "incorrect",
    "break",
    "broken",
    "race",
    "deadlock",
    "leak",
    "vulnerab",
    "insecure",
    "unsafe",
    "inject",
    "unclear",
    "undefined",
    "crash",
    "lose",
    "lost",
    "corrupt",
    "overflow",
    "untested",
    "unhandled",
    "flaw",
    "defect",
    "conflict",
    "regression",
    "bedenken",
    "fehler",
    "falsch",
    "risik",
    "lücke",
    "défaut",
    "risque",
    "riesgo",
    "fallo",
    "rischio",
    "проблем",
    "ошибк",
    "риск",
];

/// Words that negate the demands and faults behind them.
const NONE: [&str; 18] = [
    "no", "none", "nothing", "without", "zero", "nor", "kein", "keine", "keinen", "nichts", "ohne",
    "aucun", "aucune", "sans", "ningún", "ninguna", "sin", "нет",
];

/// Words that negate only the faults behind them: "does not lock, and should" is still a demand.
const NOT: [&str; 5] = ["not", "pas", "nicht", "non", "не"];

/// Turns and demands in scripts without blanks.
const UNBROKEN: [&str; 10] =
    ["但", "不过", "然而", "缺少", "应该", "应当", "ただし", "しかし", "すべき", "하지만"];

/// Beginnings of sentences that describe the reviewer's checks.
const LOOKED: [&str; 14] = [
    "i",
    "we",
    "all",
    "files",
    "read",
    "checked",
    "looked",
    "reviewed",
    "verified",
    "everything",
    "both",
    "ich",
    "j'ai",
    "he",
];

/// Finds a sentence that raises an issue: one with a word for that, or one about a file that is not
/// only a report of checking it.
pub(super) fn concern<'t>(lines: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let mut sentences = lines.flat_map(sentences);
    sentences.find(|sentence| raises(sentence))
}

/// Splits a line behind its sentences; a dot within a path ends none.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = ["! ", "? ", "; ", "\u{3002}"];
    let parts = line.split(". ").flat_map(move |part| {
        ends.iter().fold(vec![part], |parts, end| {
            parts.into_iter().flat_map(|part| part.split(end)).collect()
        })
    });
    parts.map(str::trim)
}

fn raises(sentence: &str) -> bool {
    let text = after_list_mark(sentence).unwrap_or(sentence);
    let lower = text.replace('\u{2019}', "'").to_lowercase();
    let edges = |c: char| !c.is_alphanumeric();
    let words: Vec<_> = lower.split_whitespace().map(|word| word.trim_matches(edges)).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    names_fault(&words)
        || UNBROKEN.iter().any(|part| lower.contains(part))
        || is_about_file(text, &words)
}

fn names_fault(words: &[&str]) -> bool {
    let (mut is_none, mut is_negated) = (false, false);
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |before| words[before]);
        let is_own = matches!(before, "i" | "we");
        let is_denial = *word == "not" && matches!(before, "does" | "do");
        let by_reader = place >= 2 && matches!(words[place - 2], "i" | "we");
        let is_demand = DEMANDS.contains(word) && !is_own || is_denial && !by_reader;
        let is_fault = FAULTS.iter().any(|fault| word.starts_with(fault));
        if CONTRASTS.contains(word) || is_demand && !is_none || is_fault && !is_negated && !is_none
        {
            return true;
        }
        is_none |= NONE.contains(word);
        is_negated |= NOT.contains(word) || word.ends_with("n't");
    }
    false
}

/// Tells whether a sentence says more about a file than that it was checked.
fn is_about_file(text: &str, words: &[&str]) -> bool {
    const FEWEST: usize = 4;
    let (files, others): (Vec<_>, Vec<_>) =
        text.split_whitespace().partition(|word| is_provenance(word));
    let is_look = words.first().is_none_or(|first| LOOKED.contains(first));
    !files.is_empty() && others.len() >= FEWEST && !is_look
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-161, P-259
    #[test]
    fn a_concern_differs_from_a_report_of_checks() {
        for line in [
            "However, the cap of zero is open.",
            "The plan is fine. The lock in the queue should be taken first.",
            "src/auth.rs:12 writes the token to the log on every retry.",
            "It does not say who owns the retries.",
            "One concern: the queue.",
            "Allerdings bleibt der Deckel offen.",
            "Im Plan fehlt der Test.",
            "但是重试没有上限。",
        ] {
            assert!(concern([line].into_iter()).is_some(), "{line}");
        }
        for line in [
            "The plan is complete and consistent.",
            "I have no concerns, issues or risks to report.",
            "I do not see any problem.",
            "I looked at src/upload/client.rs and src/queue/worker.rs line by line.",
            "1. src/upload/client.rs",
            "Nothing needs to change.",
            "Keine Bedenken.",
            "Aucun risque.",
            "I couldn't find a bug.",
        ] {
            assert_eq!(concern([line].into_iter()), None, "{line}");
        }
    }
}
