//! Creating a design folder for people to write in.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files of a new folder. Each document but the README is recognised as scaffold.
const FILES: [(&str, &str); 4] = [
    ("README.md", include_str!("../../scaffold/README.md")),
    ("spec.md", include_str!("../../scaffold/spec.md")),
    ("system.md", include_str!("../../scaffold/system.md")),
    ("research.md", include_str!("../../scaffold/research.md")),
];

/// Empty folders beside them.
const FOLDERS: [&str; 2] = ["wireframes", "screenshots"];

/// Names that belong to other tools.
const RESERVED: [&str; 3] = ["tokens.json", "components.json", "import-warnings.json"];

/// The result of creating a design folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BriefInitOutcome {
    /// These files and folders were made.
    Created(Vec<PathBuf>),
    /// The folder already holds files; nothing was touched.
    AlreadyInUse,
}

/// Why not all files were created.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// A file has a name that belongs to another tool.
    #[error("reserved filename: {name}")]
    Reserved {
        /// The name, relative to the design folder.
        name: String,
    },
    /// The system refused.
    #[error("cannot create `{}`", path.display())]
    Create {
        /// The path to create.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The system refused to list the folder.
    #[error("cannot list `{}`", path.display())]
    List {
        /// The path of the folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Creates the folder with its scaffold. A file that exists is never overwritten, not even one that
/// another process creates at the same moment.
pub fn init(dir: &Path) -> Result<BriefInitOutcome, InitError> {
    if let Some(name) = reserved_name(dir)? {
        return Err(InitError::Reserved { name });
    }
    let taken = |name: &str| fs::symlink_metadata(dir.join(name)).is_ok();
    if !visible_files(dir)?.is_empty() || FILES.iter().any(|(name, _)| taken(name)) {
        return Ok(BriefInitOutcome::AlreadyInUse);
    }
    let mut created = Vec::new();
    for folder in FOLDERS.map(|name| dir.join(name)) {
        create(&folder, fs::create_dir_all(&folder))?;
        created.push(folder);
    }
    for (name, text) in FILES {
        let path = dir.join(name);
        create(&path, write_new(&path, text))?;
        created.push(path);
    }
    Ok(BriefInitOutcome::Created(created))
}

fn reserved_name(dir: &Path) -> Result<Option<String>, InitError> {
    if let Some(name) = RESERVED.into_iter().find(|name| dir.join(name).exists()) {
        return Ok(Some(name.to_owned()));
    }
    let folder = dir.join("brief");
    let briefs = if folder.is_dir() { visible_files(&folder)? } else { Vec::new() };
    let is_brief = |name: &&String| {
        name.starts_with("BRIEF-") && Path::new(name).extension().is_some_and(|end| end == "md")
    };
    let name = briefs.iter().find(is_brief);
    Ok(name.map(|name| format!("brief/{name}")))
}

/// Returns the regular files of a folder that are not hidden. A folder that is not there has none.
fn visible_files(dir: &Path) -> Result<Vec<String>, InitError> {
    let list = |source| InitError::List { path: dir.to_owned(), source };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries.collect::<Result<Vec<_>, _>>().map_err(list)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(list(error)),
    };
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let names = entries.into_iter().filter(is_file);
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !name.starts_with('.')).collect())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn create(path: &Path, result: io::Result<()>) -> Result<(), InitError> {
    result.map_err(|source| InitError::Create { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use convoke_domain::scaffold::is_scaffold;

    use super::*;

    fn tree(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    // B-20: Convoke's own files are recognised in every form they may take on disk.
    #[test]
    fn the_files_to_write_in_are_scaffold() {
        for (name, text) in FILES.into_iter().filter(|(name, _)| *name != "README.md") {
            assert!(is_scaffold(text), "{name}");
            assert!(is_scaffold(&text.replace('\n', "\r\n")), "{name} with CRLF");
            assert!(!is_scaffold(&format!("{text}\nA word.\n")), "{name} with a word in it");
        }
    }

    #[test]
    fn a_folder_is_created_once_and_never_touched_again() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("deep/design");
        assert!(matches!(init(&dir), Ok(BriefInitOutcome::Created(paths)) if paths.len() == 6));
        let names =
            ["README.md", "research.md", "screenshots", "spec.md", "system.md", "wireframes"];
        assert_eq!(tree(&dir), names);
        fs::write(dir.join("spec.md"), "mine").unwrap();
        assert!(matches!(init(&dir), Ok(BriefInitOutcome::AlreadyInUse)));
        assert_eq!(fs::read_to_string(dir.join("spec.md")).unwrap(), "mine");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_overwritten() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("spec.md");
        fs::write(&path, "mine").unwrap();
        assert_eq!(write_new(&path, "ours").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }

    #[test]
    fn a_name_that_is_taken_by_anything_leaves_nothing_half_made() {
        for name in ["spec.md", "research.md"] {
            let top = tempfile::tempdir().unwrap();
            fs::create_dir(top.path().join(name)).unwrap();
            assert!(matches!(init(top.path()), Ok(BriefInitOutcome::AlreadyInUse)));
            assert_eq!(tree(top.path()), [name]);
        }
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("brief"), "").unwrap();
        assert!(matches!(init(top.path()), Ok(BriefInitOutcome::AlreadyInUse)));
    }

    #[test]
    fn hidden_files_and_folders_do_not_count_as_use() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join(".gitkeep"), "").unwrap();
        fs::create_dir(top.path().join("assets")).unwrap();
        assert!(matches!(init(top.path()), Ok(BriefInitOutcome::Created(_))));
    }

    #[test]
    fn names_of_other_tools_are_refused_and_nothing_is_created() {
        for name in ["tokens.json", "components.json", "import-warnings.json", "brief/BRIEF-1.md"] {
            let top = tempfile::tempdir().unwrap();
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            let before = tree(top.path());
            let error = init(top.path()).unwrap_err();
            assert_eq!(error.to_string(), format!("reserved filename: {name}"));
            assert_eq!(tree(top.path()), before);
        }
    }
}
