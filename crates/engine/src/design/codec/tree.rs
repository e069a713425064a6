//! Checks of the working tree and decisions about it, in the journal's form.

use convoke_domain::design::event::{Boundary, Event, Recovery, Tree};
use convoke_domain::tree::{DirtyReason, TreeEvidence, TreeStatus};
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

#[derive(Serialize, Deserialize)]
pub(super) struct TreeBody {
    boundary: String,
    /// A word of [`TreeStatus`].
    status: String,
    /// The words of an early journal; empty for a clean tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TreeBody {
    pub(super) fn new(boundary: Boundary, tree: &Tree) -> Self {
        let status = match tree {
            Tree::Clean => TreeStatus::Clean,
            Tree::Suspect { status, .. } => *status,
        };
        let of_status = Self {
            boundary: boundary.name().to_owned(),
            status: status.name().to_owned(),
            detail: None,
            reason: None,
            paths: Vec::new(),
            more: 0,
        };
        match tree {
            Tree::Clean => Self { detail: Some(String::new()), ..of_status },
            Tree::Suspect { evidence: TreeEvidence::Sentence(words), .. } => {
                Self { detail: Some(words.clone()), ..of_status }
            }
            Tree::Suspect { evidence: TreeEvidence::Found { reason, paths, more }, .. } => {
                let reason = reason.map(|reason| reason.name().to_owned());
                Self { reason, paths: paths.clone(), more: *more, ..of_status }
            }
        }
    }

    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let boundary = read.known(&self.boundary, Boundary::parse(&self.boundary))?;
        let status = read.known(&self.status, TreeStatus::parse(&self.status))?;
        let reason = |word: String| read.known(&word, DirtyReason::parse(&word));
        let tree = match (status, self.detail) {
            (TreeStatus::Clean, _) => Tree::Clean,
            (_, Some(words)) => Tree::Suspect { status, evidence: TreeEvidence::Sentence(words) },
            (_, None) => {
                let reason = self.reason.map(reason).transpose()?;
                let evidence = TreeEvidence::Found { reason, paths: self.paths, more: self.more };
                Tree::Suspect { status, evidence }
            }
        };
        Ok(Event::TreeChecked(boundary, tree))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct RecoveryBody {
    boundary: String,
    restored: bool,
}

impl RecoveryBody {
    pub(super) fn new(boundary: Boundary, recovery: Recovery) -> Self {
        Self { boundary: boundary.name().to_owned(), restored: recovery == Recovery::Restored }
    }

    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let boundary = read.known(&self.boundary, Boundary::parse(&self.boundary))?;
        let recovery = if self.restored { Recovery::Restored } else { Recovery::Cancelled };
        Ok(Event::TreeDecided(boundary, recovery))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};

    fn place(rest: &str) -> String {
        format!(r#"{{"boundary":"sketch-collection",{rest}}}"#)
    }

    #[test]
    fn a_check_is_read_as_it_was_written_and_an_early_journal_keeps_its_words() {
        for written in [
            r#""status":"clean","detail":"""#,
            r#""status":"dirty","detail":"working-tree-dirty (a.rs and 2 more)""#,
            r#""status":"dirty","reason":"working-tree-dirty","paths":["a.rs"],"more":2"#,
            r#""status":"unknown","reason":"git-status-failed""#,
            r#""status":"unknown""#,
        ] {
            let body = place(written);
            assert_eq!(encode(&decode("tree_checked", &body).unwrap()), ("tree_checked", body));
        }
        for wrong in [r#""status":"bored""#, r#""status":"dirty","reason":"bored""#, r#""more":1"#]
        {
            assert!(decode("tree_checked", &place(wrong)).is_err(), "{wrong}");
        }
    }
}
