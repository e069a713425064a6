//! How often a pack holds the files that a commit changed, from the state before it and its message.
//!
//! Each tool sees the checked-out parent, its history and the message, never what came later. A file
//! counts as found if the tool shows at least its path as an entry with lines of it; the name in a tree
//! of all files does not count. A place counts as found if one of its lines is shown with its file.

mod commits;
mod peers;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use convoke_domain::repository_pack::{PackLayout, RepositoryPack};
use convoke_domain::token::{Budget, Tokenizer, Vocabulary};
use convoke_engine::brief::secrets::SecretRules;
use convoke_engine::repository_pack::RepositorySurvey;
use convoke_engine::vocabulary;

pub use self::commits::Half;
use self::commits::{MeasuredCommit, commits, git};
use self::peers::{AIDER, Peers, REPOMIX};
use crate::{Error, root, say};

/// The measured budgets, in tokens.
const BUDGETS: [u64; 3] = [4_000, 12_000, 32_000];

/// What a tool shows: a text for each file.
type Shown = BTreeMap<String, String>;

/// What to measure.
#[derive(Debug, Clone)]
pub struct RecallRequest {
    /// Repositories, by their paths.
    pub repositories: Vec<PathBuf>,
    /// How many commits of each.
    pub commits: usize,
    /// Which commits.
    pub half: Half,
    /// Whether the peers are measured, too.
    pub peers: PeerChoice,
    /// Whether every missed file is named.
    pub misses: MissChoice,
}

/// Whether the peers are measured, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerChoice {
    /// Convoke alone.
    Without,
    /// With the peers, installed in a folder.
    With(PathBuf),
}

/// Whether every missed file is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissChoice {
    /// Only figures.
    Hidden,
    /// Every missed file, with its rank.
    Named,
}

/// Sums of one tool.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    commits: u32,
    /// Sums of parts, commit by commit, budget by budget.
    files: [f64; BUDGETS.len()],
    places: [f64; BUDGETS.len()],
    with_places: u32,
}

impl Sums {
    fn add(&mut self, commit: &MeasuredCommit, shown: &[Shown]) {
        self.commits += 1;
        self.with_places += u32::from(!commit.places.is_empty());
        for (budget, shown) in shown.iter().enumerate() {
            let found = commit.files.iter().filter(|file| shown.contains_key(*file)).count();
            self.files[budget] += part(found, commit.files.len());
            let found = commit.places.iter().filter(|place| {
                let text = shown.get(&place.path).map_or("", String::as_str);
                place.lines.iter().any(|line| text.contains(line.as_str()))
            });
            self.places[budget] += part(found.count(), commit.places.len());
        }
    }

    fn row(&self, name: &str) -> String {
        let mut row = format!("| {name} |");
        for (sums, count) in [(self.files, self.commits), (self.places, self.with_places)] {
            for sum in sums {
                write!(row, " {:.1} % |", 100.0 * sum / f64::from(count.max(1)))
                    .unwrap_or_default();
            }
        }
        row
    }
}

fn part(found: usize, all: usize) -> f64 {
    let real = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if all == 0 { 0.0 } else { real(found) / real(all) }
}

/// Measures, and prints one table for each repository.
pub fn run(request: &RecallRequest) -> Result<(), Error> {
    let tokenizer = vocabulary::open(Vocabulary::Cl100k)?;
    let secrets = SecretRules::load()?;
    let repositories =
        if request.repositories.is_empty() { vec![root()] } else { request.repositories.clone() };
    for repository in &repositories {
        measure(request, repository, &secrets, &*tokenizer)?;
    }
    Ok(())
}

fn measure(
    request: &RecallRequest,
    repository: &Path,
    secrets: &SecretRules,
    tokenizer: &dyn Tokenizer,
) -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let clone = cloned(repository, &folder.path().join("convoke"))?;
    let mut peers = match &request.peers {
        PeerChoice::Without => None,
        PeerChoice::With(installed) => {
            Some(Peers::start(installed, cloned(repository, &folder.path().join("peers"))?)?)
        }
    };
    let commits = commits(&clone, request.half, request.commits)?;
    let (mut ours, mut repomix, mut aider) = (Sums::default(), Sums::default(), Sums::default());
    for commit in &commits {
        git(&clone, &["checkout", "-q", "--force", "--detach", &commit.parent])?;
        let survey = RepositorySurvey::new(&clone, &commit.feature, secrets);
        let shown = packed(&survey, tokenizer)?;
        if request.misses == MissChoice::Named {
            name_misses(commit, &survey, &shown);
        }
        ours.add(commit, &shown);
        if let Some(peers) = &mut peers {
            repomix.add(commit, &peers.repomix(commit, &BUDGETS, tokenizer)?);
            aider.add(commit, &peers.aider(commit, &BUDGETS)?);
            say(&format!("{} of {}", ours.commits, commits.len()));
        }
    }
    say(&format!("\n{}: {} commits, {:?}", repository.display(), commits.len(), request.half));
    say("| tool | files 4k | 12k | 32k | places 4k | 12k | 32k |\n|---|---|---|---|---|---|---|");
    say(&ours.row("Convoke"));
    if peers.is_some() {
        say(&repomix.row(&format!("repomix {REPOMIX}")));
        say(&aider.row(&format!("aider {AIDER}")));
    }
    Ok(())
}

fn cloned(repository: &Path, to: &Path) -> Result<PathBuf, Error> {
    let from = repository.canonicalize()?;
    let (from, to) = (from.display().to_string(), to.display().to_string());
    git(Path::new("/"), &["clone", "-q", "--shared", "--no-checkout", &from, &to])?;
    Ok(PathBuf::from(to))
}

fn packed(survey: &RepositorySurvey, tokenizer: &dyn Tokenizer) -> Result<Vec<Shown>, Error> {
    let packs = BUDGETS.iter().map(|budget| {
        let budget = Budget::at_least_one(*budget);
        let pack = survey.pack(PackLayout::Texts, budget, tokenizer)?;
        if pack.used > budget.tokens() {
            return Err(format!("a pack costs {} of {} tokens", pack.used, budget.get()).into());
        }
        Ok(shown(survey, &pack))
    });
    packs.collect()
}

fn shown(survey: &RepositorySurvey, pack: &RepositoryPack) -> Shown {
    let texts = pack.files.iter().map(|file| {
        let source = &survey.files[file.index];
        let lines: Vec<_> = source.text.as_deref().unwrap_or_default().lines().collect();
        let ranges = file.ranges.iter().flat_map(|range| range.first..=range.last);
        let numbers = ranges.chain(file.outline.iter().copied());
        let text: Vec<_> = numbers.filter_map(|number| lines.get(number - 1).copied()).collect();
        (source.path.clone(), text.join("\n"))
    });
    texts.collect()
}

fn name_misses(commit: &MeasuredCommit, survey: &RepositorySurvey, shown: &[Shown]) {
    let title = commit.feature.lines().next().unwrap_or_default();
    say(&format!("\n{} {title}", &commit.id[..8]));
    for file in &commit.files {
        let rank = survey.ranked.iter().position(|ranked| survey.files[ranked.index].path == *file);
        let in_pack: Vec<_> = shown.iter().map(|shown| shown.contains_key(file)).collect();
        say(&format!("  {:>5} {in_pack:?} {file}", rank.map_or(0, |rank| rank + 1)));
    }
}
