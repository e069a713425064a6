//! The one door to standard input.

use std::io::{self, Read};

/// Reads at most `most` bytes of text; `None` if there is more, or if it is no text.
pub fn read(most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    io::stdin().take(most + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= most)
}
