//! The one line that tells agents how to use Convoke: adding it to a text, and taking it out.

/// Marks the line as one that `init` wrote.
pub const MARK: &str = "<!-- convoke:init -->";

/// The line that `init` adds.
pub const LINE: &str = "This project uses Convoke: run `convoke wake` when you begin or lose your \
                        context, `convoke task start` and `convoke task done` around each task. \
                        <!-- convoke:init -->";

/// The result of removing the line from a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// The file is as `init` left it; this is what it held before, `None` if there was no file.
    Restored(Option<String>),
    /// The file was edited since; this is what it holds without the line.
    Cut(String),
    /// The line is not there any more, or was reworded: the file is its author's.
    Missing,
}

/// Returns a text with the line, in a paragraph of its own at the end; `None` if a marked line is
/// there already.
pub fn add(text: Option<&str>) -> Option<String> {
    let text = text.unwrap_or_default();
    if text.contains(MARK) {
        return None;
    }
    let end = line_end(text);
    let body = text.trim_start_matches('\u{feff}');
    let gap = match (body.is_empty(), body.ends_with('\n')) {
        (true, _) => String::new(),
        (false, true) if ends_blank(body) => String::new(),
        (false, true) => end.to_owned(),
        (false, false) => format!("{end}{end}"),
    };
    Some(format!("{text}{gap}{LINE}{end}"))
}

/// Takes the line out of a text, with the empty line before it if `init` wrote that, too. Every other
/// byte stays.
pub fn take_out(current: &str, original: Option<&str>, written: &str) -> Removal {
    if current == written {
        return Removal::Restored(original.map(str::to_owned));
    }
    let before = original.unwrap_or_default();
    let inserted = written.strip_prefix(before).unwrap_or_default();
    let line = inserted.trim_matches(['\r', '\n']);
    let gap = inserted.find(line).and_then(|at| inserted.get(..at)).unwrap_or_default();
    let mut at = 0;
    let found = current.split_inclusive('\n').map(|part| {
        at += part.len();
        // A byte order mark is no part of the line behind it.
        let part = part.trim_start_matches('\u{feff}');
        (at - part.len(), part)
    });
    let is_line = |(_, part): &(usize, &str)| part.trim_end_matches(['\r', '\n']) == line;
    let Some((start, part)) = found.filter(is_line).last().filter(|_| !line.is_empty()) else {
        return Removal::Missing;
    };
    let (head, rest) = (&current[..start], &current[start + part.len()..]);
    let kept = match head.strip_suffix(gap) {
        // Text added behind the line must not join the last line before it.
        Some(kept) if !rest.is_empty() && !before.is_empty() && !before.ends_with('\n') => {
            &head[..kept.len() + gap.len() / 2]
        }
        // If the text ended in a line end, Convoke added only an empty line behind it.
        Some(kept) if gap.is_empty() || !before.ends_with('\n') || kept.ends_with('\n') => kept,
        Some(_) | None => head,
    };
    Removal::Cut(format!("{kept}{rest}"))
}

/// Returns how the last line of a text ends that has an end.
fn line_end(text: &str) -> &'static str {
    match text.rfind('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Tells whether a text that ends in a line end has an empty last line.
fn ends_blank(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let body = body.strip_suffix('\r').unwrap_or(body);
    body.is_empty() || body.ends_with('\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_line_is_a_paragraph_of_its_own_with_the_files_line_ends() {
        for (before, gap, end) in [
            ("", "", "\n"),
            ("# Rules\n", "\n", "\n"),
            ("# Rules\n\n", "", "\n"),
            ("# Rules", "\n\n", "\n"),
            ("# Rules\r\n", "\r\n", "\r\n"),
            ("# Rules\r\n\r\n", "", "\r\n"),
            ("a\r\nb", "\r\n\r\n", "\r\n"),
            ("\u{feff}", "", "\n"),
        ] {
            let after = add(Some(before)).unwrap();
            assert_eq!(after, format!("{before}{gap}{LINE}{end}"), "{before:?}");
            assert_eq!(add(Some(&after)), None, "twice: {before:?}");
        }
        assert_eq!(add(None), Some(format!("{LINE}\n")));
    }

    #[test]
    fn what_the_user_wrote_meanwhile_stays() {
        let cut = |current: &str, original: &str| {
            let written = add(Some(original)).unwrap();
            take_out(current, Some(original), &written)
        };
        for (current, original, expected) in [
            (format!("top\n# R\n\n{LINE}\n"), "# R\n", "top\n# R\n"),
            (format!("# R\n\n{LINE}\nmore\n"), "# R\n", "# R\nmore\n"),
            (format!("# R\n\n{LINE}\n\nmore\n"), "# R\n", "# R\n\nmore\n"),
            (format!("# R\n\n{LINE}\nmore"), "# R", "# R\nmore"),
            (format!("# S\n\n{LINE}\n"), "# R", "# S"),
            (format!("# R\r\n\r\n{LINE}\r\nmore\r\n"), "# R\r\n", "# R\r\nmore\r\n"),
            (format!("# R\n{LINE}\n"), "# R\n", "# R\n"),
            (format!("# R\n\n{LINE}"), "# R\n", "# R\n"),
            (format!("# R\r\n\r\n{LINE}\r\n"), "# R\n", "# R\r\n\r\n"),
        ] {
            assert_eq!(cut(&current, original), Removal::Cut(expected.into()), "{current:?}");
        }
        for current in ["# R\n".to_owned(), format!("# R\n\n> {LINE}\n"), String::new()] {
            assert_eq!(cut(&current, "# R\n"), Removal::Missing, "{current:?}");
        }
    }

    proptest! {
        #[test]
        fn adding_and_taking_out_gives_the_bytes_back(
            text in "[ab#`\\n\\r\u{feff}é]{0,24}",
            top in "[xy\\n]{0,6}",
        ) {
            let written = add(Some(&text)).unwrap();
            let restored = take_out(&written, Some(&text), &written);
            prop_assert_eq!(restored, Removal::Restored(Some(text.clone())));
            // Words above the text move it, and nothing else.
            let edited = format!("{top}\n{written}");
            let cut = take_out(&edited, Some(&text), &written);
            prop_assert_eq!(cut, Removal::Cut(format!("{top}\n{text}")));
        }
    }
}
