//! Answers of reviewers that are neither an approval nor a rejection.

use std::fmt;

use super::refusal::{refusal, sentences, speaks_of_verdict};
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
    /// Words before an approving object or in it refuse it, or call it an example.
    Disclaimed,
    /// Words before an approving object do more than announce it.
    WordsBeside,
    /// An approving object has this key, whose meaning Convoke does not know.
    UnknownKey(String),
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
            Self::WordsBeside => "words_beside",
            Self::UnknownKey(_) => "unknown_key",
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
            Self::Disclaimed => "other words of the answer contradict the JSON object",
            Self::WordsBeside => "the JSON object approves, and words beside it may say otherwise",
            Self::UnknownKey(key) => {
                return write!(f, "`{key}` beside `approved` may say otherwise");
            }
        };
        f.write_str(words)
    }
}

/// An answer without a verdict: why, and the words that the reason is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguity {
    /// Why no verdict can be read from the answer.
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

/// Words that mark a hypothetical sentence.
const IMAGININGS: [&str; 7] = ["would ", "becomes", "würde", "wäre", "serait", "sería", "бы "];

/// Tells whether words call what follows an example.
pub fn calls_example(words: &str) -> bool {
    let words = words.to_lowercase();
    EXAMPLES.iter().any(|phrase| words.contains(phrase))
}

/// Tells whether words are hypothetical: "if it were fixed, I would say".
pub fn imagines(words: &str) -> bool {
    let words = format!(" {}", words.to_lowercase());
    let is_condition = |phrase: &str| {
        let mut places = words.match_indices(phrase);
        places.any(|(at, _)| !phrase.is_ascii() || words[..at].ends_with(' '))
    };
    CONDITIONS.iter().any(|phrase| is_condition(phrase))
        && IMAGININGS.iter().any(|phrase| words.contains(phrase))
}

/// Tells whether a line calls an approval below it an example or conditional.
pub fn is_hypothetical(line: &str) -> bool {
    let line = line.to_lowercase();
    let mut phrases = EXAMPLES.iter().chain(&CONDITIONS).chain(&IMAGININGS);
    phrases.any(|phrase| line.contains(phrase))
}

/// Returns the words that make an approving object worthless: those that refuse the approval, or
/// the line before the object if that calls it an example or names a condition.
pub fn disclaimer(before: &str) -> Option<String> {
    if let Some(words) = refusal(before) {
        return Some(words);
    }
    let last = before.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_bare_fence(line));
    last.filter(|line| is_hypothetical(&without_courtesy(line))).map(str::to_owned)
}

/// Returns a line without its sentences that only look like a condition: "I would approve this
/// change." in all politeness, and "Once merged, …" about the change's benefits.
fn without_courtesy(line: &str) -> String {
    const POLITE: [&str; 4] = [
        "i would approve.",
        "i would approve it.",
        "i would approve this.",
        "i would approve this change.",
    ];
    const AFTER: [&str; 3] = ["once merged, ", "once deployed, ", "once released, "];
    let line = line.to_lowercase();
    let is_courtesy = |sentence: &&str| {
        let outlook = AFTER.iter().find_map(|beginning| sentence.strip_prefix(beginning));
        let is_outlook =
            outlook.is_some_and(|rest| rest.ends_with('.') && !speaks_of_verdict(rest));
        is_outlook || POLITE.contains(sentence)
    };
    let others = sentences(&line).into_iter().filter(|sentence| !is_courtesy(sentence));
    others.collect::<Vec<_>>().join(" ")
}

/// Tells whether a line opens or closes a fence and names at most a language.
pub fn is_bare_fence(line: &str) -> bool {
    let info = line.trim_start_matches(['`', '~']).trim();
    fence::opens(line) && !info.contains(' ') && info != "example"
}

/// Renders the request for the verdict alone. An agent that resumes its session knows its answer;
/// any other agent needs the answer quoted.
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
         else: no words before or after it, no keys but `approved` and `issues`, every key once, \
         every issue in it.\n\n\
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
            ("I would approve this change. My answer:", None),
            (
                "I would approve this change if it had tests.",
                Some("i would approve this change if it had tests."),
            ),
            ("Once merged, the limiter will protect the login.", None),
            ("Once merged, my answer is this.", Some("Once merged, my answer is this.")),
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
