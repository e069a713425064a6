//! Reviewers' citations, and whether they exist.

use std::fs;
use std::os::unix::fs::symlink;

use convoke_domain::design::citation::{Missing, find};
use convoke_engine::design::citations::missing;

use super::cases::Case;

/// Names every citation that was found, with its result. The project has `src/main.rs` with three
/// lines, `docs/notes.md` with one, a binary file, and a link that leads out.
pub(crate) fn verdict(case: &Case) -> String {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("project");
    for folder in ["src", "docs"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    fs::write(top.path().join("secret.md"), "a\nb\n").unwrap();
    fs::write(project.join("src/main.rs"), "fn main() {\n    run();\n}\n").unwrap();
    fs::write(project.join("docs/notes.md"), "one").unwrap();
    fs::write(project.join("src/image.png"), b"\xff\x00\n").unwrap();
    symlink(top.path().join("secret.md"), project.join("link.md")).unwrap();
    let found = find(&case.text());
    let missing = missing(&project, &[], &found);
    let said = found.iter().map(|citation| {
        let why = missing.iter().find(|(known, _)| known == citation).map(|(_, why)| *why);
        match why {
            None if !citation.is_certain() => "doubtful".to_owned(),
            None => "exists".to_owned(),
            Some(Missing::NoFile) => "no file".to_owned(),
            Some(Missing::Lines(lines)) => format!("{lines} lines"),
            Some(Missing::Unchecked) => "unchecked".to_owned(),
        }
    });
    let said: Vec<_> = said.collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}
