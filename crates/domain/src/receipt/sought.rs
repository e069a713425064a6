//! Whether the output of any command or tool contains the text of a file.
//!
//! A command's words only suggest its effect; its output proves it. An output that contains the
//! complete text of a file showed the file. A short text may be in an output by chance, so it
//! counts only if the command or the tool was about the file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::Contents;
use super::path::base_name;
use super::shell::without_number;

/// So many letters and digits are not in an output by chance.
const ENOUGH_LETTERS: usize = 64;

/// A line of dashes, or one word again and again, has fewer different ones.
const ENOUGH_DIFFERENT: usize = 10;

/// Below this, an output must consist of the text and nothing else.
const FEW_LETTERS: usize = 8;

/// A file whose text is searched for.
#[derive(Debug, Clone)]
pub struct Sought {
    /// The file, in full and without links.
    pub path: String,
    /// Its present text.
    pub text: Arc<str>,
    /// It in every way in which it may be shown, comparable.
    readings: Vec<Reading>,
}

#[derive(Debug, Clone)]
struct Reading {
    text: String,
    /// A part without line ends: an output without it need not be searched.
    anchor: String,
    size: Size,
}

/// The significance of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// It may occur in any output by chance.
    Tiny,
    /// It may be in an output about the file by no chance.
    Short,
    /// It does not occur by chance.
    Long,
}

/// Whether a command or a tool was about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Its words name the file, or a pattern that fits.
    TheFile,
    /// They do not.
    Another,
}

impl Sought {
    /// Prepares the search for a file's text; `None` without a text.
    pub fn new(path: &str, now: &Contents<'_>) -> Option<Self> {
        let readings: Vec<_> = now.readings().into_iter().filter_map(Reading::of).collect();
        let text = Arc::from(*now.readings().first()?);
        (!readings.is_empty()).then(|| Self { path: path.to_owned(), text, readings })
    }

    /// Returns the file's name without its folder.
    pub fn name(&self) -> &str {
        base_name(&self.path)
    }

    /// Tells whether an output contains the complete text. It calls `about` only where that
    /// matters.
    pub fn is_in(&self, output: &str, about: impl Fn() -> About) -> bool {
        self.readings.iter().any(|reading| reading.is_in(output, &about))
    }
}

impl Reading {
    fn of(text: &str) -> Option<Self> {
        let text = comparable(text);
        let parts = text.split(['\n', '\u{fffd}']);
        let anchor = parts.max_by_key(|part| part.len())?.trim().to_owned();
        let size = match letters(&text) {
            _ if says_enough(&text) => Size::Long,
            FEW_LETTERS.. => Size::Short,
            _ => Size::Tiny,
        };
        (!anchor.is_empty()).then_some(Self { text, anchor, size })
    }

    fn is_in(&self, output: &str, about: &impl Fn() -> About) -> bool {
        // These two checks decide nearly every output; the rest of the function is for the few that
        // remain.
        if output.len() < self.text.len() || !output.contains(&self.anchor) {
            return false;
        }
        if self.size != Size::Long && about() == About::Another {
            return false;
        }
        self.is_within(&comparable(output))
            || self.is_within(&comparable(&without_each_number(output)))
    }

    fn is_within(&self, output: &str) -> bool {
        match self.size {
            Size::Tiny => output == self.text,
            Size::Short => has_lines(output, &self.text),
            Size::Long => output.contains(&self.text),
        }
    }
}

/// Tells whether a text is too long to occur by chance.
pub(super) fn says_enough(text: &str) -> bool {
    let mut different: Vec<char> = Vec::new();
    for c in text.chars().filter(|c| c.is_alphanumeric()) {
        if different.len() < ENOUGH_DIFFERENT && !different.contains(&c) {
            different.push(c);
        }
    }
    different.len() >= ENOUGH_DIFFERENT && letters(text) >= ENOUGH_LETTERS
}

/// Returns the consecutive lines of a text that an output contains and that are too long to be
/// there by chance, as the places of their first and last.
pub(super) fn visible_lines(text: &str, output: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        // A line that is there twice cannot say where it is.
        places.entry(line).and_modify(|known| *known = None).or_insert(Some(place));
    }
    let bare = without_each_number(output);
    let mut runs = Vec::new();
    for output in [output, bare.as_str()] {
        let mut run: Option<(usize, usize)> = None;
        for line in output.lines().map(str::trim_end) {
            run = match run {
                Some((first, last)) if lines.get(last + 1) == Some(&line) => {
                    Some((first, last + 1))
                }
                ended => {
                    runs.extend(ended);
                    places.get(line).copied().flatten().map(|place| (place, place))
                }
            };
        }
        runs.extend(run);
    }
    let is_enough = |run: &(usize, usize)| {
        lines.get(run.0..=run.1).is_some_and(|run| says_enough(&run.join("\n")))
    };
    runs.retain(is_enough);
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Counts letters and digits, up to where it does not matter any more.
fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).take(ENOUGH_LETTERS).count()
}

/// Tells whether a text contains some lines, complete and in order.
fn has_lines(text: &str, lines: &str) -> bool {
    text.match_indices(lines).any(|(at, _)| {
        let before = text.get(..at).is_some_and(|start| start.is_empty() || start.ends_with('\n'));
        let after = text.get(at + lines.len()..);
        before && after.is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
    })
}

