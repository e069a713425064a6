//! JSON in single bytes.

/// Writes JSON without any character that is more than a byte: a client that reads it in pieces may
/// spoil those.
pub(crate) fn ascii(json: &str) -> String {
    let escaped = |letter: char| {
        let units = letter
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect::<Vec<_>>();
        units.concat()
    };
    let pieces = json.split_inclusive(|letter: char| !letter.is_ascii()).map(|piece| {
        match piece.chars().next_back().filter(|letter| !letter.is_ascii()) {
            Some(letter) => {
                format!("{}{}", &piece[..piece.len() - letter.len_utf8()], escaped(letter))
            }
            None => piece.to_owned(),
        }
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn answers_are_written_in_single_bytes() {
        let text = "Grüße, 世界 😀 \"x\"";
        let json = ascii(&json!({ "text": text }).to_string());
        assert!(json.is_ascii(), "{json}");
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["text"], text);
    }
}
