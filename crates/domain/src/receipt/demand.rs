//! Files that an agent must read: a prompt names them and does not paste them.

/// Adds the files to read to a prompt. Each is on a line of its own, by a path for which
/// [`can_be_named`] holds.
pub fn with_reading(prompt: &str, paths: &[String]) -> String {
    if paths.is_empty() {
        return prompt.to_owned();
    }
    let lines = paths.join("\n- ");
    format!(
        "{}\n\n## Required reading\n\
         Read every one of these files in full before you answer. None of their text is given \
         here, and whether they were read is checked afterwards.\n- {lines}\n",
        prompt.trim_end()
    )
}

/// Tells whether a path fits on one line of a prompt and is fully visible.
pub fn can_be_named(path: &str) -> bool {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    !path.is_empty() && !path.contains(breaks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_are_named_and_not_pasted() {
        let paths = ["/p/a b.md", "/p/ü.rs"].map(str::to_owned);
        assert_eq!(
            with_reading("Review it.\n", &paths),
            "Review it.\n\n## Required reading\nRead every one of these files in full before you \
             answer. None of their text is given here, and whether they were read is checked \
             afterwards.\n- /p/a b.md\n- /p/ü.rs\n"
        );
        assert_eq!(with_reading("Review it.\n", &[]), "Review it.\n");
        for odd in ["", "a\nb", "a\u{2028}b", "\u{1b}[2J", "a\u{85}b"] {
            assert!(!can_be_named(odd), "{odd:?}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_one_line(prompt in "\\PC*", paths in prop::collection::vec("\\PC+", 1..5)) {
            let paths: Vec<_> = paths.into_iter().filter(|path| can_be_named(path)).collect();
            let text = with_reading(&prompt, &paths);
            let lines: Vec<_> = text.lines().collect();
            let named = &lines[lines.len() - paths.len()..];
            for (line, path) in named.iter().zip(&paths) {
                prop_assert_eq!(*line, format!("- {path}"));
            }
        }
    }
}
