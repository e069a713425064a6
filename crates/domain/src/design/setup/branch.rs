//! Which branch is checked out, and which one a design is made on.

use super::branch_name;
use super::entry_gate::GateWords;
use super::note::SetUpNote;

/// Facts about the checked-out branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchFacts {
    /// Its name; empty when a commit is checked out.
    pub current: String,
    /// Whether it is the default branch, or none.
    pub is_main: bool,
    /// Whether it is one of the user's own.
    pub is_user_branch: bool,
    /// The prefix of the user's own branches.
    pub user_prefix: String,
}

impl BranchFacts {
    /// Judges the branch that is checked out.
    pub fn new(current: Option<&str>, main: &str, user_name: &str) -> Self {
        let user_prefix = user_prefix(user_name);
        let current = current.unwrap_or_default().to_owned();
        let is_main = current.is_empty() || current == main;
        let is_own = current.strip_prefix(&user_prefix).is_some_and(|rest| rest.starts_with('/'));
        Self { current, is_main, is_user_branch: !is_main && is_own, user_prefix }
    }

    /// Returns the facts as programs read them.
    pub fn lines(&self) -> [String; 4] {
        let Self { current, is_main, is_user_branch, user_prefix } = self;
        [
            format!("CURRENT_BRANCH={current}"),
            format!("IS_MAIN={is_main}"),
            format!("IS_USER_BRANCH={is_user_branch}"),
            format!("USER_PREFIX={user_prefix}"),
        ]
    }

    /// Returns the facts as the caller gave them, after the gate has accepted them.
    pub fn given(words: &GateWords) -> Self {
        Self {
            current: words.current_branch.clone(),
            is_main: words.is_main == "true",
            is_user_branch: words.is_user_branch == "true",
            user_prefix: words.user_prefix.clone(),
        }
    }
}

/// Makes the beginning of a user's branches from their name.
///
/// A hyphen in front is taken away like one at the end: git would take it for a flag.
pub fn user_prefix(user_name: &str) -> String {
    let plain = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-';
    let lower = user_name.to_ascii_lowercase().replace(' ', "-");
    let kept: String = lower.chars().filter(plain).take(20).collect();
    match kept.trim_matches('-') {
        "" => "dev".to_owned(),
        prefix => prefix.to_owned(),
    }
}

/// The value of `--branch-info` lacks one of its four keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("**⚠ --branch-info is incomplete. Falling back to create-branch.sh --check.**")]
pub struct IncompleteBranchInfo;

/// Reads `KEY=VALUE` pairs. The first of a key counts, and further keys say nothing.
pub fn parse_branch_info(value: &str) -> Result<GateWords, IncompleteBranchInfo> {
    let find = |key: &str| {
        let mut pairs = value.split_whitespace().filter_map(|word| word.split_once('='));
        let found = pairs.find(|(name, _)| *name == key);
        found.map(|(_, value)| value.to_owned()).ok_or(IncompleteBranchInfo)
    };
    Ok(GateWords {
        current_branch: find("CURRENT_BRANCH")?,
        is_main: find("IS_MAIN")?,
        is_user_branch: find("IS_USER_BRANCH")?,
        user_prefix: find("USER_PREFIX")?,
        branch_info_supplied: true,
    })
}

/// Which branch a design is made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchChoice {
    /// The checked-out branch.
    Keep,
    /// A new branch.
    Create {
        /// The warning about the branch that is left.
        warning: Option<SetUpNote>,
    },
    /// The user must choose: the branch is the user's own, but its name suggests another feature.
    Doubtful {
        /// The warning if a new branch is made.
        warning: SetUpNote,
    },
}

/// Chooses the branch for a feature.
pub fn choose(facts: &BranchFacts, feature: &str, main: &str) -> BranchChoice {
    let BranchFacts { current, user_prefix, .. } = facts;
    if facts.is_main {
        BranchChoice::Create { warning: None }
    } else if !facts.is_user_branch {
        let warning = SetUpNote::ForeignBranch {
            current: current.clone(),
            user_prefix: user_prefix.clone(),
            main: main.to_owned(),
        };
        BranchChoice::Create { warning: Some(warning) }
    } else if branch_name::is_about(current, user_prefix, feature) {
        BranchChoice::Keep
    } else {
        let warning =
            SetUpNote::UnrelatedBranch { current: current.clone(), main: main.to_owned() };
        BranchChoice::Doubtful { warning }
    }
}

/// Returns how step 1 begins on a branch that is kept.
pub fn kept(branch: &str) -> String {
    format!("using existing: {}", if branch.is_empty() { "(detached)" } else { branch })
}

/// A branch that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ERROR: Failed to create branch: {name}")]
pub struct BranchNotCreated {
    /// The name of the branch.
    pub name: String,
}

