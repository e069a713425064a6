//! Measuring what references save over a tree of features.

use std::path::Path;

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::prompt::{Iteration, PromptParts, prompt};
use convoke_domain::dispatch::required::{Prd, Reference, block};
use convoke_domain::dispatch::role::{DispatchRole, PromptProfile, Roles};
use convoke_domain::dispatch::savings::{Costs, FeatureSizes, Frame, costs};
use convoke_domain::dispatch::texts::{returns, rubric};
use convoke_domain::finding::FileFinding;
use convoke_domain::text::Text;

use super::feature::{Feature, MAX_BYTES, folders, reason};
use super::task::prd_sections;
use crate::file;

/// The cost of one pass of dispatches over all features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Savings {
    /// The features that were measured.
    pub measured: Vec<String>,
    /// The features that lack a document, or have one that gives no text.
    pub skipped: Vec<String>,
    /// By role, over all features.
    pub roles: Vec<(String, Costs)>,
    /// Everything.
    pub all: Costs,
}

/// The parts of a prompt that count beside documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredParts {
    /// Everything: rubric, references, iteration, return format.
    Whole,
    /// Only the references.
    Bare,
}

/// Measures every feature below a folder.
pub fn measure(features: &Path, project: &Path, roles: &Roles, framing: MeasuredParts) -> Savings {
    let mut savings = Savings {
        measured: Vec::new(),
        skipped: Vec::new(),
        roles: roles.all().iter().map(|role| (role.name.to_string(), Costs::default())).collect(),
        all: Costs::default(),
    };
    let features = std::path::absolute(features).unwrap_or_else(|_| features.to_owned());
    for name in folders(&features) {
        let feature = Feature::at(&features.join(&name));
        let Some(sizes) = sizes(&feature, project) else {
            savings.skipped.push(name);
            continue;
        };
        for (role, (_, sum)) in roles.all().iter().zip(&mut savings.roles) {
            let has_prd = sizes.chars.contains_key(&FeatureArtifact::PRD);
            let prd = if has_prd { Prd::InFeature } else { Prd::None };
            let costs = costs(role, &sizes, frame(role, &feature, &prd, framing));
            *sum = sum.plus(costs);
            savings.all = savings.all.plus(costs);
        }
        savings.measured.push(name);
    }
    savings
}

/// Measures a feature's documents; `None` if it is not complete.
fn sizes(feature: &Feature, project: &Path) -> Option<FeatureSizes> {
    let mut sizes = FeatureSizes::default();
    for artifact in FeatureArtifact::ALL {
        let found = feature.read(&artifact);
        if reason(&found).is_some() {
            return None;
        }
        if let FileFinding::Text(text) = found {
            let text = text.trim_end_matches(['\r', '\n']);
            sizes.chars.insert(artifact, Text::new(text).chars());
        }
    }
    if let (Prd::Source(path), _) = feature.prd(project)
        && let Some(text) = file::text(Path::new(&path), MAX_BYTES)
    {
        sizes
            .chars
            .insert(FeatureArtifact::PRD, Text::new(text.trim_end_matches(['\r', '\n'])).chars());
    }
    sizes.prd_sections = prd_sections(feature, project).map_or(0, |text| Text::new(&text).chars());
    sizes.is_complete().then_some(sizes)
}

/// Measures a role's prompt without any document in it.
fn frame(role: &DispatchRole, feature: &Feature, prd: &Prd, framing: MeasuredParts) -> Frame {
    let dir = feature.dir.display().to_string();
    let length = |profile: PromptProfile, listed: bool| {
        let reads = role.reads(profile);
        let references: Vec<_> =
            reads.iter().map(|artifact| Reference::resolve(artifact, &dir, prd)).collect();
        let text = prompt(&PromptParts {
            role,
            profile,
            rubric: rubric(role),
            references: &references,
            target: Some(""),
            files: &[],
            outcome: None,
            next_phase: None,
            iteration: Iteration { number: 1, max: 5, issues: &[], note: None },
            returns: returns(role),
        });
        let block = Text::new(&block(&references, role.noun)).chars();
        match (framing, listed) {
            (MeasuredParts::Whole, true) => Text::new(&text).chars(),
            (MeasuredParts::Whole, false) => Text::new(&text).chars() - block,
            (MeasuredParts::Bare, true) => block,
            (MeasuredParts::Bare, false) => 0,
        }
    };
    Frame {
        pasted: length(PromptProfile::Seed, false),
        seed: length(PromptProfile::Seed, true),
        all_reference: length(PromptProfile::AllReference, true),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn features(names: &[&str]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for name in names {
            let dir = top.path().join("features").join(name);
            fs::create_dir_all(&dir).unwrap();
            for (file, size) in
                [("spec.md", 4000), ("design.md", 8000), ("plan.md", 6000), ("tasks.md", 2000)]
            {
                fs::write(dir.join(file), "x".repeat(size)).unwrap();
            }
        }
        top
    }

    // D-82: both rows, for any tree of features.
    #[test]
    fn a_tree_of_features_is_measured() {
        let top = features(&["001-a", "002-b", "003-c"]);
        fs::remove_file(top.path().join("features/002-b/plan.md")).unwrap();
        fs::write(top.path().join("features/003-c/spec.md"), b"\xff").unwrap();
        let found = measure(
            &top.path().join("features"),
            top.path(),
            &Roles::default(),
            MeasuredParts::Whole,
        );
        assert_eq!(
            (found.measured, found.skipped),
            (vec!["001-a".to_owned()], vec!["002-b".to_owned(), "003-c".to_owned()])
        );
        assert_eq!(found.roles.len(), 14);
        let Costs { pasted, seed, all_reference } = found.all;
        assert!(all_reference.prompt < seed.prompt && seed.prompt < pasted.prompt);
        assert_eq!(pasted.prompt, pasted.total, "what is pasted need not be read");
        assert!(all_reference.total.tenths() * 2 > pasted.total.tenths(), "reading stays");
        let sum = found.roles.iter().fold(Costs::default(), |sum, (_, costs)| sum.plus(*costs));
        assert_eq!(sum, found.all);
    }
}
