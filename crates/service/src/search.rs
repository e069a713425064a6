//! Searching what the project has: runs, findings, tasks and messages.

mod passage;

use std::collections::BTreeMap;

use convoke_store::search::{FindingText, SearchHit, SearchKind, SearchWords};
use serde::Serialize;

use self::passage::passage;
use crate::failure::Failure;
use crate::run::KnownRun;
use crate::run::ResultsReport;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How many messages one search takes into the index at most: as many as take about a second.
const MOST_INDEXED: usize = 50_000;

/// How many runs one search takes into the index at most.
const MOST_RUNS: usize = 10;

/// How many results of each kind there are at most.
pub const MOST_HITS: usize = 30;

/// The longest text of a result, in characters.
const LONGEST: usize = 300;

/// The results of a search.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchReport {
    /// What was searched for.
    pub words: String,
    /// What has all words, at most 30 of each kind, the newest first.
    pub hits: Vec<SearchHitReport>,
    /// The kinds of which there are more; more words narrow the search.
    pub more: Vec<&'static str>,
    /// How many messages the index does not have yet, so that the search did not see them.
    pub unseen_messages: u64,
    /// Whether the index lacks findings of some runs.
    pub has_unseen_runs: bool,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHitReport {
    /// `run`, `finding`, `task` or `message`.
    pub kind: &'static str,
    /// Its id; of a finding, that within its run.
    pub id: String,
    /// The run of a finding.
    pub run: Option<String>,
    /// The branch that it belongs to; nothing for a finding.
    pub branch: Option<String>,
    /// Its title, or who sent it.
    pub title: String,
    /// At most 300 characters of the rest, around the first word that was searched for.
    pub text: String,
}

/// Searches the project for all words. Nothing is found without any.
pub fn search(session: &Session, text: &str) -> Result<SearchReport, Failure> {
    let mut report = SearchReport {
        words: text.to_owned(),
        hits: Vec::new(),
        more: Vec::new(),
        unseen_messages: 0,
        has_unseen_runs: false,
    };
    let Some(words) = SearchWords::parse(text) else { return Ok(report) };
    let Workspace { store, scope } = Workspace::open(session, None)?;
    report.unseen_messages = store.index_messages(MOST_INDEXED).map_err(refused)?;
    let runs = store.unindexed_runs(&scope.project, MOST_RUNS + 1).map_err(refused)?;
    report.has_unseen_runs = runs.len() > MOST_RUNS;
    for run in runs.iter().take(MOST_RUNS) {
        // A journal that cannot be read has no findings to find.
        let findings = KnownRun::open(session, &run.id).map(|known| findings(&known));
        store
            .index_findings(&run.id, run.last_seq, &findings.unwrap_or_default())
            .map_err(refused)?;
    }
    // One more of each kind than is shown tells whether there are more.
    let mut hits = store.search(&scope.project, &words, MOST_HITS + 1).map_err(refused)?;
    report.more = without_surplus(&mut hits);
    report.hits = hits.into_iter().map(|hit| SearchHitReport::new(hit, words.words())).collect();
    Ok(report)
}

/// Leaves the first results of each kind, and returns the kinds of which there are more.
fn without_surplus(hits: &mut Vec<SearchHit>) -> Vec<&'static str> {
    let mut counts = BTreeMap::new();
    hits.retain(|hit| {
        let count = counts.entry(hit.kind).or_insert(0);
        *count += 1;
        *count <= MOST_HITS
    });
    let more = counts.into_iter().filter(|(_, count)| *count > MOST_HITS);
    more.map(|(kind, _)| word(kind)).collect()
}

/// Returns the word for a kind.
const fn word(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Run => "run",
        SearchKind::Finding => "finding",
        SearchKind::Task => "task",
        SearchKind::Message => "message",
    }
}

fn findings(known: &KnownRun) -> Vec<FindingText> {
    let report = ResultsReport::new(&known.progress.results, None);
    let text = |finding: crate::run::PanelFindingReport| FindingText {
        text: [Some(finding.concern), finding.revision]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        id: finding.id,
        title: finding.title,
    };
    report.findings.into_iter().map(text).collect()
}

impl SearchHitReport {
    fn new(hit: SearchHit, words: &[String]) -> Self {
        Self {
            kind: word(hit.kind),
            id: hit.id,
            run: hit.run.map(|run| run.to_string()),
            branch: hit.branch,
            title: hit.title,
            text: passage(&hit.text, words, LONGEST),
        }
    }
}
