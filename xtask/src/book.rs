//! The documents as one book, built by `mdbook`, and the pages that belong to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::run;
use crate::tools::MDBOOK;
use crate::{Error, root, say};

/// Builds the book in `target/book`, with an `mdbook` of its own that is installed once.
pub fn build() -> Result<(), Error> {
    let mdbook = MDBOOK.path()?;
    let target = root().join("target/book");
    run(&mdbook, &["build", "--dest-dir", &target.display().to_string()])?;
    say(&target.join("index.html").display().to_string());
    Ok(())
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
