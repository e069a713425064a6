//! `convoke fan`: one prompt for many items.

mod page;
mod screen;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::fan::record::Retry;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::fan::{
    FanInput, FanReport, FanRequest, FanStart, FanWork, MOST_INPUT, ResultTime, fan, forecast_fan,
    resume_fan, show_fan, show_fan_results,
};
use convoke_service::given_text::{read_bytes, read_text};
use convoke_service::lane::{ParkTerms, PinnedRules, TreeWatching, USUAL_LIMITS};

use self::screen::FanScreen;
use super::at_least_one;
use super::lane::{AgentWord, ParkArgs, PinArgs, model_name, seconds};
use super::otel::OtelArgs;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;

/// The longest prompt or schema, in bytes.
const MAX_TEXT: u64 = 1024 * 1024;

/// How many lanes run in parallel unless the user says otherwise.
const PARALLEL: &str = "4";

/// Ask an agent the same question about many items
///
/// Fills the prompt for each item and asks a read-only agent, several in parallel. Each answer is kept
/// in a journal as soon as it is there. Repeat the command after a crash, a limit or Ctrl-C: Convoke
/// asks only for what is missing, and for identical items once. An answer counts for the same prompt,
/// agent, model, effort, schema and commit.
///
/// Prints one JSON line for each item, in the order of the items: `index`, `item`, `outcome`, `answer`,
/// `why`. With `--json`, prints a report; `convoke show RUN --artifact results` prints the lines.
///
/// Exits 0 if every item has an answer, 4 if some have none or one that does not fit, 5 if the budget
/// is spent, 6 if the working tree changed, and 130 if you interrupt it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct FanArgs {
    /// The prompt: `{{item}}` means the item, `{{text}}` a file's text, `{{name}}` a field
    /// of a JSON line, and `\{{` two braces
    #[arg(required_unless_present = "template")]
    prompt: Option<String>,

    /// Read the prompt from this file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    template: Option<PathBuf>,

    #[command(flatten)]
    items: ItemArgs,

    /// The agent that answers: a client, `acp:NAME`, `http:NAME` or `replay:FILE` [default: the first
    /// client that answered lately, else the first there is]
    #[arg(long, value_parser = AgentWord)]
    agent: Option<AgentRef>,

    /// The model to use [default: the client's choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// The model's reasoning effort, in the client's own words (Claude Code and Codex only)
    #[arg(long, value_name = "WORD", value_parser = model_name)]
    effort: Option<String>,

    /// A JSON Schema that every answer must fit; Convoke asks once more for an answer that does not
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// Stop the run after this many tokens or dollars, such as `2M` or `$20`; its earlier lanes count
    #[arg(long, value_name = "AMOUNT", value_parser = WrittenBudget::parse)]
    budget: Option<WrittenBudget>,

    /// Ask for this many items in parallel
    #[arg(long, value_name = "N", default_value = PARALLEL, value_parser = at_least_one)]
    parallel: NonZeroUsize,

    /// Stop each agent after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,

    /// Say how many items Convoke would ask for and the probable cost; ask nothing
    #[arg(long)]
    dry_run: bool,

    /// Ask again for answers that did not fit the schema
    #[arg(long)]
    retry: bool,

    /// Begin anew, without earlier answers
    #[arg(long)]
    fresh: bool,

    /// Print each result as soon as all before it are there [default: at the end, unless stdout is a
    /// terminal]
    #[arg(long)]
    stream: bool,

    /// Skip the check whether an agent changed the working tree
    #[arg(long)]
    no_tree_check: bool,

    #[command(flatten)]
    park: ParkArgs,

    #[command(flatten)]
    pins: PinArgs,

    #[command(flatten)]
    otel: OtelArgs,
}

/// Where the items come from.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct ItemArgs {
    /// Each line of this file is an item, without blank lines; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    lines: Option<PathBuf>,

    /// Each line of this file is an item, as a JSON value; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,

    /// Each of these files of the project is an item; folders and patterns such as `'src/**/*.rs'` are
    /// expanded, without what `.gitignore` excludes
    #[arg(long, value_name = "FILE", num_args = 1..)]
    files: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot take stdin for items: it is longer than {MOST_INPUT} bytes")]
struct LongInput;

