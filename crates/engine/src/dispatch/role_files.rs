//! Everything that a role must read: documents of a feature, files of the project, changed files.

use std::path::Path;

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::pattern::PathPattern;
use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::role::{DispatchRole, PromptProfile};

use super::feature::Feature;
use super::references;
use crate::git::tracked;

/// No reader gets through more, and every path is a line of the prompt.
const MOST_FILES: usize = 500;

/// A role's key that demands what cannot be demanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot dispatch `{role}`: `{key}`: {reason}")]
pub struct RoleFilesError {
    /// The role's name.
    pub role: String,
    /// The configuration key.
    pub key: &'static str,
    /// The error.
    pub reason: String,
}

/// Resolves the files that a role must read, with remarks about missing ones. `changed` are paths
/// relative to the project.
pub fn demanded(
    feature: &Feature,
    project: &Path,
    role: &DispatchRole,
    profile: PromptProfile,
    changed: &[String],
) -> Result<(Vec<Reference>, Vec<String>), RoleFilesError> {
    let (mut all, mut remarks) = references(feature, project, &role.reads(profile));
    let refuse = |key, reason| Err(RoleFilesError { role: role.name.to_string(), key, reason });
    let files = Files { project };
    if !role.required.is_empty() {
        if let Some(folder) = files.folder(role) {
            let reason =
                format!("`{folder}` is a folder; name its files with a pattern: `{folder}/**/*`");
            return refuse("required", reason);
        }
        let before = all.len();
        files.required(role, &mut all, &mut remarks);
        if all.len() == before && !role.needs_feature() && !role.reads_diff {
            let patterns: Vec<_> =
                role.required.iter().map(|pattern| format!("`{pattern}`")).collect();
            return refuse("required", format!("no file matches {}", patterns.join(", ")));
        }
        if all.len() > before + MOST_FILES {
            let reason = format!("more than {MOST_FILES} files match; name fewer");
            return refuse("required", reason);
        }
    }
    if role.reads_diff {
        let before = all.len();
        files.add(changed.iter().cloned(), &mut all, &mut remarks);
        if all.len() == before {
            let reason = "no changed file is left to read; name an earlier commit";
            return refuse("diff", reason.to_owned());
        }
        if all.len() > before + MOST_FILES {
            let reason = format!("more than {MOST_FILES} files changed; name a later commit");
            return refuse("diff", reason);
        }
    }
    Ok((all, remarks))
}

/// Resolves files of a project.
struct Files<'a> {
    project: &'a Path,
}

