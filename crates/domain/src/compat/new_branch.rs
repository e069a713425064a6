//! A script's request about branches.

use crate::design::setup::branch::BranchFacts;

/// A script's request about branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchOrder {
    /// Print facts about the checked-out branch.
    Check,
    /// Create a new branch.
    Create(String),
}

/// A branch that a script does not get.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewBranchError {
    /// An option that the script does not have.
    #[error("Unknown option: {0}")]
    UnknownOption(String),
    /// A flag without a value.
    #[error("ERROR: --branch requires a value")]
    MissingValue,
    /// No mode was given.
    #[error("ERROR: --check or --branch is required")]
    NoMode,
    /// It would not be the user's own.
    #[error("ERROR: Branch name must start with '{prefix}/': {name}")]
    NotOwn {
        /// The prefix of the user's own branches.
        prefix: String,
        /// The branch.
        name: String,
    },
    /// The branch already exists.
    #[error("ERROR: Branch already exists: {0}")]
    Exists(String),
    /// The remote could not be reached.
    #[error("ERROR: Failed to fetch origin/{0}")]
    FetchFailed(String),
    /// Git did not make it.
    #[error("ERROR: Failed to create branch: {0}")]
    NotCreated(String),
    /// There is no working tree.
    #[error("ERROR: Not in a git working tree")]
    NoWorkTree,
}

impl NewBranchError {
    /// Returns the exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Exists(_) => 1,
            Self::UnknownOption(_)
            | Self::MissingValue
            | Self::NoMode
            | Self::NotOwn { .. }
            | Self::FetchFailed(_)
            | Self::NotCreated(_)
            | Self::NoWorkTree => 2,
        }
    }
}

impl BranchOrder {
    /// Reads a script's words; the last of them counts.
    pub fn parse(words: &[String]) -> Result<Self, NewBranchError> {
        let mut order = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            order = Some(match word.as_str() {
                "--check" => Self::Check,
                "--branch" => {
                    let name = words.next().filter(|name| !name.is_empty());
                    Self::Create(name.ok_or(NewBranchError::MissingValue)?.clone())
                }
                _ => return Err(NewBranchError::UnknownOption(word.clone())),
            });
        }
        order.ok_or(NewBranchError::NoMode)
    }
}

/// A user makes branches of their own only.
pub fn check_own(facts: &BranchFacts, name: &str) -> Result<(), NewBranchError> {
    let prefix = &facts.user_prefix;
    if name.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with('/')) {
        return Ok(());
    }
    Err(NewBranchError::NotOwn { prefix: prefix.clone(), name: name.to_owned() })
}

/// Returns the output for a created branch.
pub fn created(name: &str) -> [String; 2] {
    [format!("BRANCH_NAME={name}"), "ACTION=created".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<BranchOrder, (String, u8)> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        BranchOrder::parse(&words).map_err(|error| (error.to_string(), error.code()))
    }

    // P-41
    #[test]
    fn a_script_says_what_it_wants() {
        assert_eq!(parsed("--check"), Ok(BranchOrder::Check));
        assert_eq!(parsed("--branch a/b"), Ok(BranchOrder::Create("a/b".to_owned())));
        let required = "ERROR: --check or --branch is required";
        assert_eq!(parsed(""), Err((required.to_owned(), 2)));
        assert_eq!(parsed("--help"), Err(("Unknown option: --help".to_owned(), 2)));
        assert_eq!(parsed("--branch").map_err(|refusal| refusal.1), Err(2));
    }

    // P-40
    #[test]
    fn only_a_branch_of_the_users_own_is_made() {
        let facts = BranchFacts::new(Some("main"), "main", "Ann");
        assert_eq!(check_own(&facts, "ann/x"), Ok(()));
        for name in ["ann", "anna/x", "x", "/ann/x"] {
            let error = check_own(&facts, name).unwrap_err();
            let text = format!("ERROR: Branch name must start with 'ann/': {name}");
            assert_eq!((error.to_string(), error.code()), (text, 2));
        }
        assert_eq!(NewBranchError::Exists(String::new()).code(), 1);
        assert_eq!(created("ann/x").join(" "), "BRANCH_NAME=ann/x ACTION=created");
    }
}
