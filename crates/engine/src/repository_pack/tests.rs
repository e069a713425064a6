//! Odd repositories, read for a pack.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use convoke_domain::token::Estimate;

use super::*;

fn survey(project: &Path, feature: &str) -> RepositorySurvey {
    let project = project.canonicalize().unwrap();
    RepositorySurvey::new(&project, feature, &SecretRules::load().unwrap())
}

fn write(top: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn git(top: &Path, words: &[&str]) {
    let done = crate::process::command("git", top).args(words).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn outcome<'s>(survey: &'s RepositorySurvey, path: &str) -> Option<&'s Result<String, LeftOut>> {
    survey.files.iter().find(|file| file.path == path).map(|file| &file.text)
}

fn block(survey: &RepositorySurvey, budget: u64) -> String {
    let budget = Budget::new(budget).unwrap();
    let pack = survey.pack(PackLayout::Texts, budget, &Estimate).unwrap();
    assert!(pack.used <= budget.tokens());
    pack.block
}

#[test]
fn an_empty_folder_has_no_files_and_no_past() {
    let top = tempfile::tempdir().unwrap();
    let survey = survey(top.path(), "anything");
    assert!(survey.files.is_empty() && survey.ranked.is_empty());
}

#[test]
fn every_gitignore_holds_with_and_without_a_repository() {
    let top = tempfile::tempdir().unwrap();
    write(top.path(), ".gitignore", "target\n");
    write(top.path(), "target/door.rs", "fn door() {}\n");
    write(top.path(), "inner/.gitignore", "*.log\n");
    write(top.path(), "inner/door.log", "door\n");
    write(top.path(), "inner/door.rs", "fn door() {}\n");
    write(top.path(), ".github/door.yml", "door:\n");
    for is_repository in [false, true] {
        if is_repository {
            git(top.path(), &["init", "-q"]);
        }
        let survey = survey(top.path(), "door");
        let paths: Vec<_> = survey.files.iter().map(|file| file.path.as_str()).collect();
        let expected = [".github/door.yml", ".gitignore", "inner/.gitignore", "inner/door.rs"];
        assert_eq!(paths, expected, "a repository: {is_repository}");
    }
}

#[test]
fn links_lead_nowhere_and_odd_files_give_no_text() {
    let top = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "door.rs", "fn secret_door() {}\n");
    write(top.path(), "real/door.rs", "fn door() {}\n");
    symlink(outside.path().join("door.rs"), top.path().join("door.rs")).unwrap();
    symlink(outside.path(), top.path().join("doors")).unwrap();
    symlink("real/door.rs", top.path().join("inside.rs")).unwrap();
    write(top.path(), "door.bin", b"door\0door");
    write(top.path(), "latin.rs", b"// door \xe9\n");
    write(top.path(), "door.min.js", "var door\n");
    write(top.path(), "Cargo.lock", "door\n");
    write(top.path(), "long.txt", "door ".repeat(2000));
    write(top.path(), "huge.txt", "door\n".repeat(200_000));
    let unnamed = OsStr::from_bytes(b"door-\xff.rs");
    fs::write(top.path().join(unnamed), "fn door() {}\n").unwrap();
    write(top.path(), "two\nlines.rs", "fn door() {}\n");
    let survey = survey(top.path(), "door");
    assert_eq!(survey.unnamed, 2);
    assert!(matches!(outcome(&survey, "real/door.rs"), Some(Ok(_))));
    for path in ["door.rs", "doors", "inside.rs"] {
        assert_eq!(outcome(&survey, path), Some(&Err(LeftOut::Link)), "{path}");
    }
    for path in ["door.bin", "latin.rs", "door.min.js", "Cargo.lock", "long.txt", "huge.txt"] {
        assert!(matches!(outcome(&survey, path), Some(Err(_))), "{path}");
    }
    let block = block(&survey, 2000);
    assert!(block.contains("real/door.rs:1-1"), "{block}");
    assert!(!block.contains("secret_door"), "{block}");
}

// A folder that git tracks can be replaced by a link; its files are then outside.
#[test]
fn a_tracked_folder_that_became_a_link_is_not_followed() {
    let top = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    git(top.path(), &["init", "-q"]);
    write(top.path(), "house/door.rs", "fn door() {}\n");
    git(top.path(), &["add", "-A"]);
    fs::remove_dir_all(top.path().join("house")).unwrap();
    write(outside.path(), "door.rs", "fn secret_door() {}\n");
    symlink(outside.path(), top.path().join("house")).unwrap();
    let survey = survey(top.path(), "door");
    let found = outcome(&survey, "house/door.rs");
    let outside = LeftOut::Unreadable(Unreadable::OutsideDir);
    assert!(found.is_none_or(|text| text.as_ref().err() == Some(&outside)), "{found:?}");
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let top = tempfile::tempdir().unwrap();
    let inner = tempfile::tempdir().unwrap();
    let commit = ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "door"];
    git(inner.path(), &["init", "-q"]);
    write(inner.path(), "door.rs", "fn inner_door() {}\n");
    git(inner.path(), &["add", "-A"]);
    git(inner.path(), &commit);
    git(top.path(), &["init", "-q"]);
    let from = inner.path().display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "lib"];
    git(top.path(), &add);
    let survey = survey(top.path(), "door");
    assert_eq!(outcome(&survey, "lib"), Some(&Err(LeftOut::Submodule)));
    assert!(!block(&survey, 2000).contains("inner_door"));
}

#[test]
fn a_file_with_a_likely_secret_is_left_out_whole() {
    let top = tempfile::tempdir().unwrap();
    let key = ["ghp_", "x7Kq2mZ9pLw4Tn8Rv3Yc6Bd1Hj5Fs0GaQeUi"].concat();
    write(top.path(), "door.rs", format!("fn door() {{\n    key(\"{key}\");\n}}\n"));
    write(top.path(), "other.rs", "fn door_two() {}\n");
    let survey = survey(top.path(), "door");
    assert!(matches!(outcome(&survey, "door.rs"), Some(Err(LeftOut::Secret { line: 2, .. }))));
    for budget in [200, 2000, 20_000] {
        let block = block(&survey, budget);
        assert!(!block.contains(&key[4..]) && !block.contains("door.rs:1"), "{block}");
    }
}

#[test]
fn fifty_thousand_files_are_packed_within_the_budget() {
    let top = tempfile::tempdir().unwrap();
    for folder in 0..50 {
        let folder = top.path().join(format!("part{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            fs::write(folder.join(format!("f{file}.rs")), "fn nothing() {}\n").unwrap();
        }
    }
    write(top.path(), "part7/door.rs", "fn door() {}\n");
    let survey = survey(top.path(), "open the door");
    assert_eq!(survey.files.len(), 50_001);
    let block = block(&survey, 1000);
    assert!(block.contains("part7/door.rs:1-1"), "{block}");
}
