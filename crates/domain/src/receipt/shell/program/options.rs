//! Parses a program's arguments by the usual conventions.

use super::super::syntax::Word;

/// A program's parsed arguments.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Letters behind a single dash.
    letters: String,
    /// Options with their values.
    valued: Vec<(String, String)>,
    /// `-5`, as old programs want it.
    number: Option<String>,
    /// Options of two dashes, without their values.
    long: Vec<String>,
    /// Everything that is no option.
    pub(super) files: Vec<Word>,
}

impl Options {
    /// Tells whether one of these letters was given.
    pub(super) fn has_any(&self, letters: &str) -> bool {
        self.letters.chars().any(|letter| letters.contains(letter))
    }

    /// Tells whether this option of two dashes was given.
    pub(super) fn has(&self, long: &str) -> bool {
        self.long.iter().any(|option| option == long)
    }

    /// Returns the value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.valued.iter().find(|(option, _)| option == name).map(|(_, value)| value.as_str())
    }

    /// Returns the number behind a dash or a plus.
    pub(super) fn number(&self) -> Option<&str> {
        self.number.as_deref()
    }
}

/// Tells options from files; the letters in `valued` take a value.
pub(super) fn options(arguments: &[Word], valued: &str) -> Options {
    let mut given = Options::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let number = text.strip_prefix(['-', '+']).filter(|digits| digits.parse::<usize>().is_ok());
        if text == "--" {
            given.files.extend(words.cloned());
            break;
        } else if let Some(number) = number {
            let sign = if text.starts_with('+') { "+" } else { "" };
            given.number = Some(format!("{sign}{number}"));
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            given.long.push(format!("--{name}"));
            given.valued.push((format!("--{name}"), value.to_owned()));
        } else if text.len() > 1 && text.starts_with('-') {
            let rest = given.letters_of(text, valued);
            if let Some((letter, "")) = rest {
                let value = words.next().map_or(String::new(), |word| word.text.clone());
                given.valued.push((format!("-{letter}"), value));
            } else if let Some((letter, value)) = rest {
                given.valued.push((format!("-{letter}"), value.to_owned()));
            }
        } else if text != "-" {
            given.files.push(word.clone());
        }
    }
    given
}

impl Options {
    /// Takes the letters of one argument, up to one that takes a value; returns that one with the
    /// rest.
    fn letters_of<'a>(&mut self, text: &'a str, valued: &str) -> Option<(char, &'a str)> {
        for (index, letter) in text.char_indices().skip(1) {
            self.letters.push(letter);
            if valued.contains(letter) {
                return Some((letter, text.get(index + letter.len_utf8()..).unwrap_or_default()));
            }
        }
        None
    }
}
