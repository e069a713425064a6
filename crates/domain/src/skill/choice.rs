//! Which skill applies to a task.

use std::collections::BTreeSet;

use super::SkillId;
use crate::task::Task;

/// The texts that the patterns treat as the word `pr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PatternRule {
    /// Only the whole word `pr` or `prs`.
    #[default]
    WholeWord,
    /// The letters anywhere, as in the original; most matches are `project` and `process`.
    Compatible,
}

/// The sources that may name a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SkillRule {
    /// A task, an agent, the user or a plan that names one.
    #[default]
    Named,
    /// Also the words of tasks, earlier choices, and a default, as in the original.
    Seed,
}

impl SkillRule {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::Named, Self::Seed];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Seed => "seed",
        }
    }

    /// Returns the rule that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// How a skill was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillReason {
    /// The task names it.
    Explicit,
    /// The task's words.
    Pattern,
    /// A task above names it.
    AncestorExplicit,
    /// The words of a task above.
    AncestorPattern,
    /// The user chose it for the agent.
    Agent,
    /// The user chose it for every agent of the branch.
    User,
    /// The plan names it.
    Plan,
    /// It was used before for this agent and plan.
    History,
    /// Nothing else applied.
    Default,
}

impl SkillReason {
    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Pattern => "pattern",
            Self::AncestorExplicit => "ancestor_explicit",
            Self::AncestorPattern => "ancestor_pattern",
            Self::Agent => "agent",
            Self::User => "user",
            Self::Plan => "plan",
            Self::History => "history",
            Self::Default => "default",
        }
    }
}

/// A chosen skill, why it was chosen, and what to follow beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillChoice {
    /// The skill whose text is injected.
    pub skill: SkillId,
    /// Which rule chose the skill.
    pub reason: SkillReason,
    /// Skills that are only referred to.
    pub others: Vec<SkillId>,
}

/// Chooses for the task at the end of `path`, given from the root down.
pub fn choose(path: &[&Task], history: Option<&SkillId>, rule: PatternRule) -> SkillChoice {
    let mut upwards = path.iter().rev();
    let own = upwards.next().and_then(|task| of_task(task, rule));
    let own = own.map(|(skill, others, explicit)| {
        (skill, others, if explicit { SkillReason::Explicit } else { SkillReason::Pattern })
    });
    let above = || {
        let (skill, others, explicit) = upwards.find_map(|task| of_task(task, rule))?;
        let reason =
            if explicit { SkillReason::AncestorExplicit } else { SkillReason::AncestorPattern };
        Some((skill, others, reason))
    };
    let before = || history.map(|skill| (skill.clone(), Vec::new(), SkillReason::History));
    let default =
        || (SkillId::superpower("test-driven-development"), Vec::new(), SkillReason::Default);
    let (skill, named, reason) = own.or_else(above).or_else(before).unwrap_or_else(default);
    let mut others: Vec<SkillId> = Vec::new();
    for other in skill.companion().into_iter().chain(named) {
        if other != skill && !others.contains(&other) {
            others.push(other);
        }
    }
    SkillChoice { skill, reason, others }
}

/// Other sources of a skill's name.
#[derive(Debug, Clone, Default)]
pub struct Naming {
    /// The user's choice for the agent.
    pub agent: Option<SkillId>,
    /// The user's choice for every agent of the branch.
    pub user: Option<SkillId>,
    /// The skills that the plan names, in order.
    pub plan: Vec<SkillId>,
}

/// Returns every skill that is named for the task at the end of `path`, strongest first. Nothing is
/// read from the words of a title.
pub fn named(path: &[&Task], naming: &Naming) -> Vec<SkillChoice> {
    let mut choices = Vec::new();
    for (task, distance) in path.iter().rev().zip(0..) {
        let field = task.skill.as_deref().unwrap_or_default();
        let mut ids = field.split(',').filter_map(|id| SkillId::parse(id.trim()).ok());
        let reason =
            if distance == 0 { SkillReason::Explicit } else { SkillReason::AncestorExplicit };
        if let Some(skill) = ids.next() {
            let mut others: Vec<_> = ids.filter(|other| *other != skill).collect();
            others.dedup();
            choices.push(SkillChoice { skill, reason, others });
        }
    }
    let alone =
        |skill: &SkillId, reason| SkillChoice { skill: skill.clone(), reason, others: Vec::new() };
    choices.extend(naming.agent.iter().map(|skill| alone(skill, SkillReason::Agent)));
    choices.extend(naming.user.iter().map(|skill| alone(skill, SkillReason::User)));
    choices.extend(naming.plan.iter().map(|skill| alone(skill, SkillReason::Plan)));
    choices
}

