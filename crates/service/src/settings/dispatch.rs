//! The `[dispatch]` section.

use std::collections::BTreeMap;
use std::path::{Component, PathBuf};

use convoke_domain::dispatch::confirmation::ConfirmationLevel;
use convoke_domain::dispatch::extract::{EndRule, MatchRule, Rules};
use convoke_domain::dispatch::resume::GuardBase;
use convoke_domain::dispatch::resumed_prompt::Wording;
use convoke_domain::dispatch::role::{PromptProfile, RoleName, Roles};
use convoke_domain::dispatch::task_prompt::TaskOrder;

use super::files::settle_once;
use super::role::{RoleChange, one};
use super::trust::Author;
use super::{Key, LOCAL_FILE, PROJECT_FILE, number, read_authored, table, text, truth, whole};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "dispatch";

/// Everything decided about dispatches before one is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of features and projects, relative to the project.
    pub artifacts_root: PathBuf,
    /// The generation of prompts.
    pub profile: PromptProfile,
    /// The most rounds.
    pub max_iterations: u32,
    /// The round of a loop from which on warnings alone start no other; 0 for none.
    pub floor_from: u32,
    /// How sections are selected from documents.
    pub rules: Rules,
    /// How a confirmation is judged.
    pub confirmation: ConfirmationLevel,
    /// The measure for a delta.
    pub guard_base: GuardBase,
    /// The wording of a resumed prompt.
    pub resume_text: Wording,
    /// In which order a task's prompt comes.
    pub task_order: TaskOrder,
    /// Whether a task's prompt quotes two sections of the PRD instead of a reference to it.
    pub prd_sections: bool,
    /// Whether a copy of what the store knows of a feature's rounds is written beside it.
    pub state_file: bool,
    /// The built-in roles, and those that the settings add.
    pub roles: Roles,
    /// Files with the instructions of some roles, relative to the project.
    pub rubrics: BTreeMap<RoleName, PathBuf>,
    /// Files with how some roles are to answer, relative to the project.
    pub returns: BTreeMap<RoleName, PathBuf>,
    /// The keys that committed files change in roles that are built in or the user's.
    pub changed: BTreeMap<RoleName, ChangedBy>,
}

/// Which keys of a role each committed file changes.
pub type ChangedBy = BTreeMap<&'static str, Vec<&'static str>>;

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    artifacts_root: Option<PathBuf>,
    profile: Option<PromptProfile>,
    max_iterations: Option<u32>,
    floor_from: Option<u32>,
    end_rule: Option<EndRule>,
    match_rule: Option<MatchRule>,
    confirmation: Option<ConfirmationLevel>,
    guard_base: Option<GuardBase>,
    resume_text: Option<Wording>,
    task_order: Option<TaskOrder>,
    prd_sections: Option<bool>,
    state_file: Option<bool>,
    roles: BTreeMap<RoleName, RoleChange>,
}

