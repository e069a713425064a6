//! A repository as a text for an agent without tools: its tree, and the parts of its files that matter
//! most for a feature, within a budget.
//!
//! Facts come in (paths, texts, past commits), and a decision goes out. Reading is the engine's part.

mod definition;
mod evidence;
mod fit;
mod generated;
mod language;
mod query;
mod rank;
mod render;
mod tree;
mod words;

pub use self::definition::LineRange;
pub use self::evidence::FileEvidence;
pub use self::fit::{
    FitRequest, PackFrameTooLarge, PackLayout, PackSource, PackedFile, RepositoryPack, fit,
};
pub use self::generated::{GeneratedSign, is_lock_file, sign_of_generated};
pub use self::query::FeatureQuery;
pub use self::rank::{CandidateFile, InclusionReason, PastChange, RankedFile, rank, rarity};

#[cfg(test)]
mod tests;
