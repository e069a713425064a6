//! A log of what went wrong while a workflow ran: entries in sections, for people to read later.

pub mod order;

/// The subject of an entry; the log has a section for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// Faults that were there before.
    PreExistingCodeIssues,
    /// A tool that failed.
    ToolFailures,
    /// A question of a client's for permission.
    PermissionPrompts,
    /// An agent of another vendor that failed.
    ExternalReviewerIssues,
    /// Continuous integration.
    CiIssues,
    /// Any other warning.
    Warnings,
    /// A question and its answer.
    QuestionsAndAnswers,
}

impl Category {
    /// All categories.
    pub const ALL: [Self; 7] = [
        Self::PreExistingCodeIssues,
        Self::ToolFailures,
        Self::PermissionPrompts,
        Self::ExternalReviewerIssues,
        Self::CiIssues,
        Self::Warnings,
        Self::QuestionsAndAnswers,
    ];

    /// Returns the name, which is also the section's heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreExistingCodeIssues => "Pre-existing Code Issues",
            Self::ToolFailures => "Tool Failures",
            Self::PermissionPrompts => "Permission Prompts",
            Self::ExternalReviewerIssues => "External Reviewer Issues",
            Self::CiIssues => "CI Issues",
            Self::Warnings => "Warnings",
            Self::QuestionsAndAnswers => "Q/A",
        }
    }

    /// Returns the category of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

/// The prefix of every section's heading.
const HEADING: &str = "### ";

/// Returns the log with an entry at the end of its section, which is added if it is missing. Other
/// sections stay the same, byte for byte.
pub fn append(log: &str, category: Category, entry: &str) -> String {
    let entry = entry.trim_end_matches('\n');
    let Some((before, after)) = section_end(log, category.name()) else {
        let heading = format!("{HEADING}{}", category.name());
        let gap = match log {
            "" => "",
            _ if log.ends_with("\n\n") => "",
            _ if log.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        return format!("{log}{gap}{heading}\n\n{entry}\n");
    };
    let before = before.trim_end_matches(['\n', '\r']);
    let gap = if after.is_empty() { "" } else { "\n" };
    format!("{before}\n\n{entry}\n{gap}{after}")
}

/// Cuts a log where a section ends: before the next heading, or at its own end.
fn section_end<'a>(log: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    let mut inside = false;
    for line in log.split_inclusive('\n') {
        let heading = line.strip_prefix(HEADING);
        if inside && heading.is_some() {
            return Some(log.split_at(at));
        }
        inside |= heading.is_some_and(|title| title.trim_end() == name);
        at += line.len();
    }
    inside.then_some((log, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-311
    #[test]
    fn an_entry_goes_to_the_end_of_its_section() {
        for (log, expected) in [
            ("", "### Warnings\n\n- new\n"),
            ("# Log", "# Log\n\n### Warnings\n\n- new\n"),
            ("# Log\n\n", "# Log\n\n### Warnings\n\n- new\n"),
            ("### Q/A\n\n- a\n", "### Q/A\n\n- a\n\n### Warnings\n\n- new\n"),
            ("### Warnings\n\n- old\n", "### Warnings\n\n- old\n\n- new\n"),
            ("### Warnings", "### Warnings\n\n- new\n"),
            (
                "x\n### Warnings \n\n- old\n\n\n### Q/A\n\n\n-  a",
                "x\n### Warnings \n\n- old\n\n- new\n\n### Q/A\n\n\n-  a",
            ),
            (
                "### Warnings of old\n#### Warnings\n",
                "### Warnings of old\n#### Warnings\n\n### Warnings\n\n- new\n",
            ),
        ] {
            assert_eq!(append(log, Category::Warnings, "- new\n"), expected, "{log:?}");
        }
    }

    // P-310
    #[test]
    fn there_are_seven_sections() {
        let names: Vec<_> = Category::ALL.iter().map(|category| category.name()).collect();
        assert_eq!(
            names,
            [
                "Pre-existing Code Issues",
                "Tool Failures",
                "Permission Prompts",
                "External Reviewer Issues",
                "CI Issues",
                "Warnings",
                "Q/A"
            ]
        );
        assert_eq!(Category::parse("Q/A"), Some(Category::QuestionsAndAnswers));
        assert_eq!(Category::parse("warnings"), None);
    }

    proptest! {
        // P-311: nothing but the blank lines at the end of the section is touched.
        #[test]
        fn earlier_entries_stay(log in "(### Warnings\n|### Q/A\n|- a\n|\n|é|### |x){0,12}") {
            let longer = append(&log, Category::Warnings, "- new");
            let said = |text: &str| -> Vec<String> {
                text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
            };
            let (mut after, before) = (said(&longer), said(&log));
            let at = after.iter().rposition(|line| line == "- new").unwrap();
            after.remove(at);
            let added = after.len() - before.len();
            prop_assert!(added <= 1, "{longer:?}");
            prop_assert_eq!(&after[..before.len()], &before[..]);
            prop_assert!(longer.contains("\n\n- new\n"));
        }
    }
}