impl BranchNotCreated {
    /// The exit code.
    pub const CODE: u8 = 2;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-39
    #[test]
    fn a_user_has_a_prefix() {
        for (name, prefix) in [
            ("Ann", "ann"),
            ("Ann Mary Lee", "ann-mary-lee"),
            ("Ann O'Neill_9", "ann-oneill9"),
            ("Zoë", "zo"),
            ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrst"),
            ("abcdefghijklmnopqrs tuv", "abcdefghijklmnopqrs"),
            ("李", "dev"),
            ("李 Wang", "wang"),
            ("", "dev"),
            (" - ", "dev"),
        ] {
            assert_eq!(user_prefix(name), prefix, "{name}");
        }
    }

    // P-36, P-37, P-38
    #[test]
    fn a_branch_is_main_or_the_users_own_or_neither() {
        for (current, main, lines) in [
            (Some("main"), "main", "CURRENT_BRANCH=main IS_MAIN=true IS_USER_BRANCH=false"),
            (Some("trunk"), "trunk", "CURRENT_BRANCH=trunk IS_MAIN=true IS_USER_BRANCH=false"),
            (Some("main"), "trunk", "CURRENT_BRANCH=main IS_MAIN=false IS_USER_BRANCH=false"),
            (Some("ann/x"), "main", "CURRENT_BRANCH=ann/x IS_MAIN=false IS_USER_BRANCH=true"),
            (Some("ann"), "main", "CURRENT_BRANCH=ann IS_MAIN=false IS_USER_BRANCH=false"),
            (Some("anna/x"), "main", "CURRENT_BRANCH=anna/x IS_MAIN=false IS_USER_BRANCH=false"),
            (None, "main", "CURRENT_BRANCH= IS_MAIN=true IS_USER_BRANCH=false"),
        ] {
            let facts = BranchFacts::new(current, main, "Ann");
            assert_eq!(facts.lines().join(" "), format!("{lines} USER_PREFIX=ann"));
        }
    }

    // P-19, P-21, P-22, P-23
    #[test]
    fn facts_that_are_given_are_taken() {
        let given = "IS_MAIN=false  X=1 IS_USER_BRANCH=true USER_PREFIX=ann CURRENT_BRANCH=ann/a=b \
                     IS_MAIN=true";
        let words = parse_branch_info(given).unwrap();
        let facts = BranchFacts::given(&words);
        assert_eq!(
            facts.lines().join(" "),
            "CURRENT_BRANCH=ann/a=b IS_MAIN=false IS_USER_BRANCH=true USER_PREFIX=ann"
        );
        assert!(words.branch_info_supplied);
        let detached = "IS_MAIN=true IS_USER_BRANCH=false USER_PREFIX=ann CURRENT_BRANCH=";
        assert_eq!(parse_branch_info(detached).unwrap().current_branch, "");
    }

    // P-20
    #[test]
    fn facts_that_are_incomplete_are_not_taken() {
        let pairs = ["IS_MAIN=false", "IS_USER_BRANCH=true", "USER_PREFIX=ann", "CURRENT_BRANCH=x"];
        for left_out in 0..pairs.len() {
            let mut given = pairs.to_vec();
            given.remove(left_out);
            let error = parse_branch_info(&given.join(" ")).unwrap_err();
            assert_eq!(
                error.to_string(),
                "**⚠ --branch-info is incomplete. Falling back to create-branch.sh --check.**"
            );
        }
    }

    fn on(branch: &str) -> BranchFacts {
        BranchFacts::new(Some(branch), "main", "Ann")
    }

    // P-42
    #[test]
    fn a_branch_is_kept_only_if_it_is_the_users_and_about_the_feature() {
        let feature = "Add a search field";
        assert_eq!(choose(&on("main"), feature, "main"), BranchChoice::Create { warning: None });
        assert_eq!(choose(&on("ann/search"), feature, "main"), BranchChoice::Keep);
        let warning = "**⚠ Current branch 'ann/dark-mode' may not match the requested feature. Creating a new branch from main.**";
        let BranchChoice::Doubtful { warning: note } =
            choose(&on("ann/dark-mode"), feature, "main")
        else {
            panic!("it is kept")
        };
        assert_eq!(note.line(), warning);
        let warning = "**⚠ Currently on branch 'bob/search' which doesn't match the expected 'ann/*' pattern. Creating a new branch from main.**";
        let BranchChoice::Create { warning: Some(note) } =
            choose(&on("bob/search"), feature, "main")
        else {
            panic!("it is kept")
        };
        assert_eq!(note.line(), warning);
        assert_eq!(kept("ann/search"), "using existing: ann/search");
    }

    proptest! {
        #[test]
        fn a_prefix_is_short_and_plain(name in ".*") {
            let prefix = user_prefix(&name);
            prop_assert!((1..=20).contains(&prefix.len()));
            prop_assert!(!prefix.starts_with('-') && !prefix.ends_with('-'));
            prop_assert!(prefix.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        }

        #[test]
        fn any_branch_info_is_parsed_or_incomplete(value in "([A-Z_]{0,14}=?[a-z ]{0,5} ?){0,6}|.*") {
            if let Ok(words) = parse_branch_info(&value) {
                for word in [&words.current_branch, &words.is_main, &words.user_prefix] {
                    prop_assert!(!word.contains(char::is_whitespace));
                }
            }
        }
    }
}
