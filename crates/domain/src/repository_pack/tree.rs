//! A repository's files by folder, within a budget: folders that matter with their files, the rest with
//! counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::text::Text;
use crate::token::{Tokenizer, Tokens};

/// A longer list of a folder's files is cut, and says how many are left out.
const MOST_NAMES: usize = 60;

/// Draws the tree. The weight of a file tells which folders are shown with their files first.
pub(super) fn draw(files: &[(&str, f64)], room: Tokens, tokenizer: &dyn Tokenizer) -> String {
    let mut folders: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for (path, weight) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().push((name, *weight));
    }
    let mut order: Vec<(f64, &str)> = folders
        .iter()
        .map(|(folder, names)| {
            (names.iter().map(|(_, weight)| *weight).fold(0.0, f64::max), *folder)
        })
        .collect();
    // The files at the top tell what kind of project it is.
    order.sort_by(|a, b| {
        (!a.1.is_empty(), -a.0)
            .partial_cmp(&(!b.1.is_empty(), -b.0))
            .unwrap_or(a.1.cmp(b.1))
            .then(a.1.cmp(b.1))
    });
    let (listing, summary) = shares(room);
    let mut shown: BTreeMap<&str, String> = BTreeMap::new();
    let mut used = Tokens::default();
    for (_, folder) in &order {
        let Some(names) = folders.get(folder) else { continue };
        let line = list(folder, names);
        let cost = tokenizer.count(Text::new(&line));
        if used + cost <= listing {
            used += cost;
            shown.insert(folder, line);
        }
    }
    let mut block: String = shown.values().map(String::as_str).collect();
    let hidden: Vec<_> = folders
        .iter()
        .filter(|(folder, _)| !shown.contains_key(*folder))
        .map(|(folder, names)| (*folder, names.len()))
        .collect();
    block.push_str(&summarize(&hidden, summary, tokenizer));
    block
}

/// Most of the room lists files; the rest counts what is not listed.
fn shares(room: Tokens) -> (Tokens, Tokens) {
    let summary = Tokens::from_tenths(room.tenths() / 5);
    (room.less(summary), summary)
}

fn list(folder: &str, names: &[(&str, f64)]) -> String {
    let mut kept: Vec<_> = names.to_vec();
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    kept.truncate(MOST_NAMES);
    kept.sort_by_key(|(name, _)| *name);
    let list: Vec<_> = kept.iter().map(|(name, _)| *name).collect();
    let folder = if folder.is_empty() { "." } else { folder };
    let mut line = format!("{folder}/: {}", list.join(" "));
    if names.len() > kept.len() {
        // Writing into a string cannot fail.
        write!(line, " (+{} not listed)", names.len() - kept.len()).unwrap_or_default();
    }
    line.push('\n');
    line
}

/// Counts the files of folders that are not listed: as deep as it fits, else in one number.
fn summarize(hidden: &[(&str, usize)], room: Tokens, tokenizer: &dyn Tokenizer) -> String {
    const DEEPEST: usize = 4;
    if hidden.is_empty() {
        return String::new();
    }
    let all: usize = hidden.iter().map(|(_, count)| *count).sum();
    for depth in (1..=DEEPEST).rev() {
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for (folder, count) in hidden {
            let group: Vec<_> = folder.split('/').take(depth).collect();
            *groups.entry(group.join("/")).or_default() += count;
        }
        let parts: Vec<_> =
            groups.iter().map(|(group, count)| format!("{group}/ ({count})")).collect();
        let line = format!("not listed: {}\n", parts.join(", "));
        if tokenizer.count(Text::new(&line)) <= room {
            return line;
        }
    }
    format!("not listed: {all} files in {} folders\n", hidden.len())
}
