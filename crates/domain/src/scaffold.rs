//! Is a file still the scaffold it was created as, or did a person write in it?
//!
//! A line is the user's unless it is structure (headings, rules, quotes, comments, front matter,
//! table heads) or a place left open with `_TBD_`. The verdict is textual: hashes, dates and git
//! play no part, so a scaffold stays one when it is copied, reformatted to CRLF or given a mark.

use std::borrow::Cow;

use crate::markdown::comment::Comments;
use crate::markdown::fence::{self, FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, front_matter, lines, table, without_mark};

const MARKER: &str = "_TBD_";

/// Tells whether the file holds no text of a person.
pub fn is_scaffold(text: &str) -> bool {
    first_content_line(text).is_none()
}

/// Returns the number, from one, of the first line that a person wrote.
///
/// It stops reading there, so it recognizes a filled file of any size immediately.
pub fn first_content_line(text: &str) -> Option<usize> {
    let mut judge = Judge::default();
    let body = lines(without_mark(text)).map(bare).zip(1..).skip(front_matter::line_count(text));
    for (line, number) in body {
        judge.read(line, number);
        if judge.content.is_some() {
            return judge.content;
        }
    }
    judge.finish();
    judge.content
}

/// Reads lines in order until one of them is content.
#[derive(Default)]
struct Judge {
    content: Option<usize>,
    comments: Comments,
    fences: Fences,
    code: Code,
    table: Table,
}

impl Judge {
    fn read(&mut self, line: &str, number: usize) {
        let visible = self.visible(line);
        let place = self.fences.feed(&visible);
        if place != FenceLine::Outside || !table::is_row(&visible) {
            self.end_table();
        }
        match place {
            FenceLine::Opens => self.code = Code::default(),
            FenceLine::Body => self.content = self.code.read(&visible, number),
            FenceLine::Closes => self.content = self.code.verdict(),
            FenceLine::Outside if table::is_row(&visible) => {
                self.content = self.table.read(&visible, number);
            }
            FenceLine::Outside if is_structure(&visible) || is_open_place(&visible) => {}
            FenceLine::Outside => self.mark(number),
        }
    }

    /// Hides comments, which have no meaning inside a fence or on the line that opens one.
    fn visible<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        let opens = !self.comments.inside() && fence::opens(line);
        if self.fences.inside() || opens {
            Cow::Borrowed(line)
        } else {
            self.comments.visible(line)
        }
    }

    fn finish(&mut self) {
        self.end_table();
        if self.fences.inside() && self.content.is_none() {
            self.content = self.code.verdict();
        }
    }

    fn end_table(&mut self) {
        if let Some(number) = std::mem::take(&mut self.table).pending() {
            self.mark(number);
        }
    }

    /// Keeps the earliest content line.
    fn mark(&mut self, number: usize) {
        self.content.get_or_insert(number);
    }
}

/// The body of a fence. It is scaffold when it is empty, or when every filled line holds the
/// marker, where the first may be the root of a drawn tree.
#[derive(Default)]
struct Code {
    filled: bool,
    marked: bool,
    root: Option<usize>,
}

impl Code {
    /// Returns the first line without a marker as soon as the body cannot be scaffold any more.
    fn read(&mut self, line: &str, number: usize) -> Option<usize> {
        if line.trim().is_empty() {
            return None;
        }
        let first = !std::mem::replace(&mut self.filled, true);
        if line.contains(MARKER) {
            self.marked = true;
        } else if first {
            self.root = Some(number);
        } else {
            return Some(self.root.unwrap_or(number));
        }
        None
    }

    fn verdict(&self) -> Option<usize> {
        if self.marked { None } else { self.root }
    }
}

/// A run of table rows. The first row waits for the second, which tells whether it is a head.
#[derive(Default)]
struct Table {
    rows: usize,
    first_is_content: Option<usize>,
}

impl Table {
    fn read(&mut self, row: &str, number: usize) -> Option<usize> {
        self.rows += 1;
        let content = (!is_open_row(row)).then_some(number);
        match self.rows {
            1 => {
                self.first_is_content = content;
                None
            }
            2 if table::is_delimiter(row) => {
                self.first_is_content = None;
                None
            }
            _ => self.first_is_content.or(content),
        }
    }

    /// Returns the first row's number if it turned out to be content.
    fn pending(self) -> Option<usize> {
        self.first_is_content
    }
}

fn is_open_row(row: &str) -> bool {
    table::cells(row).any(|cell| cell == MARKER) || table::cells(row).all(str::is_empty)
}

/// Tells whether a line is part of a scaffold's structure, with any words.
fn is_structure(line: &str) -> bool {
    let words = line.trim();
    words.is_empty()
        || words.starts_with('>')
        || words.chars().all(|c| c == '=')
        || is_thematic_break(words)
        || Heading::parse(line).is_some()
}

