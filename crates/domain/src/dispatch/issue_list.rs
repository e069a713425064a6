//! Issues as a prompt lists them.

use super::review::Issue;

/// Renders a list of issues, one line each and one more for a suggestion.
pub fn list(issues: &[Issue]) -> String {
    issues.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn entry(issue: &Issue) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bracket = |text: &Option<String>| match text {
        Some(text) => format!(" [{}]", line(text)),
        None => String::new(),
    };
    let place = match &issue.location {
        Some(location) => format!(" (at: {})", line(location)),
        None => String::new(),
    };
    let head = format!(
        "- [{}]{} {}{place}",
        line(issue.severity.word()),
        bracket(&issue.category),
        line(&issue.description)
    );
    match &issue.suggestion {
        Some(suggestion) => format!("{head}\n  Suggestion: {}", line(suggestion)),
        None => head,
    }
}

#[cfg(test)]
mod tests {
    use super::super::review::Severity;
    use super::*;

    // D-23
    #[test]
    fn an_issue_is_a_line_and_its_suggestion_another() {
        let full = Issue {
            severity: Severity::Blocker,
            category: Some("testability".to_owned()),
            description: "No way to\ntell success".to_owned(),
            location: Some("spec.md:12".to_owned()),
            suggestion: Some("Name a number".to_owned()),
        };
        let bare = Issue {
            severity: Severity::parse("suggestion"),
            category: None,
            description: "Shorter".to_owned(),
            location: None,
            suggestion: None,
        };
        assert_eq!(
            list(&[full, bare]),
            "- [blocker] [testability] No way to tell success (at: spec.md:12)\n  \
             Suggestion: Name a number\n- [suggestion] Shorter"
        );
        assert_eq!(list(&[]), "");
    }
}
