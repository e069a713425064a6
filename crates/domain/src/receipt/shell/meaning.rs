//! Which files an unknown command could have read, and lines with numbers before them.

use super::super::path::base_name;

/// Which files a command could have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those that its words name, or whose names fit a pattern among them.
    Words,
    /// Any: what it reads is only known once it runs.
    Anything,
}

/// Tells whether a command could mean the file at `path`.
pub fn could_mean(command: &str, reach: Reach, path: &str) -> bool {
    let name = base_name(path);
    reach == Reach::Anything || mentions(command, name) || fits_pattern(command, name)
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Tells whether a text contains a name that is not part of a longer one.
pub(in super::super) fn mentions(text: &str, name: &str) -> bool {
    places(text, name).next().is_some()
}

/// Returns the positions of a name in a text.
pub(in super::super) fn places<'a>(
    text: &'a str,
    name: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let stands_alone = move |at: &usize| {
        let before = text.get(..*at).and_then(|start| start.chars().next_back());
        let mut after = text.get(at + name.len()..).unwrap_or_default().chars();
        let next = after.next();
        let goes_on = next.is_some_and(is_name_character)
            || (next == Some('.') && after.next().is_some_and(is_name_character));
        !before.is_some_and(|c| is_name_character(c) || c == '.') && !goes_on
    };
    let found = if name.is_empty() { "" } else { text };
    found.match_indices(name).map(|(at, _)| at).filter(stands_alone)
}

/// Tells whether a word of a text is a pattern that fits a name.
fn fits_pattern(text: &str, name: &str) -> bool {
    let is_part = |c: char| is_name_character(c) || "./*?".contains(c);
    text.split(|c: char| !is_part(c)).any(|word| {
        let pattern = base_name(word);
        let says_something = pattern.contains(['*', '?']) && pattern.contains(is_name_character);
        says_something && fits(pattern, name)
    })
}

/// Matches `*` and `?`; the last star is tried again with more whenever the rest does not fit.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = name.get(in_name) {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(letter) if *letter == '?' || letter == c => {
                at += 1;
                in_name += 1;
            }
            Some(_) | None => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, in_name) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern.iter().skip(at).all(|c| *c == '*')
}

/// Takes the numbers off lines that are numbered in order, as `1⇥text`, `1: text` or `1| text`;
/// returns the first number and the text. `None` if a line has none.
pub fn without_numbers(text: &str) -> Option<(usize, String)> {
    let mut first = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (number, bare) = without_number(line)?;
        if *first.get_or_insert(number) + index != number {
            return None;
        }
        lines.push(bare);
    }
    Some((first?, lines.join("\n")))
}

/// Takes the number off a line; `None` if it has none.
pub fn without_number(line: &str) -> Option<(usize, &str)> {
    let digits = line.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, rest) = digits.split_at_checked(end)?;
    let number: usize = number.parse().ok()?;
    let marks = ["\t", ": ", "| ", "→", ":", "|"];
    let bare = marks.iter().find_map(|mark| rest.strip_prefix(mark));
    Some((number, bare.or_else(|| rest.is_empty().then_some(""))?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_means_the_files_that_its_words_could() {
        for (command, name, expected) in [
            ("python3 x.py docs/spec.md", "spec.md", true),
            ("open('spec.md')", "spec.md", true),
            ("see spec.md.", "spec.md", true),
            ("open('my-spec.md')", "spec.md", false),
            ("vim spec.md.bak", "spec.md", false),
            ("cat *.md", "spec.md", true),
            ("cat docs/sp*", "spec.md", true),
            ("cat s?ec.md", "spec.md", true),
            ("cat *.txt", "spec.md", false),
            ("echo 2 * 3", "spec.md", false),
            ("cat *", "", false),
        ] {
            assert_eq!(could_mean(command, Reach::Words, name), expected, "{command} {name}");
        }
        assert!(could_mean("cat $f", Reach::Anything, "/p/spec.md"));
    }

    #[test]
    fn numbers_are_taken_off() {
        for (text, expected) in [
            ("1\ta\n2\tb", Some((1, "a\nb"))),
            ("     5\ta\n     6\t\n", Some((5, "a\n"))),
            ("00001| a\n00002| b", Some((1, "a\nb"))),
            ("3: a\n4: b", Some((3, "a\nb"))),
            ("1\ta\n3\tb", None),
            ("1\ta\nb", None),
            ("", None),
        ] {
            let expected = expected.map(|(first, text)| (first, text.to_owned()));
            assert_eq!(without_numbers(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_fits_itself_with_any_part_starred(start in "[a-c.]{0,4}", middle in "[a-c]{0,4}", end in "[a-c.]{0,4}") {
            let name = format!("{start}{middle}{end}");
            let pattern = format!("{start}*{end}");
            prop_assert!(fits(&pattern, &name));
        }
    }
}
