//! Markdown as a person reads it at a terminal: headings, lists, emphasis, code, quotations, tables.
//!
//! Only what the text says is shown: no link is followed, no HTML is interpreted, nothing is hidden.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::grid::{Grid, Overflow};
use super::styled::{Ink, StyledLine};

/// How deep quotations and lists are indented at most: text that is nested deeper stays readable.
const DEEPEST: usize = 12;

/// Renders Markdown in lines that are no wider than some columns.
pub fn lines(text: &str, columns: usize) -> Vec<StyledLine> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::new(columns.max(20));
    for event in Parser::new_ext(text, options) {
        writer.take(event);
    }
    writer.end()
}

/// The container of a paragraph.
#[derive(Debug, Clone)]
enum Container {
    Quote,
    /// With the number of the next item, or without numbers.
    List(Option<u64>),
    /// With its mark, until the first line of the item has it.
    Item {
        mark: String,
        is_begun: bool,
    },
}

/// A table on its way: its header, then its rows.
#[derive(Default)]
struct TableParts {
    rows: Vec<Vec<StyledLine>>,
    row: Vec<StyledLine>,
}

struct Writer {
    columns: usize,
    lines: Vec<StyledLine>,
    containers: Vec<Container>,
    inks: Vec<Ink>,
    /// The paragraph that is being read.
    line: StyledLine,
    /// The text of the code block that is being read.
    code: Option<String>,
    table: Option<TableParts>,
    /// The address of each link that is being read, and how much of the line came before it.
    links: Vec<(String, usize)>,
    /// Whether the next block begins after a blank line.
    is_apart: bool,
}

impl Writer {
    fn new(columns: usize) -> Self {
        Self {
            columns,
            lines: Vec::new(),
            containers: Vec::new(),
            inks: Vec::new(),
            line: StyledLine::default(),
            code: None,
            table: None,
            links: Vec::new(),
            is_apart: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.finish(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.line.push(Ink::Code, &text),
            Event::Html(text) | Event::InlineHtml(text) => self.raw(&text),
            Event::SoftBreak => self.line.push(Ink::Plain, " "),
            Event::HardBreak => self.paragraph(),
            Event::Rule => {
                self.space();
                let rule = "─".repeat(self.columns.saturating_sub(self.indent()));
                self.line.push(Ink::Quiet, &rule);
                self.block();
            }
            Event::TaskListMarker(is_done) => {
                self.line.push(Ink::Plain, if is_done { "☑ " } else { "☐ " });
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.line.push(Ink::Plain, &text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.flush();
                self.space();
                self.inks.push(Ink::Heading);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.space();
                self.containers.push(Container::Quote);
            }
            Tag::List(first) => {
                self.flush();
                if !self.is_in_item() {
                    self.space();
                }
                self.is_apart = false;
                self.containers.push(Container::List(first));
            }
            Tag::Item => self.item(),
            Tag::CodeBlock(kind) => {
                self.flush();
                self.space();
                if let CodeBlockKind::Fenced(word) = kind {
                    self.line.push(Ink::Quiet, &word);
                    self.flush();
                }
                self.code = Some(String::new());
            }
            Tag::Table(_) => {
                self.flush();
                self.space();
                self.table = Some(TableParts::default());
            }
            Tag::Emphasis => self.inks.push(Ink::Emphasis),
            Tag::Strong => self.inks.push(Ink::Strong),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.line.text().len()));
            }
            Tag::Paragraph | Tag::HtmlBlock => self.space(),
            Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn finish(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.block(),
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.flush();
                self.containers.pop();
                self.is_apart = !self.is_in_item();
            }
            TagEnd::Item => {
                // An item without text keeps its mark.
                if !self.is_begun() {
                    self.paragraph();
                }
                self.flush();
                self.containers.pop();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::Table => self.whole_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(std::mem::take(&mut table.row));
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.inks.pop();
            }
            TagEnd::Link | TagEnd::Image => self.link(),
            TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        let ink = self.inks.last().copied().unwrap_or_default();
        self.line.push(ink, text);
    }

