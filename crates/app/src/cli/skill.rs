//! `convoke skill`: the texts that agents work by, and the versions they are pinned to.

use clap::Subcommand;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::task::id::TaskId;
use convoke_service::failure::Failure;
use convoke_service::skill::{
    SkillPart, SkillReport, SkillUser, list_skills, pin_skill, show_skill, unpin_skill, use_skill,
};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Find skills and pin their versions
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all installed skills
    List,
    /// Print a skill's text as a wake-up includes it
    Show(OneSkill),
    /// Show which file and version Convoke uses for a skill
    Which(OneSkill),
    /// Set the skill of a task, an agent, or every agent of this branch
    Use(UseArgs),
    /// Pin a skill to a version of its collection
    Pin(PinArgs),
    /// Remove a skill's version pin
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

    /// The version of its collection, such as `4.0.3`
    #[arg(id = "collection_version", value_name = "VERSION")]
    version: String,
}

#[derive(Debug, clap::Args)]
struct UseArgs {
    /// The skill, such as `superpowers:brainstorming` or `my-skill`
    #[arg(value_name = "SKILL", required_unless_present = "none", value_parser = SkillId::parse)]
    id: Option<SkillId>,

    /// Remove the setting
    #[arg(long, conflicts_with = "id")]
    none: bool,

    /// Set it only for this task and its subtasks
    #[arg(long, value_name = "ID", conflicts_with = "agent", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// Set it only for this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::List => list(app, output),
            Command::Show(args) => {
                print(&show_skill(&app.session, &args.id, SkillPart::Text)?, app, output)
            }
            Command::Which(args) => {
                print(&show_skill(&app.session, &args.id, SkillPart::Place)?, app, output)
            }
            Command::Use(args) => args.run(app, output),
            Command::Pin(args) => {
                print(&pin_skill(&app.session, &args.skill.id, &args.version)?, app, output)
            }
            Command::Unpin(args) => {
                let report = unpin_skill(&app.session, &args.id)?;
                if app.format == Format::Json {
                    output.json(&report)?;
                }
                Ok(if report.unpinned { Exit::Done } else { Exit::No })
            }
        }
    }
}

fn list(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let names = list_skills(&app.session)?;
    match app.format {
        Format::Json => output.json(&names)?,
        Format::Text if names.is_empty() => output.data("No skills.\n")?,
        Format::Text => names.iter().try_for_each(|name| output.data(&format!("{name}\n")))?,
    }
    Ok(Exit::Done)
}

fn print(report: &SkillReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match (app.format, &report.text) {
        (Format::Json, _) => output.json(report)?,
        (Format::Text, Some(text)) => output.data(&format!("{text}\n"))?,
        (Format::Text, None) => {
            let version = report.version.as_ref();
            let version = version.map_or(String::new(), |version| format!("  version {version}"));
            let pin = report.pinned.as_ref();
            let pin = pin.map_or(String::new(), |version| format!("  pinned to {version}"));
            output.data(&format!("{}{version}{pin}\n", report.path))?;
        }
    }
    Ok(Exit::Done)
}

impl UseArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let user = match (&self.task, &self.agent) {
            (Some(task), _) => SkillUser::Task(task.clone()),
            (None, Some(agent)) => SkillUser::Agent(agent.clone()),
            (None, None) => SkillUser::Branch,
        };
        let chosen = use_skill(&app.session, &user, self.id.as_ref())?;
        match app.format {
            Format::Json => output.json(&chosen)?,
            Format::Text => {
                let skill = chosen.skill.as_deref().unwrap_or("none");
                output.data(&format!("{}: {skill}\n", chosen.user))?;
            }
        }
        Ok(Exit::Done)
    }
}
