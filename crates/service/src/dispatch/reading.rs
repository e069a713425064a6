//! Whether an agent read what it had to: what it says, and what its client's record proves.

use convoke_domain::dispatch::confirmation::{Confirmation, ConfirmationLevel, confirmation};
use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::role::{DispatchRole, Proof, RoleName};
use convoke_engine::dispatch::evidence::{DemandedFile, Evidence, miscounted};

use crate::failure::{ErrorClass, Failure};
use crate::receipt::ReceiptReport;

/// An answer's claims about reading, and the evidence.
pub(super) struct Reading {
    /// Nothing where no confirmation was demanded.
    pub(super) confirmation: Option<Confirmation>,
    pub(super) receipts: Option<Vec<ReceiptReport>>,
    /// Files that the record proves unread; `None` if unknown.
    pub(super) unproven: Option<Vec<String>>,
    /// Files that were read whole.
    pub(super) proven: Vec<String>,
    /// Required files that the record does not show to have been read whole.
    pub(super) not_proven: Vec<String>,
    pub(super) remarks: Vec<String>,
}

impl Reading {
    /// Judges the reading. Without a level the prompt required no confirmation; nor does it if the
    /// only document is a PRD that does not exist.
    pub(super) fn new(
        answer: &str,
        level: Option<ConfirmationLevel>,
        references: &[Reference],
        evidence: Option<&Evidence>,
        read_before: &[(String, u32)],
    ) -> Self {
        let expected: Vec<_> = references.iter().filter_map(Reference::expected).collect();
        let level = level.filter(|_| !expected.is_empty());
        let confirmation = level.map(|level| confirmation(answer, &expected, level));
        // An earlier round's reading counts if this round's record still shows it: a session may
        // have been compacted or replaced, and the file changed, since then.
        let not_proven = match evidence {
            Some(found) => found.without_proof(),
            None => {
                DemandedFile::of_references(references).into_iter().map(|file| file.name).collect()
            }
        };
        let counts = confirmation.as_ref().map(|found| found.line_counts.as_slice());
        let mut remarks = evidence.map(|found| found.diagnostics.clone()).unwrap_or_default();
        remarks.extend(miscounted(counts.unwrap_or_default(), references));
        remarks.extend(confirmation.iter().flat_map(confirmation_remarks));
        Self {
            receipts: evidence.map(|found| receipts(found, read_before)),
            unproven: evidence.filter(|_| level.is_some()).map(Evidence::unproven),
            not_proven,
            confirmation,
            proven: evidence.map(Evidence::proven).unwrap_or_default(),
            remarks,
        }
    }
}

/// Reports receipts. What a session read in an earlier round it did not have to read again.
fn receipts(found: &Evidence, read_before: &[(String, u32)]) -> Vec<ReceiptReport> {
    let report = |receipt| {
        let report = ReceiptReport::new(receipt);
        match read_before.iter().find(|(file, _)| *file == report.name) {
            Some((_, round)) => report.or_earlier(*round),
            None => report,
        }
    };
    found.receipts.iter().map(report).collect()
}

/// Explains why files that an answer names are not confirmed.
fn confirmation_remarks(found: &Confirmation) -> Vec<String> {
    let disputed = found.disputed.join(", ");
    let disagree = format!("the answer contradicts itself about reading {disputed}");
    let unclear = found.unclear.iter().map(|name| {
        format!("`{name}` in the answer matches several required files; only a path is unambiguous")
    });
    let disagree = (!found.disputed.is_empty()).then_some(disagree);
    disagree.into_iter().chain(unclear).collect()
}

#[derive(Debug, thiserror::Error)]
#[error("cannot require proof from `{role}`: it has no files to read")]
struct NothingToProve {
    role: RoleName,
}

/// Tells whether an answer passes only with proof of reading: the caller or the role may demand it. A
/// role that has nothing to read cannot give any.
pub(super) fn requires_proof(
    role: &DispatchRole,
    proof: Proof,
    references: &[Reference],
) -> Result<bool, Failure> {
    let is_required = [role.proof, proof].contains(&Proof::Required);
    if is_required && references.iter().all(|reference| reference.expected_name().is_none()) {
        let error = NothingToProve { role: role.name.clone() };
        return Err(Failure::new(ErrorClass::Usage, error)
            .hint("name files in `required` or `artifacts` of the role, or leave proof out"));
    }
    Ok(is_required)
}
