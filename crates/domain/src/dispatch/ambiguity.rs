//! Answers of reviewers that are neither an approval nor a rejection.

use std::fmt;

use crate::markdown::fence;

/// Why an answer has no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// No JSON object in it has a key `approved`.
    NoObject,
    /// Something other than the confirmation follows the object.
    NotLast,
    /// The object shares its first line with other words.
    Inline,
    /// The last block is not valid JSON.
    Invalid,
    /// More than one place in the answer has a key `approved`.
    Several,
    /// The last block is a list, or holds `approved` only inside another value.
    Nested,
    /// An object has this key twice; letter case makes no difference.
    RepeatedKey(String),
    /// `approved` is neither `true` nor `false`.
    NotBoolean,
    /// `issues` is missing, or is not an array of objects.
    Issues,
    /// This key says the opposite of `approved`, or might.
    Contradiction(String),
    /// The words before an approving object refuse it, or call it an example.
    Disclaimed,
}

impl Doubt {
    /// Returns the word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoObject => "no_object",
            Self::NotLast => "not_last",
            Self::Inline => "inline",
            Self::Invalid => "invalid_json",
            Self::Several => "several_verdicts",
            Self::Nested => "nested",
            Self::RepeatedKey(_) => "repeated_key",
            Self::NotBoolean => "approved_not_boolean",
            Self::Issues => "issues_not_objects",
            Self::Contradiction(_) => "contradiction",
            Self::Disclaimed => "disclaimed",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NoObject => "it has no JSON object with the key `approved`",
            Self::NotLast => "text follows the JSON object",
            Self::Inline => "the JSON object does not begin on a line of its own",
            Self::Invalid => "its last block is not valid JSON",
            Self::Several => "it has the key `approved` in more than one place",
            Self::Nested => "`approved` is not at the top of its last JSON value",
            Self::RepeatedKey(key) => return write!(f, "the key `{key}` appears twice"),
            Self::NotBoolean => "`approved` is neither true nor false",
            Self::Issues => "`issues` is not an array of objects",
            Self::Contradiction(key) => return write!(f, "`{key}` contradicts `approved`"),
            Self::Disclaimed => "the words before the JSON object contradict it",
        };
        f.write_str(words)
    }
}

/// An answer without a verdict: why, and the words that the reason is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguity {
    /// Why.
    pub doubt: Doubt,
    /// The offending words, on one line and shortened.
    pub excerpt: String,
}

/// The longest excerpt, in characters.
const EXCERPT: usize = 160;

impl Ambiguity {
    /// Makes one, with the beginning of the offending text as its excerpt.
    pub fn new(doubt: Doubt, offending: &str) -> Self {
        let words: Vec<_> = offending.split_whitespace().take(EXCERPT).collect();
        let line = words.join(" ");
        let shown: String = line.chars().take(EXCERPT).collect();
        let more = if shown.len() < line.len() { "\u{2026}" } else { "" };
        Self { doubt, excerpt: format!("{shown}{more}") }
    }
}

/// Words that call what follows an example.
const EXAMPLES: [&str; 25] = [
    "example",
    "e.g.",
    "for instance",
    "sample",
    "template",
    "placeholder",
    "instructs",
    "instead of",
    "beispiel",
    "z.b.",
    "vorlage",
    "muster",
    "exemple",
    "modèle",
    "ejemplo",
    "plantilla",
    "esempio",
    "exemplo",
    "voorbeeld",
    "пример",
    "示例",
    "例如",
    "例:",
    "例：",
    "예시",
];

/// Words that name a condition.
const CONDITIONS: [&str; 14] = [
    "once ", "if ", "unless", "until", "sobald", "wenn ", "falls ", "une fois", "si ", "una vez",
    "cuando", "если", "如果", "もし",
];

/// Words that imagine what is not so.
const IMAGININGS: [&str; 7] = ["would ", "becomes", "würde", "wäre", "serait", "sería", "бы "];

/// Tells whether words call what follows an example.
pub fn calls_example(words: &str) -> bool {
    let words = words.to_lowercase();
    EXAMPLES.iter().any(|phrase| words.contains(phrase))
}

/// Tells whether words imagine something under a condition: "if it were fixed, I would say".
pub fn imagines(words: &str) -> bool {
    let words = format!(" {}", words.to_lowercase());
    let is_condition = |phrase: &str| {
        let mut places = words.match_indices(phrase);
        places.any(|(at, _)| !phrase.is_ascii() || words[..at].ends_with(' '))
    };
    CONDITIONS.iter().any(|phrase| is_condition(phrase))
        && IMAGININGS.iter().any(|phrase| words.contains(phrase))
}

