//! The name of a feature's branch, and whether a branch belongs to a feature.

/// A whole name is shorter than this, in characters.
const LIMIT: usize = 50;

/// The name of a branch whose feature has no words.
const NAMELESS: &str = "feature";

/// Words without a meaning of their own.
const EMPTY_WORDS: [&str; 18] = [
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "it", "of", "on", "or",
    "the", "to", "with",
];

/// Names the branch of a feature, with a number behind it if the name is taken.
pub fn branch_name(user_prefix: &str, feature: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|number| format!("-{number}"));
    let endings = std::iter::once(String::new()).chain(numbered);
    let mut names = endings.map(|ending| {
        let room = LIMIT.saturating_sub(user_prefix.chars().count() + ending.len() + 2);
        format!("{user_prefix}/{}{ending}", slug(feature, room))
    });
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Joins as many words as there is room for.
fn slug(feature: &str, room: usize) -> String {
    let mut slug = String::new();
    for word in words(feature) {
        let length = slug.chars().count() + word.chars().count() + usize::from(!slug.is_empty());
        if length > room {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word);
    }
    if slug.is_empty() {
        // Not even one word fits, or the feature has no words.
        let word = words(feature).next().unwrap_or_else(|| NAMELESS.to_owned());
        slug = word.chars().take(room.max(1)).collect();
    }
    slug
}

/// Returns a text's words, in small letters. Any character other than a letter or digit separates
/// words, except an apostrophe, which is part of one.
fn words(text: &str) -> impl Iterator<Item = String> {
    let text: String = text.chars().filter(|c| !matches!(c, '\'' | '’')).collect();
    let lower = text.to_lowercase();
    let words: Vec<_> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// Tells whether a branch of a user's shares a word with a feature, other than empty ones.
pub fn is_about(branch: &str, user_prefix: &str, feature: &str) -> bool {
    let own = branch.strip_prefix(user_prefix).unwrap_or(branch);
    let meant: Vec<_> = words(feature).collect();
    words(own).any(|word| !EMPTY_WORDS.contains(&word.as_str()) && meant.contains(&word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn free(feature: &str) -> String {
        branch_name("ann", feature, |_| false)
    }

    // P-42
    #[test]
    fn a_branch_is_called_after_its_feature() {
        assert_eq!(free("Add a search field"), "ann/add-a-search-field");
        assert_eq!(
            free("  Don't  crash: on `--help`!\n\nPlease."),
            "ann/dont-crash-on-help-please"
        );
        assert_eq!(free("Größere Knöpfe"), "ann/größere-knöpfe");
        assert_eq!(free("…"), "ann/feature");
        let long = "Let every user choose which of the columns are shown in the report";
        assert_eq!(free(long), "ann/let-every-user-choose-which-of-the-columns");
        let cut = free(&"x".repeat(80));
        assert_eq!((cut.len(), cut.starts_with("ann/xxx")), (49, true));
    }

    // P-43
    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken = ["ann/search", "ann/search-2"];
        assert_eq!(branch_name("ann", "Search", |name| taken.contains(&name)), "ann/search-3");
        let long = "x".repeat(80);
        let first = free(&long);
        let second = branch_name("ann", &long, |name| name == first);
        assert_eq!((second.len(), second.ends_with("x-2")), (49, true));
    }

    // P-43
    #[test]
    fn a_branch_is_about_a_feature_if_they_share_a_word() {
        let feature = "Add a Search field to the list";
        assert!(is_about("ann/search", "ann", feature));
        assert!(is_about("ann/fix_list.order", "ann", feature));
        assert!(!is_about("ann/research", "ann", feature));
        assert!(!is_about("ann/back-to-the-start", "ann", feature));
        assert!(!is_about("ann/dark-mode", "ann", "What ann wants"), "the prefix does not count");
    }

    proptest! {
        // Git's rules for a branch's name: `git check-ref-format`.
        #[test]
        fn every_feature_has_a_name_that_git_takes(feature in ".*", taken in 0_usize..12) {
            let left = std::cell::Cell::new(taken);
            let name = branch_name("ann-mary-elizabeth-l", &feature, |_| {
                let more = left.get() > 0;
                left.set(left.get().saturating_sub(1));
                more
            });
            prop_assert!(name.chars().count() < 50, "{name}");
            let own = name.strip_prefix("ann-mary-elizabeth-l/").unwrap();
            prop_assert!(!own.is_empty() && !own.starts_with('-') && !own.ends_with('-'));
            prop_assert!(own.chars().all(|c| c.is_alphanumeric() || c == '-'), "{name}");
        }
    }
}
