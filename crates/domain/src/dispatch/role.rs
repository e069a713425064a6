//! Roles: the agents that a command dispatches, and the artifacts that they read.
//!
//! Roles are data. Those built in are the ones of the original maps; a project adds its own or
//! changes these.

use std::fmt;

use super::artifact::FeatureArtifact;
use super::pattern::PathPattern;

/// A role within a command: `implement/security-reviewer`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName {
    /// The command that dispatches it.
    pub command: String,
    /// The role, unique within its command.
    pub role: String,
}

/// A text that is not a valid role name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a role: write `command/role` in lower case")]
pub struct InvalidRoleName {
    given: String,
}

impl RoleName {
    /// Reads `command/role`.
    pub fn parse(given: &str) -> Result<Self, InvalidRoleName> {
        let word = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        match given.split_once('/') {
            Some((command, role)) if word(command) && word(role) => {
                Ok(Self { command: command.to_owned(), role: role.to_owned() })
            }
            _ => Err(InvalidRoleName { given: given.to_owned() }),
        }
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.command, self.role)
    }
}

/// How a role's prompt is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptForm {
    /// A review of an artifact or of files, iteration by iteration.
    Review,
    /// A review of a whole phase, with the outcome of the reviewer before it.
    PhaseReview,
    /// The fixing of what reviewers found.
    Fix,
}

impl PromptForm {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Review, Self::PhaseReview, Self::Fix];

    /// Returns the word that users configure.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::PhaseReview => "phase",
            Self::Fix => "fix",
        }
    }

    /// Returns the form that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// A role's work after reading, as its prompt names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// The role judges what others made.
    Review,
    /// Other work.
    Work,
}

impl Noun {
    /// Both nouns.
    pub const ALL: [Self; 2] = [Self::Review, Self::Work];

    /// Returns the word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Work => "work",
        }
    }

    /// Returns the noun of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|noun| noun.word() == word)
    }
}

/// Whether an answer needs proof of complete reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Proof is required.
    Required,
    /// Missing proof is only reported.
    Reported,
}

impl Proof {
    /// Reads a switch.
    pub const fn of(is_required: bool) -> Self {
        if is_required { Self::Required } else { Self::Reported }
    }
}

/// The generation of prompts. It decides order and membership of sections, never the text of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptProfile {
    /// References, with the artifact under review pasted.
    #[default]
    Seed,
    /// The same, what changes from round to round last.
    StablePrefix,
    /// Nothing is pasted any more.
    AllReference,
}

impl PromptProfile {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Seed, Self::StablePrefix, Self::AllReference];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::StablePrefix => "stable-prefix",
            Self::AllReference => "all-reference",
        }
    }

    /// Returns the profile that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// One role with everything its prompts depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchRole {
    /// Unique among all roles; configuration replaces a role by this name.
    pub name: RoleName,
    /// The artifacts that it must read, in order, beside its target.
    pub reads: Vec<FeatureArtifact>,
    /// Which files of the project it must read beside those.
    pub required: Vec<PathPattern>,
    /// Whether it must read every file that was changed.
    pub reads_diff: bool,
    /// The artifact that the role reviews.
    pub target: Option<FeatureArtifact>,
    /// How its prompt is laid out.
    pub form: PromptForm,
    /// Its work, as the prompt names it.
    pub noun: Noun,
    /// Whether the role's prompt lists the changed files.
    pub takes_files: bool,
    /// Whether its session is ever resumed.
    pub resumes: bool,
    /// Whether its answer passes only if its client's record proves complete reading.
    pub proof: Proof,
    /// The artifacts pasted into its prompt before there were references.
    pub pasted_before: Vec<FeatureArtifact>,
}

impl DispatchRole {
    /// Returns what the role must read under a profile. A target that is pasted is not among it.
    pub fn reads(&self, profile: PromptProfile) -> Vec<&FeatureArtifact> {
        let target = self.target.as_ref().filter(|_| profile == PromptProfile::AllReference);
        let listed = target.filter(|target| !self.reads.contains(target));
        self.reads.iter().chain(listed).collect()
    }

    /// Tells whether it has to do with documents of a feature.
    pub const fn needs_feature(&self) -> bool {
        !self.reads.is_empty() || self.target.is_some()
    }

    /// Returns the artifact that is pasted under a profile.
    pub fn pasted(&self, profile: PromptProfile) -> Option<&FeatureArtifact> {
        self.target.as_ref().filter(|_| profile != PromptProfile::AllReference)
    }
}

/// The roles of a project: the built-in ones and its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles(Vec<DispatchRole>);

impl Default for Roles {
    fn default() -> Self {
        Self(built_in())
    }
}

impl Roles {
    /// Returns every role, command by command.
    pub fn all(&self) -> &[DispatchRole] {
        &self.0
    }

    /// Finds a role.
    pub fn find(&self, name: &RoleName) -> Option<&DispatchRole> {
        self.0.iter().find(|role| role.name == *name)
    }

    /// Adds a role, in place of one that has its name.
    pub fn set(&mut self, role: DispatchRole) {
        match self.0.iter_mut().find(|known| known.name == role.name) {
            Some(known) => *known = role,
            None => self.0.push(role),
        }
    }
}

