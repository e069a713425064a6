//! The texts that agents work by, and the versions they are pinned to.

use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::task::id::TaskId;
use convoke_engine::skill::Skill;
use convoke_store::task::Change;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::message::note_stranger;
use crate::session::Session;
use crate::settings::wake::settings;
use crate::wake::library;
use crate::workspace::{Workspace, refused};

/// Which part of a skill to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillPart {
    /// Everything, with its text.
    Text,
    /// Its source.
    Place,
}

/// What a skill is pinned to.
#[derive(Debug, Clone)]
pub enum SkillUser {
    /// A task and its parts.
    Task(TaskId),
    /// All work of one agent.
    Agent(AgentName),
    /// Every agent on the branch.
    Branch,
}

#[derive(Debug, thiserror::Error)]
enum SkillError {
    #[error("cannot find skill `{id}`")]
    NotFound { id: SkillId },
    #[error("cannot pin `{id}` to `{version}`: that version does not have it")]
    NoSuchVersion { id: SkillId, version: String },
}

/// A skill for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillReport {
    /// The skill's name.
    pub skill: String,
    /// The file that it is taken from.
    pub path: String,
    /// The version of its collection.
    pub version: Option<String>,
    /// The version that it is pinned to.
    pub pinned: Option<String>,
    /// The hash of the text.
    pub sha256: String,
    /// The text as it is injected.
    pub text: Option<String>,
}

/// A skill that was chosen.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChosenSkillReport {
    /// The users of the skill, in words.
    #[serde(rename = "for")]
    pub user: String,
    /// The skill; `None` if the choice was removed.
    pub skill: Option<String>,
}

/// A skill that is not pinned to a version any more.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnpinnedSkillReport {
    /// The skill's name.
    pub skill: String,
    /// Whether it had been pinned.
    pub unpinned: bool,
}

/// Lists every skill that can be found.
pub fn list_skills(session: &Session) -> Result<Vec<String>, Failure> {
    Workspace::open(session, None)?;
    Ok(library(session, &settings(session)?).names())
}

/// Counts the skills of the superpowers collection.
pub(crate) fn count_superpowers(session: &Session) -> Result<usize, Failure> {
    Ok(library(session, &settings(session)?).names_of_collection().len())
}

/// Shows a skill.
pub fn show_skill(
    session: &Session,
    id: &SkillId,
    part: SkillPart,
) -> Result<SkillReport, Failure> {
    show(session, &Workspace::open(session, None)?, id, part)
}

fn show(
    session: &Session,
    workspace: &Workspace,
    id: &SkillId,
    part: SkillPart,
) -> Result<SkillReport, Failure> {
    let pinned = workspace.store.pinned(&workspace.scope, id).map_err(refused)?;
    let found = library(session, &settings(session)?).look_for(id, pinned.as_deref());
    let reporter = session.reporter();
    for (path, reason) in &found.passed_over {
        reporter.remark(format!("Convoke skipped `{}`: {reason}", path.display()));
    }
    let skill = found.skill.ok_or_else(|| not_found(id))?;
    Ok(report(id, &skill, pinned, part))
}

fn report(id: &SkillId, skill: &Skill, pinned: Option<String>, part: SkillPart) -> SkillReport {
    SkillReport {
        skill: id.as_str().to_owned(),
        path: skill.path.display().to_string(),
        version: skill.version.clone(),
        pinned,
        sha256: skill.sha256.clone(),
        text: (part == SkillPart::Text).then(|| skill.forms.text().to_owned()),
    }
}

/// Chooses the skill of a task, of an agent or of every agent on the branch, or takes the choice back.
pub fn use_skill(
    session: &Session,
    user: &SkillUser,
    skill: Option<&SkillId>,
) -> Result<ChosenSkillReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let Workspace { store, scope } = &workspace;
    let library = library(session, &settings(session)?);
    if let Some(id) = skill.filter(|id| library.find(id, None).is_none()) {
        return Err(not_found(id));
    }
    let place = match user {
        SkillUser::Task(task) => {
            let change = Change::Skill(skill.map(SkillId::as_str));
            store.change_task(scope, task, &change, session.now()).map_err(refused)?;
            format!("task {task}")
        }
        SkillUser::Agent(agent) => {
            note_stranger(session, &workspace, scope, agent)?;
            store.use_skill(scope, Some(agent), skill).map_err(refused)?;
            format!("@{agent}")
        }
        SkillUser::Branch => {
            store.use_skill(scope, None, skill).map_err(refused)?;
            format!("branch {}", scope.branch)
        }
    };
    Ok(ChosenSkillReport { user: place, skill: skill.map(|id| id.as_str().to_owned()) })
}

fn not_found(id: &SkillId) -> Failure {
    Failure::new(ErrorClass::Prerequisite, SkillError::NotFound { id: id.clone() })
        .hint("run `convoke skill list` to list the skills")
}

/// Keeps a skill at a version of its collection.
pub fn pin_skill(session: &Session, id: &SkillId, version: &str) -> Result<SkillReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let found = library(session, &settings(session)?).find(id, Some(version));
    if found.and_then(|skill| skill.version).as_deref() != Some(version) {
        let error = SkillError::NoSuchVersion { id: id.clone(), version: version.to_owned() };
        return Err(Failure::new(ErrorClass::Refused, error));
    }
    workspace.store.pin(&workspace.scope, id, version).map_err(refused)?;
    show(session, &workspace, id, SkillPart::Place)
}

/// Lets a skill's version go.
pub fn unpin_skill(session: &Session, id: &SkillId) -> Result<UnpinnedSkillReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let unpinned = store.unpin(&scope, id).map_err(refused)?;
    Ok(UnpinnedSkillReport { skill: id.as_str().to_owned(), unpinned })
}
