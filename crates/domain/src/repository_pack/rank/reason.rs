//! Why a file is in a pack, in words.

use std::fmt;

use super::super::evidence::TermCount;
use super::super::query::FeatureQuery;
use super::CandidateFile;

/// A signal weaker than this is no reason to name.
const LEAST: f64 = 0.1;

/// So many words are named.
const MOST_WORDS: usize = 4;

/// One reason why a file matters for a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InclusionReason {
    /// The feature names its path.
    Named,
    /// It defines things with these words of the feature.
    Defines {
        /// The words, the most telling first.
        words: Vec<String>,
    },
    /// Its path or text holds these words of the feature.
    Holds {
        /// The words, the most telling first.
        words: Vec<String>,
    },
    /// Commits with similar words changed it.
    SimilarCommits,
    /// It changed with another file that matters.
    ChangedWith {
        /// The other file.
        path: String,
    },
    /// It is the test, or the source, of another file that matters.
    Beside {
        /// The other file.
        path: String,
    },
    /// It changed recently.
    Recent,
}

impl InclusionReason {
    /// Tells whether the feature's words lead to the file, not only its past or its neighbours.
    pub const fn is_hit(&self) -> bool {
        match self {
            Self::Named | Self::Defines { .. } | Self::Holds { .. } | Self::SimilarCommits => true,
            Self::ChangedWith { .. } | Self::Beside { .. } | Self::Recent => false,
        }
    }

    /// Returns the reason's name for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Defines { .. } => "defines",
            Self::Holds { .. } => "holds",
            Self::SimilarCommits => "similar_commits",
            Self::ChangedWith { .. } => "changed_with",
            Self::Beside { .. } => "beside",
            Self::Recent => "recent",
        }
    }
}

impl fmt::Display for InclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named => f.write_str("named in the feature"),
            Self::Defines { words } => write!(f, "defines {}", words.join(", ")),
            Self::Holds { words } => write!(f, "holds {}", words.join(", ")),
            Self::SimilarCommits => f.write_str("changed by commits with similar words"),
            Self::ChangedWith { path } => write!(f, "changes with {path}"),
            Self::Beside { path } => write!(f, "beside {path}"),
            Self::Recent => f.write_str("changed recently"),
        }
    }
}

/// Collects the reasons of one file; `weights` are those of similar commits, recent changes and files
/// that change together.
pub(super) fn reasons(
    query: &FeatureQuery,
    file: &CandidateFile,
    idf: &[f64],
    [similar, recent, together]: [f64; 3],
    partner: Option<String>,
    named: Option<f64>,
) -> Vec<InclusionReason> {
    let words = |is_in: fn(&TermCount) -> bool| {
        let mut found: Vec<_> = file
            .evidence
            .counts
            .iter()
            .filter(|(_, count)| is_in(count))
            .map(|(term, _)| (query.terms[*term].weight * idf[*term], *term))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let found = found.into_iter().take(MOST_WORDS);
        found.map(|(_, term)| query.terms[term].shown.clone()).collect::<Vec<_>>()
    };
    let defines = words(|count| count.symbol > 0);
    let holds = words(|count| count.symbol == 0);
    let mut found = Vec::new();
    found.extend(named.map(|_| InclusionReason::Named));
    if !defines.is_empty() {
        found.push(InclusionReason::Defines { words: defines });
    }
    if !holds.is_empty() {
        found.push(InclusionReason::Holds { words: holds });
    }
    if similar > LEAST {
        found.push(InclusionReason::SimilarCommits);
    }
    if together > LEAST {
        found.extend(partner.map(|path| InclusionReason::ChangedWith { path }));
    }
    if recent > LEAST {
        found.push(InclusionReason::Recent);
    }
    found
}
