//! `convoke dispatch`: the prompt of one role on one feature, and its result.

mod audit;
mod check;
mod gate;
mod init;
mod lanes;
mod materials;
mod next;
mod prompt;
mod rate;
mod review_loop;
mod run;
mod savings;
mod task;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::dispatch::role::{PromptProfile, RoleName};
use convoke_domain::task::id::TaskId;
use convoke_domain::text::{counted, hanging};
use convoke_service::dispatch::{
    AnswerCheckReport, DispatchRoleReport, ForgottenRoundsReport, PostName, PromptHandover,
    forget_rounds, remark_words, roles,
};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::given_text::read_text;

use crate::app::{App, Format, Verbosity};
use crate::cli::lane::PinArgs;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;

/// How many columns the name of a role takes in a list.
const ROLE: usize = 35;

/// How many columns the label of a line takes.
const LABEL: usize = 14;

/// No text that a user names is larger.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Send roles such as reviewers to agents, and check what they read
///
/// A role's prompt names the files to read instead of pasting them. `check` then shows evidence of
/// what the agent read, and `next` decides whether the next round resumes the agent's session.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    /// List the roles and the files each must read
    Roles,
    /// Print the prompt for a role's first round
    Prompt(prompt::PromptArgs),
    /// Print only the part of the prompt that lists the files to read
    Artifacts(prompt::ArtifactsArgs),
    /// Print the prompt for the agent that implements one task
    Task(task::Args),
    Check(check::Args),
    /// Choose a resumed or a fresh next round, and print its prompt
    Next(next::Args),
    Run(run::RunArgs),
    Loop(review_loop::Args),
    /// Delete a feature's recorded rounds, so that all roles start fresh
    Reset(MaybeFeature),
    /// Show how often roles failed to confirm or prove what they read
    Rate(rate::Args),
    /// Measure how many tokens references save compared with pasting
    Savings(savings::Args),
    /// Find prompts that paste a document instead of naming it
    Audit(audit::Args),
    Gate(gate::Args),
}

/// A role on a feature.
#[derive(Debug, Clone, clap::Args)]
struct PostArgs {
    /// The role, such as `implement/security-reviewer`
    #[arg(value_name = "COMMAND/ROLE", value_parser = RoleName::parse)]
    role: RoleName,

    #[command(flatten)]
    feature: MaybeFeature,
}

/// A feature, for roles that have to do with one.
#[derive(Debug, Clone, clap::Args)]
struct MaybeFeature {
    /// The feature's folder, or the name or number of a folder in `docs/features`; required unless
    /// the role reads no feature documents
    #[arg(long, value_name = "DIR")]
    feature: Option<PathBuf>,
}

/// What goes with a prompt that the user gives to an agent by hand.
#[derive(Debug, Clone, clap::Args)]
struct HandoverArgs {
    #[command(flatten)]
    rules: PinArgs,

    /// The stored task that the role is sent to; Convoke records the dispatch with it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    stored_task: Option<TaskId>,
}

#[derive(Debug, thiserror::Error)]
enum NoText {
    #[error("cannot read stdin: it is not text, or longer than {MAX_BYTES} bytes")]
    Stdin,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Init(args) => args.run(app, output),
            Command::Roles => show_roles(app, output),
            Command::Prompt(args) => args.run(app, output),
            Command::Artifacts(args) => args.run(app, output),
            Command::Task(args) => args.run(app, output),
            Command::Check(args) => args.run(app, output),
            Command::Next(args) => args.run(app, output),
            Command::Run(args) => args.run(app, output),
            Command::Loop(args) => args.run(app, output),
            Command::Reset(args) => args.reset(app, output),
            Command::Rate(args) => args.run(app, output),
            Command::Savings(args) => args.run(app, output),
            Command::Audit(args) => args.run(app, output),
            Command::Gate(args) => args.run(app, output),
        }
    }
}

impl MaybeFeature {
    fn reset(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = forget_rounds(&app.session, self.feature.as_deref())?;
        let ForgottenRoundsReport { forgotten } = report;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&format!("deleted the rounds of {}\n", counted(forgotten, "role")))?;
            }
        }
        Ok(Exit::Done)
    }
}

impl HandoverArgs {
    fn terms(&self) -> PromptHandover {
        PromptHandover { rules: self.rules.rules(), stored_task: self.stored_task.clone() }
    }
}

impl PostArgs {
    fn name(&self) -> PostName {
        PostName { role: self.role.clone(), feature: self.feature.feature.clone() }
    }
}

/// Reads a text that the user named; `-` is stdin.
fn read(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        return input::read(MAX_BYTES)
            .ok_or_else(|| Failure::new(ErrorClass::Usage, NoText::Stdin));
    }
    read_text(path, MAX_BYTES)
}

/// Reads a text that the user may have named.
fn read_named(path: Option<&PathBuf>) -> Result<Option<String>, Failure> {
    path.map(|path| read(path)).transpose()
}

/// Prints remarks about missing documents; JSON holds them in the report.
fn say_remarks(app: &App, remarks: &[String], output: &Output) {
    if app.format == Format::Text || app.verbosity == Verbosity::Verbose {
        for remark in remarks {
            output.say(&format!("note: {}", remark_words(remark)));
        }
    }
}

/// Shows a judged answer to people.
fn show_check(report: &AnswerCheckReport, output: &mut Output) -> Result<(), Failure> {
    let lines = report.lines(output.page_size().0);
    output.lines(&(lines.join("\n") + "\n"), LABEL)
}

fn profile() -> impl TypedValueParser<Value = PromptProfile> {
    PossibleValuesParser::new(PromptProfile::ALL.map(PromptProfile::name))
        .try_map(|name| PromptProfile::parse(&name).ok_or("no such profile"))
}

fn show_roles(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let all = roles(&app.session)?;
    match app.format {
        Format::Json => output.json(&all)?,
        Format::Text => {
            for DispatchRoleReport { role, reads, required, diff, target, .. } in &all {
                let diff = diff.then(|| "(changed files)".to_owned());
                let reads: Vec<_> = reads.iter().chain(required).cloned().chain(diff).collect();
                let target = target.as_ref().map_or(String::new(), |doc| format!(" reviews {doc}"));
                let columns = output.page_size().0;
                let reads = hanging(&format!("{}{target}", reads.join(" ")), columns, ROLE);
                output.lines(&format!("{role:<34} {reads}\n"), ROLE)?;
            }
        }
    }
    Ok(Exit::Done)
}
