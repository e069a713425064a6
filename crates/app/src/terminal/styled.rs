//! Styled lines of text, without control characters.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use convoke_domain::text::{fitting, for_terminal, one_line, unbroken_word, width};

/// The style of a piece of text. Without colours all of them are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ink {
    /// As the terminal shows text.
    #[default]
    Plain,
    /// A heading of the page.
    Heading,
    /// Important.
    Strong,
    /// Stressed.
    Emphasis,
    /// Code, commands and paths.
    Code,
    /// Less important than what surrounds it.
    Quiet,
    /// Accepted, done.
    Good,
    /// Rejected, failed.
    Bad,
    /// Needs attention.
    Caution,
}

impl Ink {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Heading => AnsiColor::Cyan.on_default().bold(),
            Self::Strong => Style::new().bold(),
            Self::Emphasis => Style::new().italic(),
            Self::Code => AnsiColor::Magenta.on_default(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Caution => AnsiColor::Yellow.on_default(),
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    ink: Ink,
    text: String,
}

/// One line. Control characters and invisible ones are replaced when text is added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledLine {
    spans: Vec<Span>,
}

impl StyledLine {
    /// Returns a line of plain text.
    pub fn plain(text: &str) -> Self {
        Self::new(Ink::Plain, text)
    }

    /// Returns a line in one style.
    pub fn new(ink: Ink, text: &str) -> Self {
        Self::default().with(ink, text)
    }

    /// Adds a piece at the end.
    #[must_use]
    pub fn with(mut self, ink: Ink, text: &str) -> Self {
        self.push(ink, text);
        self
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, ink: Ink, text: &str) {
        let text = one_line(&text.replace('\t', "    "));
        let text = for_terminal(&text);
        match self.spans.last_mut() {
            Some(last) if last.ink == ink => last.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => self.spans.push(Span { ink, text: text.into_owned() }),
        }
    }

    /// Adds all of another line at the end.
    pub fn extend(&mut self, other: &Self) {
        for span in &other.spans {
            self.push(span.ink, &span.text);
        }
    }

    /// Adds blanks up to a column.
    #[must_use]
    pub fn padded(mut self, columns: usize) -> Self {
        let missing = columns.saturating_sub(self.width());
        self.push(Ink::Plain, &" ".repeat(missing));
        self
    }

    /// Returns how many columns it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// Cuts it with an ellipsis where it is wider.
    #[must_use]
    pub fn fitted(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut cut = Self::default();
        let mut left = columns;
        for span in self.spans {
            let taken = width(&span.text);
            // A column is kept for the ellipsis: there is more, or this piece itself is too wide.
            if taken < left {
                left -= taken;
                cut.spans.push(span);
            } else {
                let text = fitting(&(span.text + " …"), left);
                cut.spans.push(Span { ink: span.ink, text });
                break;
            }
        }
        cut
    }

    /// Tells whether there is nothing to see.
    pub fn is_blank(&self) -> bool {
        self.spans.iter().all(|span| span.text.trim().is_empty())
    }

    /// Returns the text alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the text with the orders that colour it.
    pub fn ansi(&self) -> String {
        self.spans.iter().fold(String::new(), |mut line, span| {
            let style = span.ink.style();
            write!(line, "{style}{}{style:#}", span.text).ok();
            line
        })
    }

    /// Breaks the line at any character where it is too wide, and keeps its blanks.
    pub fn cut_to_pieces(&self, columns: usize, first: &Self, rest: &Self) -> Vec<Self> {
        let mut wrap = Wrap::new(columns, first, rest);
        self.spans.iter().for_each(|span| wrap.put_letters(span));
        wrap.end()
    }

    /// Breaks the line at blanks where it is too wide; all lines but the first are indented. Blanks
    /// between words stay as they are. A word that is longer than a line stays whole, and so does a
    /// command, which is in back-ticks or in [`Ink::Code`]: its reader copies it.
    pub fn folded(&self, columns: usize, indent: usize) -> Vec<Self> {
        let letters = self.spans.iter().flat_map(|span| span.text.chars().map(|c| (c, span.ink)));
        let letters: Vec<_> = letters.collect();
        let (mut lines, mut line, mut rest) = (Vec::new(), Self::default(), &letters[..]);
        // A blank of a command is a letter like others to what finds the next word.
        let held = |(letter, ink): &(char, Ink)| match (*letter, *ink) {
            (' ', Ink::Code) => 'x',
            (letter, _) => letter,
        };
        let breakable: String = letters.iter().map(held).collect();
        let mut unread = breakable.as_str();
        while !rest.is_empty() {
            let word_and_more = unread.trim_start_matches(' ');
            let blanks = unread.len() - word_and_more.len();
            let word_text = unbroken_word(word_and_more);
            unread = &word_and_more[word_text.len()..];
            let word = word_text.chars().count();
            let (piece, after) = rest.split_at(blanks + word);
            let taken: usize = piece.iter().map(|(letter, _)| width(&letter.to_string())).sum();
            let is_full = line.width() > indent && line.width() + taken > columns;
            if is_full {
                lines.push(std::mem::replace(&mut line, Self::default().padded(indent)));
            }
            let piece = piece.iter().skip(if is_full { blanks } else { 0 });
            piece.for_each(|(letter, ink)| line.push(*ink, &letter.to_string()));
            rest = after;
        }
        lines.push(line);
        lines
    }

