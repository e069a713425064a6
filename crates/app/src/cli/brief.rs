//! `convoke brief`: the design folder's documents as one cited block under a token budget.

mod explain;
mod files;
mod init;
mod rest;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Subcommand, value_parser};
use convoke_domain::brief::Brief;
use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::settings::{DesignDir, Layer};
use convoke_domain::pack::PackPolicy;
use convoke_domain::token::{Budget, Vocabulary};
use convoke_engine::brief::{Loaded, Mode, Resolved};
use convoke_service::brief::files::brief_files;
use convoke_service::brief::{BriefReport, brief_settings, open_brief};
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format, Verbosity};
use crate::exit::Exit;
use crate::output::Output;

/// Print documents as one cited block under a token budget
///
/// With FILES, packs those documents, most important first; everything printed counts towards the
/// budget, and every document is whole, cut and marked, or named as omitted. Without FILES:
///
/// Reads `spec.md`, `system.md`, `research.md` and `pencil-plan.md` from the design folder, leaves
/// out what nobody has written in yet, and fits the rest into the budget: the least important
/// document gives way first, and a cut falls on a section border and is marked with its character
/// offset. stdout is exactly the block; what was skipped is said on stderr.
///
/// Exits 0 whatever the folder holds.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    files: files::FilesArgs,

    #[command(flatten)]
    options: BriefOptions,

    /// Load only if the project allows workflows to load by themselves
    #[arg(long, conflicts_with = "files")]
    auto: bool,

    /// Which documents give way when not all fit [default: contract; with FILES, fill]
    ///
    /// contract: from the bottom, but a document that could never fit is cut if the others leave
    /// room. strict: whole documents from the bottom. fill: in order, cutting the first that does
    /// not fit.
    #[arg(long, value_parser = policy())]
    policy: Option<PackPolicy>,

    /// Instead of the block, show a table of every document: found, kept, cut, dropped, and why
    #[arg(long, conflicts_with = "json")]
    explain: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that say what is read, how it is counted and how it is cited.
#[derive(Debug, Clone, clap::Args)]
struct BriefOptions {
    /// The design folder, relative to the project [default: .moai/design]
    #[arg(long, global = true, value_parser = dir())]
    dir: Option<DesignDir>,

    /// The most tokens the documents may cost [default: 20000]
    #[arg(long, global = true, value_name = "N", value_parser = budget())]
    budget: Option<Budget>,

    /// How tokens are counted [default: estimate]
    ///
    /// The estimate is a quarter of the characters and a tenth on top. The others are exact for
    /// models with that public vocabulary. No vocabulary of Claude or Gemini is public.
    #[arg(long, global = true, value_parser = tokenizer())]
    tokenizer: Option<Vocabulary>,

    /// Cite `.moai/design/` even when another folder was read
    #[arg(long, global = true)]
    literal_source: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Rest(rest::Args),
    /// Create the design folder with files to write in
    ///
    /// Makes README.md, spec.md, system.md and research.md, and empty `wireframes/` and
    /// `screenshots/`. Never overwrites: if the folder holds any file that is not hidden, nothing
    /// is touched.
    Init,
}

/// An option of the block given to a subcommand that prints none.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{option}` with a subcommand")]
struct MisplacedOption {
    option: &'static str,
}

/// An option of the design folder beside documents that are named.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{option}` with FILES: it is about the design folder")]
struct DesignFolderOption {
    option: &'static str,
}

const EXAMPLES: &str = "\
Examples:
  convoke brief 'docs/**/*.md' --budget 8000  these documents, in 8000 tokens at most
  convoke brief README.md docs --first 'docs/adr/*'   a file and a folder, some before others
  convoke brief                             the block for the project around this folder
  convoke brief --budget 8000 --explain     what would fit into 8000 tokens, and why
  convoke brief --json | jq .dropped        the same result for programs
  convoke brief rest spec --from 72366      read on where `> truncated:` says it was cut
  convoke brief init                        create a design folder to write in";

