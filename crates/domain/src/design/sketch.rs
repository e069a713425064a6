//! Sketches: whether an answer says enough about an approach to be one.
//!
//! Only an agent's own sentences count. Code, tool calls, logs, apologies, questions back and the
//! prompt itself say nothing about a design, however long they are.

use super::aside::without_asides;
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// A sketch with fewer words says nothing.
pub const FEWEST_WORDS: usize = 40;

/// How many agents sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SketchPanel {
    /// Four, each with a personality.
    Full,
    /// Two, without personalities.
    Quick,
}

/// Why an answer is no sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSketch {
    /// The agent declined to sketch.
    #[error("the agent declined instead of sketching: {words}/{FEWEST_WORDS} other words")]
    Declined {
        /// How many words are not part of the refusal.
        words: usize,
    },
    /// Most of it is what tools print.
    #[error("tool output instead of a sketch: {words}/{FEWEST_WORDS} words of its own")]
    ToolOutput {
        /// How many words are not.
        words: usize,
    },
    /// It has too few words.
    #[error("sketch too thin: {words}/{FEWEST_WORDS} words outside code")]
    Thin {
        /// How many words it has.
        words: usize,
    },
}

/// Returns why an answer is no sketch; `None` if it is one.
pub fn flaw(answer: &str) -> Option<NoSketch> {
    let (spoken, _) = without_asides(answer);
    let mut counted = Counted::default();
    let mut fences = Fences::default();
    let mut paragraph = Vec::new();
    for line in lines(&spoken).map(bare) {
        match fences.feed(line) {
            FenceLine::Outside if !line.trim().is_empty() => paragraph.push(line),
            FenceLine::Outside | FenceLine::Opens => counted.take(&std::mem::take(&mut paragraph)),
            FenceLine::Body | FenceLine::Closes => {}
        }
    }
    counted.take(&paragraph);
    let words = counted.words;
    if words >= FEWEST_WORDS {
        return None;
    }
    Some(if counted.refused > 0 {
        NoSketch::Declined { words }
    } else if counted.noise >= FEWEST_WORDS {
        NoSketch::ToolOutput { words }
    } else {
        NoSketch::Thin { words }
    })
}

/// The words of an answer, by what they are.
#[derive(Default)]
struct Counted {
    words: usize,
    refused: usize,
    noise: usize,
}

impl Counted {
    fn take(&mut self, paragraph: &[&str]) {
        let joined = paragraph.join(" ");
        if refuses(&joined) {
            self.refused += words(&joined);
            return;
        }
        for line in paragraph {
            if is_noise(line) {
                self.noise += words(line);
            } else if !is_question(line) && !is_of_prompt(line) {
                self.words += words(line);
            }
        }
    }
}

/// Counts words. Where a script puts no blanks between them, two characters count as one.
fn words(text: &str) -> usize {
    let unspaced = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{e00}'..='\u{eff}');
    let without = text.split(|c: char| c.is_whitespace() || unspaced(c));
    let spaced = without.filter(|word| word.contains(char::is_alphanumeric)).count();
    spaced + text.chars().filter(|c| unspaced(*c)).count() / 2
}

/// Phrases with which an agent refuses its task, in lower case.
const REFUSALS: [&str; 38] = [
    "i'm sorry",
    "i am sorry",
    "sorry,",
    "sorry, but",
    "i apologize",
    "i apologise",
    "my apologies",
    "i can't",
    "i cannot",
    "i can not",
    "i could not",
    "i couldn't",
    "i'm unable",
    "i am unable",
    "i was unable",
    "i'm not able",
    "i am not able",
    "i won't",
    "i do not have access",
    "i don't have access",
    "as an ai",
    "unfortunately, i",
    "unfortunately i",
    "before i can",
    "es tut mir leid",
    "tut mir leid",
    "entschuldigung",
    "leider kann ich",
    "ich kann nicht",
    "je suis désolé",
    "désolé",
    "je ne peux pas",
    "lo siento",
    "no puedo",
    "申し訳",
    "抱歉",
    "对不起",
    "我无法",
];

