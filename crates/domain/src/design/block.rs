//! Blocks: a heading with labelled values under it, as agents and files write decisions.
//!
//! A block is read line by line, so a value can hold anything but a line that begins a heading or
//! another value. The parser joins a value into one line, so that writing it again gives the same
//! block.

use super::quote;
use crate::markdown::fence::opens;
use crate::markdown::{bare, lines, without_mark};

/// A heading, and the fields below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// The heading's words.
    pub(super) title: &'a str,
    fields: Vec<Field<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field<'a> {
    label: &'a str,
    lines: Vec<&'a str>,
}

/// The syntax of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labels {
    /// `- **Label**: value`; a line in bold without the dash belongs to a value. These labels count
    /// without the bold, too.
    Listed(&'static [&'static str]),
    /// `**Label**: value`, optionally as a list item.
    Plain,
}

/// Takes a text apart at headings of level 1 to 3. Text before the first heading is ignored.
pub(super) fn blocks(text: &str, labels: Labels) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    for line in lines(without_mark(text)).map(bare) {
        if let Some(title) = heading(line) {
            found.push(Block { title, fields: Vec::new() });
            continue;
        }
        let Some(block) = found.last_mut() else { continue };
        if let Some((label, value)) = field(line, labels) {
            block.fields.push(Field { label, lines: vec![value] });
        } else if !opens(line) // An answer may stand in a fence as a whole.
            && let Some(last) = block.fields.last_mut()
        {
            last.lines.push(line);
        }
    }
    found
}

impl Block<'_> {
    /// Returns a value on one line; the first, if there are several of that label.
    pub(super) fn get(&self, label: &str) -> Option<String> {
        let field = self.fields.iter().find(|field| field.label.eq_ignore_ascii_case(label))?;
        Some(quote::line(&field.lines.join("\n"))).filter(|value| !value.is_empty())
    }

    /// Returns a value's items: those of a list under it, or what semicolons separate.
    pub(super) fn items(&self, label: &str) -> Vec<String> {
        let field = self.fields.iter().find(|field| field.label.eq_ignore_ascii_case(label));
        let Some((first, rest)) = field.and_then(|field| field.lines.split_first()) else {
            return Vec::new();
        };
        let listed: Vec<_> = rest.iter().filter_map(|line| item(line)).collect();
        let items = if listed.is_empty() { first.split(';').collect() } else { listed };
        items.into_iter().map(quote::line).filter(|item| !item.is_empty()).collect()
    }

    /// Returns the block's full text, for searching.
    pub(super) fn words(&self) -> String {
        let lines = self.fields.iter().flat_map(|field| field.lines.iter().copied());
        std::iter::once(self.title).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// Reads `PREFIX<digits>: title`, in any case. A number that does not fit its type is no number.
pub(super) fn numbered<'a>(title: &'a str, prefix: &str) -> Option<(usize, &'a str)> {
    let (start, rest) = title.split_at_checked(prefix.len())?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start().strip_prefix(':')?;
    start.eq_ignore_ascii_case(prefix).then_some((number, name))
}

/// Reads a heading, however far it is indented: agents copy the indentation of an example.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let words = line.trim_start_matches('#');
    let marked = (1..=3).contains(&(line.len() - words.len()));
    (marked && words.starts_with([' ', '\t'])).then(|| words.trim())
}

/// Reads a label and the value behind it. The colon may be inside the bold.
fn field(line: &str, labels: Labels) -> Option<(&str, &str)> {
    let words = line.trim();
    let listed = words.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with([' ', '\t']));
    let (words, known) = match (listed, labels) {
        (Some(rest), Labels::Listed(known)) => (rest.trim_start(), known),
        (Some(rest), Labels::Plain) => (rest.trim_start(), &[][..]),
        (None, Labels::Plain) => (words, &[][..]),
        (None, Labels::Listed(_)) => return None,
    };
    if let Some(found) = known.iter().find_map(|label| plain_field(words, label)) {
        return Some(found);
    }
    let (label, rest) = words.strip_prefix("**")?.split_once("**")?;
    let (label, value) = match label.strip_suffix(':') {
        Some(label) => (label, rest),
        None => (label, rest.strip_prefix(':')?),
    };
    Some((label.trim(), value))
}

