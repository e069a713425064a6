//! Which files matter for a feature: its words and names in them, and what changed with what before.

mod history;
mod kind;
mod reason;

use std::collections::HashMap;

use self::history::{HistorySignals, signals};
use self::kind::{is_tool_settings, kind_weight};
pub use self::reason::InclusionReason;
use super::evidence::{FileEvidence, TermCount};
use super::query::FeatureQuery;

/// A file of a repository, as far as ranking needs it.
#[derive(Debug, Clone)]
pub struct CandidateFile {
    /// Its path below the project, with `/`.
    pub path: String,
    /// What it says about the feature.
    pub evidence: FileEvidence,
}

/// A commit of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastChange {
    /// What its author wrote about it.
    pub message: String,
    /// Paths that it changed.
    pub paths: Vec<String>,
}

/// A file with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedFile {
    /// Which of the files it is.
    pub index: usize,
    /// How much it matters; only comparisons with others mean anything.
    pub score: f64,
    /// Why, the strongest first.
    pub reasons: Vec<InclusionReason>,
}

/// How strongly each signal counts. The strongest file of a signal has all of its weight.
const NAMED: f64 = 4.0;
const WORDS: f64 = 1.0;
const SIMILAR: f64 = 0.6;
const RECENT: f64 = 0.25;
const TOGETHER: f64 = 0.45;
const TWIN: f64 = 0.25;

/// A word in a path counts this much more than in a text, however often the text has it.
const IN_PATH: f64 = 0.8;

/// Ranks files, the most important first. The past is in order, the newest first.
pub fn rank(query: &FeatureQuery, files: &[CandidateFile], past: &[PastChange]) -> Vec<RankedFile> {
    let by_path: HashMap<&str, usize> =
        files.iter().enumerate().map(|(index, file)| (file.path.as_str(), index)).collect();
    let idf = rarity(query, files);
    let total: f64 = files.iter().map(|file| real(file.evidence.words)).sum();
    let average = (total / real(files.len().max(1))).max(1.0);
    let words = files.iter().map(|file| word_score(query, file, &idf, average)).collect();
    let words = normalized(words);
    let named: Vec<_> = files.iter().map(|file| named_by(query, &file.path)).collect();
    let HistorySignals { similar, recent, together } = {
        let first: Vec<f64> = words
            .iter()
            .zip(&named)
            .map(|(words, named)| WORDS * words + NAMED * named.unwrap_or_default())
            .collect();
        signals(query, past, &by_path, &first)
    };
    let mut ranked: Vec<_> = (0..files.len())
        .map(|index| {
            let path = &files[index].path;
            let score = NAMED * named[index].unwrap_or_default()
                + kind_weight(path)
                    * (WORDS * words[index]
                        + SIMILAR * similar[index]
                        + RECENT * recent[index]
                        + TOGETHER * together[index].0);
            let weights = [similar[index], recent[index], together[index].0];
            let partner = together[index].1.map(|partner| files[partner].path.clone());
            let reasons =
                reason::reasons(query, &files[index], &idf, weights, partner, named[index]);
            RankedFile { index, score, reasons }
        })
        .collect();
    add_twins(files, &mut ranked);
    ranked.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| files[a.index].path.cmp(&files[b.index].path))
    });
    ranked
}

/// Returns a count as a number that can be multiplied; no count here is large.
pub(in crate::repository_pack) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns how rare each term is among the files.
pub fn rarity(query: &FeatureQuery, files: &[CandidateFile]) -> Vec<f64> {
    let mut holders = vec![0_usize; query.terms.len()];
    for (term, _) in files.iter().flat_map(|file| &file.evidence.counts) {
        holders[*term] += 1;
    }
    let all = real(files.len());
    let rarity = |holders: usize| ((all - real(holders) + 0.5) / (real(holders) + 0.5)).ln_1p();
    holders.into_iter().map(rarity).collect()
}

