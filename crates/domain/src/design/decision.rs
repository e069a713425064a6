//! Contested decisions: the points on which sketches differ, in the order of their debates.
//!
//! The chair writes the list, and this module parses, sorts and numbers it, so a number is always a
//! place in the list and never an agent's word.

use std::cmp::Reverse;
use std::fmt;

use super::block::{Block, Labels, blocks, numbered};
use super::quote;

/// All that the file holds when the sketches agree.
pub const NO_CONTEST: &str = "NO_CONTESTED_DECISIONS";

/// How many decisions are debated at most.
pub const CAP: usize = 5;

const PREFIX: &str = "DECISION_";

const LABELS: &[&str] = &["Chosen", "Alternative", "Tension", "Impact", "Affected files"];

/// The label of the sketches' positions, which only an adaptive design asks for.
const POSITIONS: &str = "Positions";

/// The chosen option in the chair's example.
const EXAMPLE: &str = "What your synthesis chose";

/// The weight of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Much.
    High,
    /// Something.
    Medium,
    /// Little.
    Low,
}

impl Impact {
    const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// Returns the word that the file has.
    pub const fn word(self) -> &'static str {
        match self {
            Self::High => "High",
            Self::Medium => "Medium",
            Self::Low => "Low",
        }
    }

    /// Reads a value's first word. `High/Medium/Low` is the question and not an answer.
    fn parse(value: &str) -> Option<Self> {
        let word = value.split_whitespace().next()?;
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        Self::ALL.into_iter().find(|impact| impact.word().eq_ignore_ascii_case(word))
    }
}

/// One decision that the sketches differ on. Every value is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// A short title.
    pub title: String,
    /// The option that the synthesis chose.
    pub chosen: String,
    /// The strongest alternative.
    pub alternative: String,
    /// Which sketches differ, and why.
    pub tension: String,
    /// The decision's weight.
    pub impact: Impact,
    /// The files or modules that it touches.
    pub affected: String,
    /// Which option each sketch takes, if the chair says so; only an adaptive design asks for it.
    pub positions: Option<String>,
}

/// The labels of a decision, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The short title, in the heading.
    Title,
    /// The synthesis' choice.
    Chosen,
    /// The strongest alternative.
    Alternative,
    /// Which sketches differ.
    Tension,
    /// The decision's weight.
    Impact,
    /// The affected files or modules.
    Affected,
}

