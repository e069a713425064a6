//! `convoke dispatch`: the prompt of one role on one feature, and what came of it.

mod audit;
mod check;
mod deed;
mod gate;
mod judge;
mod materials;
mod next;
mod prompt;
pub(super) mod proof;
mod rate;
mod reading;
mod report;
mod review_loop;
mod run;
mod savings;
mod task;

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::dispatch::role::{DispatchRole, PromptProfile, RoleName};
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::text::hanging;
use convoke_engine::dispatch::feature::{Beside, Feature, NoFeature};
use convoke_engine::dispatch::next::{NextError, write_state};
use convoke_engine::dispatch::role_files::RoleFilesError;
use convoke_engine::file;
use convoke_store::dispatch::DispatchStore;
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::dispatch::{Settings, settings};
use crate::exit::Exit;
use crate::failure::{Failure, did_you_mean};
use crate::input;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// No text that a user names is larger.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Dispatch roles by reference: prompts, evidence of reading, and rounds that cost a delta
///
/// A role is told which files to read instead of being pasted them. Afterwards `check` says with
/// evidence whether it did, and `next` decides whether the next round goes on in its session.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the roles and what each must read
    Roles,
    /// Print the prompt of a fresh dispatch
    Prompt(prompt::PromptArgs),
    /// Print only the block that says what must be read
    Artifacts(prompt::ArtifactsArgs),
    /// Print the prompt of one task's implementer
    Task(task::Args),
    /// Judge an answer: what it confirms, what its client's record proves, and its verdict
    Check(check::Args),
    /// Decide whether the next round is resumed or fresh, print its prompt, and remember it
    Next(next::NextArgs),
    /// Decide the next round, run it with a real agent, and judge its answer by its record
    Run(run::RunArgs),
    /// Run all reviewers of a command until they approve, with fixes in between
    Loop(review_loop::Args),
    /// Forget every round of a feature, so that all roles begin afresh
    Reset(MaybeFeature),
    /// Count how often roles did not confirm, or did not prove, that they read
    Rate(rate::Args),
    /// Measure what references save over a tree of features, for dispatcher and agents
    Savings(savings::Args),
    /// Find prompts that paste a document instead of referring to it
    Audit(audit::Args),
    /// Try whether sessions can be resumed here at all
    Gate(gate::Args),
}