/// BM25 over three places of a file: its path, the names that it defines, and its text.
fn word_score(query: &FeatureQuery, file: &CandidateFile, idf: &[f64], average: f64) -> f64 {
    let length = real(file.evidence.words) / average;
    let score = |(term, count): &(usize, TermCount)| {
        let in_path = if count.path > 0 { IN_PATH } else { 0.0 };
        query.terms[*term].weight * idf[*term] * (in_path + saturation(*count, length))
    };
    file.evidence.counts.iter().map(score).sum()
}

fn saturation(count: TermCount, length: f64) -> f64 {
    const IN_SYMBOL: f64 = 1.5;
    const SLOPE: f64 = 1.2;
    const LENGTH: f64 = 0.6;
    let norm = 1.0 - LENGTH + LENGTH * length;
    let found = (IN_SYMBOL * f64::from(count.symbol) + f64::from(count.text)) / norm;
    found / (SLOPE + found)
}

/// Divides by the largest, so that signals of any kind can be compared.
fn normalized(mut scores: Vec<f64>) -> Vec<f64> {
    let largest = scores.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        for score in &mut scores {
            *score /= largest;
        }
    }
    scores
}

/// Tells how clearly a feature names a file: all of its path, or the end of it.
fn named_by(query: &FeatureQuery, path: &str) -> Option<f64> {
    let strength = |word: &String| {
        if path == word {
            return Some(1.0);
        }
        let before = path.strip_suffix(word.as_str())?;
        let is_part = before.ends_with('/');
        let depth = real(word.matches('/').count());
        is_part.then_some(0.5 + 0.1 * depth.min(4.0))
    };
    let stem = |word: &String| {
        // `CHANGELOG` names CHANGELOG.md, but `lane` does not name lane.rs: that is a word.
        let name = path.rsplit('/').next()?.rsplit_once('.')?.0;
        (name == word && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')).then_some(0.3)
    };
    let folder = |word: &String| {
        let folder = word.trim_end_matches('/');
        let rest = path.strip_prefix(folder)?;
        (folder.contains('/') && rest.starts_with('/')).then_some(0.15)
    };
    let found = query
        .paths
        .iter()
        .filter_map(|word| strength(word).or_else(|| stem(word)).or_else(|| folder(word)));
    found.max_by(f64::total_cmp)
}

/// A test beside a source, or a source beside its test, shares in its score.
fn add_twins(files: &[CandidateFile], ranked: &mut [RankedFile]) {
    let mut families: HashMap<String, (f64, usize)> = HashMap::new();
    for file in ranked.iter() {
        let Some(family) = family(&files[file.index].path) else { continue };
        let best = families.entry(family).or_insert((0.0, file.index));
        if file.score > best.0 {
            *best = (file.score, file.index);
        }
    }
    for file in ranked {
        let Some(family) = family(&files[file.index].path) else { continue };
        let Some(&(best, index)) = families.get(&family) else { continue };
        if index != file.index && best > file.score {
            file.score += TWIN * (best - file.score);
            file.reasons.push(InclusionReason::Beside { path: files[index].path.clone() });
        }
    }
}

/// Returns what the names of a source and its test share: `parser` of `tests/test_parser.py`.
fn family(path: &str) -> Option<String> {
    if is_tool_settings(path) {
        return None;
    }
    let mut parts = path.rsplit('/');
    let name = parts.next()?.split('.').next()?.to_lowercase();
    let name = ["tests", "test", "mod", "index", "lib", "main", "__init__"]
        .contains(&name.as_str())
        .then(|| parts.next().map(str::to_lowercase))
        .flatten()
        .unwrap_or(name);
    let bare = ["test_", "_test", "_tests", "_spec", "-test"].iter().fold(name, |name, mark| {
        let name = name.strip_prefix(mark).map_or(name.clone(), str::to_owned);
        name.strip_suffix(mark).map_or(name.clone(), str::to_owned)
    });
    (bare.len() > 2).then_some(bare)
}
