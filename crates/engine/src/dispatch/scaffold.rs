//! A feature's folder and a role of the project's own, to write in.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::feature_name::FeatureName;

use crate::file;

/// The documents of a new feature.
const DOCUMENTS: [(&str, &str); 4] = [
    ("spec.md", include_str!("../../scaffold/feature/spec.md")),
    ("design.md", include_str!("../../scaffold/feature/design.md")),
    ("plan.md", include_str!("../../scaffold/feature/plan.md")),
    ("tasks.md", include_str!("../../scaffold/feature/tasks.md")),
];

/// The instructions of the project's own reviewer.
const RUBRIC: &str = include_str!("../../scaffold/feature/project-reviewer.md");

/// The project's own reviewer.
pub const ROLE: &str = "review/project-reviewer";

const CONFIGURATION: &str = "convoke.toml";

/// The files after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scaffold {
    /// The feature's folder, below the project.
    pub feature: PathBuf,
    /// Files that were made, below the project.
    pub created: Vec<PathBuf>,
    /// Files that were there, which stay as they are.
    pub kept: Vec<PathBuf>,
    /// Lines that `convoke.toml` lacks, if it was there.
    pub missing_role: Option<String>,
}

/// Why not all files were created. Created files stay; the next call continues.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// A link leads out of the project.
    #[error("cannot create `{}`: it leads out of the project", path.display())]
    Outside {
        /// The path, below the project.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot create `{}`", path.display())]
    Create {
        /// The path, below the project.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Creates the missing parts of a feature's folder, of the project's own reviewer and of its entry
/// in `convoke.toml`. It never changes a file that exists.
pub fn scaffold(
    project: &Path,
    artifacts_root: &Path,
    name: &FeatureName,
) -> Result<Scaffold, ScaffoldError> {
    let features = artifacts_root.join("features");
    let feature = features.join(name.folder(&folders(&project.join(&features))));
    let rubric = artifacts_root.join("roles/project-reviewer.md");
    let mut made = Scaffold { feature, created: Vec::new(), kept: Vec::new(), missing_role: None };
    for (document, text) in DOCUMENTS {
        made.put(project, made.feature.join(document), text)?;
    }
    made.put(project, rubric.clone(), RUBRIC)?;
    let entry = role_entry(&rubric);
    made.put(project, CONFIGURATION.into(), &entry)?;
    let is_kept = made.kept.iter().any(|path| path == Path::new(CONFIGURATION));
    let text = fs::read_to_string(project.join(CONFIGURATION)).unwrap_or_default();
    made.missing_role = (is_kept && !text.contains(&format!("\"{ROLE}\""))).then_some(entry);
    Ok(made)
}

fn role_entry(rubric: &Path) -> String {
    let rubric = rubric.to_string_lossy().replace('\\', "/");
    format!("[dispatch.roles.\"{ROLE}\"]\ndiff = true\nrubric = \"{rubric}\"\n")
}

impl Scaffold {
    fn put(&mut self, project: &Path, path: PathBuf, text: &str) -> Result<(), ScaffoldError> {
        if !file::stays_inside(project, &path) {
            return Err(ScaffoldError::Outside { path });
        }
        match write_new(&project.join(&path), text) {
            Ok(()) => self.created.push(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.kept.push(path),
            Err(source) => return Err(ScaffoldError::Create { path, source }),
        }
        Ok(())
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        // A file in place of a folder is an obstacle, not a file that is kept.
        let is_taken = |error: &io::Error| error.kind() == ErrorKind::AlreadyExists;
        fs::create_dir_all(folder).map_err(|error| {
            if is_taken(&error) { ErrorKind::NotADirectory.into() } else { error }
        })?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn folders(features: &Path) -> Vec<String> {
    let entries = fs::read_dir(features).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
