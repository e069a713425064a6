//! Where a design works: on the branch that is checked out, with or without uncommitted changes.

use super::Refusal;
use crate::text::counted as words;

/// On which branch a design works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchRule {
    /// On the checked-out branch or commit, unchanged.
    Stay,
    /// On a new branch that begins at the commit that is checked out.
    New,
    /// As the original's gate decides, which requires a clean default branch or one of the user's
    /// own.
    Seed,
}

impl BranchRule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Stay, Self::New, Self::Seed];

    /// Returns the word that journals keep.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stay => "stay",
            Self::New => "new",
            Self::Seed => "seed",
        }
    }

    /// Reads the word of a journal.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.word() == word)
    }
}

/// How a design treats a tree with uncommitted changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirtyTree {
    /// It does not begin.
    Refused,
    /// It begins, and the tree must stay as it is then.
    Allowed,
}

/// With which code a design ends that may not begin on its tree.
const NOT_CLEAN: u8 = 2;

/// The beginning of a refusal.
const CANNOT_BEGIN: &str = "Cannot begin the design: ";

/// The most changes that are shown.
const MOST_SHOWN: usize = 20;

/// Lines of `git status --porcelain`, as a person reads them.
pub fn named_changes(listed: &str) -> Vec<String> {
    listed.lines().filter_map(change).collect()
}

fn change(line: &str) -> Option<String> {
    let (state, path) = (line.get(..2)?, line.get(3..)?);
    let word = match state {
        "??" => "untracked",
        _ if state.contains('U') || matches!(state, "AA" | "DD") => "unmerged",
        _ if state.contains('D') => "deleted",
        _ if state.contains('R') => "renamed",
        _ if state.contains('A') => "added",
        _ => "modified",
    };
    Some(format!("  {word:<9}  {path}"))
}

/// Counts changes in words.
pub fn counted(changes: usize) -> String {
    match changes {
        1 => "1 file has uncommitted changes".to_owned(),
        count => format!("{count} files have uncommitted changes"),
    }
}

/// Counts listed changes; git lists a folder in place of its files if it knows none of them.
fn counted_by_kind(changes: &[String]) -> String {
    let folders = changes.iter().filter(|change| change.ends_with('/')).count();
    let noun = |count, noun| if count > 0 { vec![words(count, noun)] } else { Vec::new() };
    let parts = [noun(changes.len() - folders, "file"), noun(folders, "folder")].concat();
    let verb = if changes.len() == 1 { "has" } else { "have" };
    format!("{} {verb} uncommitted changes", parts.join(" and "))
}

impl Refusal {
    /// Returns the reason in one line.
    pub fn in_short(&self) -> String {
        let Some(line) = self.lines.first() else { return "refused".to_owned() };
        let reason = line.strip_prefix(CANNOT_BEGIN).unwrap_or(line);
        format!("refused: {}", reason.trim_end_matches('.'))
    }

    /// There are uncommitted changes: which, and what can be done.
    pub fn by_changes(changes: &[String]) -> Self {
        let mut lines = vec![format!("{CANNOT_BEGIN}{}.", counted_by_kind(changes))];
        lines.extend(changes.iter().take(MOST_SHOWN).cloned());
        if changes.len() > MOST_SHOWN {
            lines
                .push(format!("  and {} more; `git status` lists all", changes.len() - MOST_SHOWN));
        }
        lines.push("Commit them, or put them aside:".to_owned());
        lines.push("  git stash --include-untracked".to_owned());
        lines.push("Or plan on them as they are:".to_owned());
        lines.push("  convoke design --allow-dirty …".to_owned());
        Self { lines, code: NOT_CLEAN }
    }

    /// Git cannot tell whether there are changes.
    pub fn by_unknown_tree() -> Self {
        let lines = vec![
            format!("{CANNOT_BEGIN}git cannot tell whether there are uncommitted changes."),
            "Run `git status` to see why.".to_owned(),
        ];
        Self { lines, code: NOT_CLEAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-57
    #[test]
    fn changes_are_named_with_what_can_be_done() {
        let listed = " M src/a.rs\n?? notes.md\nD  old.rs\nR  a -> b\nUU c.rs\nA  new.rs\nx\n";
        let refusal = Refusal::by_changes(&named_changes(listed));
        insta::assert_snapshot!(refusal.lines.join("\n"), @"
        Cannot begin the design: 6 files have uncommitted changes.
          modified   src/a.rs
          untracked  notes.md
          deleted    old.rs
          renamed    a -> b
          unmerged   c.rs
          added      new.rs
        Commit them, or put them aside:
          git stash --include-untracked
        Or plan on them as they are:
          convoke design --allow-dirty …
        ");
        assert_eq!(refusal.in_short(), "refused: 6 files have uncommitted changes");
        let of = |listed: &str| Refusal::by_changes(&named_changes(listed)).in_short();
        assert_eq!(of("?? docs/a/\n"), "refused: 1 folder has uncommitted changes");
        let both = "refused: 2 files and 1 folder have uncommitted changes";
        assert_eq!(of("?? docs/a/\n M x\n?? y\n"), both);
        let many = "?? file\n".repeat(30);
        let lines = Refusal::by_changes(&named_changes(&many)).lines;
        assert_eq!(
            (lines.len(), lines[21].as_str()),
            (26, "  and 10 more; `git status` lists all")
        );
    }
}
