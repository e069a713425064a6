//! Findings: what reviewers raise about a plan, under ids that only rules give out.

use std::fmt;

/// The subject area of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FocusArea {
    /// Logic that is hard to follow, reuse, tests, style.
    CodeQuality,
    /// Other parts that may break.
    RiskIntegration,
    /// Wrong results.
    Correctness,
    /// A part of the design in the wrong place.
    Architecture,
    /// A weakness that an attacker could use.
    Security,
}

/// The focus areas as reviewers are shown them.
pub const FOCUS_AREAS: &str =
    "code-quality / risk-integration / correctness / architecture / security";

impl FocusArea {
    /// All of them, in the order that reviewers go through.
    pub const ALL: [Self; 5] = [
        Self::CodeQuality,
        Self::RiskIntegration,
        Self::Correctness,
        Self::Architecture,
        Self::Security,
    ];

    /// Returns the tag's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::CodeQuality => "code-quality",
            Self::RiskIntegration => "risk-integration",
            Self::Correctness => "correctness",
            Self::Architecture => "architecture",
            Self::Security => "security",
        }
    }

    /// Reads a tag as reviewers write it: in any case, with `/`, `_` or a blank for the dash.
    pub fn parse(tag: &str) -> Option<Self> {
        let word = tag.trim().to_ascii_lowercase().replace(['/', '_', ' '], "-");
        Self::ALL.into_iter().find(|area| area.word() == word)
    }
}

/// Whether a finding is about the change that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingScope {
    /// It is; if accepted, the plan is revised.
    In,
    /// It is not; if accepted, it is filed for later and never implemented here.
    Out,
}

/// Marks an observation outside of the planned change.
pub const OUT_OF_SCOPE: &str = "[OUT_OF_SCOPE]";

/// The name of a finding on the ballot: `FINDING_3`, `OOS_1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId {
    /// In scope or out; each scope has its own numbers.
    pub scope: FindingScope,
    /// From one.
    pub number: u32,
}

impl FindingId {
    /// Reads an id from the start of a text, in any case, and returns what follows it.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        let named = |name: &str| {
            let start = text.get(..name.len())?;
            start.eq_ignore_ascii_case(name).then(|| &text[name.len()..])
        };
        let (scope, rest) = match named("FINDING_") {
            Some(rest) => (FindingScope::In, rest),
            None => (FindingScope::Out, named("OOS_")?),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        Some((Self { scope, number }, &rest[end..]))
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.scope {
            FindingScope::In => "FINDING",
            FindingScope::Out => "OOS",
        };
        write!(f, "{name}_{}", self.number)
    }
}

/// One concern of a reviewer, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Whether the reviewer calls the concern part of the planned change.
    pub scope: FindingScope,
    /// The focus area, if it gave one that exists.
    pub focus: Option<FocusArea>,
    /// A short summary of the concern.
    pub title: String,
    /// What is wrong with the plan, in the reviewer's words.
    pub concern: String,
    /// The suggested change.
    pub revision: Option<String>,
}

/// One item to vote on, with everyone who raised it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The finding's id on the ballot.
    pub id: FindingId,
    /// The reviewers that raised it, each once, in the order of the seats.
    pub proposers: Vec<String>,
    /// The focus area. A single reviewer is enough to make a finding a security matter.
    pub focus: Option<FocusArea>,
    /// The finding's words: those of the first reviewer that raised it in this scope.
    pub remark: Remark,
    /// Remarks by others on the same concern; merging removes no text.
    pub others: Vec<Remark>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-258
    #[test]
    fn there_are_five_focus_areas_in_this_order() {
        let words: Vec<_> = FocusArea::ALL.iter().map(|area| area.word()).collect();
        assert_eq!(words.join(" / "), FOCUS_AREAS);
        assert_eq!(
            FOCUS_AREAS,
            "code-quality / risk-integration / correctness / architecture / security"
        );
        for (tag, expected) in [
            ("security", Some(FocusArea::Security)),
            ("Risk/Integration", Some(FocusArea::RiskIntegration)),
            ("CODE QUALITY", Some(FocusArea::CodeQuality)),
            ("secure", None),
            ("", None),
        ] {
            assert_eq!(FocusArea::parse(tag), expected, "{tag}");
        }
    }

    // P-255
    #[test]
    fn an_id_is_read_from_the_start_of_a_text() {
        for (text, expected) in [
            ("FINDING_12: YES", Some(("FINDING_12", ": YES"))),
            ("oos_1", Some(("OOS_1", ""))),
            ("FINDING_", None),
            ("FINDING_x", None),
            ("FINDING_99999999999", None),
            (" FINDING_1", None),
            ("É", None),
        ] {
            let found = FindingId::split(text).map(|(id, rest)| (id.to_string(), rest));
            assert_eq!(found, expected.map(|(id, rest)| (id.to_owned(), rest)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_id_reads_as_it_prints(out: bool, number: u32, rest in "[^0-9]*") {
            let id = FindingId { scope: if out { FindingScope::Out } else { FindingScope::In }, number };
            let text = format!("{id}{rest}");
            prop_assert_eq!(FindingId::split(&text), Some((id, &*rest)));
        }

        #[test]
        fn any_text_can_be_asked_for_an_id(text: String) {
            if let Some((_, rest)) = FindingId::split(&text) {
                prop_assert!(text.ends_with(rest));
            }
        }
    }
}
