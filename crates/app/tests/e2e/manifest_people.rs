//! Bundles as people name and read them, and what scripts say by mistake.

use std::fs;

use serde_json::Value;

use crate::manifest::{finished, read, write};

// People name a bundle by any of its paths, and get a word from the reference.
#[test]
fn people_write_and_read_bundles() {
    let project = finished();
    let written = project.stdout(&["manifest", "write", "--from", "d", "--bundle", "p"]);
    assert!(written.ends_with("/p/design-export/manifest.env"), "{written}");
    for place in ["p", "p/design-export", "p/design-export/manifest.env"] {
        let shown = project.stdout(&["manifest", "read", place]);
        assert!(shown.starts_with("session p, written 2"), "{shown}");
        let shown = project.stdout(&["manifest", "read", place, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&shown["ok"], &shown["files"][0]["key"]), (&true.into(), &"PLAN_FILE".into()));
        assert_eq!(shown["files"].as_array().unwrap().len(), 7);
    }
    fs::remove_file(project.path("p/design-export/oos.md")).unwrap();
    let refused = project.run(&["manifest", "read", "p"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.starts_with("error: cannot use the bundle `p`: path-not-regular\n"),
        "{refused}"
    );
    let refused = project.run(&["manifest", "read", "p", "--json"]);
    let shown: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((refused.code, &shown["error"]), (Some(1), &"path-not-regular".into()));
    fs::remove_file(project.path("d/oos.md")).unwrap();
    let refused = project.run(&["manifest", "write", "--from", "d", "--bundle", "p"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("cannot export `oos.md`: it is missing\nhint: "), "{refused}");
}

// P-340: a variable of a script that is not set names no folder.
#[test]
fn an_empty_word_names_no_folder() {
    let outcome = finished().run(&["plumbing", "manifest-read", "--implement-tmpdir", ""]);
    assert_eq!(outcome.stdout, "MANIFEST_FAILED=true\nERROR=missing-implement-tmpdir\n");
    assert_eq!(outcome.code, Some(0));
}

// P-332: with any session name, the written bundle can be read.
#[test]
fn a_session_with_a_long_name_is_read_again() {
    let project = finished().variable("SESSION_ID", &"a".repeat(70_000));
    assert_eq!(write(&project).code, Some(0));
    let shown = read(&project, &[]).stdout;
    assert!(shown.starts_with("MANIFEST_OK=true\n") && shown.contains("SESSION_ID=aaaa"));
}