impl Args {
    /// Runs the command or its subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Some(command) = &self.command else { return self.print(app, output) };
        if let Some(option) = self.option_of_the_block() {
            return Err(Failure::new(ErrorClass::Usage, MisplacedOption { option }));
        }
        match command {
            Command::Rest(args) => args.run(&self.options, app, output),
            Command::Init => init::run(&self.options, app, output),
        }
    }

    fn option_of_the_block(&self) -> Option<&'static str> {
        let given = [
            (self.auto, "--auto"),
            (self.policy.is_some(), "--policy"),
            (self.explain, "--explain"),
            (self.files.is_any(), "--first, --format or --no-secrets"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    fn print(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.files.is_given() {
            return self.print_files(app, output);
        }
        let mode = if self.auto { Mode::Auto } else { Mode::Standalone };
        let flags = Layer { policy: self.policy, ..self.options.layer() };
        let opened = open_brief(app, mode, brief_settings(app, flags)?)?;
        let (loaded, brief) = (&opened.loaded, opened.brief());
        match app.format {
            Format::Json => output.json(&BriefReport::new(loaded, &brief))?,
            Format::Text if self.explain => output.data(&explain::table(loaded, &brief))?,
            Format::Text => print_block(app, loaded, &brief, output)?,
        }
        Ok(Exit::Done)
    }
}

impl Args {
    fn print_files(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.options.dir.is_some() || self.options.literal_source {
            let option = if self.options.literal_source { "--literal-source" } else { "--dir" };
            return Err(Failure::new(ErrorClass::Usage, DesignFolderOption { option }));
        }
        let Resolved { settings, diagnostics } = brief_settings(app, self.options.layer())?;
        say_diagnostics(app, &diagnostics, output);
        let report = brief_files(app, &settings, &self.files.request(self.policy))?;
        match app.format {
            _ if self.explain => output.data(&files::table(&report))?,
            Format::Text if !self.files.is_json() => output.data(&report.block)?,
            Format::Text | Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}

impl BriefOptions {
    fn layer(&self) -> Layer {
        Layer {
            dir: self.dir.clone(),
            budget: self.budget,
            tokenizer: self.tokenizer,
            literal_source: self.literal_source.then_some(true),
            ..Layer::default()
        }
    }
}

fn print_block(
    app: &App,
    loaded: &Loaded,
    brief: &Brief<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    for line in brief.log() {
        output.say(&line.to_string());
    }
    if app.verbosity == Verbosity::Verbose {
        brief.drops().for_each(|line| output.say(&line.to_string()));
    }
    say_diagnostics(app, &loaded.diagnostics, output);
    brief.block().pieces().try_for_each(|piece| output.data(piece))
}

/// Says remarks if they were asked for, and always which folder Convoke refuses to read.
fn say_diagnostics(app: &App, diagnostics: &[Diagnostic], output: &Output) {
    for diagnostic in diagnostics {
        if let Diagnostic::ConfigOutside { .. } | Diagnostic::NoneListed { .. } = diagnostic {
            output.say(&format!("warning: {}", diagnostic.message()));
            continue;
        }
        if app.verbosity == Verbosity::Normal {
            continue;
        }
        output.say(&format!("note: {}: {}", diagnostic.code(), diagnostic.message()));
    }
}

fn policy() -> impl TypedValueParser<Value = PackPolicy> {
    PossibleValuesParser::new(PackPolicy::ALL.map(PackPolicy::name))
        .try_map(|name| PackPolicy::parse(&name).ok_or("no such policy"))
}

fn tokenizer() -> impl TypedValueParser<Value = Vocabulary> {
    PossibleValuesParser::new(Vocabulary::ALL.map(Vocabulary::name))
        .try_map(|name| Vocabulary::parse(&name).ok_or("no such vocabulary"))
}

fn dir() -> impl TypedValueParser<Value = DesignDir> {
    NonEmptyStringValueParser::new()
        .try_map(|dir| DesignDir::parse(&dir).ok_or("a folder must fit on one line"))
}

/// Reads a budget from the command line.
pub(super) fn budget() -> impl TypedValueParser<Value = Budget> {
    value_parser!(u64).try_map(|tokens| Budget::new(tokens).ok_or("a budget is at least 1"))
}
