//! `convoke dispatch init`: a feature's folder and a reviewer to begin with.

use std::fs;

use insta::assert_snapshot;

use crate::harness::Project;

// D-92: the printed commands work with the created files.
#[test]
fn a_project_without_features_gets_one_and_a_reviewer() {
    let project = Project::new().in_repository("main").variable("PATH", "/usr/bin:/bin");
    let made = project.run(&["dispatch", "init", "search"]);
    assert_snapshot!(made, @"
    exit: 0
    --- stdout
    created  docs/features/001-search/spec.md
    created  docs/features/001-search/design.md
    created  docs/features/001-search/plan.md
    created  docs/features/001-search/tasks.md
    created  docs/roles/project-reviewer.md
    created  convoke.toml
    --- stderr
    Write docs/features/001-search/spec.md, and then run:
      convoke dispatch prompt specify/spec-reviewer --feature 001-search
      convoke dispatch run specify/spec-reviewer --feature 001-search --client claude
      convoke dispatch loop review --client claude --changed-since HEAD
    ");
    let roles = project.stdout(&["dispatch", "roles"]);
    assert!(roles.contains("review/project-reviewer"), "{roles}");
    let prompt = ["dispatch", "prompt", "specify/spec-reviewer", "--feature", "001-search"];
    let prompt = project.run(&prompt);
    assert_eq!(prompt.code, Some(0), "{prompt}");
    assert!(prompt.stdout.contains("# Specification"), "{prompt}");
    let review = ["dispatch", "prompt", "review/project-reviewer", "--files", "convoke.toml"];
    let review = project.run(&review);
    assert!(review.stdout.starts_with("Review the changed files by the rules"), "{review}");
}

// D-92: a second call makes nothing more, and a file that exists is never changed.
#[test]
fn nothing_is_ever_overwritten() {
    let project = Project::new()
        .file("convoke.toml", "[brief]\ntoken_budget = 9\n")
        .file("docs/features/004-search/spec.md", "mine\n");
    let made = project.run(&["dispatch", "init", "search"]);
    assert_snapshot!(made, @r#"
    exit: 0
    --- stdout
    created  docs/features/004-search/design.md
    created  docs/features/004-search/plan.md
    created  docs/features/004-search/tasks.md
    created  docs/roles/project-reviewer.md
    kept     docs/features/004-search/spec.md
    kept     convoke.toml
    --- stderr
    note: to use the reviewer, add to convoke.toml:

    [dispatch.roles."review/project-reviewer"]
    diff = true
    rubric = "docs/roles/project-reviewer.md"

    Write docs/features/004-search/spec.md, and then run:
      convoke dispatch prompt specify/spec-reviewer --feature 004-search
      convoke dispatch run specify/spec-reviewer --feature 004-search --client claude
      convoke dispatch loop review --client claude --changed-since HEAD
    "#);
    assert_eq!(
        fs::read_to_string(project.path("docs/features/004-search/spec.md")).unwrap(),
        "mine\n"
    );
    let before = project.listing();
    let again = project.run(&["dispatch", "init", "search", "--json"]);
    assert_eq!(project.listing(), before);
    let report: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&report["created"], &report["feature"]),
        (&serde_json::json!([]), &serde_json::json!("docs/features/004-search"))
    );
}

// D-92
#[cfg(unix)]
#[test]
fn nothing_is_made_outside_of_the_project() {
    let project = Project::new();
    fs::create_dir(project.path("../elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", project.path("docs")).unwrap();
    let refused = project.run(&["dispatch", "init"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("it leads out of the project"), "{refused}");
    assert_eq!(fs::read_dir(project.path("../elsewhere")).unwrap().count(), 0);
    assert_eq!(project.run(&["dispatch", "init", "../x"]).code, Some(2));
}
