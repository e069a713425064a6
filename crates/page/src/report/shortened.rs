//! Texts within a limit, with every cut marked.

/// How much of a report's parts is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Characters of a plan or a diagram.
    pub(super) document: usize,
    /// Characters of any other text of an agent or a person.
    pub(super) text: usize,
    /// Rows of a table, and entries of a list.
    pub(super) rows: usize,
}

/// Renders with the largest limits whose result fits. The last ones always do.
pub(super) fn fitting(
    limits: &[Limits],
    render: impl Fn(Limits) -> String,
    fits: impl Fn(&str) -> bool,
) -> String {
    let mut text = String::new();
    for limits in limits {
        text = render(*limits);
        if fits(&text) {
            break;
        }
    }
    text
}

/// Keeps the beginning of a text, and says how much is missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let missing = text[end..].chars().count();
            format!("{}… [cut here: {missing} more characters]", text[..end].trim_end())
        }
    }
}

/// Returns what to say about entries that a list leaves out.
pub(super) fn left_out(all: usize, most: usize, noun: &str) -> Option<String> {
    (all > most).then(|| format!("[cut here: {} more {noun}]", all - most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked_and_counts_characters() {
        assert_eq!(cut("añb", 3), "añb");
        assert_eq!(cut("añb c", 3), "añb… [cut here: 2 more characters]");
        assert_eq!(left_out(3, 3, "findings"), None);
        assert_eq!(left_out(5, 3, "findings").as_deref(), Some("[cut here: 2 more findings]"));
    }
}
