//! Lines at the bottom of a terminal that are redrawn, below all messages.

use convoke_domain::text::width;

/// The lines drawn there now.
#[derive(Debug, Default)]
pub(super) struct LiveArea {
    lines: Vec<DrawnLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DrawnLine {
    /// The text, with the orders that colour it.
    drawn: String,
    columns: usize,
}

impl LiveArea {
    /// A static place for an area begins like this.
    pub(super) const fn empty() -> Self {
        Self { lines: Vec::new() }
    }

    /// Returns what puts other lines into the place of the present ones. Every line is written over,
    /// never wiped first, so nothing flickers. Nothing if they are the same.
    pub(super) fn replace<'l>(
        &mut self,
        lines: impl Iterator<Item = (&'l str, &'l str)>,
        columns: usize,
    ) -> String {
        let new: Vec<_> = lines
            .map(|(text, drawn)| DrawnLine { drawn: drawn.to_owned(), columns: width(text) })
            .collect();
        if new == self.lines {
            return String::new();
        }
        let mut orders = self.top(columns);
        self.lines = new;
        orders += &self.draw();
        orders + "\x1b[J"
    }

    /// Returns the sequence that wipes the area, so that a message can take its place.
    pub(super) fn wipe(&self, columns: usize) -> String {
        if self.lines.is_empty() { String::new() } else { self.top(columns) + "\x1b[J" }
    }

    /// Returns what draws it where the cursor is.
    pub(super) fn draw(&self) -> String {
        self.lines.iter().flat_map(|line| [line.drawn.as_str(), "\x1b[K\n"]).collect()
    }

    /// Takes the cursor to the first line. A terminal that has become narrower shows long lines in
    /// several rows.
    fn top(&self, columns: usize) -> String {
        let rows = |line: &DrawnLine| line.columns.max(1).div_ceil(columns.max(1));
        match self.lines.iter().map(rows).sum::<usize>() {
            0 => String::new(),
            rows => format!("\x1b[{rows}A\r"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(area: &mut LiveArea, lines: &[&str], columns: usize) -> String {
        area.replace(lines.iter().map(|line| (*line, *line)), columns).replace('\x1b', "^")
    }

    #[test]
    fn lines_are_written_over_and_never_wiped_first() {
        let mut area = LiveArea::empty();
        assert_eq!(area.wipe(80), "");
        assert_eq!(replaced(&mut area, &["one", "two"], 80), "one^[K\ntwo^[K\n^[J");
        assert_eq!(replaced(&mut area, &["one", "two"], 80), "", "nothing has changed");
        assert_eq!(replaced(&mut area, &["one", "2"], 80), "^[2A\rone^[K\n2^[K\n^[J");
        assert_eq!(area.wipe(80).replace('\x1b', "^"), "^[2A\r^[J");
        assert_eq!(replaced(&mut area, &[], 2), "^[3A\r^[J", "`one` takes two rows of two columns");
    }
}