impl FanArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = &self.otel.context(app);
        let request = self.request(output)?;
        if self.dry_run {
            let report = forecast_fan(&app.session, &request)?;
            match app.format {
                Format::Json => output.json(&report)?,
                Format::Text => output.page(&page::forecast_lines(&report))?,
            }
            return Ok(Exit::Done);
        }
        let mut screen = FanScreen::new(app, request.work.results, output);
        let ended = fan(&app.session, &request, &mut screen);
        screen.close();
        tell(app, &ended?, output)
    }

    fn request(&self, output: &Output) -> Result<FanRequest, Failure> {
        let template = match (&self.prompt, &self.template) {
            (Some(prompt), _) => prompt.clone(),
            (None, Some(path)) => read_text(path, MAX_TEXT)?,
            (None, None) => String::new(),
        };
        let schema = self.schema.as_deref().map(|path| read_text(path, MAX_TEXT)).transpose()?;
        Ok(FanRequest {
            template,
            input: self.items.input()?,
            agent: self.agent.clone(),
            model: self.model.clone(),
            effort: self.effort.clone(),
            schema,
            start: if self.fresh { FanStart::Fresh } else { FanStart::Continue },
            work: FanWork {
                budget: self.budget.clone(),
                parallel: self.parallel,
                limits: limits(self.limit),
                rules: self.pins.rules(),
                watch: if self.no_tree_check { TreeWatching::Nothing } else { TreeWatching::Tree },
                retry: if self.retry { Retry::UnfitToo } else { Retry::Unanswered },
                results: if self.stream { ResultTime::AsTheyCome } else { result_time(output) },
                park: self.park.terms(),
            },
        })
    }
}

impl ItemArgs {
    fn input(&self) -> Result<FanInput, Failure> {
        match (&self.lines, &self.jsonl) {
            (Some(path), _) => Ok(FanInput::Lines(bytes_of(path)?)),
            (None, Some(path)) => Ok(FanInput::JsonLines(bytes_of(path)?)),
            (None, None) => Ok(FanInput::Files(self.files.clone())),
        }
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    if path != Path::new("-") {
        return read_bytes(path, MOST_INPUT);
    }
    input::read_bytes(MOST_INPUT).ok_or_else(|| Failure::new(ErrorClass::Usage, LongInput))
}

const fn limits(wall: Duration) -> Limits {
    Limits { wall, ..USUAL_LIMITS }
}

/// A person reads results as they come. Programs get them when the working tree has been checked: a file
/// that they write into the project meanwhile would count as a change by an agent.
const fn result_time(output: &Output) -> ResultTime {
    if output.is_shown() { ResultTime::AsTheyCome } else { ResultTime::AtTheEnd }
}

/// Goes on with a fan-out that was stopped.
pub(super) fn resume(
    app: &App,
    run: &RunId,
    (budget, limit, rules): (Option<WrittenBudget>, Duration, PinnedRules),
    park: Option<ParkTerms>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let work = FanWork {
        budget,
        parallel: at_least_one(PARALLEL).unwrap_or(NonZeroUsize::MIN),
        limits: limits(limit),
        rules,
        watch: TreeWatching::Tree,
        retry: Retry::Unanswered,
        results: result_time(output),
        park,
    };
    let mut screen = FanScreen::new(app, work.results, output);
    let ended = resume_fan(&app.session, run, &work, &mut screen);
    screen.close();
    tell(app, &ended?, output)
}

/// Shows a fan-out that ran before, or one of its artifacts.
pub(super) fn show(
    app: &App,
    run: &RunId,
    artifact: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match artifact {
        None => {
            let report = show_fan(&app.session, run)?;
            match app.format {
                Format::Json => output.json(&report)?,
                Format::Text => output.page(&page::report_lines(&report))?,
            }
        }
        Some("results") => {
            show_fan_results(&app.session, run, &mut |line| output.json_line(line))?;
        }
        Some(name) => {
            let error = NoArtifact { run: run.clone(), name: name.to_owned() };
            let failure = Failure::new(ErrorClass::Refused, error);
            return Err(failure.hint(format!("convoke show {run} --artifact results")));
        }
    }
    Ok(Exit::Done)
}

#[derive(Debug, thiserror::Error)]
#[error("run {run} has no artifact `{name}`")]
struct NoArtifact {
    run: RunId,
    name: String,
}

/// Tells how the run ended; the results are shown already.
fn tell(app: &App, report: &FanReport, output: &mut Output) -> Result<Exit, Failure> {
    if app.format == Format::Json {
        output.json(report)?;
    } else {
        output.flush()?;
        for line in page::ending_lines(report) {
            output.say(&line);
        }
    }
    Ok(report.class.map_or(Exit::Done, Exit::from))
}
