//! Programs on the PATH, except those of a project.
//!
//! A relative or empty entry of the PATH depends on the current folder, and Convoke runs in
//! projects that others wrote. So such entries, and those within the project, are skipped.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// The result of a search for a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramSearch {
    /// The program's path.
    pub found: Option<PathBuf>,
    /// Folders of the PATH that have such a program and were skipped.
    pub skipped: Vec<PathBuf>,
}

impl ProgramSearch {
    /// Returns the skipped folders, if nothing was found for that reason.
    pub fn remark(&self) -> Option<String> {
        if self.found.is_some() || self.skipped.is_empty() {
            return None;
        }
        let name = |folder: &PathBuf| match folder.display().to_string() {
            empty if empty.is_empty() => "an empty entry".to_owned(),
            folder => format!("`{folder}`"),
        };
        let named: Vec<_> = self.skipped.iter().map(name).collect();
        Some(format!(
            "Convoke skipped {} of the PATH: it runs no program that the project may contain",
            named.join(", ")
        ))
    }
}

/// Searches a PATH for the first of some programs, leaving out those of the projects around some
/// folders.
pub fn search(path: &OsStr, names: &[&str], folders: &[&Path]) -> ProgramSearch {
    let roots: Vec<_> = folders.iter().flat_map(|folder| roots(folder)).collect();
    let here = folders.first().copied().unwrap_or(Path::new("/"));
    let mut search = ProgramSearch::default();
    for name in names {
        for entry in env::split_paths(path) {
            let place = here.join(&entry).join(name);
            if !is_program(&place) {
                continue;
            }
            if entry.is_absolute() && !is_within(&entry, &roots) && !is_within(&place, &roots) {
                return ProgramSearch { found: Some(place), ..search };
            }
            if !search.skipped.contains(&entry) {
                search.skipped.push(entry);
            }
        }
    }
    search
}

/// Returns a PATH without relative and empty entries, and without those within the projects of some
/// folders.
pub fn outside(path: &OsStr, folders: &[&Path]) -> OsString {
    let roots: Vec<_> = folders.iter().flat_map(|folder| roots(folder)).collect();
    joined(
        env::split_paths(path).filter(|folder| folder.is_absolute() && !is_within(folder, &roots)),
    )
}

/// Returns a PATH without relative and empty entries.
pub fn absolute(path: &OsStr) -> OsString {
    joined(env::split_paths(path).filter(|entry| entry.is_absolute()))
}

/// An entry that came out of a PATH can be put into one again.
fn joined(entries: impl Iterator<Item = PathBuf>) -> OsString {
    env::join_paths(entries).unwrap_or_default()
}