/// Takes the number off every line that has one before it.
pub(super) fn without_each_number(text: &str) -> String {
    let bare = |line| without_number(line).map_or(line, |(_, bare)| bare);
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// Normalizes a text for comparison. Clients drop empty lines at both ends, line ends change, a
/// byte order mark is invisible, and several invalid bytes become one mark or several: none of this
/// makes a text different.
pub(super) fn comparable(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_end();
        if !joined.is_empty() || !line.is_empty() {
            joined.push_str(&with_single_marks(line));
            joined.push('\n');
        }
    }
    joined.truncate(joined.trim_end_matches('\n').len());
    joined
}

/// Makes one replacement character of several in a row.
fn with_single_marks(line: &str) -> Cow<'_, str> {
    if !line.contains("\u{fffd}\u{fffd}") {
        return Cow::Borrowed(line);
    }
    let mut last = ' ';
    let is_first = |c: &char| {
        let is_again = *c == '\u{fffd}' && last == *c;
        last = *c;
        !is_again
    };
    Cow::Owned(line.chars().filter(is_first).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LONG: &str = "# Cache\n\nEvery entry lives for ten minutes, then it is fetched again.\n\
        A miss costs one query.\n";

    fn is_in(text: &str, output: &str, about: About) -> bool {
        let sought = Sought::new("/p/a.md", &Contents::Text(text));
        sought.is_some_and(|sought| sought.is_in(output, || about))
    }

    #[test]
    fn a_long_text_is_found_in_any_output() {
        let numbered: Vec<_> =
            LONG.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}", at + 1)).collect();
        for (output, expected) in [
            (LONG.to_owned(), true),
            (LONG.trim_end().to_owned(), true),
            (format!("Output: {LONG}PID: 7"), true),
            (format!("two\nthree{LONG}"), true),
            (LONG.replace('\n', "\r\n"), true),
            (LONG.replace('\n', "  \n"), true),
            (numbered.join("\n"), true),
            (format!("1\tother\n{}\n", numbered.join("\n")), true),
            (LONG.replace("ten", "two"), false),
            (LONG.replace("\n\n", "\n"), false),
            (LONG[..LONG.len() - 9].to_owned(), false),
            (LONG.replace("lives for ten", "lives … 3 tokens truncated … ten"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_in(LONG, &output, About::Another), expected, "{output:?}");
        }
    }

    #[test]
    fn a_short_text_counts_only_where_the_file_is_meant() {
        use About::{Another, TheFile};
        for (text, output, about, expected) in [
            ("one rule\nno more\n", "x\none rule\nno more\ny", TheFile, true),
            ("one rule\nno more\n", "x\none rule\nno more\ny", Another, false),
            ("one rule\nno more\n", "x one rule\nno more\n", TheFile, false),
            ("one rule\nno more\n", "one rule\nno more, they say\n", TheFile, false),
            ("TODO\n", "TODO", TheFile, true),
            ("TODO\n", "TODO", Another, false),
            ("TODO\n", "1 a.md\nTODO\n", TheFile, false),
            ("", "", TheFile, false),
            ("\n \n", "\n \n", TheFile, false),
            // Long, and says nothing.
            (&"-".repeat(500), &"-".repeat(900), Another, false),
            (&"no ".repeat(200), &"no ".repeat(300), Another, false),
        ] {
            assert_eq!(is_in(text, output, about), expected, "{text:?} {output:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_looked_for_in_every_reading() {
        let readings = [LONG.replace("ten", "t\u{fffd}n"), LONG.replace("ten", "tên")];
        let sought = Sought::new("/p/a.md", &Contents::Other(&readings)).unwrap();
        for (word, expected) in [("t\u{fffd}\u{fffd}n", true), ("tên", true), ("ten", false)] {
            let output = format!("> {}", LONG.replace("ten", word));
            assert_eq!(sought.is_in(&output, || About::Another), expected, "{word}");
        }
    }

    #[test]
    fn lines_in_a_row_are_found_in_a_cut_output() {
        let rule = |n: usize| format!("Rule {n}: a token of kind {n} is signed before it is used.");
        let rules = |from: usize, to: usize| (from..=to).map(rule).collect::<Vec<_>>().join("\n");
        let text = format!("{}\n\nend\n", rules(1, 9));
        for (output, expected) in [
            (format!("Output:\n{}\n…9 tokens truncated…{}", rules(1, 3), rules(6, 9)), "0-2 6-8"),
            (format!("{}\n\nend", rules(8, 9)), "7-10"),
            (format!("4\t{}\n5\t{}", rule(4), rule(5)), "3-4"),
            (rule(4), ""),
            ("end".to_owned(), ""),
            (String::new(), ""),
        ] {
            let found = visible_lines(&text, &output);
            let told: Vec<_> =
                found.iter().map(|(first, last)| format!("{first}-{last}")).collect();
            assert_eq!(told.join(" "), expected, "{output}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_for(text in any::<String>(), output in any::<String>()) {
            is_in(&text, &output, About::TheFile);
            visible_lines(&text, &output);
            let around = format!("{output}\n{text}\n{output}");
            let is_long = says_enough(&comparable(&text));
            prop_assert!(!is_long || is_in(&text, &around, About::Another));
        }
    }
}