#[derive(Debug, Clone, clap::Args)]
struct FeatureArg {
    /// The feature's folder, or the name or number of one below `docs/features`
    #[arg(long, value_name = "DIR")]
    feature: PathBuf,
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
    /// The feature's folder, or the name or number of one below `docs/features`; a role without
    /// documents of a feature needs none
    #[arg(long, value_name = "DIR")]
    feature: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum DispatchFailure {
    #[error("cannot dispatch `{name}`: unknown role")]
    UnknownRole { name: RoleName },
    #[error("cannot dispatch `{name}`: unknown command")]
    UnknownCommand { name: RoleName },
    #[error("cannot dispatch `{name}`: it reads documents of a feature, and none is named")]
    NoFeature { name: RoleName },
    #[error("cannot read `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot read stdin: it is not text, or longer than {MAX_BYTES} bytes")]
    Stdin,
    #[error("cannot take `{}` for {expected}", path.display())]
    Unexpected { path: PathBuf, expected: &'static str },
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Roles => roles(app, output),
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

impl FeatureArg {
    fn find(&self, app: &App, settings: &Settings) -> Result<Feature, Failure> {
        let from = app.environment.current_dir().unwrap_or_else(|_| app.project.clone());
        let features = app.project.join(&settings.artifacts_root).join("features");
        let mut feature = Feature::find(&self.feature, &from, &features).map_err(no_feature)?;
        if settings.state_file {
            feature.beside = Beside::HistoryAndState;
        }
        Ok(feature)
    }
}

impl MaybeFeature {
    /// Finds the feature that is named, else takes the whole project.
    fn find(&self, app: &App, settings: &Settings) -> Result<Feature, Failure> {
        match &self.feature {
            Some(feature) => FeatureArg { feature: feature.clone() }.find(app, settings),
            None => Ok(Feature::of_project(&app.project)),
        }
    }

    fn reset(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let feature = self.find(app, &settings(app)?)?;
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let forgotten = store.forget_rounds(&scope, &feature.name()).map_err(refused)?;
        write_state(&store, &scope, &feature).map_err(next_failed)?;
        match app.format {
            Format::Json => output.json(&serde_json::json!({ "forgotten": forgotten }))?,
            Format::Text => output.data(&format!("forgot the rounds of {forgotten} roles\n"))?,
        }
        Ok(Exit::Done)
    }
}

impl PostArgs {
    /// Finds the role and the feature.
    fn find(&self, app: &App, settings: &Settings) -> Result<(DispatchRole, Feature), Failure> {
        let role = settings.roles.find(&self.role).cloned();
        let role = role.ok_or_else(|| unknown(&self.role, settings))?;
        if self.feature.feature.is_none() && role.needs_feature() {
            let error = DispatchFailure::NoFeature { name: self.role.clone() };
            return Err(Failure::new(Exit::Usage, error).hint("name one with `--feature DIR`"));
        }
        Ok((role, self.feature.find(app, settings)?))
    }

    /// Tells the user what committed files change of the role.
    fn say_changes(&self, app: &App, output: &Output) -> Result<(), Failure> {
        say_changes([&self.role], &settings(app)?, output);
        Ok(())
    }
}

/// Tells the user what committed files change of some roles, also where a document is printed.
fn say_changes<'a>(
    roles: impl IntoIterator<Item = &'a RoleName>,
    settings: &Settings,
    output: &Output,
) {
    for note in roles.into_iter().flat_map(|role| settings.change_notes(role)) {
        output.say(&note);
    }
}

fn no_feature(error: NoFeature) -> Failure {
    let known: Vec<_> = error.known.iter().map(String::as_str).collect();
    let nearest = did_you_mean(&error.given, known.iter().copied());
    let list = match known.as_slice() {
        [] => "there are no features here; `dispatch.artifacts_root` says where to look".to_owned(),
        [.., last] => format!("{} features here, the last one is `{last}`", known.len()),
    };
    Failure::new(Exit::Surroundings, error).maybe_hint(nearest).hint(list)
}

fn unknown(name: &RoleName, settings: &Settings) -> Failure {
    let all = || settings.roles.all().iter().map(|role| &role.name);
    let of_command: Vec<_> =
        all().filter(|it| it.command == name.command).map(|it| it.role.as_str()).collect();
    if of_command.is_empty() {
        let commands: std::collections::BTreeSet<_> = all().map(|it| it.command.as_str()).collect();
        let list = commands.iter().copied().collect::<Vec<_>>().join(", ");
        let error = DispatchFailure::UnknownCommand { name: name.clone() };
        return Failure::new(Exit::Usage, error)
            .maybe_hint(did_you_mean(&name.command, commands))
            .hint(format!("known commands: {list}"));
    }
    let list = format!("roles of {}: {}", name.command, of_command.join(", "));
    let error = DispatchFailure::UnknownRole { name: name.clone() };
    Failure::new(Exit::Usage, error).maybe_hint(did_you_mean(&name.role, of_command)).hint(list)
}

/// Reads a text that the user named; `-` is stdin.
fn read(path: &std::path::Path) -> Result<String, Failure> {
    if path == std::path::Path::new("-") {
        return input::read(MAX_BYTES)
            .ok_or_else(|| Failure::new(Exit::Usage, DispatchFailure::Stdin));
    }
    let path = path.to_owned();
    let error = match file::read(&path, MAX_BYTES) {
        FileFinding::Text(text) => return Ok(text),
        FileFinding::Absent => DispatchFailure::Absent { path },
        FileFinding::Unreadable(reason) => DispatchFailure::Unreadable { path, reason },
    };
    Err(Failure::new(Exit::Surroundings, error))
}

/// A role that demands what is not there is a mistake in the configuration or on the command line.
fn no_files(error: RoleFilesError) -> Failure {
    Failure::new(Exit::Usage, error).hint("`convoke dispatch roles` lists what each role reads")
}

fn next_failed(error: NextError) -> Failure {
    match error {
        NextError::Store(error) => refused(error),
        error @ (NextError::Document(_) | NextError::Write { .. }) => {
            Failure::new(Exit::Surroundings, error)
        }
    }
}

fn profile() -> impl TypedValueParser<Value = PromptProfile> {
    PossibleValuesParser::new(PromptProfile::ALL.map(PromptProfile::name))
        .try_map(|name| PromptProfile::parse(&name).ok_or("no such profile"))
}

#[derive(Serialize)]
struct RoleReport {
    role: String,
    reads: Vec<String>,
    required: Vec<String>,
    diff: bool,
    target: Option<String>,
    noun: &'static str,
    takes_files: bool,
    resumes: bool,
}

fn roles(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let settings = settings(app)?;
    let report = |role: &DispatchRole| RoleReport {
        role: role.name.to_string(),
        reads: role.reads.iter().map(ToString::to_string).collect(),
        required: role.required.iter().map(ToString::to_string).collect(),
        diff: role.reads_diff,
        target: role.target.as_ref().map(ToString::to_string),
        noun: role.noun.word(),
        takes_files: role.takes_files,
        resumes: role.resumes,
    };
    let all: Vec<_> = settings.roles.all().iter().map(report).collect();
    match app.format {
        Format::Json => output.json(&all)?,
        Format::Text => {
            for RoleReport { role, reads, required, diff, target, .. } in &all {
                let diff = diff.then(|| "(changed files)".to_owned());
                let reads: Vec<_> = reads.iter().chain(required).cloned().chain(diff).collect();
                let target = target.as_ref().map_or(String::new(), |doc| format!(" reviews {doc}"));
                let reads = hanging(&format!("{}{target}", reads.join(" ")), 80, 35);
                output.data(&format!("{role:<34} {reads}\n"))?;
            }
        }
    }
    Ok(Exit::Done)
}
