//! The text of a reviewer beside its verdict.
//!
//! No list of phrases covers every refusal, so a person who sees a verdict sees the words beside
//! it.

use super::confirmation::is_confirmation;
use crate::design::aside::without_thoughts;

/// The longest excerpt, in characters, without the note about its omissions.
const EXCERPT: usize = 300;

/// How many of them are the end of the text: conclusions come last.
const END: usize = 100;

/// Returns what an answer says to its reader: without thinking and without confirmations.
pub fn said(answer: &str) -> String {
    let spoken = without_thoughts(answer);
    let lines = spoken.lines().filter(|line| !is_confirmation(line));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the beginning and the end of a text on one line, with the number of characters between
/// them. A short text is returned whole.
pub fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= EXCERPT {
        return line;
    }
    let begin: String = letters[..EXCERPT - END].iter().collect();
    let end: String = letters[letters.len() - END..].iter().collect();
    let more = letters.len() - EXCERPT;
    let s = if more == 1 { "" } else { "s" };
    format!("{} [{more} more character{s}] {}", begin.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_both_ends_and_counts_the_rest() {
        assert_eq!(excerpt("I would\n\nnever  ship this."), "I would never ship this.");
        let long = format!("Begin {} This must not ship.", "word ".repeat(200));
        let short = excerpt(&long);
        assert!(short.starts_with("Begin word ") && short.ends_with("This must not ship."));
        let more = long.split_whitespace().collect::<Vec<_>>().join(" ").chars().count() - 300;
        assert!(short.contains(&format!("[{more} more characters]")), "{short}");
        assert!(short.chars().count() < 340, "{short}");
    }

    #[test]
    fn thinking_and_confirmations_are_not_said() {
        let answer = "<think>no</think>\nFiles read: spec.md (2 lines)\nOver my dead body.\n";
        assert_eq!(said(answer), "Over my dead body.");
        // The start of a thought is unknown, so no text before its end is hidden from a person.
        assert!(said("Over my dead body.\n</think>\nx").contains("Over my dead body."));
        assert_eq!(said("<!-- never -->"), "<!-- never -->");
        let analysis = "<analysis>Over my dead body.</analysis>";
        assert_eq!(said(&format!("<thinking>no</thinking>{analysis}")), analysis);
    }
}
