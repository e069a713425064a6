//! Words around an approving object that cannot take it back.
//!
//! The forms are a closed list: no list of phrases covers every refusal, quotation or example, so
//! all other words make an approval ambiguous.

use super::ambiguity::is_bare_fence;
use super::confirmation::is_confirmation;
use crate::design::aside::without_thoughts;

/// Lines that announce the object, without emphasis and punctuation at their ends.
const LEAD_INS: [&str; 34] = [
    "verdict",
    "my verdict",
    "final verdict",
    "my final verdict",
    "the verdict",
    "here is my verdict",
    "here's my verdict",
    "here is the verdict",
    "review",
    "my review",
    "final review",
    "here is my review",
    "here's my review",
    "here is the review",
    "review result",
    "review results",
    "result",
    "my result",
    "answer",
    "my answer",
    "here is my answer",
    "json",
    "done",
    "i read both documents",
    "i read both files",
    "i read all files",
    "i read all required files",
    "i have read all required files",
    "i've read all required files",
    "mein urteil",
    "urteil",
    "ergebnis",
    "mon verdict",
    "mi veredicto",
];

/// Returns the first words before an approving object that are neither thinking, nor a
/// confirmation, nor an announcement of the object.
pub fn words_beside(before: &str) -> Option<String> {
    let spoken = without_thoughts(before);
    let lines: Vec<_> = spoken.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut in_list = false;
    for (at, line) in lines.iter().enumerate() {
        let opens_object = at + 1 == lines.len() && is_bare_fence(line);
        in_list = is_list_head(line) || in_list && is_listed(line);
        if !(in_list || opens_object || is_confirmation(line) || is_lead_in(line)) {
            return Some((*line).to_owned());
        }
    }
    None
}

/// Tells whether a line announces the object, or is a rule across the page.
fn is_lead_in(line: &str) -> bool {
    let bare = line.trim_start_matches('#').trim_matches([' ', '*', '_', '-']);
    let bare = bare.trim_end_matches([':', '.', '!', '*', '_']).to_ascii_lowercase();
    bare.is_empty() || LEAD_INS.contains(&bare.as_str())
}

/// Tells whether a confirmation lists its files below this line.
fn is_list_head(line: &str) -> bool {
    let bare = line.trim_matches(['*', '_']).trim_end_matches([':', '*', '_']);
    line.contains(':') && bare.eq_ignore_ascii_case("files read")
}

fn is_listed(line: &str) -> bool {
    let entry = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    entry.is_some_and(|entry| is_confirmation(&format!("Files read: {entry}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_a_closed_list_may_precede_an_approval() {
        for before in [
            "",
            "```json\n",
            "My verdict:\n\n```json\n",
            "## Verdict\n",
            "**Here is my review:**\n",
            "Files read: design.md (12 lines)\n\n---\n",
            "Files read:\n- design.md (12 lines)\n- spec.md\n\nVerdict:\n",
            "<think>The limit is there.</think>\n",
        ] {
            assert_eq!(words_beside(before), None, "{before}");
        }
        for (before, words) in [
            ("I veto this.\n", "I veto this."),
            ("Real verdict: false.\n", "Real verdict: false."),
            ("> Verdict:\n", "> Verdict:"),
            ("~~Verdict~~\n", "~~Verdict~~"),
            ("My ver\u{ad}dict:\n", "My ver\u{ad}dict:"),
            ("Files read:\n- I could not open design.md\n", "- I could not open design.md"),
            ("```json\nVerdict:\n", "```json"),
            ("<analysis>It leaks.</analysis>\nVerdict:\n", "<analysis>It leaks.</analysis>"),
        ] {
            assert_eq!(words_beside(before).as_deref(), Some(words), "{before}");
        }
    }
}