/// Tells whether a paragraph declines. One that names a file besides is about the design.
fn refuses(paragraph: &str) -> bool {
    let lower = paragraph.to_lowercase().replace('’', "'");
    let text = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    REFUSALS.iter().any(|start| text.starts_with(start))
}

/// Tells whether a line is printed by a tool: calls, results, logs, listings, traces.
fn is_noise(line: &str) -> bool {
    const STARTS: [&str; 17] = [
        "$ ",
        "% ",
        "> ",
        "{",
        "}",
        "[{",
        "</",
        "<tool",
        "<function",
        "<invoke",
        "<parameter",
        "traceback (",
        "file \"",
        "at ",
        "+++ ",
        "--- ",
        "@@ ",
    ];
    const TOOLS: [&str; 12] = [
        "reading ",
        "read(",
        "running ",
        "bash(",
        "searching ",
        "grep(",
        "glob(",
        "executing ",
        "tool call",
        "tool result",
        "tool_use",
        "calling ",
    ];
    let text = line.trim_start().trim_start_matches(['●', '⏺', '⎿', '•', '*', '-', ' ']);
    let lower = text.to_lowercase();
    let is_log = ["[info]", "[warn]", "[debug]", "[error]", "info ", "debug ", "warn ", "error: "]
        .iter()
        .any(|start| lower.starts_with(start))
        || lower.get(..5).is_some_and(|year| year.starts_with("20") && year.ends_with('-'));
    let is_permission = lower.starts_with("-rw") || lower.starts_with("drwx");
    let starts = |all: &[&str]| all.iter().any(|start| lower.starts_with(start));
    let is_call = starts(&TOOLS) && !text.trim_end().ends_with('.') || lower.contains("\"type\":");
    starts(&STARTS) || is_log || is_permission || is_call
}

fn is_question(line: &str) -> bool {
    line.trim_end().ends_with(['?', '？'])
}

/// Tells whether a line is part of the prompt.
fn is_of_prompt(line: &str) -> bool {
    let prompt = include_str!("prompt/sketch/sketch.md");
    let line = line.trim();
    line.len() > 20 && prompt.lines().any(|asked| asked.trim() == line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    // P-165
    #[test]
    fn forty_words_outside_of_code_are_a_sketch() {
        assert_eq!(flaw(&said(40)), None);
        assert_eq!(flaw(&said(39)), Some(NoSketch::Thin { words: 39 }));
        let code = format!("```\n{}\n```\n{}", said(100), said(3));
        assert_eq!(flaw(&code), Some(NoSketch::Thin { words: 3 }));
        let thought = format!("<think>{}</think>\n{}", said(100), said(3));
        assert_eq!(flaw(&thought), Some(NoSketch::Thin { words: 3 }));
        assert_eq!(flaw(&"計画は二つの部分に分かれる。".repeat(8)), None);
    }

    #[test]
    fn text_that_is_not_about_the_design_does_not_count() {
        let sorry = format!("I’m sorry, but I can't open the project. {}", said(60));
        assert_eq!(flaw(&sorry), Some(NoSketch::Declined { words: 0 }));
        let log = format!("[INFO] {}\n$ ls {}\n", said(30), said(30));
        assert_eq!(flaw(&log), Some(NoSketch::ToolOutput { words: 0 }));
        assert_eq!(flaw(&format!("Which of {}?", said(50))), Some(NoSketch::Thin { words: 0 }));
        let prompt = include_str!("prompt/sketch/sketch.md");
        assert!(flaw(prompt).is_some());
        let still = format!("I could not run the tests.\n\nSo: {}", said(40));
        assert_eq!(flaw(&still), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(answer in "\\PC*|([a-z?$<{`\n ]{0,9}){0,9}") {
            let _ = flaw(&answer);
        }
    }
}
