//! The documents as one book, built by `mdbook`, and the pages that belong to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{command, run, succeeds};
use crate::{Error, root, say};

/// The release of `mdbook` that the book is built with.
const MDBOOK: &str = "0.5.4";

/// Builds the book in `target/book`, with an `mdbook` of its own that is installed once.
pub fn build() -> Result<(), Error> {
    let mdbook = program()?;
    let target = root().join("target/book");
    run(&mdbook, &["build", "--dest-dir", &target.display().to_string()])?;
    say(&target.join("index.html").display().to_string());
    Ok(())
}

/// Returns `mdbook` of the right release, which is built from crates.io if it is not there.
fn program() -> Result<String, Error> {
    let folder = root().join("target/tools");
    let mdbook = folder.join("bin/mdbook").display().to_string();
    let version = command(&mdbook).arg("--version").output();
    let is_there = version
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim_end().ends_with(MDBOOK));
    if !is_there {
        let folder = folder.display().to_string();
        // `watch` and `serve` bring a web server along, which building does not need.
        run(
            "cargo",
            &[
                "install",
                "mdbook",
                "--version",
                MDBOOK,
                "--locked",
                "--no-default-features",
                "--features",
                "search",
                "--root",
                &folder,
            ],
        )?;
    }
    if succeeds(&mdbook, &["--version"]) {
        Ok(mdbook)
    } else {
        Err(format!("`{mdbook}` does not run").into())
    }
}

/// Returns every Markdown file at or below a folder, in order.
pub fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(markdown_files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
