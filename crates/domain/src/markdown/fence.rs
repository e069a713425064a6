//! Code fences of both kinds, followed line by line.

use super::unindent;

/// The kind of a line with regard to code fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceLine {
    /// The line is outside of any fence.
    Outside,
    /// The line opens a fence.
    Opens,
    /// The line is inside a fence.
    Body,
    /// The line closes the fence.
    Closes,
}

/// Follows fences through a file: feed it every line in order, without line endings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fences {
    open: Option<Fence>,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fences {
    /// Tells what `line` is and moves on. An unclosed fence extends to the end of the file.
    pub fn feed(&mut self, line: &str) -> FenceLine {
        match self.open {
            Some(fence) if fence.is_closed_by(line) => {
                self.open = None;
                FenceLine::Closes
            }
            Some(_) => FenceLine::Body,
            None => {
                self.open = Fence::opened_by(line);
                if self.open.is_some() { FenceLine::Opens } else { FenceLine::Outside }
            }
        }
    }

    /// Tells whether the next line is inside a fence.
    pub const fn inside(&self) -> bool {
        self.open.is_some()
    }
}

/// Tells whether `line` would open a fence outside of one.
pub fn opens(line: &str) -> bool {
    Fence::opened_by(line).is_some()
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (fence, info) = Self::run(line)?;
        // With a back-tick in the info string the line is inline code, as in "```x```".
        (fence.mark == '~' || !info.contains('`')).then_some(fence)
    }

    fn is_closed_by(self, line: &str) -> bool {
        Self::run(line).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.length >= self.length && rest.trim().is_empty()
        })
    }

    /// Splits a line into its leading run of at least three fence marks and what follows.
    fn run(line: &str) -> Option<(Self, &str)> {
        let line = unindent(line)?;
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        (length >= 3).then_some((Self { mark, length }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B-24
    #[test]
    fn fences_open_and_close_by_kind_and_length() {
        use FenceLine::{Body, Closes, Opens, Outside};
        let cases: [(&[&str], &[FenceLine]); 8] = [
            (&["```", "x", "```", "y"], &[Opens, Body, Closes, Outside]),
            (&["~~~ rust", "```", "~~~"], &[Opens, Body, Closes]),
            (&["````", "```", "`````  "], &[Opens, Body, Closes]),
            (&["```", "``` x", "```"], &[Opens, Body, Closes]),
            (&["   ```", "   ```"], &[Opens, Closes]),
            (&["    ```", "``"], &[Outside, Outside]),
            (&["```js```", "~~~ a`b"], &[Outside, Opens]),
            (&["```", "~~~", "    ```"], &[Opens, Body, Body]),
        ];
        for (lines, expected) in cases {
            let mut fences = Fences::default();
            let found: Vec<_> = lines.iter().map(|line| fences.feed(line)).collect();
            assert_eq!(found, expected, "{lines:?}");
        }
    }
}
