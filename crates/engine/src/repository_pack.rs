//! Reading a repository for a pack: its files, their texts, and its past.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::repository_pack::{
    CandidateFile, FeatureQuery, FileEvidence, FitRequest, GeneratedSign, InclusionReason,
    PackFrameTooLarge, PackLayout, PackSource, PastChange, RankedFile, RepositoryPack, fit,
    is_lock_file, rank, rarity, sign_of_generated,
};
use convoke_domain::token::{Budget, Tokenizer};
use ignore::WalkBuilder;

use crate::brief::secrets::SecretRules;
use crate::{batch, file, git};

/// A larger file is data.
const MOST_FILE_BYTES: u64 = 512 * 1024;

/// So many bytes of all files are searched.
const MOST_BYTES: u64 = 96 * 1024 * 1024;

/// So many files are listed.
const MOST_FILES: usize = 100_000;

/// So many commits are read.
const MOST_COMMITS: usize = 1_500;

/// So many of the best files are searched for likely secrets; no other file can be in a pack.
const MOST_PACKED: usize = 400;

/// Why a file gives no text to a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// It gives no text.
    Unreadable(Unreadable),
    /// A program wrote it.
    Generated(GeneratedSign),
    /// A link: what it leads to has a path of its own, or is no part of the project.
    Link,
    /// Another repository inside of this one.
    Submodule,
    /// It holds a likely secret.
    Secret {
        /// The line, counted from 1.
        line: usize,
        /// The rule that it matches.
        kind: String,
    },
}

impl LeftOut {
    /// Returns the reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::Unreadable(Unreadable::OutsideDir) => {
                "a link leads out of the project".to_owned()
            }
            Self::Unreadable(Unreadable::BeyondTotal) => "not read: too many files".to_owned(),
            Self::Unreadable(reason) => reason.to_string(),
            Self::Generated(sign) => sign.words().to_owned(),
            Self::Link => "a link".to_owned(),
            Self::Submodule => "a repository of its own".to_owned(),
            Self::Secret { line, kind } => format!("line {line} looks like a secret ({kind})"),
        }
    }
}

/// A file of a repository.
#[derive(Debug, Clone)]
pub struct SurveyedFile {
    /// Its path below the project, with `/`.
    pub path: String,
    /// Its text, or why it gives none.
    pub text: Result<String, LeftOut>,
}

/// A repository, read for one feature.
#[derive(Debug, Clone)]
pub struct RepositorySurvey {
    /// The feature, as it is searched for.
    pub query: FeatureQuery,
    /// Every file, by path.
    pub files: Vec<SurveyedFile>,
    /// Their order, the most important first.
    pub ranked: Vec<RankedFile>,
    /// Files that cannot be cited: their names are no text on one line.
    pub unnamed: usize,
    /// Whether more files are there than Convoke lists.
    pub is_cut: bool,
    rarity: Vec<f64>,
}

impl RepositorySurvey {
    /// Reads a project's files and past, and ranks the files for a feature.
    pub fn new(project: &Path, feature: &str, secrets: &SecretRules) -> Self {
        let query = FeatureQuery::new(feature);
        let past = git::past::past_changes(project, MOST_COMMITS);
        let (paths, unnamed, is_cut) = list(project);
        let order = reading_order(&query, &paths, &past);
        let mut read = read_all(project, &query, &paths, &order);
        let candidates: Vec<_> = read
            .iter_mut()
            .map(|(file, evidence)| CandidateFile {
                path: file.path.clone(),
                evidence: std::mem::take(evidence),
            })
            .collect();
        let ranked = rank(&query, &candidates, &past);
        let rarity = rarity(&query, &candidates);
        let files = read.into_iter().map(|(file, _)| file).collect();
        let mut survey = Self { query, files, ranked, unnamed, is_cut, rarity };
        survey.withhold_secrets(secrets);
        survey
    }

    /// Takes the text of files with a likely secret away.
    fn withhold_secrets(&mut self, rules: &SecretRules) {
        let best: Vec<_> = self.ranked.iter().take(MOST_PACKED).map(|file| file.index).collect();
        let found = batch::in_parallel(&best, |index| {
            let file = &self.files[*index];
            let text = file.text.as_ref().ok()?;
            rules.scan(&file.path, text).into_iter().next()
        });
        for (index, secret) in best.into_iter().zip(found) {
            if let Some(secret) = secret {
                let reason = LeftOut::Secret { line: secret.line, kind: secret.kind };
                self.files[index].text = Err(reason);
            }
        }
        self.ranked.truncate(MOST_PACKED);
    }

    /// Tells whether any file is ranked because of the feature's words.
    pub fn has_hit(&self) -> bool {
        self.ranked.iter().flat_map(|file| &file.reasons).any(InclusionReason::is_hit)
    }

    /// Fits the repository into a budget.
    pub fn pack(
        &self,
        layout: PackLayout,
        budget: Budget,
        tokenizer: &dyn Tokenizer,
    ) -> Result<RepositoryPack, PackFrameTooLarge> {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|file| PackSource { path: &file.path, text: file.text.as_deref().ok() })
            .collect();
        let request = FitRequest {
            query: &self.query,
            sources: &sources,
            ranked: &self.ranked,
            rarity: &self.rarity,
            layout,
            budget,
        };
        fit(&request, tokenizer)
    }
}