impl Files<'_> {
    /// Returns a path of a role that is a folder, which no agent can read.
    fn folder(&self, role: &DispatchRole) -> Option<String> {
        let mut paths = role.required.iter().filter_map(PathPattern::path);
        paths.find(|path| self.project.join(path).is_dir())
    }

    fn required(&self, role: &DispatchRole, all: &mut Vec<Reference>, remarks: &mut Vec<String>) {
        let mut listed: Option<Vec<String>> = None;
        for pattern in &role.required {
            if let Some(path) = pattern.path() {
                // As a document of a feature, it is demanded although it is missing.
                if self.project.join(&path).is_file() {
                    self.add([path], all, remarks);
                } else {
                    remarks.push(format!("artifact_missing:{path}"));
                    push(all, self.reference(path));
                }
                continue;
            }
            let listed = listed.get_or_insert_with(|| tracked::files(self.project));
            let fitting: Vec<_> =
                listed.iter().filter(|path| pattern.matches(path)).cloned().collect();
            if fitting.is_empty() {
                remarks.push(format!("required_no_match:{pattern}"));
            }
            self.add(fitting, all, remarks);
        }
    }

    /// Adds files of the project; links out of it are refused.
    fn add(
        &self,
        paths: impl IntoIterator<Item = String>,
        all: &mut Vec<Reference>,
        remarks: &mut Vec<String>,
    ) {
        let root = self.project.canonicalize().unwrap_or_else(|_| self.project.to_owned());
        for path in paths {
            let real = self.project.join(&path).canonicalize();
            match real {
                Ok(real) if !real.starts_with(&root) => {
                    remarks.push(format!("outside_project:{path}"));
                }
                Ok(real) if real.is_file() && !path.chars().any(char::is_control) => {
                    push(all, self.reference(path));
                }
                // Deleted files and folders cannot be read.
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn reference(&self, path: String) -> Reference {
        let absolute = std::path::absolute(self.project.join(&path));
        let absolute = absolute.unwrap_or_else(|_| self.project.join(&path));
        Reference {
            artifact: FeatureArtifact::in_project(path),
            path: Some(absolute.display().to_string()),
        }
    }
}

/// Adds a reference once.
fn push(all: &mut Vec<Reference>, reference: Reference) {
    if all.iter().all(|known| known.path != reference.path) {
        all.push(reference);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use convoke_domain::dispatch::role::{RoleName, Roles};

    use super::*;

    fn role(required: &[&str], reads_diff: bool) -> DispatchRole {
        let name = RoleName::parse("implement/code-simplifier").unwrap();
        let known = Roles::default().find(&name).cloned().unwrap();
        let required =
            required.iter().map(|pattern| PathPattern::parse(pattern).unwrap()).collect();
        DispatchRole { reads: Vec::new(), required, reads_diff, ..known }
    }

    fn project() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for path in ["src/a.rs", "src/deep/b.rs", "docs/adr/1.txt", "README.md"] {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        top
    }

    fn shown(top: &Path, role: &DispatchRole, changed: &[&str]) -> String {
        let feature = Feature::of_project(top);
        let changed: Vec<_> = changed.iter().map(ToString::to_string).collect();
        match demanded(&feature, top, role, PromptProfile::Seed, &changed) {
            Ok((found, remarks)) => {
                let names = found.iter().map(|reference| reference.artifact.file().to_owned());
                names.chain(remarks).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn files_are_demanded_by_path_and_by_pattern() {
        let top = project();
        for (required, expected) in [
            (&["src/**/*.rs"][..], "src/a.rs src/deep/b.rs"),
            (&["docs/adr/*", "README.md", "src/a.rs"], "docs/adr/1.txt README.md src/a.rs"),
            (&["src/a.rs", "src/*.rs"], "src/a.rs"),
            (&["src/gone.rs"], "src/gone.rs artifact_missing:src/gone.rs"),
            (&["src/a.rs", "*.py"], "src/a.rs required_no_match:*.py"),
            (
                &["*.py"],
                "cannot dispatch `implement/code-simplifier`: `required`: no file matches `*.py`",
            ),
            (
                &["README.md", "src/deep"],
                "cannot dispatch `implement/code-simplifier`: `required`: `src/deep` is a folder; \
                 name its files with a pattern: `src/deep/**/*`",
            ),
            (&["src/deep/**/*"], "src/deep/b.rs"),
        ] {
            assert_eq!(shown(top.path(), &role(required, false), &[]), expected, "{required:?}");
        }
    }

    #[test]
    fn changed_files_are_demanded_unless_they_are_gone() {
        let top = project();
        let both = role(&["README.md"], true);
        assert_eq!(shown(top.path(), &both, &["src/a.rs", "src/gone.rs"]), "README.md src/a.rs");
        let none = shown(top.path(), &role(&[], true), &["src/gone.rs"]);
        assert!(
            none.starts_with("cannot dispatch `implement/code-simplifier`: `diff`: "),
            "{none}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_demanded() {
        let top = project();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("key"), "secret").unwrap();
        std::os::unix::fs::symlink(outside.path().join("key"), top.path().join("src/key.rs"))
            .unwrap();
        let found = shown(top.path(), &role(&["src/*.rs"], false), &[]);
        assert_eq!(found, "src/a.rs outside_project:src/key.rs");
    }
}
