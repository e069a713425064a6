//! The documents of a feature that roles are sent to.

use std::borrow::Cow;
use std::fmt;

/// One document of a feature, by its file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureArtifact(Cow<'static, str>);

/// A text that names no artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an artifact: it must be one file name, such as `design.md`")]
pub struct InvalidArtifact {
    given: String,
}

impl FeatureArtifact {
    /// The requirements: the goal and its reasons.
    pub const PRD: Self = Self(Cow::Borrowed("prd.md"));
    /// The exact specification.
    pub const SPEC: Self = Self(Cow::Borrowed("spec.md"));
    /// The design.
    pub const DESIGN: Self = Self(Cow::Borrowed("design.md"));
    /// The steps.
    pub const PLAN: Self = Self(Cow::Borrowed("plan.md"));
    /// The plan's steps, divided into tasks.
    pub const TASKS: Self = Self(Cow::Borrowed("tasks.md"));

    /// The five that every feature may have, in the order they are written.
    pub const ALL: [Self; 5] = [Self::PRD, Self::SPEC, Self::DESIGN, Self::PLAN, Self::TASKS];

    /// Reads a file name; `.md` may be left out.
    pub fn parse(given: &str) -> Result<Self, InvalidArtifact> {
        let stem = given.strip_suffix(".md").unwrap_or(given);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if stem.is_empty() || stem.starts_with('.') || !stem.chars().all(plain) {
            return Err(InvalidArtifact { given: given.to_owned() });
        }
        Ok(Self(Cow::Owned(format!("{stem}.md"))))
    }

    /// Takes any file of a project by its path, relative to that.
    pub const fn in_project(path: String) -> Self {
        Self(Cow::Owned(path))
    }

    /// Tells whether it is a file of the project instead of a document of a feature.
    pub fn is_in_project(&self) -> bool {
        self.0.contains('/') || !self.0.ends_with(".md")
    }

    /// Returns the file name, or the path of a file of the project.
    pub fn file(&self) -> &str {
        &self.0
    }

    /// Returns what prompts call it: `PRD`, `Spec`, `Design`, or the path of a file of the project.
    pub fn label(&self) -> String {
        if self.is_in_project() {
            return self.0.clone().into_owned();
        }
        let stem = self.0.strip_suffix(".md").unwrap_or(&self.0);
        if *self == Self::PRD {
            return "PRD".to_owned();
        }
        let mut letters = stem.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }
}

impl fmt::Display for FeatureArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D-1
    #[test]
    fn artifacts_have_labels() {
        let labels =
            FeatureArtifact::ALL.map(|artifact| format!("{artifact} {}", artifact.label()));
        assert_eq!(
            labels,
            ["prd.md PRD", "spec.md Spec", "design.md Design", "plan.md Plan", "tasks.md Tasks"]
        );
        assert_eq!(FeatureArtifact::parse("spec"), Ok(FeatureArtifact::SPEC));
        assert_eq!(FeatureArtifact::parse("threat-model.md").unwrap().label(), "Threat-model");
        for given in ["", ".md", "a/b.md", "..", "../spec.md", "a b"] {
            assert!(FeatureArtifact::parse(given).is_err(), "{given}");
        }
    }
}
