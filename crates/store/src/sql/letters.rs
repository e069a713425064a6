//! Words without regard to capitals, in every script and under every locale of a server.

/// Returns a text with small letters alone. Each letter is taken by itself, so that the beginning of a word
/// is also that of the changed word; a Greek sigma is the same at the end of a word.
fn small(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = text.chars().flat_map(char::to_lowercase);
    // A capital İ becomes an i and a dot of its own.
    let letters = letters.filter(|letter| *letter != '\u{307}');
    letters.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

/// Returns words for [`has_words`].
pub(super) fn wanted(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| small(word)).collect();
    words.join(" ")
}

/// Tells whether a text has all words, each anywhere.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let text = small(text);
    words.split(' ').all(|word| text.contains(word))
}

/// Returns the pattern of a word for a server, whose own rules for capitals follow its locale. Words are
/// letters and digits, so that none needs to be escaped.
#[cfg(feature = "postgres")]
pub(super) fn pattern(word: &str) -> String {
    let any = |letter: char| match letter {
        'σ' => "[σΣς]".to_owned(),
        'i' => "[iIİ]\u{307}?".to_owned(),
        _ => match capital(letter) {
            Some(capital) => format!("[{letter}{capital}]"),
            None => letter.to_string(),
        },
    };
    small(word).chars().map(any).collect()
}

/// Returns a query for a word of a server's index. A server whose locale knows no letters but the English
/// ones has kept other capitals: it also finds a word that begins with one, or has no small letter.
#[cfg(feature = "postgres")]
pub(super) fn query(word: &str) -> String {
    if word.is_ascii() {
        return format!("'{word}':*");
    }
    let large = |letter: char| capital(letter).unwrap_or(letter);
    let mut letters = word.chars();
    let first: String = letters.next().map(large).into_iter().chain(letters).collect();
    let all: String = word.chars().map(large).collect();
    format!("('{word}':* | '{first}':* | '{all}':*)")
}

/// Returns the capital of a letter, if it has one.
#[cfg(feature = "postgres")]
fn capital(letter: char) -> Option<char> {
    let mut capital = letter.to_uppercase();
    let one = capital.next().filter(|one| *one != letter);
    one.filter(|_| capital.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_without_regard_to_capitals() {
        for (text, word) in [
            ("Über uns", "über"),
            ("ПРОВЕРИТЬ модель", "проверить"),
            ("Ο ΔΡΟΜΟΣ", "δρομος"),
            ("ΟΔΟΣΤΡΩΤΗΡΑΣ", "οδος"),
            ("Hafen İstanbul", "istanbul"),
            ("Hafen istanbul", "i\u{307}stanbul"),
            ("Read the MAP", "map"),
        ] {
            assert!(has_words(text, &wanted(&[word.to_owned()])), "{text}: {word}");
        }
        let both = wanted(&["über".to_owned(), "uns".to_owned()]);
        assert!(has_words("Uns, ÜBER", &both) && !has_words("Über euch", &both));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_query_of_a_server_has_both_kinds_of_letters() {
        assert_eq!(pattern("über1"), "[üÜ][bB][eE][rR]1");
        assert_eq!(pattern("ς"), "[σΣς]");
        assert_eq!(pattern("日本"), "日本");
        assert_eq!(query("map"), "'map':*");
        assert_eq!(query("über"), "('über':* | 'Über':* | 'ÜBER':*)");
    }
}
