//! Which skill applies to a task.

use super::SkillId;
use crate::task::Task;

/// What the patterns treat as the word `pr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PatternRule {
    /// Only the whole word `pr` or `prs`.
    #[default]
    WholeWord,
    /// The letters anywhere, as the original had it; most hits are `project` and `process`.
    Compatible,
}

/// How a skill was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The task names it.
    Explicit,
    /// The task's words.
    Pattern,
    /// A task above names it.
    AncestorExplicit,
    /// The words of a task above.
    AncestorPattern,
    /// It was used before for this agent and plan.
    History,
    /// Nothing else applied.
    Default,
}

impl Reason {
    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Pattern => "pattern",
            Self::AncestorExplicit => "ancestor_explicit",
            Self::AncestorPattern => "ancestor_pattern",
            Self::History => "history",
            Self::Default => "default",
        }
    }
}

/// A chosen skill, why it was chosen, and what to follow beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The skill whose text is injected.
    pub skill: SkillId,
    /// Why.
    pub reason: Reason,
    /// Skills that are only referred to.
    pub others: Vec<SkillId>,
}

/// Chooses for the task at the end of `path`, given from the root down.
pub fn choose(path: &[&Task], history: Option<&SkillId>, rule: PatternRule) -> Choice {
    let mut upwards = path.iter().rev();
    let own = upwards.next().and_then(|task| of_task(task, rule));
    let own = own.map(|(skill, others, explicit)| {
        (skill, others, if explicit { Reason::Explicit } else { Reason::Pattern })
    });
    let above = || {
        let (skill, others, explicit) = upwards.find_map(|task| of_task(task, rule))?;
        let reason = if explicit { Reason::AncestorExplicit } else { Reason::AncestorPattern };
        Some((skill, others, reason))
    };
    let before = || history.map(|skill| (skill.clone(), Vec::new(), Reason::History));
    let default = || (SkillId::superpower("test-driven-development"), Vec::new(), Reason::Default);
    let (skill, named, reason) = own.or_else(above).or_else(before).unwrap_or_else(default);
    let mut others: Vec<SkillId> = Vec::new();
    for other in skill.companion().into_iter().chain(named) {
        if other != skill && !others.contains(&other) {
            others.push(other);
        }
    }
    Choice { skill, reason, others }
}

/// Returns what one task says: its field, with further skills after commas, or its words.
fn of_task(task: &Task, rule: PatternRule) -> Option<(SkillId, Vec<SkillId>, bool)> {
    let field = task.skill.as_deref().unwrap_or_default();
    let mut named = field.split(',').filter_map(|id| SkillId::parse(id.trim()).ok());
    match named.next() {
        Some(first) => Some((first, named.collect(), true)),
        None => by_words(&task.content, rule).map(|skill| (skill, Vec::new(), false)),
    }
}

/// Finds a skill by a task's words; the first hit of the table wins.
pub fn by_words(content: &str, rule: PatternRule) -> Option<SkillId> {
    const TABLE: [(&[&str], &str); 6] = [
        (&["brainstorm"], "brainstorming"),
        (&["worktree"], "using-git-worktrees"),
        (&["write plan", "implementation plan"], "writing-plans"),
        (&["spec review"], "subagent-driven-development"),
        (&["code review", "quality review"], "subagent-driven-development"),
        (&["finish", "merge"], "finishing-a-development-branch"),
    ];
    let words = content.to_lowercase();
    let hit = TABLE.iter().find(|(tests, _)| tests.iter().any(|test| words.contains(test)));
    let pull_request = match rule {
        PatternRule::WholeWord => words
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| matches!(word, "pr" | "prs")),
        PatternRule::Compatible => words.contains("pr"),
    };
    let bare = hit.map(|(_, bare)| *bare);
    bare.or(pull_request.then_some("finishing-a-development-branch")).map(SkillId::superpower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::fixture::task;

    // W-41, W-42, W-43
    #[test]
    fn words_choose_a_skill() {
        let cases = [
            ("Brainstorm design", "brainstorming"),
            ("Set up worktree", "using-git-worktrees"),
            ("Write implementation plan", "writing-plans"),
            ("Write plan", "writing-plans"),
            ("Spec review", "subagent-driven-development"),
            ("Code quality review", "subagent-driven-development"),
            ("Code review", "subagent-driven-development"),
            ("Finish branch", "finishing-a-development-branch"),
            ("Merge it", "finishing-a-development-branch"),
            ("Open PR", "finishing-a-development-branch"),
            ("Review PRs.", "finishing-a-development-branch"),
            ("Execute plan", "-"),
            ("Implementation", "-"),
            ("Task 2: Add login endpoint", "-"),
            ("Add progress bar", "-"),
            ("Brainstorm the merge", "brainstorming"),
        ];
        for (content, expected) in cases {
            let found = by_words(content, PatternRule::WholeWord);
            let bare = found.as_ref().map_or("-", SkillId::bare);
            assert_eq!(bare, expected, "{content}");
        }
        let compatible = by_words("Add progress bar", PatternRule::Compatible);
        assert_eq!(compatible.unwrap().bare(), "finishing-a-development-branch");
    }

    fn chosen(path: &[(&str, Option<&str>)], history: Option<&str>) -> String {
        let tasks: Vec<_> = path
            .iter()
            .map(|(content, skill)| {
                let mut task = task("1 - 1 - pending x");
                task.content = (*content).to_owned();
                task.skill = skill.map(str::to_owned);
                task
            })
            .collect();
        let history = history.map(|id| SkillId::parse(id).unwrap());
        let path: Vec<_> = tasks.iter().collect();
        let choice = choose(&path, history.as_ref(), PatternRule::WholeWord);
        let others: Vec<_> = choice.others.iter().map(SkillId::bare).collect();
        format!("{} {} [{}]", choice.skill.bare(), choice.reason.name(), others.join(" "))
    }

    // W-40, W-80, W-81: field, words, the same above, history, default; and section 10's question 3.
    #[test]
    fn the_nearest_word_on_a_skill_wins() {
        let top = ("Finish branch", None);
        assert_eq!(
            chosen(&[top, ("Spec review", Some("mine, also, x y"))], None),
            "mine explicit [also]"
        );
        let repeated = Some("a, b, a, b");
        assert_eq!(chosen(&[("x", repeated)], None), "a explicit [b]");
        assert_eq!(
            chosen(&[top, ("Spec review", None)], None),
            "subagent-driven-development pattern [requesting-code-review]"
        );
        assert_eq!(
            chosen(&[("a", Some("up")), ("Merge", None), ("Implementation", None)], None),
            "finishing-a-development-branch ancestor_pattern []"
        );
        assert_eq!(
            chosen(&[("a", Some("up")), ("b", None)], Some("old")),
            "up ancestor_explicit []"
        );
        assert_eq!(chosen(&[("a", None)], Some("old")), "old history []");
        let default = "test-driven-development default [verification-before-completion]";
        assert_eq!(chosen(&[("a", Some("Not A Skill"))], None), default);
        assert_eq!(chosen(&[], None), default);
    }
}