/// Every setting of dispatches.
pub const KEYS: [Key<Layer>; 13] = [
    Key {
        name: "artifacts_root",
        expected: "a folder in the project, relative to it",
        default: "docs",
        meaning: "where `features/` and `projects/` are",
        from_text: text,
        set: |layer, value| {
            let root = PathBuf::from(value.as_str()?);
            let is_inside =
                |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            layer.artifacts_root = Some(root).filter(|root| root.components().all(is_inside));
            layer.artifacts_root.is_some().then_some(())
        },
    },
    Key {
        name: "profile",
        expected: "seed, stable-prefix or all-reference",
        default: "seed",
        meaning: "the style of prompts",
        from_text: text,
        set: |layer, value| one(value, PromptProfile::parse, &mut layer.profile),
    },
    Key {
        name: "max_iterations",
        expected: "a whole number from 1 up",
        default: "5",
        meaning: "the limit of rounds of a review",
        from_text: number,
        set: |layer, value| {
            let most = u32::try_from(whole(value)?).ok().filter(|most| *most > 0)?;
            layer.max_iterations = Some(most);
            Some(())
        },
    },
    Key {
        name: "floor_from",
        expected: "a whole number",
        default: "3",
        meaning: "the round from which on a loop ends if only warnings are left; 0 for none",
        from_text: number,
        set: |layer, value| {
            layer.floor_from = Some(u32::try_from(whole(value)?).ok()?);
            Some(())
        },
    },
    Key {
        name: "end_rule",
        expected: "same_level or same_or_higher",
        default: "same_level",
        meaning: "where a section that a task refers to ends",
        from_text: text,
        set: |layer, value| one(value, EndRule::parse, &mut layer.end_rule),
    },
    Key {
        name: "match_rule",
        expected: "first or definition_first",
        default: "first",
        meaning: "which heading a reference means",
        from_text: text,
        set: |layer, value| one(value, MatchRule::parse, &mut layer.match_rule),
    },
    Key {
        name: "confirmation",
        expected: "strict, seed or loose",
        default: "strict",
        meaning: "whether a confirmation must be a list of files, name one, or only begin",
        from_text: text,
        set: |layer, value| one(value, ConfirmationLevel::parse, &mut layer.confirmation),
    },
    Key {
        name: "guard_base",
        expected: "everything or prompt",
        default: "everything",
        meaning: "what the size of a resumed round's prompt is compared with: a fresh round with all it reads, or the first prompt alone",
        from_text: text,
        set: |layer, value| one(value, GuardBase::parse, &mut layer.guard_base),
    },
    Key {
        name: "resume_text",
        expected: "seed or g2",
        default: "seed",
        meaning: "the wording of prompts to a resumed session",
        from_text: text,
        set: |layer, value| one(value, Wording::parse, &mut layer.resume_text),
    },
    Key {
        name: "task_order",
        expected: "seed or shipped",
        default: "seed",
        meaning: "the order of sections in a task's prompt",
        from_text: text,
        set: |layer, value| one(value, TaskOrder::parse, &mut layer.task_order),
    },
    Key {
        name: "prd_scope",
        expected: "whole or sections",
        default: "whole",
        meaning: "refer a task to the whole PRD, or to two of its sections",
        from_text: text,
        set: |layer, value| {
            layer.prd_sections = Some(match value.as_str()? {
                "whole" => false,
                "sections" => true,
                _ => return None,
            });
            Some(())
        },
    },
    Key {
        name: "state_file",
        expected: "true or false",
        default: "false",
        meaning: "also write `.resume-state.json` beside a feature, as the original workflow does; Convoke itself reads the store",
        from_text: truth,
        set: |layer, value| {
            layer.state_file = Some(value.as_bool()?);
            Some(())
        },
    },
    Key {
        name: "roles",
        expected: "a table of roles such as `[dispatch.roles.\"implement/ux-reviewer\"]`, each with \
                   any of artifacts, required, diff, target, noun, form, files, resumes, \
                   require_proof, rubric, returns (in a variable: the same as TOML, such as \
                   `{ \"implement/ux-reviewer\" = { diff = true } }`)",
        default: "the built-in roles",
        meaning: "roles that are added or changed; see docs/reference/dispatch.md",
        from_text: table,
        set: |layer, value| {
            for (name, value) in value.as_table()? {
                let name = RoleName::parse(name).ok()?;
                layer.roles.insert(name, RoleChange::read(value).ok()?);
            }
            Some(())
        },
    },
];

/// Collects what environment and files say about dispatches.
pub fn settings(session: &Session) -> Result<Settings, Failure> {
    settle_once(&session.settings.files().dispatch, || settle(session))
}