    /// Breaks the line at blanks so that nothing is wider than some columns, with one beginning for
    /// the first line and another for the rest. A word that is too wide is broken.
    pub fn wrapped(&self, columns: usize, first: &Self, rest: &Self) -> Vec<Self> {
        let mut wrap = Wrap::new(columns, first, rest);
        let mut word = Self::default();
        for span in &self.spans {
            for piece in span.text.split_inclusive(' ') {
                let letters = piece.trim_end_matches(' ');
                word.push(span.ink, letters);
                if letters.len() < piece.len() {
                    wrap.put(&std::mem::take(&mut word));
                }
            }
        }
        wrap.put(&word);
        wrap.end()
    }
}

/// Words on their way into lines.
struct Wrap<'w> {
    columns: usize,
    rest: &'w StyledLine,
    line: StyledLine,
    /// Whether the line has no word yet.
    is_fresh: bool,
    lines: Vec<StyledLine>,
}

impl<'w> Wrap<'w> {
    fn new(columns: usize, first: &StyledLine, rest: &'w StyledLine) -> Self {
        Self { columns, rest, line: first.clone(), is_fresh: true, lines: Vec::new() }
    }

    fn put(&mut self, word: &StyledLine) {
        if word.spans.is_empty() {
            return;
        }
        let gap = usize::from(!self.is_fresh);
        if self.line.width() + gap + word.width() > self.columns && !self.is_fresh {
            self.break_line();
        }
        if !self.is_fresh {
            // Between two words of one style there is no reason to change it.
            let (last, next) = (self.line.spans.last(), word.spans.first());
            let is_same = last.map(|span| span.ink) == next.map(|span| span.ink);
            let ink = next.filter(|_| is_same).map_or(Ink::Plain, |span| span.ink);
            self.line.push(ink, " ");
        }
        if self.line.width() + word.width() <= self.columns {
            self.line.extend(word);
        } else {
            word.spans.iter().for_each(|span| self.put_letters(span));
        }
        self.is_fresh = false;
    }

    fn put_letters(&mut self, span: &Span) {
        let mut left = self.columns.saturating_sub(self.line.width());
        for letter in span.text.chars() {
            let mut bytes = [0; 4];
            let letter: &str = letter.encode_utf8(&mut bytes);
            if width(letter) > left && self.line != *self.rest {
                self.break_line();
                left = self.columns.saturating_sub(self.line.width());
            }
            left = left.saturating_sub(width(letter));
            self.line.push(span.ink, letter);
        }
    }

    fn break_line(&mut self) {
        self.lines.push(std::mem::replace(&mut self.line, self.rest.clone()));
        self.is_fresh = true;
    }

    fn end(mut self) -> Vec<StyledLine> {
        self.lines.push(self.line);
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::text::folded as folded_text;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_line_ends_with_an_ellipsis() {
        let line = StyledLine::new(Ink::Strong, "Claude").with(Ink::Quiet, " · Architecture");
        assert_eq!(line.clone().fitted(21).text(), "Claude · Architecture");
        assert_eq!(line.clone().fitted(12).text(), "Claude · Ar…");
        assert_eq!(line.clone().fitted(6).text(), "Claud…");
        assert_eq!(line.fitted(0).text(), "");
    }

    #[test]
    fn words_wrap_with_their_looks() {
        let line =
            StyledLine::plain("keep ").with(Ink::Code, "notes.json").with(Ink::Plain, ", as it is");
        let (first, rest) = (StyledLine::plain("- "), StyledLine::plain("  "));
        let lines: Vec<_> = line.wrapped(18, &first, &rest).iter().map(StyledLine::text).collect();
        assert_eq!(lines, ["- keep notes.json,", "  as it is"]);
    }

    #[test]
    fn a_folded_line_keeps_its_blanks_and_looks() {
        let line = StyledLine::new(Ink::Caution, "warn").with(Ink::Plain, "  git: 1.9 is too old");
        let folded = line.folded(16, 6);
        let texts: Vec<_> = folded.iter().map(StyledLine::text).collect();
        assert_eq!(texts, ["warn  git: 1.9", "      is too old"]);
        assert!(folded[0].ansi().starts_with("\u{1b}[33mwarn"), "{folded:?}");
        assert_eq!(line.folded(usize::MAX, 6), [line]);
    }

    #[test]
    fn a_command_is_not_broken() {
        let line =
            StyledLine::plain("next  run ").with(Ink::Code, "a b c d").with(Ink::Plain, " now or");
        let texts: Vec<_> = line.folded(12, 6).iter().map(StyledLine::text).collect();
        assert_eq!(texts, ["next  run", "      a b c d", "      now or"]);
    }

    #[test]
    fn nothing_in_a_line_is_an_order_to_a_terminal() {
        let line = StyledLine::plain("a\u{1b}[2Jb\nc\u{202e}\u{9b}d\u{7}");
        assert!(!line.text().contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
        let styled = StyledLine::new(Ink::Bad, "x\u{1b}]0;y\u{7}").ansi();
        assert_eq!(styled.matches('\u{1b}').count(), 2, "{styled:?}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_it_may_be(text in "\\PC{0,80}", columns in 6_usize..60) {
            let line = StyledLine::plain(&text).with(Ink::Code, &text);
            prop_assert!(line.clone().fitted(columns).width() <= columns);
            let indent = StyledLine::plain("  ");
            for wrapped in line.wrapped(columns, &indent, &indent) {
                prop_assert!(wrapped.width() <= columns, "{:?}", wrapped);
            }
            let letters = |text: &str| text.replace(' ', "");
            let all: String = line.wrapped(columns, &indent, &indent).iter().map(StyledLine::text).collect();
            prop_assert_eq!(letters(&all), letters(&line.text()));
            let line = StyledLine::plain(&text).with(Ink::Strong, &text);
            let folded: Vec<_> = line.folded(columns, 2).iter().map(StyledLine::text).collect();
            prop_assert_eq!(folded.join("\n"), folded_text(&line.text(), columns, 2));
        }
    }
}
