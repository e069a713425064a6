//! Long texts in pages: some clients show their model only the beginning of a long result, and one
//! shows nothing of a long line.

/// The most bytes of a page's text, counted as JSON writes them: with the rest of a result it stays
/// below 8 KB.
pub const PAGE_BYTES: usize = 6 * 1024;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The part.
    pub text: String,
    /// Where the next part begins, in characters; nothing if this is the last.
    pub next_from: Option<usize>,
}

/// Returns the part of a text that begins at a character. It ends at the end of a line if it can, and
/// pages that follow one another are the whole text.
pub fn page(text: &str, from: usize) -> Page {
    page_within(text, from, PAGE_BYTES)
}

/// Returns a part of a text as [`page`] does, of at most so many bytes.
pub fn page_within(text: &str, from: usize, most: usize) -> Page {
    let mut kept = String::new();
    let (mut bytes, mut line_end) = (0, None);
    for (count, c) in (1..).zip(text.chars().skip(from)) {
        bytes += cost(c);
        if bytes > most && !kept.is_empty() {
            // A page that ended long before its limit would waste a call.
            let (length, taken) = line_end
                .filter(|(length, _)| *length * 2 > kept.len())
                .unwrap_or((kept.len(), count - 1));
            kept.truncate(length);
            return Page { text: kept, next_from: Some(from + taken) };
        }
        kept.push(c);
        if c == '\n' {
            line_end = Some((kept.len(), count));
        }
    }
    Page { text: kept, next_from: None }
}

/// Returns how many bytes JSON needs for a text.
pub fn bytes_of(text: &str) -> usize {
    text.chars().map(cost).sum()
}

/// Returns how many bytes JSON needs for a character.
const fn cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str, most: usize) -> Vec<String> {
        let (mut from, mut all) = (0, Vec::new());
        loop {
            let page = page_within(text, from, most);
            all.push(page.text);
            match page.next_from {
                Some(next) if next > from => from = next,
                Some(_) => panic!("a page must go on"),
                None => return all,
            }
        }
    }

    #[test]
    fn pages_are_the_whole_text() {
        for text in
            ["", "a\n", &"ä\"\u{1}\n".repeat(500), &"x".repeat(999), "a\n\n\nbb\ncccccccccc"]
        {
            for most in [1, 7, 50, 6000] {
                assert_eq!(pages(text, most).concat(), text);
            }
        }
    }

    #[test]
    fn a_page_ends_with_a_line_and_keeps_its_limit() {
        let text = "one line of text\n".repeat(100);
        for page in pages(&text, 100) {
            assert!(page.ends_with('\n') && page.len() <= 100, "{page}");
        }
        let quotes = "\"".repeat(20_000);
        let first = page(&quotes, 0);
        assert!(serde_json::to_string(&first.text).unwrap().len() <= PAGE_BYTES + 2);
        assert_eq!(page(&quotes, 30_000), Page { text: String::new(), next_from: None });
    }
}
