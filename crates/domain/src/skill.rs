//! Skills: the texts that agents work by. Which one applies, which version, and how it is shortened.

pub mod choice;
pub mod prune;
pub mod version;

use std::fmt;

use crate::markdown::{front_matter, lines};

/// A skill's id: a bare name, or `superpowers:` and a bare name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillId {
    text: String,
    bare_from: usize,
}

/// A text that is not a skill's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a valid skill name")]
pub struct InvalidSkillId {
    given: String,
}

impl SkillId {
    const NAMESPACE: &'static str = "superpowers:";

    /// Reads an id. The bare name is made of `a-z`, `0-9` and `-`, so it is always a safe file name.
    pub fn parse(given: &str) -> Result<Self, InvalidSkillId> {
        let bare_from = given.rfind(':').map_or(0, |colon| colon + 1);
        let (namespace, bare) = given.split_at(bare_from);
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let usable =
            !bare.is_empty() && bare.chars().all(word) && matches!(namespace, "" | Self::NAMESPACE);
        let invalid = || InvalidSkillId { given: given.to_owned() };
        usable.then(|| Self { text: given.to_owned(), bare_from }).ok_or_else(invalid)
    }

    /// Names a skill of the superpowers collection.
    fn superpower(bare: &str) -> Self {
        let text = format!("{}{bare}", Self::NAMESPACE);
        Self { text, bare_from: Self::NAMESPACE.len() }
    }

    /// Returns the id as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name without its namespace.
    pub fn bare(&self) -> &str {
        &self.text[self.bare_from..]
    }

    /// Tells whether the id names the superpowers collection.
    pub fn is_superpower(&self) -> bool {
        self.bare_from > 0
    }

    /// Returns what an agent does with the skill, after "You are using … to".
    pub fn purpose(&self) -> &'static str {
        match self.bare() {
            "subagent-driven-development" | "executing-plans" => "execute the implementation plan",
            "brainstorming" => "explore and design the feature",
            "using-git-worktrees" => "set up an isolated workspace",
            "writing-plans" => "write the implementation plan",
            "test-driven-development" => "implement the current task",
            "finishing-a-development-branch" => "finish the branch",
            _ => "work on the current task",
        }
    }

    /// Returns the skill to follow beside this one, as a reference only.
    pub fn companion(&self) -> Option<Self> {
        let companion = match self.bare() {
            "test-driven-development" => "verification-before-completion",
            "subagent-driven-development" => "requesting-code-review",
            _ => return None,
        };
        Some(Self::superpower(companion))
    }

    /// Returns the skill that follows this one in the workflow.
    pub fn next(&self) -> Option<Self> {
        let next = match self.bare() {
            "using-superpowers" => "brainstorming",
            "brainstorming" => "using-git-worktrees",
            "using-git-worktrees" => "writing-plans",
            "writing-plans" => "subagent-driven-development",
            "subagent-driven-development" | "executing-plans" => "finishing-a-development-branch",
            _ => return None,
        };
        Some(Self::superpower(next))
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// Returns a skill file's text as it is injected: without front matter and last line endings.
pub fn body(file: &str) -> &str {
    let front: usize = lines(file).take(front_matter::line_count(file)).map(str::len).sum();
    file[front..].trim_end_matches(['\r', '\n'])
}

/// Returns what a skill file's front matter says it is for, on one line; empty if it does not say.
pub fn description(file: &str) -> String {
    const KEY: &str = "description:";
    let mut front = lines(file).take(front_matter::line_count(file)).map(str::trim_end);
    let Some(first) = front.find_map(|line| line.strip_prefix(KEY)) else { return String::new() };
    let first = first.trim();
    let is_block = first.is_empty() || first.starts_with(['>', '|']);
    let continued = front.take_while(|line| line.starts_with([' ', '\t'])).map(str::trim);
    let own = Some(first).filter(|_| !is_block);
    let words: Vec<_> = own.into_iter().chain(continued).collect();
    words.join(" ").trim_matches(['"', '\'']).replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-50
    #[test]
    fn an_id_is_a_safe_name_with_or_without_its_collection() {
        let id = SkillId::parse("superpowers:brainstorming").unwrap();
        assert_eq!((id.bare(), id.is_superpower()), ("brainstorming", true));
        let id = SkillId::parse("my-skill-2").unwrap();
        assert_eq!((id.bare(), id.is_superpower()), ("my-skill-2", false));
        for given in ["", "a/b", "..", "superpowers:", "superpowers:../x", "A", "other:x", "a b"] {
            assert!(SkillId::parse(given).is_err(), "{given:?}");
        }
    }

    // W-53
    #[test]
    fn a_body_is_the_file_without_its_front_matter() {
        assert_eq!(body("---\nname: x\ndescription: y\n---\n\n# X\n\ntext\n\n"), "\n# X\n\ntext");
        assert_eq!(body("# X\n---\n"), "# X\n---");
        assert_eq!(body("---\r\nname: x\r\n---\r\n# X\r\n"), "# X");
    }

    #[test]
    fn a_description_is_one_line() {
        for (front, expected) in [
            ("description: Use when x", "Use when x"),
            ("description: \"Use when: x\"", "Use when: x"),
            ("description: >-\n  Use\n  when x\nother: y", "Use when x"),
            ("description:\n  Use when x", "Use when x"),
            ("other: y", ""),
        ] {
            let file = format!("---\nname: n\n{front}\n---\n# Text\ndescription: no\n");
            assert_eq!(description(&file), expected, "{front}");
        }
        assert_eq!(description("# Text\ndescription: no\n"), "");
    }

    // W-32, W-60
    #[test]
    fn the_workflow_is_a_chain_with_a_purpose_at_each_link() {
        let mut chain = vec![SkillId::superpower("using-superpowers")];
        while let Some(next) = chain.last().and_then(SkillId::next) {
            chain.push(next);
        }
        let links: Vec<_> = chain.iter().map(|id| (id.bare(), id.purpose())).collect();
        assert_eq!(
            links,
            [
                ("using-superpowers", "work on the current task"),
                ("brainstorming", "explore and design the feature"),
                ("using-git-worktrees", "set up an isolated workspace"),
                ("writing-plans", "write the implementation plan"),
                ("subagent-driven-development", "execute the implementation plan"),
                ("finishing-a-development-branch", "finish the branch"),
            ]
        );
        let executing = SkillId::superpower("executing-plans");
        assert_eq!(executing.purpose(), "execute the implementation plan");
        assert_eq!(executing.next().unwrap().bare(), "finishing-a-development-branch");
    }
}