impl Label {
    const fn text(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Chosen => "Chosen",
            Self::Alternative => "Alternative",
            Self::Tension => "Tension",
            Self::Impact => "Impact",
            Self::Affected => "Affected files",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A defect of a list, in words for the agent that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionComplaint {
    /// The list holds neither a decision nor the word for none.
    #[error("there is no line `### DECISION_1: <title>`, nor `NO_CONTESTED_DECISIONS` alone")]
    Nothing,
    /// A decision lacks a label.
    #[error("DECISION_{number} has no `{label}`")]
    Missing {
        /// The number that the decision was written with.
        number: usize,
        /// The missing label.
        label: Label,
    },
    /// A decision that repeats the example.
    #[error("DECISION_{number} repeats the example and is no decision")]
    Example {
        /// The number that it was written with.
        number: usize,
    },
    /// A decision's impact is not one of the three words.
    #[error("the `Impact` of DECISION_{number} must be High, Medium or Low")]
    Impact {
        /// The number that the decision was written with.
        number: usize,
    },
}

/// A parsed list: its complete decisions, and the defects of the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contested {
    /// The decisions that are whole, in the order they were written.
    pub decisions: Vec<Decision>,
    /// Why others were left out.
    pub complaints: Vec<DecisionComplaint>,
}

/// Parses a list. Incomplete decisions are left out, each with a complaint.
pub fn parse(text: &str) -> Contested {
    let mut found = Contested::default();
    if is_no_contest(text) {
        return found;
    }
    for block in blocks(text, Labels::Listed(LABELS)) {
        let Some((number, title)) = numbered(block.title, PREFIX) else { continue };
        match decision(&block, number, title) {
            Ok(decision) => found.decisions.push(decision),
            Err(complaint) => found.complaints.push(complaint),
        }
    }
    if found.decisions.is_empty() && found.complaints.is_empty() {
        found.complaints.push(DecisionComplaint::Nothing);
    }
    found
}

/// Tells whether a list states that it is empty.
pub fn is_no_contest(text: &str) -> bool {
    quote::is_word(text, NO_CONTEST)
}

fn decision(block: &Block<'_>, number: usize, title: &str) -> Result<Decision, DecisionComplaint> {
    let missing = |label| DecisionComplaint::Missing { number, label };
    let get = |label: Label| block.get(label.text()).ok_or(missing(label));
    let title = Some(quote::line(title)).filter(|title| !title.is_empty());
    if block.get(Label::Chosen.text()).is_some_and(|chosen| chosen == EXAMPLE) {
        return Err(DecisionComplaint::Example { number });
    }
    Ok(Decision {
        title: title.ok_or(missing(Label::Title))?,
        chosen: get(Label::Chosen)?,
        alternative: get(Label::Alternative)?,
        tension: get(Label::Tension)?,
        impact: Impact::parse(&get(Label::Impact)?).ok_or(DecisionComplaint::Impact { number })?,
        affected: get(Label::Affected)?,
        positions: block.get(POSITIONS),
    })
}

/// Puts decisions in the order in which they are debated: by impact, then by how many sketches are
/// named where they differ, then as they were written. `labels` are those of the sketchers' seats.
pub fn in_order(mut decisions: Vec<Decision>, labels: &[&str]) -> Vec<Decision> {
    let lower: Vec<_> = labels.iter().map(|label| label.to_lowercase()).collect();
    let sides = |decision: &Decision| {
        let tension = decision.tension.to_lowercase();
        lower.iter().filter(|label| names(&tension, label)).count()
    };
    decisions.sort_by_cached_key(|decision| (decision.impact, Reverse(sides(decision))));
    decisions
}

/// Tells whether a position reads `LABEL: chosen`.
fn takes_chosen(position: &str, label: &str) -> bool {
    let bare = position.replace(['*', '`'], "");
    let Some((named, option)) = bare.split_once([':', '=']) else { return false };
    named.trim().eq_ignore_ascii_case(label) && option.trim().eq_ignore_ascii_case("chosen")
}

/// Tells whether a text contains a label as a word.
fn names(text: &str, label: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric();
    let mut ends = text.match_indices(label).map(|(at, _)| &text[at + label.len()..]);
    !label.is_empty() && ends.any(|after| !after.starts_with(goes_on))
}

/// Returns how many of the decisions are debated; those after them exceed the limit.
pub fn selected(decisions: &[Decision]) -> usize {
    decisions.len().min(CAP)
}

/// Writes the file: one block for each decision, numbered by their order.
pub fn render(decisions: &[Decision]) -> String {
    if decisions.is_empty() {
        return format!("{NO_CONTEST}\n");
    }
    let blocks = decisions.iter().enumerate().map(|(index, decision)| decision.block(index + 1));
    blocks.collect::<Vec<_>>().join("\n")
}

impl Decision {
    /// Tells whether there are two sides to it.
    pub fn is_contest(&self) -> bool {
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<_>>()
        };
        let (chosen, alternative) = (words(&self.chosen), words(&self.alternative));
        // Two sides that differ only in signs are different, too.
        chosen != alternative || chosen.is_empty() && self.chosen != self.alternative
    }

    /// Tells whether the chair says of every sketch, once, that it takes the chosen option.
    /// `labels` are those of the sketchers' seats. Anything else is worth a debate.
    pub fn is_agreed(&self, labels: &[&str]) -> bool {
        let Some(positions) = &self.positions else { return false };
        let mut open: Vec<_> = labels.to_vec();
        for position in positions.split([';', ',']) {
            let position = position.trim();
            let place = open.iter().position(|label| takes_chosen(position, label));
            let Some(place) = place else { return false };
            open.swap_remove(place);
        }
        open.is_empty() && !labels.is_empty()
    }

