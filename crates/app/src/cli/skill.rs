//! `convoke skill`: the texts that agents work by, and the versions they are pinned to.

use clap::Subcommand;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::task::id::TaskId;
use convoke_engine::skill::Skill;
use convoke_store::task::Change;
use serde::Serialize;

use convoke_service::message::note_stranger;
use convoke_service::wake::library;

use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// Find skills and pin their versions
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every skill that can be found
    List,
    /// Print a skill's text as it is injected
    Show(OneSkill),
    /// Tell which file and version a skill is taken from
    Which(OneSkill),
    /// Choose the skill of a task, of an agent, or of every agent on this branch
    Use(UseArgs),
    /// Keep a skill at a version of its collection
    Pin(PinArgs),
    /// Let a skill's version go
    Unpin(OneSkill),
}

#[derive(Debug, clap::Args)]
struct OneSkill {
    /// The skill, such as `superpowers:brainstorming` or `my-skill`
    #[arg(value_name = "SKILL", value_parser = SkillId::parse)]
    id: SkillId,
}

#[derive(Debug, clap::Args)]
struct PinArgs {
    #[command(flatten)]
    skill: OneSkill,

    /// The version
    #[arg(id = "collection_version", value_name = "VERSION")]
    version: String,
}

#[derive(Debug, clap::Args)]
struct UseArgs {
    /// The skill, such as `superpowers:brainstorming` or `my-skill`
    #[arg(value_name = "SKILL", required_unless_present = "none", value_parser = SkillId::parse)]
    id: Option<SkillId>,

    /// Take the choice back
    #[arg(long, conflicts_with = "id")]
    none: bool,

    /// Only for this task and its parts
    #[arg(long, value_name = "ID", conflicts_with = "agent", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// Only for this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,
}

#[derive(Debug, thiserror::Error)]
enum SkillError {
    #[error("cannot find skill `{id}`")]
    NotFound { id: SkillId },
    #[error("cannot pin `{id}` to `{version}`: that version does not have it")]
    NoSuchVersion { id: SkillId, version: String },
}

#[derive(Serialize)]
struct Report<'a> {
    skill: &'a str,
    path: String,
    version: Option<&'a str>,
    pinned: Option<&'a str>,
    sha256: &'a str,
    text: Option<&'a str>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        match &self.command {
            Command::List => list(app, output),
            Command::Show(args) => show(app, &workspace, &args.id, Part::Text, output),
            Command::Which(args) => show(app, &workspace, &args.id, Part::Place, output),
            Command::Use(args) => args.run(app, &workspace, output),
            Command::Pin(args) => pin(app, &workspace, args, output),
            Command::Unpin(args) => {
                let Workspace { store, scope } = &workspace;
                let was_pinned = store.unpin(scope, &args.id).map_err(refused)?;
                Ok(if was_pinned { Exit::Done } else { Exit::No })
            }
        }
    }
}

/// What is shown of a skill.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Text,
    Place,
}

fn list(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let names = library(app, &settings(app)?).names();
    match app.format {
        Format::Json => output.json(&names)?,
        Format::Text if names.is_empty() => output.data("No skills.\n")?,
        Format::Text => names.iter().try_for_each(|name| output.data(&format!("{name}\n")))?,
    }
    Ok(Exit::Done)
}

fn show(
    app: &App,
    workspace: &Workspace,
    id: &SkillId,
    part: Part,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let pinned = workspace.store.pinned(&workspace.scope, id).map_err(refused)?;
    let found = library(app, &settings(app)?).look_for(id, pinned.as_deref());
    for (path, reason) in &found.passed_over {
        output.say(&format!("note: passed over `{}`: {reason}", path.display()));
    }
    let skill = found.skill.ok_or_else(|| not_found(id))?;
    match (app.format, part) {
        (Format::Json, _) => output.json(&report(id, &skill, pinned.as_deref(), part))?,
        (Format::Text, Part::Text) => output.data(&format!("{}\n", skill.forms.text()))?,
        (Format::Text, Part::Place) => {
            let version = skill.version.map_or(String::new(), |it| format!("  version {it}"));
            let pin = pinned.map_or(String::new(), |it| format!("  pinned to {it}"));
            output.data(&format!("{}{version}{pin}\n", skill.path.display()))?;
        }
    }
    Ok(Exit::Done)
}

impl UseArgs {
    fn run(&self, app: &App, workspace: &Workspace, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let library = library(app, &settings(app)?);
        if let Some(id) = self.id.as_ref().filter(|id| library.find(id, None).is_none()) {
            return Err(not_found(id));
        }
        if let Some(task) = &self.task {
            let change = Change::Skill(self.id.as_ref().map(SkillId::as_str));
            store.change_task(scope, task, &change, now()).map(drop).map_err(refused)?;
        } else {
            if let Some(agent) = &self.agent {
                note_stranger(app, workspace, scope, agent)?;
            }
            store.use_skill(scope, self.agent.as_ref(), self.id.as_ref()).map_err(refused)?;
        }
        let place = match (&self.task, &self.agent) {
            (Some(task), _) => format!("task {task}"),
            (None, Some(agent)) => format!("@{agent}"),
            (None, None) => format!("branch {}", scope.branch),
        };
        let skill = self.id.as_ref().map(SkillId::as_str);
        match app.format {
            Format::Json => output.json(&serde_json::json!({ "for": place, "skill": skill }))?,
            Format::Text => output.data(&format!("{place}: {}\n", skill.unwrap_or("none")))?,
        }
        Ok(Exit::Done)
    }
}

fn not_found(id: &SkillId) -> Failure {
    Failure::new(ErrorClass::Prerequisite, SkillError::NotFound { id: id.clone() })
        .hint("run `convoke skill list` to see what there is")
}

fn report<'a>(
    id: &'a SkillId,
    skill: &'a Skill,
    pinned: Option<&'a str>,
    part: Part,
) -> Report<'a> {
    Report {
        skill: id.as_str(),
        path: skill.path.display().to_string(),
        version: skill.version.as_deref(),
        pinned,
        sha256: &skill.sha256,
        text: (part == Part::Text).then(|| skill.forms.text()),
    }
}

fn pin(
    app: &App,
    workspace: &Workspace,
    args: &PinArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (id, version) = (&args.skill.id, &args.version);
    let found = library(app, &settings(app)?).find(id, Some(version));
    if found.and_then(|skill| skill.version).as_ref() != Some(version) {
        let error = SkillError::NoSuchVersion { id: id.clone(), version: version.clone() };
        return Err(Failure::new(ErrorClass::Refused, error));
    }
    workspace.store.pin(&workspace.scope, id, version).map_err(refused)?;
    show(app, workspace, id, Part::Place, output)
}
