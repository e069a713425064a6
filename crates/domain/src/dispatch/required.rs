//! The block that tells a role what it must read. Its bytes are a contract.

use super::artifact::FeatureArtifact;
use super::confirmation::ExpectedFile;
use super::role::Noun;

/// The place of a feature's PRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prd {
    /// In the feature's folder.
    InFeature,
    /// The source that the feature's notes name; Convoke does not check that it still exists.
    Source(String),
    /// The feature has no such document.
    None,
}

/// One line of the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The document that the line demands.
    pub artifact: FeatureArtifact,
    /// Its absolute path; `None` for a PRD that does not exist.
    pub path: Option<String>,
}

impl Reference {
    /// Resolves an artifact of a feature's folder.
    pub fn resolve(artifact: &FeatureArtifact, feature: &str, prd: &Prd) -> Self {
        let here = || format!("{}/{artifact}", feature.trim_end_matches('/'));
        let path = match prd {
            Prd::None if *artifact == FeatureArtifact::PRD => None,
            Prd::Source(path) if *artifact == FeatureArtifact::PRD => Some(path.clone()),
            Prd::InFeature | Prd::Source(_) | Prd::None => Some(here()),
        };
        Self { artifact: artifact.clone(), path }
    }

    /// Returns what a reader is expected to confirm. Two files of a project may have one base name,
    /// so those are called by their paths.
    pub fn expected(&self) -> Option<ExpectedFile<'_>> {
        let path = self.path.as_deref()?;
        let base = path.rsplit('/').next().unwrap_or(path);
        let name = if self.artifact.is_in_project() { self.artifact.file() } else { base };
        Some(ExpectedFile { name, path })
    }

    /// Returns the name that a reader is expected to confirm.
    pub fn expected_name(&self) -> Option<&str> {
        self.expected().map(|expected| expected.name)
    }

    fn line(&self) -> String {
        let label = self.artifact.label();
        match &self.path {
            Some(path) => format!("- {label}: {path}"),
            None => format!("- {label}: No PRD \u{2014} feature created without brainstorm"),
        }
    }
}

/// Renders the block.
pub fn block(references: &[Reference], noun: Noun) -> String {
    let mut lines = vec![
        "## Required Artifacts".to_owned(),
        format!("You MUST read the following files before beginning your {}.", noun.word()),
        "After reading, confirm: \"Files read: {name} ({N} lines), ...\" in a single line."
            .to_owned(),
    ];
    lines.extend(references.iter().map(Reference::line));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURE: &str = "/repo/docs/features/031-example";

    fn rendered(artifacts: &[FeatureArtifact], prd: &Prd, noun: Noun) -> String {
        let resolved = artifacts.iter().map(|artifact| Reference::resolve(artifact, FEATURE, prd));
        block(&resolved.collect::<Vec<_>>(), noun)
    }

    // D-5, D-7, D-9
    #[test]
    fn a_missing_prd_is_noted() {
        assert_eq!(
            rendered(&[FeatureArtifact::PRD, FeatureArtifact::SPEC], &Prd::None, Noun::Review),
            "\
## Required Artifacts
You MUST read the following files before beginning your review.
After reading, confirm: \"Files read: {name} ({N} lines), ...\" in a single line.
- PRD: No PRD \u{2014} feature created without brainstorm
- Spec: /repo/docs/features/031-example/spec.md"
        );
    }

    // Section 11, examples 1 and 2
    #[test]
    fn artifacts_are_listed_in_the_roles_order() {
        let security =
            rendered(&[FeatureArtifact::DESIGN, FeatureArtifact::SPEC], &Prd::None, Noun::Review);
        let lines: Vec<_> = security.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "- Design: /repo/docs/features/031-example/design.md",
                "- Spec: /repo/docs/features/031-example/spec.md"
            ]
        );
        let source = Prd::Source("/repo/docs/brainstorms/x.prd.md".to_owned());
        let prd = rendered(&[FeatureArtifact::PRD], &source, Noun::Work);
        assert!(prd.ends_with("\n- PRD: /repo/docs/brainstorms/x.prd.md"), "{prd}");
        assert!(prd.contains("before beginning your work.\n"), "{prd}");
    }

    // D-42
    #[test]
    fn only_what_has_a_path_is_expected() {
        let name = |prd: &Prd| {
            let reference = Reference::resolve(&FeatureArtifact::PRD, FEATURE, prd);
            reference.expected_name().map(str::to_owned)
        };
        assert_eq!(name(&Prd::None), None);
        assert_eq!(name(&Prd::InFeature).as_deref(), Some("prd.md"));
        assert_eq!(name(&Prd::Source("/x/y.prd.md".to_owned())).as_deref(), Some("y.prd.md"));
    }
}
