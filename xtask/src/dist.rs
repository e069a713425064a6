//! What packagers need: the programs as they are released, and shell completions and man pages from
//! the same source as the help.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use convoke::cli::Cli;

use crate::process::run;
use crate::{Error, root, say};

/// Puts everything into `target/dist`, which is also where Cargo puts what it builds with that
/// profile.
pub fn write() -> Result<(), Error> {
    let packages = ["--package", "convoke", "--package", "convoke-diagram"];
    run("cargo", &[&["build", "--profile", "dist", "--locked"], &packages[..]].concat())?;
    let dir = root().join("target/dist");
    for program in ["convoke", "convoke-guard", "convoke-mcp", "convoke-diagram"] {
        say(&dir.join(program).display().to_string());
    }
    for path in [completions(&dir.join("completions"))?, man_pages(&dir.join("man"))?].concat() {
        say(&path.display().to_string());
    }
    Ok(())
}

/// Writes one file for each shell, and returns their paths.
pub fn completions(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(dir)?;
    let generate =
        |shell: &Shell| clap_complete::generate_to(*shell, &mut Cli::command(), "convoke", dir);
    Ok(Shell::value_variants().iter().map(generate).collect::<Result<_, _>>()?)
}

/// Writes one page for each command, and returns their paths.
pub fn man_pages(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)?;
    let mut pages: Vec<_> = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    pages.sort();
    Ok(pages)
}
