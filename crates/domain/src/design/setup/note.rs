//! What a setup found that its user should know, as facts and as lines.

use super::branch::IncompleteBranchInfo;
use super::ground::counted;

/// A fact that a design tells when it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetUpNote {
    /// These uncommitted files hold only what Convoke's setup wrote.
    OwnFiles(Vec<String>),
    /// The design begins on uncommitted changes in so many files.
    UncommittedChanges(usize),
    /// The caller's branch facts lack a key, so Convoke asked git.
    IncompleteBranchInfo,
    /// The repository has no remote of this name.
    NoRemote(String),
    /// The default branch could not be fetched.
    FetchFailed {
        /// The name of the remote, such as `origin`.
        remote: String,
        /// The default branch.
        main: String,
        /// Git's message.
        said: String,
    },
    /// The branch that is left is not one of the user's own.
    ForeignBranch {
        /// The branch that is left.
        current: String,
        /// The prefix of the user's own branches.
        user_prefix: String,
        /// The default branch.
        main: String,
    },
    /// The name of the branch that is left suggests another feature.
    UnrelatedBranch {
        /// The branch that is left.
        current: String,
        /// The default branch.
        main: String,
    },
    /// A line of a journal from before journals held the facts above.
    Sentence(String),
}

impl SetUpNote {
    /// Tells whether the line is a warning in Markdown. Only a line of an early journal is looked at.
    pub fn is_warning(&self) -> bool {
        match self {
            Self::OwnFiles(_) => false,
            Self::Sentence(line) => line.starts_with("**"),
            Self::UncommittedChanges(_)
            | Self::IncompleteBranchInfo
            | Self::NoRemote(_)
            | Self::FetchFailed { .. }
            | Self::ForeignBranch { .. }
            | Self::UnrelatedBranch { .. } => true,
        }
    }

    /// Returns the line that a user reads.
    pub fn line(&self) -> String {
        match self {
            Self::OwnFiles(paths) => own_files(paths),
            Self::UncommittedChanges(count) => {
                format!("**⚠ {}. The agents plan on them as they are.**", counted(*count))
            }
            Self::IncompleteBranchInfo => IncompleteBranchInfo.to_string(),
            Self::NoRemote(remote) => {
                format!("**⚠ No remote '{remote}'. Nothing is fetched; the design stays local.**")
            }
            Self::FetchFailed { remote, main, said } => {
                format!("**⚠ git fetch {remote} {main} failed ({said}). The design stays local.**")
            }
            Self::ForeignBranch { current, user_prefix, main } => format!(
                "**⚠ Currently on branch '{current}' which doesn't match the expected \
                 '{user_prefix}/*' pattern. Creating a new branch from {main}.**"
            ),
            Self::UnrelatedBranch { current, main } => format!(
                "**⚠ Current branch '{current}' may not match the requested feature. Creating a new \
                 branch from {main}.**"
            ),
            Self::Sentence(line) => line.clone(),
        }
    }
}

fn own_files(paths: &[String]) -> String {
    let files = match paths.len() {
        1 => "1 file of Convoke's setup is not committed; commit it when you like".to_owned(),
        count => {
            format!("{count} files of Convoke's setup are not committed; commit them when you like")
        }
    };
    format!("{files}: {}", paths.join(", "))
}
