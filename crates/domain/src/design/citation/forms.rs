//! The forms in which a text cites a place.

use super::readings::other_paths;
use super::{ADDRESSES, parse, split};
use super::{
    Citation, CitationRule, MOST, citation, extension, goes_on, is_of_path, lines, number,
};

/// The most lines that are read behind one place, as in `a.rs:1,12,30`.
const MOST_IN_LIST: usize = 20;

/// A citation where a text has it.
pub(super) struct CitedAt {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) place: Citation,
    pub(super) other_paths: Vec<String>,
    pub(super) column_of: Option<u32>,
}

/// Returns every citation of a text with where it begins and ends.
pub(super) fn places(rule: CitationRule, text: &str) -> Vec<CitedAt> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if is_of_path(c) {
            start.get_or_insert(at);
            continue;
        }
        let Some(begin) = start.take() else { continue };
        Word { rule, text, begin, end: at }.cite(&mut found);
        if found.len() >= 4 * MOST {
            break;
        }
    }
    found
}

/// A run of characters that a path can have.
struct Word<'t> {
    rule: CitationRule,
    text: &'t str,
    begin: usize,
    end: usize,
}

impl Word<'_> {
    fn cite(&self, found: &mut Vec<CitedAt>) {
        let word = self.text.get(self.begin..self.end).unwrap_or_default();
        if let Some(place) = parse(word) {
            let end = self.begin + word.trim_end_matches([':', '.', '-', '\u{2013}']).len();
            found.push(self.cited(end, place.clone()));
            if self.rule == CitationRule::EveryForm {
                self.cite_list(&place, found);
            }
            return;
        }
        if self.rule != CitationRule::EveryForm {
            return;
        }
        if let Some(place) = split(word).map(|(path, first, last)| citation(path, first, last))
            && place.is_named_like_a_file()
            && !is_address(&place.path)
        {
            found.push(self.cited(self.end, place));
        } else if let Some((end, first, last)) = self.lines_behind(word) {
            let place = citation(word.trim_end_matches(','), first, last);
            found.push(self.cited(end, place));
        }
    }

    fn cited(&self, end: usize, place: Citation) -> CitedAt {
        let before = self.text.get(..self.begin).unwrap_or_default();
        let word = self.text.get(self.begin..self.end).unwrap_or_default();
        let other_paths = other_paths(before, word, &place.path);
        CitedAt { start: self.begin, end, place, other_paths, column_of: None }
    }

    /// Reads the further lines of `a.rs:1,12`. The second number may be a column of the first line.
    fn cite_list(&self, place: &Citation, found: &mut Vec<CitedAt>) {
        let mut rest = self.text.get(self.end..).unwrap_or_default();
        let is_line = place.first == place.last;
        let mut column_of = is_line.then_some(place.first);
        for _ in 0..MOST_IN_LIST {
            let listed = rest.strip_prefix(',').and_then(lines);
            let Some((first, last, behind)) = listed.filter(|(_, _, behind)| !goes_on(behind))
            else {
                return;
            };
            rest = behind;
            let end = self.text.len() - rest.len();
            let further = citation(&place.path, first, last);
            found.push(CitedAt { column_of: column_of.take(), ..self.cited(end, further) });
        }
    }

    /// Reads the lines that follow a path: `` `a.rs`:7``, `` `a.rs` line 7``, `a.rs, lines 7-9`,
    /// `a.rs (L7)`.
    fn lines_behind(&self, word: &str) -> Option<(usize, u32, u32)> {
        let is_file = extension(word).is_some() && !is_address(word)
            || word.starts_with(|c: char| c.is_ascii_uppercase());
        let is_path = is_file && !word.contains([':', '#']) && !word.starts_with("//");
        let behind = self.text.get(self.end..).filter(|_| is_path)?;
        let out = behind.strip_prefix('`');
        let (place, closes) = match out.and_then(|out| out.strip_prefix(':')) {
            Some(place) => (place, ""),
            None => spoken_place(out.unwrap_or(behind))?,
        };
        let (first, last, rest) = lines(place)?;
        let (last, rest) = match rest.strip_prefix(" to ").and_then(number) {
            Some((to, rest)) if first == last => (to, rest),
            Some(_) | None => (last, rest),
        };
        if goes_on(rest) {
            return None;
        }
        let rest = rest.strip_prefix(closes).unwrap_or(rest);
        Some((self.text.len() - rest.len(), first, last))
    }
}

fn is_address(path: &str) -> bool {
    extension(path).is_some_and(|ending| ADDRESSES.contains(&ending))
}

/// Returns what follows `line`, `lines` or `L`, and the bracket that closes it.
fn spoken_place(behind: &str) -> Option<(&str, &'static str)> {
    let behind = behind.strip_prefix(',').unwrap_or(behind);
    let behind = behind.strip_prefix([' ', '\u{a0}'])?;
    let (behind, closes) = match behind.strip_prefix('(') {
        Some(inside) => (inside, ")"),
        None => (behind, ""),
    };
    let words = ["lines ", "line ", "Lines ", "Line ", "L"];
    let place = words.iter().find_map(|word| behind.strip_prefix(word))?;
    place.starts_with(|c: char| c.is_ascii_digit()).then_some((place, closes))
}