/// Returns the skills that a plan names by their full ids, such as `superpowers:executing-plans`.
pub fn named_in(text: &str) -> Vec<SkillId> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut found: Vec<SkillId> = Vec::new();
    for (at, prefix) in text.match_indices(SkillId::NAMESPACE) {
        let is_inside = text[..at].ends_with(|c: char| c.is_alphanumeric() || "-_/.".contains(c));
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let bare = rest[..end].trim_end_matches('-');
        if !is_inside && !bare.is_empty() && !found.iter().any(|id| id.bare() == bare) {
            found.push(SkillId::superpower(bare));
        }
    }
    found
}

/// An installed skill, with its own description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Its bare name.
    pub name: String,
    /// The description in its front matter.
    pub description: String,
}

/// Returns the names of skills that share words with a text, best first, at most `most`. Words of a
/// name count twice; filler words and short words do not count.
pub fn fitting(text: &str, skills: &[Described], most: usize) -> Vec<String> {
    let wanted = telling_words(text);
    let score = |skill: &Described| {
        let shared = |text: &str| telling_words(text).intersection(&wanted).count();
        2 * shared(&skill.name) + shared(&skill.description)
    };
    let mut scored: Vec<_> = skills.iter().map(|skill| (score(skill), &skill.name)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    scored.into_iter().take(most).map(|(_, name)| name.clone()).collect()
}

fn telling_words(text: &str) -> BTreeSet<String> {
    const SILENT: [&str; 16] = [
        "task", "tasks", "with", "when", "that", "this", "from", "into", "before", "after",
        "using", "your", "have", "must", "skill", "their",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let stem = |word: String| word.strip_suffix('s').map_or(word.clone(), str::to_owned);
    let telling = |word: &String| word.chars().count() > 3 && !SILENT.contains(&word.as_str());
    words.filter(telling).map(stem).collect()
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

    // W-40: what names a skill, strongest first; titles name none.
    #[test]
    fn only_a_named_skill_is_chosen() {
        let task = |content: &str, skill: Option<&str>| {
            let mut task = task("1 - 1 - pending x");
            (task.content, task.skill) = (content.to_owned(), skill.map(str::to_owned));
            task
        };
        let id = |id: &str| SkillId::parse(id).ok();
        let naming = Naming {
            agent: id("of-agent"),
            user: id("of-user"),
            plan: named_in("Use superpowers:executing-plans to implement this."),
        };
        let shown = |path: &[&Task], naming: &Naming| {
            let all = named(path, naming);
            let line =
                |choice: &SkillChoice| format!("{} {}", choice.skill.bare(), choice.reason.name());
            all.iter().map(line).collect::<Vec<_>>().join(", ")
        };
        let top = task("Finish branch", Some("up, also"));
        let own = task("Spec review, open PR, merge", Some("own"));
        let silent = task("Brainstorm a worktree merge", None);
        assert_eq!(
            shown(&[&top, &own], &naming),
            "own explicit, up ancestor_explicit, of-agent agent, of-user user, executing-plans plan"
        );
        assert_eq!(shown(&[&silent], &Naming::default()), "");
        let others = named(&[&top], &naming).remove(0).others;
        assert_eq!(others, [SkillId::parse("also").unwrap()]);
    }

    #[test]
    fn a_plan_names_skills_by_their_full_ids() {
        for (text, expected) in [
            ("> REQUIRED: Use superpowers:executing-plans to implement.", "executing-plans"),
            ("`superpowers:a`, superpowers:b. superpowers:a", "a b"),
            ("(superpowers:writing-plans-)", "writing-plans"),
            ("xsuperpowers:a a/superpowers:b superpowers: c superpowers:", ""),
            ("use the executing-plans skill", ""),
        ] {
            let found = named_in(text);
            let found: Vec<_> = found.iter().map(SkillId::bare).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn skills_that_fit_share_words_with_the_task() {
        let skill = |name: &str, description: &str| Described {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let all = [
            skill("writing-docs", "Use when you write documentation"),
            skill("test-driven-development", "Use before implementing any feature or bugfix"),
            skill("api-design", "Design endpoints of an API"),
            skill("task-skill", "with this task"),
        ];
        let fit = |text: &str| fitting(text, &all, 2).join(" ");
        assert_eq!(fit("Task 2: Add login endpoint"), "api-design");
        assert_eq!(fit("Write docs"), "writing-docs");
        assert_eq!(fit("Task 3: with the others"), "");
        assert_eq!(
            fit("design the documentation of a feature"),
            "api-design test-driven-development"
        );
        assert_eq!(fit(""), "");
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