/// Tells whether a path leads to a file that may be run.
pub(crate) fn is_program(place: &Path) -> bool {
    place.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Returns the folders whose programs are a project's: the working tree around a folder, and the
/// folder itself if it is marked as a project. The root of the file system does not count.
fn roots(folder: &Path) -> Vec<PathBuf> {
    let has = |folder: &Path, name: &str| folder.join(name).symlink_metadata().is_ok();
    let of_name = |folder: &PathBuf| {
        let tree = folder.ancestors().find(|root| has(root, ".git"));
        let is_marked = ["convoke.toml", ".moai"].iter().any(|name| has(folder, name));
        let found = [Some(folder.as_path()).filter(|_| is_marked), tree];
        found.into_iter().flatten().map(Path::to_owned).collect::<Vec<_>>()
    };
    let found = true_names(folder).iter().flat_map(of_name).collect::<Vec<_>>();
    found.iter().flat_map(|root| true_names(root)).filter(|root| root.parent().is_some()).collect()
}

/// Returns a folder's absolute names: as it is written, if that leads there, and without links. A
/// relative name, such as `..`, has no parent folders to check.
fn true_names(folder: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let real = absolute.canonicalize().ok();
    let mut found = names(&absolute);
    found.retain(|name| name.is_absolute() && name.canonicalize().ok() == real);
    found.dedup();
    found
}

/// Returns the folder that Convoke was started in.
pub(crate) fn starting_folder() -> Option<PathBuf> {
    Path::new(".").canonicalize().ok()
}

/// Tells whether a path is in one of some folders, or leads into one through links.
fn is_within(path: &Path, roots: &[PathBuf]) -> bool {
    names(path).iter().any(|name| roots.iter().any(|root| name.starts_with(root)))
}

/// Returns a path as it is written, and as it is without links.
fn names(path: &Path) -> Vec<PathBuf> {
    let mut written = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            written.pop();
        } else {
            written.push(part);
        }
    }
    [Some(written), path.canonicalize().ok()].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn program(folder: &Path, mode: u32) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join("tool");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_program_of_the_project_is_never_found() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        let project = at("tree/project");
        fs::create_dir_all(at("tree/.git")).unwrap();
        for name in ["tree/project", "tree/project/bin", "tree/bin", "elsewhere"] {
            program(&at(name), 0o755);
        }
        program(&at("plain"), 0o644);
        symlink(at("tree/bin"), at("linked")).unwrap();
        fs::create_dir_all(at("links")).unwrap();
        symlink(at("tree/bin/tool"), at("links/tool")).unwrap();
        symlink(at("elsewhere"), at("tree/away")).unwrap();
        let find = |path: &str| {
            let path = path.replace("TOP", &top.path().display().to_string());
            let search = search(OsStr::new(&path), &["tool"], &[&project]);
            let short = |path: &PathBuf| {
                path.strip_prefix(top.path()).unwrap_or(path).display().to_string()
            };
            let skipped: Vec<_> = search.skipped.iter().map(short).collect();
            (search.found.as_ref().map(short), skipped.join(" "))
        };
        for (skipped, name) in [
            (".", "."),
            ("", ""),
            ("bin", "bin"),
            ("../bin", "../bin"),
            ("TOP/tree/project/bin", "tree/project/bin"),
            ("TOP/tree/bin", "tree/bin"),
            ("TOP/linked", "linked"),
            ("TOP/links", "links"),
            ("TOP/tree/away", "tree/away"),
            ("TOP/elsewhere/../tree/bin", "elsewhere/../tree/bin"),
        ] {
            let elsewhere = Some("elsewhere/tool".to_owned());
            assert_eq!(find(&format!("{skipped}:TOP/elsewhere")), (elsewhere, name.to_owned()));
            assert_eq!(find(&format!("/none:{skipped}")), (None, name.to_owned()), "{skipped}");
        }
        let (found, _) = find("TOP/tree/project/../../elsewhere");
        assert!(found.is_some(), "`..` leads out of the project");
        assert_eq!(find("TOP/plain:TOP/none"), (None, String::new()), "only programs are run");
    }

    #[test]
    fn the_kept_part_of_a_path_leads_to_no_project() {
        let top = tempfile::tempdir().unwrap();
        let project = top.path().join("project");
        fs::create_dir_all(project.join("bin")).unwrap();
        fs::write(project.join("convoke.toml"), "").unwrap();
        let path = format!(".::bin:/usr/bin:{}:/bin:", project.join("bin").display());
        assert_eq!(outside(OsStr::new(&path), &[&project]), "/usr/bin:/bin");
        let own = format!("/usr/bin:{}:/bin", project.join("bin").display());
        assert_eq!(absolute(OsStr::new(&path)), OsStr::new(&own));
    }

    // A home folder, or the root of a container, may contain programs.
    #[test]
    fn a_folder_that_is_no_project_hides_no_program() {
        let top = tempfile::tempdir().unwrap();
        let found = program(&top.path().join("bin"), 0o755);
        let path = top.path().join("bin").into_os_string();
        assert_eq!(search(&path, &["tool"], &[top.path()]).found, Some(found.clone()));
        assert_eq!(search(&path, &["tool"], &[Path::new("/")]).found, Some(found));
        fs::create_dir(top.path().join(".git")).unwrap();
        assert_eq!(search(&path, &["tool"], &[top.path()]).found, None);
    }

    // The name `..` tells nothing about the folders above it, and without its last part it is a
    // prefix of every path.
    #[test]
    fn a_project_that_is_named_from_elsewhere_is_the_same_project() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        for folder in ["tree/docs/deep", "tree/bin", "usr/bin"] {
            program(&top.join(folder), 0o755);
        }
        fs::create_dir(top.join("tree/.git")).unwrap();
        symlink(top.join("usr/bin"), top.join("tree/away")).unwrap();
        let start = starting_folder().unwrap();
        let up: PathBuf = start.components().skip(1).map(|_| "..").collect();
        let relative = up.join(top.strip_prefix("/").unwrap());
        for name in ["tree", "tree/docs/..", "tree/docs/deep/../..", "tree/away/../../tree/docs"] {
            for project in [top.join(name), relative.join(name)] {
                let find =
                    |entry: &str| search(top.join(entry).as_os_str(), &["tool"], &[&project]).found;
                assert_eq!(find("usr/bin"), Some(top.join("usr/bin/tool")), "{project:?}");
                for own in ["tree/bin", "tree/docs/deep", "tree/away"] {
                    assert_eq!(find(own), None, "{own} of {project:?}");
                }
            }
        }
        for above in ["..", "../..", "../../..", "."] {
            let found = search(top.join("usr/bin").as_os_str(), &["tool"], &[Path::new(above)]);
            assert_eq!(found.found, Some(top.join("usr/bin/tool")), "{above}");
        }
    }

    #[test]
    fn the_remark_names_skipped_programs() {
        let skipped = vec![PathBuf::from("."), PathBuf::new()];
        let search = ProgramSearch { found: None, skipped };
        assert_eq!(
            search.remark().unwrap(),
            "Convoke skipped `.`, an empty entry of the PATH: it runs no program that the project \
             may contain"
        );
        assert_eq!(ProgramSearch { found: Some(PathBuf::from("/x")), ..search }.remark(), None);
        assert_eq!(ProgramSearch::default().remark(), None);
    }
}
