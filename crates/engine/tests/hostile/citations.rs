//! Reviewers' citations, and whether they exist.

use std::fs;
use std::os::unix::fs::symlink;

use convoke_domain::design::citation::{Missing, PlaceFinding, cited_places};
use convoke_engine::design::citations::look_up;

use super::cases::Case;

/// Names every citation that was found, with its result. The project has `src/main.rs` with three
/// lines, `docs/notes.md` and `docs/my notes.md` with one, a binary file, and a link that leads out.
/// Each is read in every form, as runs under `safe` do.
pub(crate) fn verdict(case: &Case) -> String {
    let top = tempfile::tempdir().unwrap();
    let project = top.path().join("project");
    for folder in ["src", "docs"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    fs::write(top.path().join("secret.md"), "a\nb\n").unwrap();
    fs::write(project.join("src/main.rs"), "fn main() {\n    run();\n}\n").unwrap();
    fs::write(project.join("docs/notes.md"), "one").unwrap();
    fs::write(project.join("docs/my notes.md"), "one").unwrap();
    fs::write(project.join("src/image.png"), b"\xff\x00\n").unwrap();
    symlink(top.path().join("secret.md"), project.join("link.md")).unwrap();
    let cited = cited_places(&case.text());
    let looked_up = look_up(&project, &[], &cited);
    let said = cited.iter().map(|cited| {
        let found = looked_up.iter().find(|(known, _)| known.is_about_the_same(cited));
        match found.map(|(_, found)| *found) {
            None => "doubtful".to_owned(),
            Some(PlaceFinding::Holds) => "exists".to_owned(),
            Some(PlaceFinding::Missing(Missing::NoFile)) => "no file".to_owned(),
            Some(PlaceFinding::Missing(Missing::Lines(lines))) => format!("{lines} lines"),
            Some(PlaceFinding::Missing(Missing::Unchecked)) => "unchecked".to_owned(),
            Some(words) => format!("{words:?}"),
        }
    });
    let said: Vec<_> = said.collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}
