//! A report within a document that people write, between two marks.

/// The kind of report between the marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// How long it took.
    Timing,
    /// The usage.
    Tokens,
}

impl Bracket {
    const fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Timing => ("<!-- timing-report-begin -->", "<!-- timing-report-end -->"),
            Self::Tokens => ("<!-- token-report-begin -->", "<!-- token-report-end -->"),
        }
    }

    /// Returns a document with the report in it: in place of the one that is there, or else at the
    /// end. A mark without its other half is taken away.
    pub fn place(self, document: &str, report: &str) -> String {
        let (begin, end) = self.marks();
        let block = format!("{begin}\n{}\n{end}\n", report.trim_end());
        let lines: Vec<_> = document.split_inclusive('\n').collect();
        let at = |mark: &str| lines.iter().position(|line| line.trim() == mark);
        if let (Some(first), Some(last)) = (at(begin), at(end))
            && first < last
        {
            return lines[..first].concat() + &block + &lines[last + 1..].concat();
        }
        let is_mark = |line: &&str| [begin, end].contains(&line.trim());
        let kept: String = lines.iter().copied().filter(|line| !is_mark(line)).collect();
        let gap = match kept.as_str() {
            "" => "",
            _ if kept.ends_with("\n\n") => "",
            _ if kept.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        kept + gap + &block
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: &str = "<!-- token-report-begin -->\nnew\n<!-- token-report-end -->\n";

    // P-370, P-376
    #[test]
    fn a_report_takes_the_place_of_the_last_one() {
        for (document, expected) in [
            ("", BLOCK.to_owned()),
            ("text", format!("text\n\n{BLOCK}")),
            ("text\n", format!("text\n\n{BLOCK}")),
            (
                "a\n<!-- token-report-begin -->\nold\n\nold\n<!-- token-report-end -->\nb",
                format!("a\n{BLOCK}b"),
            ),
            ("a\n<!-- token-report-begin -->\nb\n", format!("a\nb\n\n{BLOCK}")),
            ("a\n<!-- token-report-end -->\nb\n", format!("a\nb\n\n{BLOCK}")),
            (
                "<!-- token-report-end -->\n<!-- token-report-begin -->\nb\n",
                format!("b\n\n{BLOCK}"),
            ),
            (
                "<!-- timing-report-begin -->\nx\n<!-- timing-report-end -->\n",
                format!("<!-- timing-report-begin -->\nx\n<!-- timing-report-end -->\n\n{BLOCK}"),
            ),
        ] {
            let placed = Bracket::Tokens.place(document, "new\n\n");
            assert_eq!(placed, expected, "{document:?}");
            assert_eq!(Bracket::Tokens.place(&placed, "new"), placed, "twice is once");
        }
    }

    proptest! {
        #[test]
        fn twice_is_once(document in "(<!-- timing-report-begin -->|<!-- timing-report-end -->|\n|x|é){0,10}") {
            let once = Bracket::Timing.place(&document, "r");
            prop_assert_eq!(Bracket::Timing.place(&once, "r"), once.clone());
            prop_assert_eq!(once.matches("<!-- timing-report-begin -->\nr\n").count(), 1);
        }
    }
}