/// Returns the roles of the original workflow, which configuration extends.
fn built_in() -> Vec<DispatchRole> {
    use FeatureArtifact as A;
    let phases: [(&str, &str, A, &[A]); 4] = [
        ("specify", "spec-reviewer", A::SPEC, &[A::PRD]),
        ("design", "design-reviewer", A::DESIGN, &[A::PRD, A::SPEC]),
        ("create-plan", "plan-reviewer", A::PLAN, &[A::PRD, A::SPEC, A::DESIGN]),
        ("create-tasks", "task-reviewer", A::TASKS, &[A::PRD, A::SPEC, A::DESIGN, A::PLAN]),
    ];
    let mut roles = Vec::new();
    for (command, reviewer, target, upstream) in phases {
        let everything = [upstream, std::slice::from_ref(&target)].concat();
        let domain = review(command, reviewer, upstream);
        roles.push(DispatchRole {
            target: Some(target),
            pasted_before: everything.clone(),
            takes_files: false,
            ..domain
        });
        let phase = review(command, "phase-reviewer", &everything);
        roles.push(DispatchRole { form: PromptForm::PhaseReview, takes_files: false, ..phase });
    }
    let before = A::ALL.to_vec();
    roles.push(review("implement", "implementation-reviewer", &A::ALL));
    for reviewer in ["code-quality-reviewer", "security-reviewer"] {
        let role = review("implement", reviewer, &[A::DESIGN, A::SPEC]);
        roles.push(DispatchRole { pasted_before: before.clone(), ..role });
    }
    let simplifier = review("implement", "code-simplifier", &[A::DESIGN]);
    let pasted_before = vec![A::SPEC, A::DESIGN];
    roles.push(DispatchRole { resumes: false, pasted_before, ..simplifier });
    let deepener = [A::SPEC, A::DESIGN, A::TASKS, A::PRD];
    let deepener = review("implement", "test-deepener", &deepener);
    let pasted_before = vec![A::SPEC, A::DESIGN, A::TASKS];
    roles.push(DispatchRole { noun: Noun::Work, resumes: false, pasted_before, ..deepener });
    let implementer = review("implement", "implementer", &A::ALL);
    roles.push(DispatchRole { form: PromptForm::Fix, noun: Noun::Work, ..implementer });
    roles
}

/// A reviewer of files, from which the others differ.
fn review(command: &str, role: &str, reads: &[FeatureArtifact]) -> DispatchRole {
    DispatchRole {
        name: RoleName { command: command.to_owned(), role: role.to_owned() },
        reads: reads.to_vec(),
        required: Vec::new(),
        reads_diff: false,
        target: None,
        form: PromptForm::Review,
        noun: Noun::Review,
        takes_files: true,
        resumes: true,
        proof: Proof::Reported,
        pasted_before: reads.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(profile: PromptProfile) -> String {
        let stem = |artifact: &FeatureArtifact| artifact.file().trim_end_matches(".md").to_owned();
        let line = |role: &DispatchRole| {
            let reads: Vec<_> = role.reads(profile).into_iter().map(stem).collect();
            let pasted = role.pasted(profile).map_or("-".to_owned(), stem);
            format!("{} {} {} {pasted}", role.name, role.noun.word(), reads.join(","))
        };
        Roles::default().all().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    // D-2, D-3, D-6
    #[test]
    fn the_original_maps_are_built_in() {
        assert_eq!(
            shown(PromptProfile::Seed),
            "\
specify/spec-reviewer review prd spec
specify/phase-reviewer review prd,spec -
design/design-reviewer review prd,spec design
design/phase-reviewer review prd,spec,design -
create-plan/plan-reviewer review prd,spec,design plan
create-plan/phase-reviewer review prd,spec,design,plan -
create-tasks/task-reviewer review prd,spec,design,plan tasks
create-tasks/phase-reviewer review prd,spec,design,plan,tasks -
implement/implementation-reviewer review prd,spec,design,plan,tasks -
implement/code-quality-reviewer review design,spec -
implement/security-reviewer review design,spec -
implement/code-simplifier review design -
implement/test-deepener work spec,design,tasks,prd -
implement/implementer work prd,spec,design,plan,tasks -"
        );
        assert_eq!(shown(PromptProfile::StablePrefix), shown(PromptProfile::Seed));
        let all = shown(PromptProfile::AllReference);
        assert!(all.starts_with("specify/spec-reviewer review prd,spec -\n"), "{all}");
        assert!(all.contains("\ncreate-tasks/task-reviewer review prd,spec,design,plan,tasks -\n"));
    }

    // D-4: only agents that receive the block of references are roles.
    #[test]
    fn other_agents_are_no_roles() {
        let names: Vec<_> =
            Roles::default().all().iter().map(|role| role.name.to_string()).collect();
        assert_eq!(names.len(), 14);
        for name in ["design/codebase-explorer", "brainstorm/prd-reviewer"] {
            assert!(!names.contains(&name.to_owned()), "{name}");
        }
    }

    // D-72: what used to be pasted, counted by command.
    #[test]
    fn roles_know_the_artifacts_of_earlier_prompts() {
        let count = |command: &str| -> usize {
            let roles = Roles::default();
            let of_command = roles.all().iter().filter(|role| role.name.command == command);
            of_command.map(|role| role.pasted_before.len()).sum()
        };
        let commands = ["specify", "design", "create-plan", "create-tasks", "implement"];
        assert_eq!(commands.map(count), [4, 6, 8, 10, 25]);
    }

    #[test]
    fn a_project_changes_and_adds_roles() {
        let mut roles = Roles::default();
        let name = RoleName::parse("implement/security-reviewer").unwrap();
        let changed = DispatchRole {
            reads: vec![FeatureArtifact::SPEC],
            ..roles.find(&name).unwrap().clone()
        };
        roles.set(changed.clone());
        assert_eq!((roles.find(&name), roles.all().len()), (Some(&changed), 14));
        let added = RoleName::parse("implement/ux-reviewer").unwrap();
        roles.set(DispatchRole { name: added.clone(), ..changed });
        assert!(roles.find(&added).is_some());
        for given in ["", "x", "a/", "/b", "a/b/c", "A/b", "a/b c", "implement/../x"] {
            assert!(RoleName::parse(given).is_err(), "{given}");
        }
    }
}