    /// HTML is text like any other, line by line.
    fn raw(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.line.push(Ink::Quiet, line.trim_end_matches('\n'));
            if line.ends_with('\n') {
                self.paragraph();
            }
        }
    }

    fn item(&mut self) {
        self.flush();
        let mark = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "• ".to_owned(),
        };
        self.containers.push(Container::Item { mark, is_begun: false });
    }

    fn is_in_item(&self) -> bool {
        matches!(self.containers.last(), Some(Container::Item { .. }))
    }

    fn is_begun(&self) -> bool {
        !matches!(self.containers.last(), Some(Container::Item { is_begun: false, .. }))
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.inks.pop();
        let width = self.line.width();
        self.paragraph();
        let rule = match level {
            HeadingLevel::H1 => "═",
            HeadingLevel::H2 => "─",
            HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
                self.is_apart = false;
                return;
            }
        };
        let room = self.columns.saturating_sub(self.indent());
        self.line.push(Ink::Quiet, &rule.repeat(width.min(room)));
        self.paragraph();
        self.is_apart = true;
    }

    /// Appends a link's address, unless its text is the address.
    fn link(&mut self) {
        let Some((address, start)) = self.links.pop() else { return };
        let said = self.line.text();
        if !address.is_empty() && said.get(start..) != Some(&address) {
            self.line.push(Ink::Quiet, &format!(" ({address})"));
        }
    }

    fn code_block(&mut self) {
        let Some(code) = self.code.take() else { return };
        for line in code.lines() {
            let (first, rest) = self.beginnings();
            let line = StyledLine::new(Ink::Code, line);
            let indent = |mut beginning: StyledLine| {
                beginning.push(Ink::Plain, "    ");
                beginning
            };
            let (first, rest) = (indent(first), indent(rest));
            self.lines.extend(line.cut_to_pieces(self.columns, &first, &rest));
        }
        self.is_apart = true;
    }

    fn whole_table(&mut self) {
        let Some(TableParts { rows, .. }) = self.table.take() else { return };
        let mut rows = rows.into_iter();
        let header = rows.next().unwrap_or_default();
        let mut grid = Grid::new(header.iter().map(StyledLine::text), Overflow::Wrap);
        rows.for_each(|row| grid.push(row));
        let room = self.columns.saturating_sub(self.indent());
        for line in grid.lines(room) {
            let (mut whole, _) = self.beginnings();
            whole.extend(&line);
            self.lines.push(whole);
        }
        self.is_apart = true;
    }

    /// Ends a block, after which there is a blank line.
    fn block(&mut self) {
        self.flush();
        self.is_apart = true;
    }

    /// Writes the collected text as a paragraph, if it is not blank.
    fn flush(&mut self) {
        if !self.line.is_blank() {
            self.paragraph();
        }
    }

    /// Writes the collected text as a paragraph.
    fn paragraph(&mut self) {
        let line = std::mem::take(&mut self.line);
        let (first, rest) = self.beginnings();
        self.lines.extend(line.wrapped(self.columns, &first, &rest));
    }

    /// Leaves a line free between two blocks.
    fn space(&mut self) {
        let wants = std::mem::take(&mut self.is_apart) && self.is_begun();
        if wants && !self.lines.is_empty() {
            let (_, rest) = self.beginnings();
            self.lines.push(StyledLine::plain(rest.text().trim_end()));
        }
    }

    fn indent(&self) -> usize {
        let taken = |container: &Container| match container {
            Container::Quote => 2,
            Container::List(_) => 0,
            Container::Item { mark, .. } => mark.chars().count(),
        };
        let all: usize = self.containers.iter().rev().take(DEEPEST).map(taken).sum();
        all.min(self.columns / 2)
    }

    /// Returns what the first line of a block begins with, and what all others begin with.
    fn beginnings(&mut self) -> (StyledLine, StyledLine) {
        let (mut first, mut rest) = (StyledLine::default(), StyledLine::default());
        let skipped = self.containers.len().saturating_sub(DEEPEST);
        for container in self.containers.iter_mut().skip(skipped) {
            match container {
                Container::Quote => {
                    first.push(Ink::Quiet, "│ ");
                    rest.push(Ink::Quiet, "│ ");
                }
                Container::List(_) => {}
                Container::Item { mark, is_begun } => {
                    let blank = " ".repeat(mark.chars().count());
                    first.push(Ink::Plain, if *is_begun { &blank } else { mark });
                    rest.push(Ink::Plain, &blank);
                    *is_begun = true;
                }
            }
        }
        let most = self.columns / 2;
        (first.fitted(most), rest.fitted(most))
    }

    fn end(mut self) -> Vec<StyledLine> {
        self.flush();
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLE: &str = include_str!("markdown/sample.md");

    fn shown(text: &str, columns: usize) -> String {
        lines(text, columns).iter().map(|line| line.text() + "\n").collect()
    }

    #[test]
    fn a_document_fills_the_width_at_word_borders() {
        for columns in [60, 80, 140] {
            insta::assert_snapshot!(format!("columns_{columns}"), shown(SAMPLE, columns));
        }
    }

    #[test]
    fn emphasis_and_code_have_their_looks() {
        let styled: String =
            lines("## A\n\n**b** *c* `d`", 40).iter().map(|line| line.ansi() + "\n").collect();
        insta::assert_snapshot!(styled.replace('\u{1b}', "^"));
    }

    // Text of agents is data, even if it holds control sequences.
    #[test]
    fn nothing_in_a_document_is_an_order_or_hidden() {
        let hostile = "# a\u{1b}[2J\n\n<!-- not \u{9b}31m hidden -->\n\n- [x](javascript:\u{7}y)\n\n\
                       ```\u{1b}]0;owned\u{7}\n\u{202e}code\r\n```\n\n| h\u{8} |\n|---|\n| \u{1b}c |\n";
        let shown = shown(hostile, 60);
        assert!(
            !shown.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'),
            "{shown:?}"
        );
        assert!(shown.contains("hidden") && shown.contains("javascript:"), "{shown}");
        let deep = format!("{}deep", "> ".repeat(500));
        assert!(shown_within(&deep, 60).contains("deep"));
        let far = format!("{}- far", "  ".repeat(300));
        assert!(shown_within(&far, 20).contains("far"));
    }

    fn shown_within(text: &str, columns: usize) -> String {
        let shown = shown(text, columns);
        assert!(lines(text, columns).iter().all(|line| line.width() <= columns), "{shown}");
        shown
    }

    proptest! {
        #[test]
        fn every_word_is_shown_within_the_width(
            words in proptest::collection::vec("[a-z]{1,9}", 1..30),
            marks in proptest::collection::vec("(\n\n)?(# |> |- |[0-9]{1,9}\\. |\\| |\n```\n|    |)", 30),
            columns in 20_usize..100,
        ) {
            let text: String =
                words.iter().zip(&marks).flat_map(|(word, mark)| [mark.as_str(), word, " "]).collect();
            let shown = shown(&text, columns);
            for line in lines(&text, columns) {
                prop_assert!(line.width() <= columns, "{:?} of {:?}", line.text(), text);
            }
            // Code may break at any character.
            let whole = shown.replace(|c: char| c.is_whitespace() || c == '│', "");
            for word in &words {
                prop_assert!(whole.contains(word.as_str()), "{} in {}", word, shown);
            }
        }

        #[test]
        fn any_text_is_shown(text in "[\\PC\n]{0,200}", columns in 20_usize..100) {
            for line in lines(&text, columns) {
                prop_assert!(line.width() <= columns, "{:?}", line.text());
            }
        }
    }
}
