//! Every link between documents has a target, and the book has every page.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the repository should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use xtask::book::markdown_files;
use xtask::root;

/// Returns the lines of a document that are not code, without their code spans.
fn prose(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_border = line.trim_start().starts_with("```");
        is_code ^= is_border;
        if !is_code && !is_border {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        }
    }
    lines
}

/// Returns what the links of a document lead to.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        for rest in line.split("](").skip(1) {
            found.extend(rest.split(')').next().map(str::to_owned));
        }
    }
    found
}

/// Returns the anchor that GitHub and mdbook make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            found.insert(anchor(heading.trim_start_matches('#').trim()));
        }
    }
    found
}

fn documents() -> BTreeMap<PathBuf, String> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut paths: Vec<_> = top.iter().map(|name| root().join(name)).collect();
    paths.extend(markdown_files(&root().join("docs")).unwrap());
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the defect of a link, if it has one.
fn fault(page: &Path, target: &str, documents: &BTreeMap<PathBuf, String>) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (file, place) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { page.parent()?.join(file) };
    let Ok(path) = path.canonicalize() else {
        return Some(format!("{}: {target}: no such file", page.display()));
    };
    let text = documents.get(&path).filter(|_| !place.is_empty())?;
    let is_there = anchors(text).contains(place);
    (!is_there).then(|| format!("{}: {target}: no such heading", page.display()))
}

#[test]
fn links_lead_somewhere() {
    let documents = documents();
    let faults: Vec<_> = documents
        .iter()
        .flat_map(|(page, text)| targets(text).into_iter().map(move |target| (page, target)))
        .filter_map(|(page, target)| fault(page, &target, &documents))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_book_has_every_page_once() {
    let folder = root().join("docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let mut listed: Vec<_> = targets(&summary).iter().map(|target| folder.join(target)).collect();
    listed.sort();
    let mut pages = markdown_files(&folder).unwrap();
    pages.retain(|page| *page != folder.join("SUMMARY.md"));
    assert_eq!(listed, pages);
}
