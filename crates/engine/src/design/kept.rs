//! The journal's record of a completed design.

use convoke_domain::design::event::Kept;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;

use crate::skill::hash;

/// Returns what a design ended with.
pub fn kept(outline: &DesignOutline) -> Kept {
    let undecided = outline.matters.iter().filter(|matter| matter.is_open()).count();
    Kept {
        files: hashes(outline),
        warnings: Some(outline.warnings.len()),
        undecided: Some(undecided),
        verdicts: Some(outline.results.verdicts()),
    }
}

/// Returns the hash of every artifact, by name.
pub fn hashes(outline: &DesignOutline) -> Vec<(String, String)> {
    render::artifacts(outline).into_iter().map(|(name, text)| (name, hash(&*text))).collect()
}
