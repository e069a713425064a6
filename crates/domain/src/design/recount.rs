//! What differs between the artifacts that a journal keeps and the same artifacts counted again.

use std::collections::{BTreeMap, BTreeSet};

use super::seat::Side;

/// How the name of a debate's file begins.
const DEBATE: &str = "debate-";

/// How the name of a debater's prompt ends.
const PROMPT: &str = "-prompt.txt";

/// Returns the name of the file with a debater's prompt.
pub fn debate_prompt_file(number: usize, side: Side) -> String {
    format!("{DEBATE}{number}-{}{PROMPT}", side.word())
}

/// Artifacts that are not as they were at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArtifactChanges {
    /// Those that follow from answers by rules, and those that are missing or new.
    pub differing: Vec<String>,
    /// Prompts in other words. Versions of Convoke word them anew, and no rule reads them.
    pub reworded: Vec<String>,
}

/// Compares artifacts by their names and hashes.
pub fn artifact_changes(
    kept: &[(String, String)],
    counted: &[(String, String)],
) -> ArtifactChanges {
    let by_name = |listed: &[(String, String)]| -> BTreeMap<String, String> {
        listed.iter().cloned().collect()
    };
    let (kept, counted) = (by_name(kept), by_name(counted));
    let names: BTreeSet<_> = kept.keys().chain(counted.keys()).collect();
    let mut changes = ArtifactChanges::default();
    for name in names {
        match (kept.get(name), counted.get(name)) {
            (kept, counted) if kept == counted => {}
            (Some(_), Some(_)) if is_prompt(name) => changes.reworded.push(name.clone()),
            (Some(_) | None, Some(_) | None) => changes.differing.push(name.clone()),
        }
    }
    changes
}

fn is_prompt(name: &str) -> bool {
    name.starts_with(DEBATE) && name.ends_with(PROMPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prompt_in_other_words_is_a_change_of_wording() {
        let listed = |files: &[(&str, &str)]| -> Vec<(String, String)> {
            files.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect()
        };
        let thesis = debate_prompt_file(1, Side::Thesis);
        assert_eq!(thesis, "debate-1-thesis-prompt.txt");
        let gone = debate_prompt_file(2, Side::Antithesis);
        let kept = listed(&[("plan.txt", "a"), ("oos.md", "a"), (&thesis, "a"), (&gone, "a")]);
        let counted = listed(&[("plan.txt", "a"), ("oos.md", "b"), (&thesis, "b"), ("new", "a")]);
        let expected = ArtifactChanges {
            differing: vec![gone, "new".to_owned(), "oos.md".to_owned()],
            reworded: vec![thesis],
        };
        assert_eq!(artifact_changes(&kept, &counted), expected);
        assert_eq!(artifact_changes(&kept, &kept), ArtifactChanges::default());
    }
}
