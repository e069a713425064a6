//! Text of agents in Markdown that others render.

use crate::markdown::visible;

/// A blank without width. Readers do not see it, and programs that look for mentions, references
/// and addresses find none around it.
const NOTHING: char = '\u{200b}';

/// The marks that mean something within a line.
const MARKS: [char; 14] = ['\\', '`', '*', '_', '[', ']', '|', '~', '$', '!', '(', ')', '{', '}'];

/// Puts a text on one line, in which nothing is Markdown, a mention, a reference or a link.
pub(super) fn inline(text: &str) -> String {
    let line = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = String::with_capacity(line.len());
    let mut before = ' ';
    for c in line.chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            c if MARKS.contains(&c) => shown.extend(['\\', c]),
            // `@name`, `#12` and `!12` after a mark; an address needs `@` or `://`, too.
            '@' | '#' | ':' => shown.extend([c, NOTHING]),
            '-' if before.eq_ignore_ascii_case(&'h') => shown.extend([c, NOTHING]),
            '.' if before.eq_ignore_ascii_case(&'w') => shown.extend([NOTHING, c]),
            _ => shown.push(c),
        }
        before = c;
    }
    // At the beginning of a line, these begin a list, a heading or a rule.
    if shown.starts_with(['-', '+', '=']) || shown.starts_with(|c: char| c.is_ascii_digit()) {
        shown.insert(0, NOTHING);
    }
    shown
}

/// Puts a text into a fence that it cannot close. Programs look for no mentions in it.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let text = visible(text);
    let longest = longest_run(&text, '`');
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;
    use crate::hostile::texts;

    /// Fails unless a text in a cell of a table stays there, and is nothing but text.
    fn assert_contained(text: &str) {
        let inline = inline(text);
        assert!(!inline.contains('\n'), "{inline}");
        for (at, _) in inline.match_indices(['@', '#', ':']) {
            let next = inline[at..].chars().nth(1);
            assert!(next.is_none() || next == Some(NOTHING), "{inline}");
        }
        let table = format!("| a | b |\n|---|---|\n| {inline} | end |\n\nafter\n");
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_MATH
            | Options::ENABLE_FOOTNOTES;
        let mut cells = 0;
        for event in Parser::new_ext(&table, options) {
            let is_cell = matches!(event, Event::Start(Tag::TableCell));
            cells += usize::from(is_cell);
            let is_plain = matches!(
                event,
                Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::Paragraph)
                    | Event::End(_)
                    | Event::Text(_)
            );
            assert!(is_cell || is_plain, "{event:?} in {table}");
        }
        assert_eq!(cells, 4, "{table}");
    }

    /// Fails unless a text in a fence stays there.
    fn assert_fenced(text: &str) {
        let document =
            format!("<details><summary>x</summary>\n\n{}\n</details>\n", fenced("text", text));
        let mut blocks = 0;
        let mut html = Vec::new();
        for event in Parser::new(&document) {
            let is_block = matches!(event, Event::Start(Tag::CodeBlock(_)));
            blocks += usize::from(is_block);
            let is_plain =
                matches!(event, Event::Start(Tag::HtmlBlock) | Event::End(_) | Event::Text(_));
            if let Event::Html(line) = event {
                html.push(line.to_string());
            } else {
                assert!(is_block || is_plain, "{event:?} in {document}");
            }
        }
        assert_eq!(blocks, 1, "{document}");
        assert_eq!(html.concat(), "<details><summary>x</summary>\n</details>\n", "{document}");
    }

    #[test]
    fn hostile_texts_stay_in_their_cell_and_fence() {
        for (_, text) in texts() {
            assert_contained(&text);
            assert_fenced(&text);
        }
    }

    #[test]
    fn a_text_mentions_refers_and_links_to_nothing() {
        let shown = inline("@alice fixes #12, GH-3, see https://evil.example and www.evil.example");
        assert_eq!(
            shown,
            "@\u{200b}alice fixes #\u{200b}12, GH-\u{200b}3, see https:\u{200b}//evil.example and \
             www\u{200b}.evil.example"
        );
    }

    proptest! {
        #[test]
        fn any_text_stays_in_its_cell_and_fence(text in any::<String>()) {
            assert_contained(&text);
            assert_fenced(&text);
        }

        #[test]
        fn any_mixture_of_marks_stays_there(pieces in prop::collection::vec(prop::sample::select(vec![
            "|", "\\", "`", "```", "````", "\n", "<", ">", "</details>", "</td>", "[", "](", ")", "!", "*", "_",
            "~~", "$", "@a", "#1", "https://", "www.", "- ", "1. ", "    ", "&", ";", "{", "}", "[^1]", ": ",
        ]), 0..30)) {
            assert_contained(&pieces.concat());
            assert_fenced(&pieces.concat());
        }
    }
}
