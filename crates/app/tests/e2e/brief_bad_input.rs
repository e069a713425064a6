//! `convoke brief` on folders that are not what they should be: the documented result, no panic,
//! nothing written.

use std::fs;

use crate::harness::{Outcome, Project};

const HEADER: &str = "## Design Context (from .moai/design/)\n";

/// Runs the brief, and checks that it succeeded and left the project as it was.
#[track_caller]
fn brief(project: &Project, arguments: &[&str]) -> Outcome {
    let before = project.listing();
    let outcome = project.run(&[&["brief"], arguments].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(project.listing(), before, "something was written");
    outcome
}

/// A project whose `system` will be spoiled, beside a good `spec`.
fn spoiled(make: impl FnOnce(&std::path::Path)) -> Project {
    let project = Project::with_documents(&[("spec", "good")]).design_yaml("{}");
    make(&project.design("system.md"));
    project
}

#[track_caller]
fn check(project: &Project, reason: &str) {
    let outcome = brief(project, &[]);
    let expected = format!(
        "{HEADER}\n> source: .moai/design/spec.md\ngood\n\n> warnings: [system unreadable: {reason}]\n"
    );
    assert_eq!((outcome.stdout, outcome.stderr), (expected, String::new()));
}

// B-18
#[test]
fn a_directory_and_broken_bytes_have_their_reasons() {
    check(&spoiled(|path| fs::create_dir(path).unwrap()), "is a directory");
    check(&spoiled(|path| fs::write(path, b"a\xc3\x28").unwrap()), "invalid utf-8");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_never_opened() {
    let project = spoiled(|_| {});
    let path = project.design("system.md").display().to_string();
    let made = project.command(std::path::Path::new("/usr/bin/mkfifo"), &[&path]).status().unwrap();
    assert!(made.success());
    check(&project, "not a regular file");
}

// B-16
#[cfg(unix)]
#[test]
fn links_out_of_the_folder_and_in_circles_are_refused() {
    use std::os::unix::fs::symlink;

    check(&spoiled(|path| symlink("/etc/passwd", path).unwrap()), "outside dir");
    check(&spoiled(|path| symlink("/dev/zero", path).unwrap()), "outside dir");
    check(&spoiled(|path| symlink("system.md", path).unwrap()), "i/o error");
}

// The file is two gigabytes long and takes no space: reading it would take both.
#[test]
fn a_huge_file_is_not_read() {
    let project = spoiled(|path| fs::File::create(path).unwrap().set_len(2 << 30).unwrap());
    check(&project, "too large");
}

#[test]
fn the_size_limit_is_a_setting() {
    let project = spoiled(|path| fs::write(path, "12345").unwrap())
        .file("convoke.toml", "brief.max_file_bytes = 4");
    check(&project, "too large");
}

// B-13
#[test]
fn a_file_in_place_of_the_folder_is_a_missing_folder() {
    let project = Project::new().design_yaml("{}").file(".moai/design", "a file");
    let outcome = brief(&project, &[]);
    assert_eq!(outcome.stdout, HEADER);
    assert!(outcome.stderr.starts_with("design docs not initialized"));
}

// B-5, B-6: configuration never stops a brief; remarks appear only on request.
#[test]
fn a_broken_configuration_is_remarked_on_only_when_asked() {
    let project = Project::with_documents(&[("spec", "good")])
        .file(".moai/config/sections/design.yaml", "design: [unclosed");
    let outcome = brief(&project, &[]);
    assert!(outcome.stdout.ends_with("good\n"));
    assert_eq!(outcome.stderr, "design_docs not configured — using defaults\n");
    assert!(brief(&project, &["-v"]).stderr.contains("\nnote: config_error: "));

    let project = project.design_yaml("{token_budget: -1, dir: [], priority: 7}");
    let outcome = brief(&project, &["-v"]);
    assert!(outcome.stdout.ends_with("good\n"));
    assert_eq!(
        outcome.stderr,
        "note: config_invalid:dir: `dir` must be a folder on one line; using its default\n\
         note: config_invalid:token_budget: `token_budget` must be a whole number from 1 up; \
         using its default\n\
         note: config_invalid:priority: `priority` must be a list of bare names; \
         using its default\n"
    );
}

// B-7
#[test]
fn a_priority_entry_cannot_leave_the_folder() {
    let project = Project::with_documents(&[("spec", "good")])
        .file("secret.md", "secret")
        .design_yaml("{priority: [../../secret, /etc/passwd, spec]}");
    let outcome = brief(&project, &[]);
    assert_eq!(outcome.stdout, format!("{HEADER}\n> source: .moai/design/spec.md\ngood\n"));
}

#[test]
fn absurd_budgets_are_only_large_or_small() {
    let project = Project::with_documents(&[("spec", "good text\n")]).design_yaml("{}");
    let largest = u64::MAX.to_string();
    assert!(brief(&project, &["--budget", &largest]).stdout.ends_with("good text\n"));
    let smallest = brief(&project, &["--budget", "1"]).stdout;
    assert!(smallest.ends_with("> truncated: spec.md at char_offset=0\n"), "{smallest}");
    for budget in ["0", "-1", "1.5", "many", "99999999999999999999999"] {
        let outcome = project.run(&["brief", "--budget", budget]);
        assert_eq!(outcome.code, Some(2), "{budget}: {outcome}");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_project_is_read() {
    let project = Project::with_documents(&[("spec", "good")]).design_yaml("{}");
    crate::harness::set_mode(&project.root(), 0o555);
    let outcome = project.run_without_rights(&["brief"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stdout.ends_with("good\n"));
    let init = project.run_without_rights(&["brief", "init", "--dir", "new"]);
    crate::harness::set_mode(&project.root(), 0o755);
    assert_eq!(init.code, Some(3), "{init}");
    assert!(init.stderr.contains("cause: Permission denied"), "{init}");
    assert!(init.stderr.contains("hint: "), "{init}");
}

// B-18: a folder that cannot be entered hides what it holds, so every name is a warning.
#[cfg(unix)]
#[test]
fn a_folder_without_rights_is_a_warning_for_every_name() {
    let project = Project::with_documents(&[("spec", "good")]).design_yaml("{}");
    crate::harness::set_mode(&project.path(".moai/design"), 0o000);
    let outcome = project.run_without_rights(&["brief"]);
    crate::harness::set_mode(&project.path(".moai"), 0o000);
    let hidden = project.run_without_rights(&["brief", "-v"]);
    crate::harness::set_mode(&project.path(".moai"), 0o755);
    crate::harness::set_mode(&project.path(".moai/design"), 0o755);
    assert!(outcome.stdout.contains("spec unreadable: permission denied, system unreadable"));
    assert_eq!((hidden.code, hidden.stdout.as_str()), (Some(0), HEADER));
    assert!(hidden.stderr.contains("note: dir_unreadable: "), "{hidden}");
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let text = "word ".repeat(200_000);
    let project = Project::with_documents(&[("spec", &text)]).design_yaml("{}");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["brief", "--budget", "1000000"];
    let mut child = project.command(program, &arguments).spawn().unwrap();
    drop(child.stdout.take());
    let result = child.wait_with_output().unwrap();
    assert_eq!((result.status.code(), result.stderr), (Some(0), vec![]));
}