/// Tells whether a line says that an approval below it is an example or depends on something.
pub fn is_hypothetical(line: &str) -> bool {
    let line = line.to_lowercase();
    let mut phrases = EXAMPLES.iter().chain(&CONDITIONS).chain(&IMAGININGS);
    phrases.any(|phrase| line.contains(phrase))
}

/// What refuses an approval wherever a reviewer writes it. The list cannot be complete: it only
/// turns approvals into questions.
const REFUSALS: [&str; 108] = [
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
    "withdraw",
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

/// Returns the words that make an approving object worthless: those that refuse the approval, or
/// the line before the object if that calls it an example or names a condition.
pub fn disclaimer(before: &str) -> Option<String> {
    if let Some(words) = refusal(before) {
        return Some(words);
    }
    let last = before.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_bare_fence(line));
    last.filter(|line| is_hypothetical(line)).map(str::to_owned)
}

/// Tells whether a line opens or closes a fence and names at most a language.
pub fn is_bare_fence(line: &str) -> bool {
    let info = line.trim_start_matches(['`', '~']).trim();
    fence::opens(line) && !info.contains(' ') && info != "example"
}

/// Finds words that refuse an approval, whatever emphasis and line breaks are between them.
pub fn refusal(text: &str) -> Option<String> {
    let marks = |c: char| "*_~`".contains(c);
    let plain: String = text.chars().filter(|c| !marks(*c)).collect();
    let plain = plain.replace('\u{2019}', "'").to_lowercase().replace("can not", "cannot");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = REFUSALS.iter().filter_map(|phrase| plain.find(phrase)).min();
    // A verdict that is one word of its own line needs no other words.
    let alone = || text.lines().map(|line| line.trim_matches(|c: char| !c.is_alphanumeric()));
    let refused = ["reject", "rejected", "fail", "failed", "denied", "blocked"];
    let word = alone().find(|line| refused.contains(&line.to_lowercase().as_str()));
    at.map(|at| plain[plain.floor_char_boundary(at.saturating_sub(40))..].to_owned())
        .or_else(|| word.map(str::to_owned))
}

/// Renders the request for the verdict alone. An agent that is asked in its own session knows its
/// answer; any other needs to see it again.
pub fn ask_again(ambiguity: &Ambiguity, returns: &str, answer: Option<&str>) -> String {
    let Ambiguity { doubt, excerpt } = ambiguity;
    let quoted = match excerpt.as_str() {
        "" => String::new(),
        excerpt => format!("> {excerpt}\n\n"),
    };
    let answer = answer.map_or(String::new(), |answer| {
        format!("\n\n## Your last answer\n{}", super::resumed_prompt::fenced(answer.trim()))
    });
    format!(
        "Your last answer has no clear verdict: {doubt}.\n\n{quoted}\
         Do not review again. State the verdict of your last answer as one JSON object and nothing \
         else: no words before or after it, every key once, every issue in it.\n\n\
         {}{answer}\n",
        returns.trim_matches('\n')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_refuse_or_imagine_an_approval_are_found() {
        for (before, found) in [
            ("I read all of it.\nMy verdict:", None),
            ("The earlier blockers are fixed.", None),
            ("I do **NOT**\napprove.\n\nMy verdict:", Some("i do not approve. my verdict:")),
            ("REJECTED\n", Some("REJECTED")),
            ("```json title=\"an example\"", Some("```json title=\"an example\"")),
            ("Fine.\nOnce fixed, my answer becomes:\n\n", Some("Once fixed, my answer becomes:")),
            ("For example, if it were fine.\nMy verdict:", None),
            (
                "Ich lehne den Entwurf ab.\nDas Ergebnis:",
                Some("ich lehne den entwurf ab. das ergebnis:"),
            ),
            ("Un exemple :", Some("Un exemple :")),
            ("This is an example:\n```json\n", Some("This is an example:")),
        ] {
            assert_eq!(disclaimer(before).as_deref(), found, "{before}");
        }
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        let long = "word\n".repeat(1000);
        let excerpt = Ambiguity::new(Doubt::NotLast, &long).excerpt;
        assert!(excerpt.starts_with("word word ") && excerpt.ends_with('\u{2026}'), "{excerpt}");
        assert_eq!(excerpt.chars().count(), EXCERPT + 1);
    }

    // The answer cannot close the fence around it.
    #[test]
    fn a_request_for_the_verdict_quotes_the_answer_safely() {
        let ambiguity = Ambiguity::new(Doubt::NoObject, "");
        let text = ask_again(&ambiguity, "## How to answer\nx\n", Some("```json\n{}\n```"));
        assert!(text.ends_with("## Your last answer\n````\n```json\n{}\n```\n````\n"), "{text}");
        assert!(!ask_again(&ambiguity, "x", None).contains("## Your last answer"));
    }
}
