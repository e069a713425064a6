//! The pages of the hour as files that a person reads, and holding a run to them.

use std::fs;
use std::path::Path;

use super::{HourError, Page};

/// What happens to a page that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// It fails, with the difference and the command that accepts it.
    Refused,
    /// It is written down.
    Accepted,
}

impl Acceptance {
    /// Returns what the person who runs the tests asked for, by the variable that accepts snapshots.
    #[expect(clippy::disallowed_methods, reason = "the door to what the person asked for")]
    pub(crate) fn asked_for() -> Self {
        match std::env::var("INSTA_UPDATE").as_deref() {
            Ok("always") => Self::Accepted,
            _ => Self::Refused,
        }
    }
}

/// Compares pages with those in a folder; `command` is what accepts them.
pub(crate) fn hold(
    folder: &Path,
    pages: &[Page],
    acceptance: Acceptance,
    command: &str,
) -> Result<(), HourError> {
    let mut wrong = Vec::new();
    for (name, text) in pages {
        let path = folder.join(name);
        let kept = fs::read_to_string(&path).unwrap_or_default();
        if kept == *text {
            continue;
        }
        if acceptance == Acceptance::Accepted {
            fs::create_dir_all(folder)?;
            fs::write(&path, text)?;
        } else {
            let lines = changed_lines(&kept, text);
            wrong.push(format!("{} differs:\n{lines}", path.display()));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let wrong = wrong.concat();
    Err(format!("{wrong}hint: read the lines above; `{command}` accepts them").into())
}

/// Shows the lines between the first and the last difference, with a line of what surrounds them.
fn changed_lines(kept: &str, found: &str) -> String {
    let (kept, found): (Vec<_>, Vec<_>) = (kept.lines().collect(), found.lines().collect());
    let shorter = kept.len().min(found.len());
    let start = (0..shorter).find(|at| kept[*at] != found[*at]).unwrap_or(shorter);
    let is_same = |from_end: &usize| kept[kept.len() - from_end] == found[found.len() - from_end];
    let end = (1..=shorter - start).take_while(is_same).count();
    let part = |sign: &str, lines: &[&str]| {
        let changed = &lines[start..lines.len() - end];
        changed.iter().map(|line| [sign, " ", line, "\n"].concat()).collect::<String>()
    };
    let around = |at: Option<&&str>| at.map_or(String::new(), |line| format!("  {line}\n"));
    let before = start.checked_sub(1).and_then(|at| kept.get(at));
    let after = kept.get(kept.len() - end);
    around(before) + &part("-", &kept) + &part("+", &found) + &around(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_differs_fails_with_its_difference_until_it_is_accepted() {
        let top = tempfile::tempdir().unwrap();
        let hold = |text: &str, acceptance| {
            hold(top.path(), &[("a.txt", text.to_owned())], acceptance, "accept it")
        };
        assert!(hold("one\ntwo\n", Acceptance::Refused).is_err(), "a new page is read first");
        hold("one\ntwo\nthree\n", Acceptance::Accepted).unwrap();
        hold("one\ntwo\nthree\n", Acceptance::Refused).unwrap();
        let refused = hold("one\n2\nthree\n", Acceptance::Refused).unwrap_err().to_string();
        assert!(refused.contains("a.txt differs:\n  one\n- two\n+ 2\n  three\n"), "{refused}");
        assert!(refused.ends_with("`accept it` accepts them"), "{refused}");
    }

    #[test]
    fn lines_that_were_added_or_removed_are_shown() {
        assert_eq!(changed_lines("a\nb\n", "a\n"), "  a\n- b\n");
        assert_eq!(changed_lines("", "a\n"), "+ a\n");
        assert_eq!(changed_lines("a\na\n", "a\na\na\n"), "  a\n+ a\n");
    }
}
