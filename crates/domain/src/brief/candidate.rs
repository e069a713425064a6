//! The file for a name in the design folder.

use super::name::BriefName;
use crate::finding::FileFinding;

/// A name of the priority list and what its file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The document's name.
    pub name: BriefName,
    /// The result of reading the file.
    pub finding: FileFinding,
}
