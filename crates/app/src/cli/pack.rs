//! `convoke pack`: the repository as a text for an agent.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::repository_pack::PackLayout;
use convoke_domain::token::{Budget, Tokens, Vocabulary};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::repository_pack::{
    LeftOutReport, PackFileReport, PackRequest, RepositoryPackReport, pack_repository,
};

use super::brief::budget;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::{Output, Paging};
use crate::terminal::grid::{Grid, Overflow};
use crate::terminal::styled::{Ink, StyledLine};

/// Print the parts of this repository that matter for a feature
///
/// For agents that cannot read files: the file tree, then the parts of files that matter most, cited
/// as `path:first-last`, then outlines of the next files. Convoke ranks files by paths, names and words
/// in the feature, by what they define, and by what changed together in git's history.
///
/// Everything printed counts towards the budget, and every cut is marked. Files that a `.gitignore`
/// excludes, links, binary and generated files, and files with a likely secret are left out. Convoke
/// asks no agent.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PackArgs {
    /// The feature, in any words; `-` reads it from stdin
    feature: String,

    /// Fit the pack into this many tokens, such as `4000` or `12k` [default: 12000]
    #[arg(long, value_name = "N", value_parser = budget())]
    budget: Option<Budget>,

    /// How to count tokens [default: as `convoke brief` does]
    #[arg(long, value_parser = tokenizer())]
    tokenizer: Option<Vocabulary>,

    /// Print tree and outlines alone, for agents that read files themselves
    #[arg(long)]
    pointers: bool,

    /// Show a table instead of the pack: which files are in, and why
    #[arg(long)]
    explain: bool,
}

/// The least columns for a table with paths and reasons.
const LEAST_COLUMNS: usize = 120;

/// The longest feature that is taken from stdin.
const MAX_FEATURE: u64 = 1024 * 1024;

/// The text on stdin is not a feature.
#[derive(Debug, thiserror::Error)]
#[error("cannot take stdin for a feature: it is not text, or longer than {MAX_FEATURE} bytes")]
struct NoFeatureText;

impl From<NoFeatureText> for Failure {
    fn from(error: NoFeatureText) -> Self {
        Self::new(ErrorClass::Usage, error)
    }
}

const EXAMPLES: &str = "\
Examples:
  convoke pack \"let users sign in with a passkey\"       what matters, in 12,000 tokens
  convoke pack \"add --since to runs\" --budget 4k        less of it
  convoke pack \"add --since to runs\" --explain          which files are in, and why
  git log -1 --format=%B | convoke pack - --pointers    tree and outlines for a commit's message";

impl PackArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = pack_repository(&app.session, &self.request()?)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if self.explain => {
                output.long(&table(&report, output.room()), Paging::Allowed)?;
            }
            Format::Text => output.data(&report.text)?,
        }
        Ok(Exit::Done)
    }

    fn request(&self) -> Result<PackRequest, Failure> {
        let layout = if self.pointers { PackLayout::Pointers } else { PackLayout::Texts };
        let feature = match self.feature.as_str() {
            "-" => input::read(MAX_FEATURE).ok_or(NoFeatureText)?,
            feature => feature.to_owned(),
        };
        Ok(PackRequest { feature, layout, budget: self.budget, tokenizer: self.tokenizer })
    }
}

fn tokenizer() -> impl TypedValueParser<Value = Vocabulary> {
    PossibleValuesParser::new(Vocabulary::ALL.map(Vocabulary::name))
        .try_map(|name| Vocabulary::parse(&name).ok_or("no such vocabulary"))
}

fn table(report: &RepositoryPackReport, columns: usize) -> Vec<StyledLine> {
    let counted = if report.exact { "exact for" } else { "an" };
    let head = format!(
        "budget  {} tokens, {}\nused    {} tokens, {counted} {}\nfiles   {} of {} in the pack\n",
        report.budget,
        report.layout,
        Tokens::from_tenths(report.used_x10),
        report.tokenizer,
        report.files.len(),
        report.known_files,
    );
    let head = head.lines().flat_map(|line| StyledLine::plain(line).folded(columns, 8));
    let head = head.chain([StyledLine::default()]);
    if columns < LEAST_COLUMNS {
        return head.chain(list(report, columns)).collect();
    }
    let mut grid =
        Grid::new(["rank", "score", "file", "shown", "why"], Overflow::Fold).right(&[0, 1]);
    for file in &report.files {
        let (rank, score) = (file.rank.to_string(), format!("{} %", file.score));
        let cells = [rank, score, file.path.clone(), shown(file), why(file)];
        grid.push(cells.iter().map(|cell| StyledLine::plain(cell)));
    }
    for file in &report.left_out {
        let cells = ["", "", &file.path].map(StyledLine::plain).into_iter();
        let reason = StyledLine::new(Ink::Caution, &format!("left out: {}", file.reason));
        grid.push(cells.chain([reason, StyledLine::default()]));
    }
    head.chain(grid.lines(columns)).collect()
}

/// Lists the files where a table has no room for paths: what is shown of each, and why, is below it.
fn list(report: &RepositoryPackReport, columns: usize) -> Vec<StyledLine> {
    const INDENT: usize = 6;
    let file = |file: &PackFileReport| {
        let name = format!("{:>4}  {} ({} %)", file.rank, file.path, file.score);
        let below = format!("{:INDENT$}{}: {}", "", shown(file), why(file));
        [name, below]
    };
    let left_out = |file: &LeftOutReport| {
        [format!("{:INDENT$}{}", "", file.path), format!("{:INDENT$}left out: {}", "", file.reason)]
    };
    let files = report.files.iter().map(file).chain(report.left_out.iter().map(left_out));
    files.flatten().flat_map(|line| StyledLine::plain(&line).folded(columns, INDENT)).collect()
}

fn why(file: &PackFileReport) -> String {
    let reasons: Vec<_> = file.reasons.iter().map(|reason| reason.words.as_str()).collect();
    reasons.join("; ")
}

/// Returns which lines of a file are in: `1-40, 62-80 of 120`, or that it is outlined.
fn shown(file: &PackFileReport) -> String {
    const MOST: usize = 4;
    if file.ranges.is_empty() {
        return format!("outline of {} lines", file.lines);
    }
    let named = file.ranges.iter().take(MOST);
    let mut list: Vec<_> = named.map(|range| format!("{}-{}", range.first, range.last)).collect();
    if file.ranges.len() > MOST {
        let more = file.ranges.len() - MOST;
        list.push(format!("{more} more"));
    }
    format!("{} of {}", list.join(", "), file.lines)
}