fn is_thematic_break(words: &str) -> bool {
    ['-', '*', '_'].into_iter().any(|mark| {
        words.matches(mark).count() >= 3 && words.chars().all(|c| c == mark || c == ' ')
    })
}

/// Lines whose only word is the marker, with or without a label, a list mark or a task box.
fn is_open_place(line: &str) -> bool {
    let words = line.trim();
    // A bold label begins like a list item, so the line counts with and without its marks.
    let unmarked = without_task_box(without_list_mark(words));
    [words, unmarked].into_iter().any(|words| {
        words.is_empty()
            || is_instruction(words)
            || is_labelled_marker(words)
            || is_footer(words)
            || is_bare_label(words)
    })
}

fn without_list_mark(words: &str) -> &str {
    let number = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if number.len() < words.len() {
        number.strip_prefix(['.', ')'])
    } else {
        words.strip_prefix(['-', '*', '+'])
    };
    rest.map_or(words, str::trim_start)
}

fn without_task_box(words: &str) -> &str {
    let rest = ["[ ]", "[x]", "[X]"].iter().find_map(|task_box| words.strip_prefix(task_box));
    rest.map_or(words, str::trim_start)
}

/// `_TBD_`, or an italic sentence that begins with it: `_TBD: two or three sentences_`.
fn is_instruction(words: &str) -> bool {
    words
        .strip_prefix("_TBD")
        .is_some_and(|rest| rest.ends_with('_') && !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// `Grid: _TBD_`, `**Goal**: _TBD_`, `**Goal:** _TBD_`.
fn is_labelled_marker(words: &str) -> bool {
    words.split_once(':').is_some_and(|(label, value)| {
        !label.is_empty() && value.trim_start_matches('*').trim_start() == MARKER
    })
}

/// The italic last line of a scaffold; its value is filled in by machines.
fn is_footer(words: &str) -> bool {
    words.ends_with('_')
        && ["_Last updated:", "_Populated by:"].iter().any(|start| words.starts_with(start))
}

/// `**Key interactions**:` or `**Key interactions:**`.
fn is_bare_label(words: &str) -> bool {
    let label = words
        .strip_suffix("**:")
        .or_else(|| words.strip_suffix(":**"))
        .and_then(|words| words.strip_prefix("**"));
    label.is_some_and(|label| !label.is_empty() && !label.contains('*'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks a text as it is, with CRLF, and with a byte-order mark: the verdict never differs.
    #[track_caller]
    fn check(text: &str, content_line: Option<usize>) {
        let crlf = text.replace('\n', "\r\n");
        let marked = format!("\u{feff}{text}");
        for form in [text, &crlf, &marked] {
            assert_eq!(first_content_line(form), content_line, "{form:?}");
        }
    }

    #[track_caller]
    fn scaffold(text: &str) {
        check(text, None);
    }

    #[track_caller]
    fn content_at(line: usize, text: &str) {
        check(text, Some(line));
    }

    // B-20, B-21
    #[test]
    fn nothing_written_is_scaffold() {
        scaffold("");
        scaffold("\n  \n\t\n");
        scaffold("# A\n\n## B\n\n###### C\n");
        scaffold("# A\n\n_TBD_\n");
        content_at(3, "# A\n\nHello.\n");
    }

    // B-22
    #[test]
    fn closed_front_matter_is_structure() {
        scaffold("---\ntitle: a real title\nowner: me\n---\n\n_TBD_\n");
        content_at(2, "---\ntitle: x\n_TBD_\n");
        content_at(5, "---\ntitle: x\n---\n\ntext\n");
        content_at(3, "\n---\ntitle: x\n---\n_TBD_\n");
    }

    // B-23
    #[test]
    fn comments_are_not_content_but_their_neighbours_are() {
        scaffold("<!-- one\ntwo is prose\nthree -->\n_TBD_\n");
        scaffold("<!-- never closed\n\nprose\n");
        scaffold("- <!-- a --> _TBD_\n");
        content_at(1, "<!-- n --> real text\n");
        content_at(3, "<!-- a\nb\nc --> real\n");
        scaffold("```\n<!-- _TBD_\n```\n_TBD_\n");
        content_at(4, "```\n_TBD_ <!-- no comment here\n```\nprose\n");
        scaffold("<!--\n```\nprose\n-->\n_TBD_\n");
        content_at(5, "``` <!-- info, no comment\n_TBD_\n```\n\nprose\n");
    }

    // B-24
    #[test]
    fn a_fence_with_only_open_places_is_scaffold() {
        scaffold("```\nRoot\n├── _TBD_\n└── _TBD_\n```\n");
        scaffold("~~~text\n_TBD_\n~~~\n");
        scaffold("```\n\n```\n");
        scaffold("```\n\nRoot\n\n- _TBD_\n");
        content_at(2, "```\nRoot\n├── Home\n└── _TBD_\n```\n");
        content_at(3, "```\n_TBD_\nHome\n```\n");
        content_at(2, "```\nRoot\n```\n");
        content_at(2, "```\nRoot\n");
        content_at(2, "~~~\n# not a heading\n```\n~~~\n");
        content_at(5, "```\n_TBD_\n```\n\nprose\n");
    }

    // B-25
    #[test]
    fn table_rows_are_judged_by_their_cells() {
        scaffold("| A | B |\n|---|---|\n| _TBD_ | |\n| label | _TBD_ |\n|  |  |\n");
        scaffold("| only a head |\n| :-: |\n");
        content_at(3, "| A | B |\n|---|---|\n| Home | yes |\n");
        content_at(3, "| A |\n|---|\n| _TBD_ (later) |\n");
        content_at(3, "| A |\n|---|\n| a \\| _TBD_ |\n");
        content_at(1, "| Home | yes |\n");
        content_at(1, "| Home | yes |\n| _TBD_ | |\n");
        content_at(2, "| _TBD_ | |\n| Home | yes |\n");
        content_at(1, "| Home |\n\n|---|\n");
        content_at(4, "| A |\n|---|\n\n| Home |\n");
        content_at(1, "| Home |\n```\n_TBD_\n```\n");
        content_at(1, "| Home |\n| |\n");
    }

    // B-26
    #[test]
    fn structure_is_not_content() {
        for line in ["***", "- - -", "___", "-----", "=", "====", "> my note", "  > quoted", "## A"]
        {
            scaffold(&format!("{line}\n_TBD_\n"));
        }
        content_at(2, "> quoted\nlazy line\n");
        for line in ["--", "-*-", "= =", "#A", "####### A", "= a", "    # code"] {
            content_at(1, &format!("{line}\n"));
        }
    }

    // B-27
    #[test]
    fn open_places_are_not_content() {
        let open = [
            "_TBD_",
            "- _TBD_",
            "* _TBD_",
            "+ _TBD_",
            "12. _TBD_",
            "3) _TBD_",
            "- [ ] _TBD_",
            "- [x] _TBD_",
            "1. [X] _TBD_",
            "_TBD: say what a user can do_",
            "_TBD — one sentence_",
            "**Goal**: _TBD_",
            "**Goal:** _TBD_",
            "- Grid: _TBD_",
            "Grid:_TBD_",
            "_Last updated: 2026-06-23_",
            "_Last updated: _TBD__",
            "_Populated by: somebody_",
            "**Key interactions**:",
            "**Key interactions:**",
            "-",
            "- [ ]",
            "7.",
            "-_TBD_",
            "- [ ]_TBD_",
        ];
        for line in open {
            scaffold(&format!("{line}\n"));
        }
    }

    // B-27, B-28
    #[test]
    fn everything_else_is_content() {
        let content = [
            "TBD",
            "_tbd_",
            "TODO",
            "[Term]",
            "We will use _TBD_",
            "Primary: blue, secondary: _TBD_",
            "Library: _TBD_ (lucide?)",
            "![x](y.png)",
            "_TBDs are fine_",
            "_TBD1_",
            "_TBD no end",
            "**Goal**",
            "**Goal** and more:",
            "****:",
            "**a*b**:",
            ": _TBD_",
            "- [y] _TBD_",
            "- - _TBD_",
            "_Last updated: today",
            "_Last edited: today_",
            "http://a.b: _TBD_",
        ];
        for line in content {
            content_at(1, &format!("{line}\n"));
        }
    }

    const MARKDOWN: &str = "((-{3}|[#`~]{0,4}|<!--|-->|\\| ?|> ?|[*_=-]{0,4}|[-*] \\[[ x]\\] |a: )\
                            ( ?_TBD_?|[a-zé]{0,4})?[ |]?\n?){0,16}";

    proptest! {
        #[test]
        fn a_carriage_return_or_mark_never_changes_the_verdict(text in MARKDOWN) {
            let verdict = first_content_line(&text);
            prop_assert_eq!(first_content_line(&text.replace('\n', "\r\n")), verdict);
            prop_assert_eq!(first_content_line(&format!("\u{feff}{text}")), verdict);
        }

        #[test]
        fn an_answer_is_a_line_of_the_text(text in any::<String>()) {
            let number = first_content_line(&text);
            prop_assert!(number.is_none_or(|number| (1..=lines(&text).count()).contains(&number)));
        }
    }
}
