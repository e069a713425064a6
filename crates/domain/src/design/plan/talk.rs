//! Words around a plan that address the reader and are not part of it.

use crate::design::parts::without_blank_lines;
use crate::design::quote;
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines};

/// Words with which an agent introduces its plan, in lower case.
const BEFORE: [&str; 30] = [
    "here is",
    "here's",
    "here are",
    "below is",
    "below you",
    "sure",
    "certainly",
    "of course",
    "okay",
    "ok,",
    "alright",
    "great",
    "absolutely",
    "understood",
    "i have",
    "i've",
    "i will",
    "i'll",
    "i now",
    "let me",
    "now i",
    "this is the",
    "hier ist",
    "gerne",
    "natürlich",
    "voici",
    "bien sûr",
    "aquí está",
    "claro",
    "ecco",
];

/// Words with which an agent talks about its finished plan, in lower case.
const AFTER: [&str; 34] = [
    "let me know",
    "would you like",
    "do you want",
    "shall i",
    "should i",
    "i hope",
    "hope this",
    "feel free",
    "please let me",
    "please review",
    "if you would like",
    "if you'd like",
    "i can also",
    "i'm happy to",
    "i am happy to",
    "happy to",
    "that's the plan",
    "this plan is ready",
    "the plan is ready",
    "this concludes",
    "end of plan",
    "want me to",
    "lass mich wissen",
    "soll ich",
    "sag bescheid",
    "ich hoffe",
    "dites-moi",
    "n'hésitez pas",
    "souhaitez-vous",
    "avísame",
    "¿quieres",
    "espero que",
    "fammi sapere",
    "is there anything",
];

/// Returns a text without talk before its first heading and after its last word, and the talk, in one
/// line each. Words before the first heading that are not talk belong to the plan.
pub(super) fn without_talk(text: &str) -> (&str, Vec<String>) {
    let (text, before) = without_opening(without_blank_lines(text));
    let (text, after) = without_closing(text);
    (text, before.into_iter().chain(after).collect())
}

fn without_opening(text: &str) -> (&str, Option<String>) {
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let end = paragraph_end(rest);
        let paragraph = rest[..end].trim();
        if end == rest.len() || !is_opening(paragraph) {
            break;
        }
        start += end;
    }
    let talk = Some(quote::line(&text[..start])).filter(|talk| !talk.is_empty());
    (without_blank_lines(&text[start..]), talk)
}

fn is_opening(paragraph: &str) -> bool {
    let is_rule = is_rule(paragraph);
    let is_prose = !paragraph.is_empty() && !lines(paragraph).map(bare).any(is_structure);
    is_rule || is_prose && (paragraph.ends_with([':', '：']) || begins(paragraph, &BEFORE))
}

fn without_closing(text: &str) -> (&str, Option<String>) {
    let mut end = text.len();
    loop {
        let kept = text[..end].trim_end();
        let start = kept.rfind("\n\n").map(|at| at + 2);
        let start = start.or_else(|| kept.rfind("\n\r\n").map(|at| at + 3));
        let Some(start) = start else { break };
        let paragraph = kept[start..].trim();
        let is_talk = begins(paragraph, &AFTER) && !lines(paragraph).map(bare).any(is_structure);
        let is_rule_before_talk = end < text.len() && is_rule(paragraph);
        if !is_talk && !is_rule_before_talk {
            break;
        }
        end = start;
    }
    let talk = quote::line(text[end..].trim_matches(['-', '*', '_', '\n', '\r', ' ']));
    (text[..end].trim_end(), Some(talk).filter(|talk| !talk.is_empty()))
}

/// Returns where the first paragraph ends, in bytes: after its blank line, or before a heading.
fn paragraph_end(text: &str) -> usize {
    let mut offset = 0;
    let mut is_begun = false;
    for line in lines(text) {
        let visible = bare(line);
        if is_begun && Heading::parse(visible).is_some() {
            return offset;
        }
        offset += line.len();
        if visible.trim().is_empty() && is_begun {
            return offset;
        }
        is_begun |= !visible.trim().is_empty();
    }
    offset
}

/// Headings, lists, labels and code are what a plan is made of.
fn is_structure(line: &str) -> bool {
    let text = line.trim_start();
    Heading::parse(line).is_some()
        || quote::after_list_mark(text).is_some()
        || ["**", "__", "```", "~~~", "|", "==", "<"].iter().any(|mark| text.starts_with(mark))
}

fn is_rule(paragraph: &str) -> bool {
    let marks = |c: char| matches!(c, '-' | '*' | '_' | ' ');
    paragraph.len() >= 3 && paragraph.chars().all(marks)
}

fn begins(paragraph: &str, starts: &[&str]) -> bool {
    let lower = paragraph.to_lowercase().replace('’', "'");
    starts.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talk_around_a_plan_is_no_part_of_it() {
        for (text, plan, talk) in [
            ("Here is the plan:\n\n## Approach\nx", "## Approach\nx", &["Here is the plan:"][..]),
            ("Le voici :\n## Approach\nx", "## Approach\nx", &["Le voici :"]),
            ("Sure!\n\n---\n\n# Cap\n\nx", "# Cap\n\nx", &["Sure! ---"]),
            ("Uploads end.\n\n## Approach\nx", "Uploads end.\n\n## Approach\nx", &[]),
            ("## A\nx\n\n---\n\nLet me know!", "## A\nx", &["Let me know!"]),
            ("## A\nx\n\nShall I\nbegin?\n", "## A\nx", &["Shall I begin?"]),
            ("## A\nx\n\n**Source:** y", "## A\nx\n\n**Source:** y", &[]),
            ("## A\nx\n\n---", "## A\nx\n\n---", &[]),
            ("Sure.", "Sure.", &[]),
        ] {
            let talk: Vec<_> = talk.iter().map(|&words| words.to_owned()).collect();
            assert_eq!(without_talk(text), (plan, talk), "{text}");
        }
    }
}
