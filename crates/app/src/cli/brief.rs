//! `convoke brief`: the design folder's documents as one cited block under a token budget.

mod explain;
mod files;
mod init;
mod rest;

use clap::Subcommand;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use convoke_domain::brief::Brief;
use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::settings::{DesignDir, Layer};
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::pack::PackPolicy;
use convoke_domain::token::{Budget, Vocabulary};
use convoke_engine::brief::{BriefMode, LoadedBrief, ResolvedBriefSettings};
use convoke_service::brief::files::brief_files;
use convoke_service::brief::{BriefReport, brief_settings, open_brief};
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format, Verbosity};
use crate::exit::Exit;
use crate::output::Output;

/// Print documents as one block within a token budget
///
/// With FILES, packs those documents, most important first; everything printed counts towards the
/// budget, and every document is whole, cut and marked, or named as omitted. Without FILES:
///
/// Reads `spec.md`, `system.md`, `research.md` and `pencil-plan.md` from the design folder. Skips
/// files that still hold only their template, and fits the rest into the budget: Convoke drops the
/// least important document first, cuts only at a section border, and marks each cut with its
/// character offset. stdout holds exactly the block; stderr names what Convoke skipped.
///
/// Always exits 0, also for an empty or missing folder.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    files: files::FilesArgs,

    #[command(flatten)]
    options: BriefOptions,

    /// Print the block only if the project's settings allow workflows to load it automatically
    #[arg(long, conflicts_with = "files")]
    auto: bool,

    /// Which documents to drop or cut when not all fit [default: contract; with FILES, fill]
    ///
    /// contract: drop whole documents, least important first, but cut a document that alone exceeds
    /// the budget if the others leave room. strict: drop whole documents, least important first.
    /// fill: keep documents in order and cut the first that does not fit.
    #[arg(long, value_parser = policy())]
    policy: Option<PackPolicy>,

    /// Show a table instead of the block: which documents were found, kept, cut or dropped, and why
    #[arg(long)]
    explain: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that select the documents, the tokenizer and the citations.
#[derive(Debug, Clone, clap::Args)]
struct BriefOptions {
    /// The design folder, relative to the project [default: .moai/design]
    #[arg(long, global = true, value_parser = dir())]
    dir: Option<DesignDir>,

    /// Fit the documents into this many tokens, such as `8000` or `10k` [default: 20000]
    #[arg(long, global = true, value_name = "N", value_parser = budget())]
    budget: Option<Budget>,

    /// How to count tokens [default: estimate]
    ///
    /// `estimate` counts a quarter of the characters plus 10 %. The others are exact for models
    /// with that public vocabulary. The vocabularies of Claude and Gemini are not public.
    #[arg(long, global = true, value_parser = tokenizer())]
    tokenizer: Option<Vocabulary>,

    /// Cite `.moai/design/` even if the documents come from another folder
    #[arg(long, global = true)]
    literal_source: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Rest(rest::Args),
    /// Create the design folder with files to fill in
    ///
    /// Creates README.md, spec.md, system.md and research.md, and empty `wireframes/` and
    /// `screenshots/`. Changes nothing if the folder already holds a file that is not hidden.
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
  convoke brief                          print the block of this project
  convoke brief --budget 8000 --explain  show what fits into 8000 tokens, and why
  convoke brief --json | jq .dropped     list dropped documents for a program
  convoke brief rest spec --from 72366   continue where `> truncated:` says
  convoke brief init                     create a design folder to fill in";

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
        let mode = if self.auto { BriefMode::Auto } else { BriefMode::Standalone };
        let flags = Layer { policy: self.policy, ..self.options.layer() };
        let opened = open_brief(&app.session, mode, brief_settings(&app.session, flags)?)?;
        let (loaded, brief) = (&opened.loaded, opened.brief());
        match app.format {
            Format::Json => output.json(&BriefReport::new(loaded, &brief))?,
            Format::Text if self.explain => {
                output.page(&explain::table(loaded, &brief, output.room()))?;
            }
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
        let ResolvedBriefSettings { settings, diagnostics } =
            brief_settings(&app.session, self.options.layer())?;
        say_diagnostics(app, &diagnostics, output);
        let report = brief_files(&app.session, &settings, &self.files.request(self.policy))?;
        match app.format {
            _ if self.explain => output.page(&files::table(&report, output.room()))?,
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
    loaded: &LoadedBrief,
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

/// Shows remarks if the user wants them, and always which folder Convoke refuses to read.
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
    NonEmptyStringValueParser::new().try_map(|text| {
        let tokens = match LaneBudget::parse(&text) {
            Ok(LaneBudget::Tokens(tokens)) => Some(tokens),
            Ok(LaneBudget::MicroDollars(_)) | Err(_) => None,
        };
        let number = text.trim().trim_end_matches(['k', 'K', 'm', 'M']);
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let words = if tokens.is_none() && is_number {
            "it is too large; name tokens such as 8000 or 10k"
        } else {
            "it must be at least 1 token, such as 8000 or 10k"
        };
        tokens.and_then(Budget::new).ok_or(words)
    })
}