/// Lists the paths of a project, by name, and counts those that cannot be cited.
fn list(project: &Path) -> (Vec<String>, usize, bool) {
    let mut found = git::known_files(project);
    if found.is_empty() {
        found = walk(project);
    }
    let is_cut = found.len() > MOST_FILES;
    found.truncate(MOST_FILES);
    let all = found.len();
    let is_citable = |path: &String| !path.chars().any(|c| c.is_control() || c == '`');
    let mut paths: Vec<String> = found
        .into_iter()
        .filter_map(|path| path.into_os_string().into_string().ok())
        .filter(is_citable)
        .collect();
    let unnamed = all - paths.len();
    paths.sort();
    paths.dedup();
    (paths, unnamed, is_cut)
}

/// Lists the files of a folder without a repository; every `.gitignore` holds nevertheless.
fn walk(project: &Path) -> Vec<PathBuf> {
    let mut walk = WalkBuilder::new(project);
    walk.hidden(false).ignore(false).require_git(false).follow_links(false).parents(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let files = walk
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()));
    let below = files.filter_map(|entry| Some(entry.path().strip_prefix(project).ok()?.to_owned()));
    below.take(MOST_FILES + 1).collect()
}

/// Returns in which order files are read, so that the most promising are read if not all can be.
fn reading_order(query: &FeatureQuery, paths: &[String], past: &[PastChange]) -> Vec<usize> {
    let changed: HashSet<&str> =
        past.iter().flat_map(|change| &change.paths).map(String::as_str).collect();
    let promise = |index: &usize| {
        let path = paths[*index].as_str();
        let words = FileEvidence::of(query, path, None).distinct();
        std::cmp::Reverse(2 * words + usize::from(changed.contains(path)))
    };
    let mut order: Vec<_> = (0..paths.len()).collect();
    order.sort_by_cached_key(promise);
    order
}

/// Reads files in the given order; the result has the order of the paths.
fn read_all(
    project: &Path,
    query: &FeatureQuery,
    paths: &[String],
    order: &[usize],
) -> Vec<(SurveyedFile, FileEvidence)> {
    let inside = folders_inside(project, paths);
    let mut total = 0;
    let tasks: Vec<_> = order
        .iter()
        .map(|index| {
            let path = project.join(&paths[*index]);
            let size = fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len());
            total += size.min(MOST_FILE_BYTES);
            (*index, path, total <= MOST_BYTES)
        })
        .collect();
    let mut read = batch::in_parallel(&tasks, |(index, path, is_allowed)| {
        let name = &paths[*index];
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = if !inside.contains(folder) {
            Err(Some(LeftOut::Unreadable(Unreadable::OutsideDir)))
        } else if *is_allowed {
            read_one(name, path)
        } else {
            Err(Some(LeftOut::Unreadable(Unreadable::BeyondTotal)))
        };
        let evidence = FileEvidence::of(query, name, text.as_deref().ok());
        (*index, name.clone(), text, evidence)
    });
    read.sort_by_key(|(index, ..)| *index);
    let there = read.into_iter().filter_map(|(_, path, text, evidence)| {
        let text = match text {
            Ok(text) => Ok(text),
            Err(Some(reason)) => Err(reason),
            // Git lists a file that is not there any more.
            Err(None) => return None,
        };
        Some((SurveyedFile { path, text }, evidence))
    });
    there.collect()
}

/// Returns the folders of some paths that no link leads out of the project. One check for each folder
/// takes less time than one for each file.
fn folders_inside<'p>(project: &Path, paths: &'p [String]) -> HashSet<&'p str> {
    let folders = paths.iter().map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let folders: HashSet<_> = folders.collect();
    let Ok(real) = project.canonicalize() else { return HashSet::new() };
    let is_inside = |folder: &&str| {
        let folder = project.join(folder).canonicalize();
        // A folder that is gone holds no file, either.
        folder.map_or(true, |folder| folder.starts_with(&real))
    };
    folders.into_iter().filter(is_inside).collect()
}

/// Reads one file; there is no reason if there is no file.
fn read_one(name: &str, path: &Path) -> Result<String, Option<LeftOut>> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Err(None) };
    if metadata.is_symlink() {
        return Err(Some(LeftOut::Link));
    }
    if metadata.is_dir() {
        return Err(Some(LeftOut::Submodule));
    }
    if is_lock_file(name) {
        return Err(Some(LeftOut::Generated(GeneratedSign::LockFile)));
    }
    match file::read(path, MOST_FILE_BYTES) {
        FileFinding::Text(text) if text.as_bytes().contains(&0) => {
            Err(Some(LeftOut::Unreadable(Unreadable::Binary)))
        }
        FileFinding::Absent => Err(None),
        FileFinding::Unreadable(reason) => Err(Some(LeftOut::Unreadable(reason))),
        FileFinding::Text(text) => match sign_of_generated(name, &text) {
            Some(sign) => Err(Some(LeftOut::Generated(sign))),
            None => Ok(text),
        },
    }
}

#[cfg(test)]
mod tests;
