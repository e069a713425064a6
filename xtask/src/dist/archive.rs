//! The archive: programs, documents, completions and man pages in one folder.

use std::path::{Path, PathBuf};

use super::kit::{Kit, Mode, add_file, file_name};
use crate::process::run;
use crate::{Error, root};

/// The shared name of the archive and of the folder in it; `cargo binstall` looks for it.
pub fn name(version: &str, triple: &str) -> String {
    format!("convoke-{version}-{triple}")
}

/// Writes the archive and returns its path.
pub fn write(kit: &Kit<'_>, packages: &Path) -> Result<PathBuf, Error> {
    let name = name(&kit.project.version, kit.target.triple);
    let folder = kit.scratch.join("archive").join(&name);
    kit.add_programs(&folder)?;
    kit.add_documents(&folder)?;
    for document in ["README.md", "CHANGELOG.md"] {
        add_file(&root().join(document), &folder.join(document), Mode::Data)?;
    }
    for path in &kit.completions {
        add_file(path, &folder.join("completions").join(file_name(path)), Mode::Data)?;
    }
    for path in &kit.man_pages {
        add_file(path, &folder.join("man/man1").join(file_name(path)), Mode::Data)?;
    }
    let archive = packages.join(format!("{name}.tar.xz"));
    let time = format!("--mtime=@{}", kit.project.seconds);
    let (file, parent) =
        (archive.display().to_string(), kit.scratch.join("archive").display().to_string());
    // The same commit gives the same bytes; Apple's `tar` knows none of these words.
    let alike = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", time.as_str()];
    let alike = if cfg!(target_os = "linux") { &alike[..] } else { &[] };
    let pack = ["--create", "--xz", "--file", &file, "--directory", &parent];
    run("tar", &[alike, &pack, &[&name]].concat())?;
    Ok(archive)
}
