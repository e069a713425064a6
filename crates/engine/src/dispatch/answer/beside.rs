//! The text of an answer beside its verdict and its issues.

use convoke_domain::dispatch::also_wrote::said;
use convoke_domain::markdown::fence;

use super::block::last_block;
use super::read_issue;
use super::tree::{Tree, folded};

/// Keys of an issue whose words a report shows by themselves, beside its description.
const OF_ISSUE: [&str; 4] = ["severity", "category", "location", "suggestion"];

/// Returns everything that a reviewer wrote beside its verdict: the words around its object,
/// without thinking and the confirmation, and the values of other keys of the object and its
/// issues. An answer without such an object is returned unchanged.
pub fn beside(answer: &str) -> String {
    let Ok(block) = last_block(answer.trim_start_matches('\u{feff}')) else {
        return said(answer);
    };
    let words = said(without_opening(block.before));
    let issues = match block.value.get("issues") {
        Some(Tree::List(issues)) => issues.as_slice(),
        _ => &[],
    };
    let around = Some(words).filter(|words| !words.is_empty());
    let of_review = others(&block.value, |key, value| match key {
        "approved" => matches!(value, Tree::Bool(_)),
        "issues" => is_list_of_objects(value),
        "reviewer" => value.words().is_some_and(|name| is_name(&name)),
        _ => false,
    });
    let of_issues = issues.iter().flat_map(|issue| {
        let description = read_issue(issue).description;
        others(issue, move |key, value| {
            OF_ISSUE.contains(&key) && is_shown(value)
                || value.words().as_ref() == Some(&description)
        })
    });
    around.into_iter().chain(of_review).chain(of_issues).collect::<Vec<_>>().join("\n")
}

/// Tells whether a report shows a value completely: words, or null.
fn is_shown(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Text(_) | Tree::Number(_) => true,
        Tree::Bool(_) | Tree::List(_) | Tree::Object(_) => false,
    }
}

fn is_list_of_objects(value: &Tree) -> bool {
    let Tree::List(values) = value else { return false };
    values.iter().all(|value| matches!(value, Tree::Object(_)))
}

/// Tells whether a reviewer's name is no sentence.
fn is_name(name: &str) -> bool {
    let words = name.split_whitespace().count();
    words == 1 || (words <= 3 && name.to_lowercase().ends_with("reviewer"))
}

/// Renders the pairs of an object that no report shows.
fn others(object: &Tree, is_shown: impl Fn(&str, &Tree) -> bool) -> Vec<String> {
    let pairs = object.pairs().iter().filter(|(key, value)| !is_shown(&folded(key), value));
    pairs.map(|(key, value)| format!("{key}: {value}")).collect()
}

/// Cuts off the line that opens the object's fence, if it says nothing more than a language.
fn without_opening(before: &str) -> &str {
    let end = before.trim_end_matches(['\r', '\n']);
    let begin = end.rfind('\n').map_or(0, |at| at + 1);
    let line = end[begin..].trim();
    let info = line.trim_start_matches(['`', '~']).trim();
    if fence::opens(line) && !info.contains(char::is_whitespace) {
        &before[..begin]
    } else {
        before
    }
}