fn settle(session: &Session) -> Result<Settings, Failure> {
    let (layers, author) = read_authored(session, SECTION, &KEYS)?;
    let changed = changed(&layers, author);
    let all = layers.into_iter().reduce(Layer::over).unwrap_or_default();
    let mut settings = Settings {
        artifacts_root: all.artifacts_root.unwrap_or_else(|| PathBuf::from("docs")),
        profile: all.profile.unwrap_or_default(),
        max_iterations: all.max_iterations.unwrap_or(5),
        floor_from: all.floor_from.unwrap_or(3),
        rules: Rules {
            end: all.end_rule.unwrap_or_default(),
            heading: all.match_rule.unwrap_or_default(),
        },
        confirmation: all.confirmation.unwrap_or_default(),
        guard_base: all.guard_base.unwrap_or_default(),
        resume_text: all.resume_text.unwrap_or_default(),
        task_order: all.task_order.unwrap_or_default(),
        prd_sections: all.prd_sections.unwrap_or(false),
        state_file: all.state_file.unwrap_or(false),
        roles: Roles::default(),
        rubrics: BTreeMap::new(),
        returns: BTreeMap::new(),
        changed,
    };
    for (name, mut change) in all.roles {
        settings.rubrics.extend(change.rubric.take().map(|path| (name.clone(), path)));
        settings.returns.extend(change.returns.take().map(|path| (name.clone(), path)));
        let role = change.applied(&name, settings.roles.find(&name));
        settings.roles.set(role);
    }
    Ok(settings)
}

impl Settings {
    /// Returns what committed files change of a role.
    pub fn changed_by(&self, role: &RoleName) -> ChangedBy {
        self.changed.get(role).cloned().unwrap_or_default()
    }

    /// Describes the keys that committed files change in a role that the user knows otherwise.
    pub fn change_notes(&self, role: &RoleName) -> Vec<String> {
        let note = |(file, keys): (&'static str, Vec<&'static str>)| {
            let keys = keys.join(", ");
            format!("`{file}` of this project changes {keys} of the role {role}")
        };
        self.changed_by(role).into_iter().map(note).collect()
    }
}

/// Returns what committed files change of roles that are built in or the user's.
fn changed(layers: &[Layer; 4], author: Author) -> BTreeMap<RoleName, ChangedBy> {
    let [_, local, project, user] = layers;
    let (nothing, built_in) = (Layer::default(), Roles::default());
    let own = if author == Author::User { local } else { &nothing };
    let mut changed = BTreeMap::new();
    for name in local.roles.keys().chain(project.roles.keys()) {
        let known = built_in.find(name);
        let is_users = [own, user].iter().any(|layer| layer.roles.contains_key(name));
        if known.is_none() && !is_users {
            continue;
        }
        let of = |layer: &Layer| layer.roles.get(name).cloned().unwrap_or_default();
        let before = of(own).over(of(user));
        let with_project = of(own).over(of(project).over(of(user)));
        let with_both = of(local).over(with_project.clone());
        let by: ChangedBy = [
            (PROJECT_FILE, with_project.differing(&before, name, known)),
            (LOCAL_FILE, with_both.differing(&with_project, name, known)),
        ]
        .into_iter()
        .filter(|(_, keys)| !keys.is_empty())
        .collect();
        if !by.is_empty() {
            changed.insert(name.clone(), by);
        }
    }
    changed
}

impl Layer {
    fn over(self, weaker: Self) -> Self {
        let mut roles = weaker.roles;
        for (name, change) in self.roles {
            let below = roles.remove(&name).unwrap_or_default();
            roles.insert(name, change.over(below));
        }
        Self {
            artifacts_root: self.artifacts_root.or(weaker.artifacts_root),
            profile: self.profile.or(weaker.profile),
            max_iterations: self.max_iterations.or(weaker.max_iterations),
            floor_from: self.floor_from.or(weaker.floor_from),
            end_rule: self.end_rule.or(weaker.end_rule),
            match_rule: self.match_rule.or(weaker.match_rule),
            confirmation: self.confirmation.or(weaker.confirmation),
            guard_base: self.guard_base.or(weaker.guard_base),
            resume_text: self.resume_text.or(weaker.resume_text),
            task_order: self.task_order.or(weaker.task_order),
            prd_sections: self.prd_sections.or(weaker.prd_sections),
            state_file: self.state_file.or(weaker.state_file),
            roles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The reference page lists the keys in words.
    #[test]
    fn the_expected_value_names_every_key_of_a_role() {
        let expected = KEYS.iter().find(|key| key.name == "roles").map(|key| key.expected);
        for key in RoleChange::KEYS {
            assert!(expected.is_some_and(|words| words.contains(key)), "{key}");
        }
    }
}
