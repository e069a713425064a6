//! What every package for one system is made of.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::project::{LinkedCrate, Project, third_party_licences};
use super::target::Target;
use super::{completions, man_pages};
use crate::{Error, root};

/// The files of all packages for one system.
pub struct Kit<'a> {
    /// What Cargo and git say.
    pub project: &'a Project,
    /// The system.
    pub target: Target,
    /// The programs, the main one first.
    pub programs: Vec<PathBuf>,
    /// One file for each shell, in a folder of their own.
    pub completions: Vec<PathBuf>,
    /// One page for each command.
    pub man_pages: Vec<PathBuf>,
    /// The licences of everything that is linked into the programs.
    pub third_party: String,
    /// A folder for packages to be put together in.
    pub scratch: PathBuf,
}

impl<'a> Kit<'a> {
    /// Gathers everything in a folder of its own, which is made anew.
    pub fn gather(
        project: &'a Project,
        target: Target,
        programs: Vec<PathBuf>,
        linked: &[LinkedCrate],
    ) -> Result<Self, Error> {
        let scratch = root().join("target/tools/packing").join(target.triple);
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        Ok(Self {
            project,
            target,
            programs,
            completions: completions(&scratch.join("completions"))?,
            man_pages: man_pages(&scratch.join("man"))?,
            third_party: third_party_licences(linked)?,
            scratch,
        })
    }

    /// Puts the documents that belong into every package into a folder.
    pub fn add_documents(&self, folder: &Path) -> Result<(), Error> {
        for path in &self.project.licence_files {
            add_file(path, &folder.join(file_name(path)), Mode::Data)?;
        }
        add_text(&self.third_party, &folder.join("THIRD-PARTY-LICENSES.txt"))
    }

    /// Puts the programs into a folder.
    pub fn add_programs(&self, folder: &Path) -> Result<(), Error> {
        let add = |path: &PathBuf| add_file(path, &folder.join(file_name(path)), Mode::Program);
        self.programs.iter().try_for_each(add)
    }

    /// Puts completions and man pages below a folder such as `/usr/share`, where shells and `man`
    /// look for them.
    pub fn add_share(&self, share: &Path) -> Result<(), Error> {
        for path in &self.completions {
            if let Some(place) = completion_place(&file_name(path)) {
                add_file(path, &share.join(place), Mode::Data)?;
            }
        }
        for path in &self.man_pages {
            add_file(path, &share.join("man/man1").join(file_name(path)), Mode::Data)?;
        }
        Ok(())
    }
}

/// Returns where a shell looks for a completion, below `/usr/share`; nothing for a shell without
/// such a place.
fn completion_place(file: &str) -> Option<&'static str> {
    match file {
        "convoke.bash" => Some("bash-completion/completions/convoke"),
        "_convoke" => Some("zsh/vendor-completions/_convoke"),
        "convoke.fish" => Some("fish/vendor_completions.d/convoke.fish"),
        _ => None,
    }
}

/// Who may do what with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every user reads it.
    Data,
    /// Every user reads and runs it.
    Program,
}

/// Copies a file into folders that are made.
pub fn add_file(from: &Path, to: &Path, mode: Mode) -> Result<(), Error> {
    make_parent(to)?;
    fs::copy(from, to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    set_mode(to, mode)
}

/// Writes a text into folders that are made.
pub fn add_text(text: &str, to: &Path) -> Result<(), Error> {
    make_parent(to)?;
    fs::write(to, text)?;
    set_mode(to, Mode::Data)
}

fn make_parent(path: &Path) -> Result<(), Error> {
    Ok(path.parent().map_or(Ok(()), fs::create_dir_all)?)
}

/// Sets who may do what, independent of this machine's habits.
pub fn set_mode(path: &Path, mode: Mode) -> Result<(), Error> {
    let bits = if mode == Mode::Program { 0o755 } else { 0o644 };
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(bits))?)
}

/// Returns the last part of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_completion_goes_where_its_shell_looks() {
        let folder = tempfile::tempdir().unwrap();
        let files = completions(folder.path()).unwrap();
        let places: Vec<_> =
            files.iter().filter_map(|path| completion_place(&file_name(path))).collect();
        assert_eq!(places.len(), 3, "{files:?}");
    }
}