/// Reads `Label: value`, optionally in emphasis other than bold.
fn plain_field<'a>(words: &'a str, label: &'static str) -> Option<(&'a str, &'a str)> {
    let marks = |c: char| matches!(c, '*' | '_' | '`');
    let words = words.trim_start_matches(marks);
    let (start, rest) = words.split_at_checked(label.len())?;
    let value = rest.trim_start_matches(marks).trim_start().strip_prefix(':')?;
    let value = value.strip_prefix("**").unwrap_or(value);
    start.eq_ignore_ascii_case(label).then_some((start, value))
}

fn item(line: &str) -> Option<&str> {
    let words = line.trim();
    let number = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if number.len() < words.len() {
        number.strip_prefix(['.', ')'])
    } else {
        words.strip_prefix(['-', '*', '+'])
    };
    rest.filter(|rest| rest.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTED: Labels = Labels::Listed(&["Chosen"]);

    // P-195: bold is a matter of taste where the label is known.
    #[test]
    fn a_known_label_needs_no_bold() {
        for line in ["- Chosen: a: b", "* chosen : a: b", "+ *Chosen*: a: b", "- `Chosen`: a: b"] {
            let text = format!("# T\n{line}\n- Other: c\n");
            let found = blocks(&text, LISTED);
            assert_eq!(found[0].get("Chosen").as_deref(), Some("a: b - Other: c"), "{line}");
        }
        assert_eq!(blocks("# T\nChosen: a\n", LISTED)[0].get("Chosen"), None);
    }

    #[test]
    fn a_value_runs_to_the_next_label_or_heading() {
        let text = "before\n- **X**: no\n### One\n- **A**: a\n  more\n\n**B**: still a\n* **C:** c\n\
                    ## Two\n- **A**: other\n";
        let found = blocks(text, LISTED);
        assert_eq!(found.iter().map(|block| block.title).collect::<Vec<_>>(), ["One", "Two"]);
        assert_eq!(found[0].get("a").as_deref(), Some("a more **B**: still a"));
        assert_eq!(found[0].get("C").as_deref(), Some("c"));
        assert_eq!(found[0].get("X"), None);
        assert_eq!(found[1].get("A").as_deref(), Some("other"));
        let plain = blocks(text, Labels::Plain);
        assert_eq!(plain[0].get("B").as_deref(), Some("still a"));
        assert_eq!(plain[0].get("A").as_deref(), Some("a more"));
    }

    #[test]
    fn the_first_value_of_a_label_counts() {
        let found = blocks("# T\n- **A**: one\n- **A**: two\n- **B**:\n", LISTED);
        assert_eq!(found[0].get("A").as_deref(), Some("one"));
        assert_eq!(found[0].get("B"), None, "nothing is no value");
    }

    #[test]
    fn an_answer_may_be_indented_or_stand_in_a_fence() {
        for text in ["```markdown\n# T\n- **A**: one\n```\n", "    ### T\n    - **A**: one\n"] {
            let found = blocks(text, LISTED);
            assert_eq!(found[0].title, "T");
            assert_eq!(found[0].get("A").as_deref(), Some("one"));
        }
    }

    #[test]
    fn items_stand_in_a_list_or_between_semicolons() {
        let text =
            "# T\n- **A**: x; y ;; z\n- **B**:\n  1. one\n  2) two\n  - three\n- **C**: only\n";
        let found = blocks(text, LISTED);
        assert_eq!(found[0].items("A"), ["x", "y", "z"]);
        assert_eq!(found[0].items("B"), ["one", "two", "three"]);
        assert_eq!(found[0].items("C"), ["only"]);
        assert_eq!(found[0].items("D"), [""; 0]);
    }

    #[test]
    fn a_number_is_digits_before_a_colon() {
        for (title, expected) in [
            ("DECISION_1: x", Some((1, " x"))),
            ("decision_12:", Some((12, ""))),
            ("DECISION_07 : x", Some((7, " x"))),
            ("DECISION_: x", None),
            ("DECISION_1 x", None),
            ("DECISION_99999999999999999999999: x", None),
            ("DECISIØN_1: x", None),
        ] {
            assert_eq!(numbered(title, "DECISION_"), expected, "{title}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), lines in "(#{0,4} ?|[-*] ?|`{3})?(\\*\\*)?[a-z: ]{0,5}(\\*\\*)?:?[a-z;]{0,3}\n?") {
            for text in [text, lines.repeat(4)] {
                for labels in [LISTED, Labels::Plain] {
                    for block in blocks(&text, labels) {
                        prop_assert!(block.get("a").is_none_or(|value| !value.contains('\n')));
                        prop_assert!(block.items("a").iter().all(|item| !item.is_empty()));
                        prop_assert!(block.words().starts_with(block.title));
                    }
                }
            }
        }
    }
}
