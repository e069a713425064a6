//! `convoke project`: the projects that the store knows, and their folders.

use clap::Subcommand;
use convoke_domain::message::day_and_hours;
use convoke_domain::text::counted;
use convoke_service::failure::Failure;
use convoke_service::project::{
    MergedProjectReport, ProjectReport, ProjectTakeover, attach_project, list_projects,
    merge_project,
};
use convoke_service::settings::wake;
use jiff::Timestamp;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// List stored projects, and keep their tasks when a folder moves
///
/// Convoke identifies a repository by an id that it keeps in `.git`, so a project follows its folder.
/// A folder without git is known by its path. Two clones of one repository are two projects until you
/// merge them.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every project with its folder, repository, tasks and last use
    List,
    /// Attach an earlier project to this folder
    ///
    /// The project keeps its name, tasks, messages, agents and runs. Convoke adds this folder's own
    /// tasks, messages, agents and runs to them.
    Attach(AttachArgs),
    /// Merge another project into this folder's project
    ///
    /// Tasks get new ids where this project uses the same ones. If both projects have an agent with
    /// the same name, a message stays unread until the agent has seen it in both.
    Merge(MergeArgs),
}

#[derive(Debug, clap::Args)]
struct AttachArgs {
    /// The project's name in `convoke project list`
    name: String,

    /// Attach the project even if its folder still exists or belongs to another repository
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct MergeArgs {
    /// The project whose tasks and messages to take over
    name: String,

    /// Merge the project even if it belongs to another repository
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::List => list(app, output),
            Command::Attach(AttachArgs { name, force }) => {
                let merged = attach_project(&app.session, name, takeover(*force))?;
                print(&merged, app, output, &format!("attached {name} to this folder\n"))
            }
            Command::Merge(MergeArgs { name, force }) => {
                let merged = merge_project(&app.session, name, takeover(*force))?;
                let text = format!("merged {name} into {}: {}\n", merged.project, counts(&merged));
                print(&merged, app, output, &text)
            }
        }
    }
}

/// Renders the numbers of moved records.
fn counts(merged: &MergedProjectReport) -> String {
    let MergedProjectReport { tasks, messages, rules, agents, .. } = *merged;
    let counts = [(tasks, "task"), (messages, "message"), (rules, "rule"), (agents, "agent")];
    counts.map(|(number, thing)| counted(number, thing)).join(", ")
}

const fn takeover(force: bool) -> ProjectTakeover {
    if force { ProjectTakeover::Anyway } else { ProjectTakeover::IfSame }
}

fn list(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let reports = list_projects(&app.session)?;
    match app.format {
        Format::Json => output.json(&reports)?,
        Format::Text => {
            let clock = wake::settings(&app.session)?.clock;
            let shown = |at: Timestamp| day_and_hours(at, clock);
            for report in &reports {
                let used = report.last_used_at.map_or("unknown".to_owned(), shown);
                output.data(&lines(report, &used))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn lines(report: &ProjectReport, used: &str) -> String {
    let here = if report.here { "  (here)" } else { "" };
    let gone = if report.exists { "" } else { "  (gone)" };
    let root = report.roots.first().map(|root| root.chars().take(12).collect::<String>());
    let repository = match (&report.remote, root) {
        (Some(remote), Some(root)) => format!("{remote}, first commit {root}"),
        (Some(remote), None) => remote.clone(),
        (None, Some(root)) => format!("first commit {root}"),
        (None, None) => "unknown".to_owned(),
    };
    format!(
        "{}{here}\n  folder      {}{gone}\n  repository  {repository}\n  \
         tasks       {} open of {}\n  last used   {used}\n",
        report.name, report.folder, report.open_tasks, report.tasks
    )
}

fn print(
    merged: &MergedProjectReport,
    app: &App,
    output: &mut Output,
    text: &str,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(merged)?,
        Format::Text => output.data(text)?,
    }
    Ok(Exit::Done)
}