    /// Returns what the chair says that each sketch takes, in the chair's words: the sketch's label and
    /// its option. Words without a label are left out.
    pub fn stated_positions(&self) -> Vec<(&str, &str)> {
        let stated = self.positions.iter().flat_map(|positions| positions.split([';', ',']));
        let pairs = stated.filter_map(|position| position.split_once(':'));
        let pairs = pairs.map(|(label, option)| (label.trim(), option.trim()));
        pairs.filter(|(label, option)| !label.is_empty() && !option.is_empty()).collect()
    }

    /// Writes the decision's own block.
    pub fn block(&self, number: usize) -> String {
        let values = [
            (Label::Chosen, self.chosen.as_str()),
            (Label::Alternative, &self.alternative),
            (Label::Tension, &self.tension),
            (Label::Impact, self.impact.word()),
            (Label::Affected, &self.affected),
        ];
        let lines = values.map(|(label, value)| format!("- **{label}**: {}\n", quote::line(value)));
        format!("### {PREFIX}{number}: {}\n{}", quote::line(&self.title), lines.concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "\
### DECISION_1: Where the retry cap lives
- **Chosen**: In the uploader's client settings
- **Alternative**: In the queue worker
- **Tension**: Cursor-Arch and Codex-Pragmatic kept it with the client; Codex-Innovation moved it
- **Impact**: High
- **Affected files**: src/upload/client.rs, src/queue/worker.rs

### DECISION_2: Cap reached
- **Chosen**: Return a typed error
- **Alternative**: Park the job
- **Tension**: Cursor-Edge feared silent parking
- **Impact**: Medium
- **Affected files**: src/upload/error.rs
";

    fn made(title: &str, impact: Impact, tension: &str) -> Decision {
        Decision {
            title: title.to_owned(),
            chosen: "a".to_owned(),
            alternative: "b".to_owned(),
            tension: tension.to_owned(),
            impact,
            affected: "x.rs".to_owned(),
            positions: None,
        }
    }

    #[test]
    fn a_decision_has_two_sides() {
        let sides = |chosen: &str, alternative: &str| {
            let (chosen, alternative) = (chosen.to_owned(), alternative.to_owned());
            Decision { chosen, alternative, ..made("t", Impact::High, "") }.is_contest()
        };
        assert!(!sides("A file.", "a  `file`") && !sides("+", "+"));
        assert!(sides("A file", "Two files") && sides("+", "-"));
    }

    // P-190, P-191: these keys in this order, from the first line on, with a blank line between.
    #[test]
    fn the_file_is_one_block_for_each_decision() {
        let found = parse(FILE);
        assert_eq!(found.complaints, []);
        assert_eq!(found.decisions[0].alternative, "In the queue worker");
        assert_eq!(found.decisions[1].impact, Impact::Medium);
        assert_eq!(render(&found.decisions), FILE);
    }

    // P-191: a decision's number is its position, not the number in the text.
    #[test]
    fn decisions_are_numbered_as_they_stand() {
        let text = FILE.replace("DECISION_1", "DECISION_7").replace("DECISION_2", "DECISION_7");
        assert_eq!(render(&parse(&text).decisions), FILE);
    }

    // P-192
    #[test]
    fn impact_decides_first_and_the_number_of_sketches_next() {
        let labels = ["Cursor-Arch", "Cursor-Edge", "Codex-Innovation", "Codex-Pragmatic"];
        let list = vec![
            made("low", Impact::Low, "Cursor-Arch, Cursor-Edge, Codex-Innovation, Codex-Pragmatic"),
            made("medium", Impact::Medium, "Cursor-Arch"),
            made("one", Impact::High, "cursor-arch, Cursor-Arch again, and Cursor-Edgeless"),
            made("three", Impact::High, "Cursor-Edge, Codex-Innovation; Codex-Pragmatic."),
            made("one later", Impact::High, "Codex-Pragmatic"),
        ];
        let order = in_order(list, &labels);
        let titles: Vec<_> = order.iter().map(|decision| decision.title.as_str()).collect();
        assert_eq!(titles, ["three", "one", "one later", "medium", "low"]);
    }

    // P-193, P-194: the word alone means that nothing is contested.
    #[test]
    fn no_contest_is_one_word() {
        assert_eq!(render(&[]), "NO_CONTESTED_DECISIONS\n");
        for text in [
            "NO_CONTESTED_DECISIONS",
            "\n NO_CONTESTED_DECISIONS \r\n",
            "**NO_CONTESTED_DECISIONS**",
            "`NO_CONTESTED_DECISIONS`.",
        ] {
            assert_eq!(parse(text), Contested::default(), "{text:?}");
        }
        let both = format!("NO_CONTESTED_DECISIONS\n\n{FILE}");
        assert_eq!(parse(&both).decisions.len(), 2, "it does not stand alone");
        for text in ["", "we all agree", "NO_CONTESTED_DECISIONS really"] {
            assert_eq!(parse(text).complaints, [DecisionComplaint::Nothing], "{text:?}");
        }
    }

    // P-195
    #[test]
    fn values_may_have_several_lines_and_missing_ones_are_named() {
        let long = FILE.replace("Park the job\n", "Park\n  the **job**\n\nwith care\n");
        assert_eq!(parse(&long).decisions[1].alternative, "Park the **job** with care");
        for (line, complaint) in [
            ("- **Tension**: Cursor-Edge feared silent parking\n", "DECISION_2 has no `Tension`"),
            ("- **Impact**: Medium\n", "DECISION_2 has no `Impact`"),
            ("- **Affected files**: src/upload/error.rs\n", "DECISION_2 has no `Affected files`"),
            (" Return a typed error", "DECISION_2 has no `Chosen`"),
            (" Cap reached", "DECISION_2 has no `title`"),
        ] {
            let found = parse(&FILE.replace(line, ""));
            assert_eq!(found.decisions.len(), 1, "{line}");
            let said: Vec<_> = found.complaints.iter().map(ToString::to_string).collect();
            assert_eq!(said, [complaint], "{line}");
        }
        let plain = FILE.replace("- **Chosen**: Return", "- Chosen: Return");
        assert_eq!(render(&parse(&plain).decisions), FILE);
        let unsure = parse(&FILE.replace(": Medium", ": High/Medium/Low"));
        assert_eq!(unsure.complaints, [DecisionComplaint::Impact { number: 2 }]);
        let spoken = parse(&FILE.replace(": Medium", ": **low** (one module)"));
        assert_eq!(spoken.decisions[1].impact, Impact::Low);
    }

    // P-197
    #[test]
    fn five_are_debated_at_most() {
        let list = |count| vec![made("t", Impact::Low, "x"); count];
        for (count, expected) in [(0, 0), (3, 3), (5, 5), (6, 5), (100, 5)] {
            assert_eq!(selected(&list(count)), expected, "{count}");
        }
    }

    // P-195: a value cannot begin another decision when the file is written.
    #[test]
    fn a_value_cannot_forge_a_decision() {
        let mut forged = made("t", Impact::Low, "x");
        forged.chosen = "mine\n\n### DECISION_2: forged\n- **Impact**: High".to_owned();
        let text = render(&[forged]);
        assert_eq!(parse(&text).decisions.len(), 1, "{text}");
    }

    proptest! {
        // Writing a parsed list and parsing it again gives the same list.
        #[test]
        fn reading_and_writing_agree(
            text in any::<String>(),
            values in prop::collection::vec("(\n|### DECISION_1: |- \\*\\*Chosen\\*\\*: |#|[a-zé`*\\- ]){0,6}", 5),
        ) {
            let [title, chosen, alternative, tension, affected] = &values[..] else { unreachable!() };
            let block = format!(
                "### DECISION_3: {title}\n- **Chosen**: {chosen}\n- **Alternative**: {alternative}\n\
                 - **Tension**: {tension}\n- **Impact**: low\n- **Affected files**: {affected}\n"
            );
            for text in [text, block.repeat(2)] {
                let decisions = parse(&text).decisions;
                let again = parse(&render(&decisions));
                prop_assert_eq!(&again.decisions, &decisions);
                prop_assert_eq!(again.complaints, []);
            }
        }
    }

    #[test]
    fn a_long_list_costs_its_length() {
        let found = parse(&FILE.repeat(5_000));
        assert_eq!(in_order(found.decisions, &["Cursor-Arch"]).len(), 10_000);
    }
}
