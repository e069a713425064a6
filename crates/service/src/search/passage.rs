//! The part of a long text that shows why a search found it.

use std::iter::repeat_n;

/// How much of a passage comes before the first word, as a share of it.
const BEFORE: usize = 3;

/// How far a border moves to the end of a word, in characters.
const TO_A_WORD: usize = 24;

/// Returns at most so many characters of a text around the first of the words, without regard to
/// capitals; `…` marks what is left out. A text without any of them is shown from its beginning.
pub(super) fn passage(text: &str, words: &[String], longest: usize) -> String {
    let text = text.trim();
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= longest {
        return text.to_owned();
    }
    let hit = first_hit(&letters, words).unwrap_or(0);
    let mut from = hit.saturating_sub(longest / BEFORE).min(letters.len() - longest);
    let mut to = from + longest;
    if from > 0 {
        let near = (from..hit.min(from + TO_A_WORD)).find(|place| letters[*place].is_whitespace());
        from = near.map_or(from, |space| space + 1);
    }
    if to < letters.len() {
        let least = to.saturating_sub(TO_A_WORD).max(hit + 1).max(from);
        to = (least..=to).rev().find(|place| letters[*place].is_whitespace()).unwrap_or(to);
    }
    // A mark without the letter that it belongs to would sit on the dots.
    while from < hit && is_mark(letters[from]) {
        from += 1;
    }
    let inside: String = letters[from..to].iter().collect();
    let left = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", left(from > 0), inside.trim(), left(to < letters.len()))
}

/// Returns the place of the first word, in characters.
fn first_hit(letters: &[char], words: &[String]) -> Option<usize> {
    // A capital can have two small letters, so each small letter knows where it comes from.
    let small = |(place, letter): (usize, &char)| folded(*letter).map(move |small| (small, place));
    let (text, places): (String, Vec<usize>) = {
        let pairs: Vec<(char, usize)> = letters.iter().enumerate().flat_map(small).collect();
        let places = pairs.iter().flat_map(|(small, place)| repeat_n(*place, small.len_utf8()));
        (pairs.iter().map(|(small, _)| *small).collect(), places.collect())
    };
    let place = |word: &String| {
        let word: String = word.chars().flat_map(folded).collect();
        let at = text.find(&word).filter(|_| !word.is_empty())?;
        places.get(at).copied()
    };
    words.iter().filter_map(place).min()
}

/// Returns a letter as the search compares it.
fn folded(letter: char) -> impl Iterator<Item = char> {
    let small = letter.to_lowercase().filter(|small| *small != '\u{307}');
    small.map(|small| if small == 'ς' { 'σ' } else { small })
}

/// Tells whether a character is drawn onto the one before it.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str, words: &[&str], longest: usize) -> String {
        let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        passage(text, &words, longest)
    }

    #[test]
    fn a_passage_begins_shortly_before_the_first_word() {
        let text = format!("{}the Needle is here {}", "hay ".repeat(100), "straw ".repeat(100));
        for words in [&["needle"][..], &["zebra", "NEEDLE"], &["straw", "needle"]] {
            let found = cut(&text, words, 60);
            assert_eq!(
                found, "…hay hay hay the Needle is here straw straw straw straw…",
                "{words:?}"
            );
        }
        assert!(cut(&text, &["zebra"], 20).starts_with("hay hay"), "the beginning, without a hit");
        assert_eq!(cut("  short  ", &["short"], 60), "short");
        let end = format!("{}needle", "hay ".repeat(100));
        assert!(
            cut(&end, &["needle"], 60).ends_with("hay needle"),
            "{}",
            cut(&end, &["needle"], 60)
        );
    }

    // What the search finds without regard to capitals, the passage shows; no letter is cut in two.
    #[test]
    fn a_passage_is_cut_between_letters_of_every_script() {
        for (hit, word) in [
            ("Über", "über"),
            ("İstanbul", "istanbul"),
            ("ΔΡΟΜΟΣ", "δρομος"),
            ("日本語", "本"),
            ("e\u{301}te\u{301}", "te\u{301}"),
            ("👩\u{200d}💻", "👩"),
        ] {
            for rest in ["ж", "日", "İ", "👍🏽", "a\u{301}", "x "] {
                let text = format!("{}{hit}{}", rest.repeat(200), rest.repeat(200));
                let found = cut(&text, &[word], 50);
                assert!(found.contains(hit), "{hit} in {rest}: {found}");
                assert!(!found.starts_with("…\u{301}"), "{found}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_passage_is_a_part_of_the_text(text in "\\PC{0,90}", words in prop::collection::vec("\\PC{0,4}", 0..4), longest in 1..40_usize) {
            let found = passage(&text, &words, longest);
            prop_assert!(found.chars().count() <= longest + 2, "{}", found);
            let inside = found.strip_prefix('…').unwrap_or(&found);
            let is_part = |part: &str| text.contains(part);
            prop_assert!(is_part(inside) || is_part(inside.strip_suffix('…').unwrap_or(inside)), "{}", found);
        }
    }
}
