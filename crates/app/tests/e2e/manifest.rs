//! Bundles as scripts and people write and read them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::{Outcome, Project};

/// The files of a bundle, and whether each must not be empty.
const FILES: [(&str, &str, bool); 6] = [
    ("PLAN_FILE", "plan.txt", true),
    ("PLAN_REVIEW_TALLY_FILE", "voting-tally.md", true),
    ("CONTESTED_CRITERIA_FILE", "contested-decisions.md", false),
    ("OOS_FILE", "oos.md", false),
    ("REJECTED_FINDINGS_FILE", "rejected-findings.md", false),
    ("ACCEPTED_PLAN_FINDINGS_FILE", "accepted-plan-findings.md", false),
];

const DIAGRAM: &str = "architecture-diagram.md";

/// A project with a finished design in `d`, and a folder `p` of the calling workflow.
pub(crate) fn finished() -> Project {
    let project = Project::new().file("p/keep", "").file(&format!("d/{DIAGRAM}"), "diagram");
    FILES.iter().fold(project, |project, (_, file, is_filled)| {
        let text = if *is_filled { format!("the {file}\n") } else { String::new() };
        project.file(&format!("d/{file}"), text)
    })
}

pub(crate) fn write(project: &Project) -> Outcome {
    let folders = ["--design-tmpdir", "d", "--implement-tmpdir", "p"];
    project.run(&[&["plumbing", "manifest-write"][..], &folders].concat())
}

pub(crate) fn read(project: &Project, more: &[&str]) -> Outcome {
    let outcome = project
        .run(&[&["plumbing", "manifest-read", "--implement-tmpdir", "p"][..], more].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    outcome
}

#[track_caller]
fn refused(project: &Project, token: &str) {
    let expected = format!("MANIFEST_FAILED=true\nERROR={token}\n");
    assert_eq!(read(project, &["--emit-load-breadcrumb"]).stdout, expected);
}

fn manifest(project: &Project) -> std::path::PathBuf {
    project.path("p/design-export/manifest.env")
}

/// Changes the manifest of a bundle that is in order.
fn changed(change: impl FnOnce(&Project, String) -> String) -> Project {
    let project = finished();
    write(&project);
    let text = fs::read_to_string(manifest(&project)).unwrap();
    let text = change(&project, text);
    fs::write(manifest(&project), text).unwrap();
    project
}

// P-326, P-327, P-330, P-331, P-334, P-338, P-339, T-1, T-2, T-3, T-12
#[test]
fn a_bundle_is_written_and_read() {
    let project = finished();
    let outcome = write(&project);
    let export = project.path("p/design-export").canonicalize().unwrap();
    let export = export.display();
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.stdout, format!("MANIFEST_WRITTEN={export}/manifest.env\n"));
    let text = fs::read_to_string(manifest(&project)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "MANIFEST_VERSION=1");
    for (line, (key, file, _)) in lines[1..].iter().zip(FILES) {
        assert_eq!(*line, format!("{key}={export}/{file}"));
        let copy = fs::read(project.path(&format!("p/design-export/{file}"))).unwrap();
        assert_eq!(copy, fs::read(project.path(&format!("d/{file}"))).unwrap());
    }
    assert_eq!(lines[7], format!("ARCHITECTURE_DIAGRAM_FILE={export}/{DIAGRAM}"));
    let time = lines[8].strip_prefix("TIMESTAMP=").unwrap();
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z");
    assert_eq!((lines[9], lines.len()), ("SESSION_ID=p", 10));
    let accepted = text.replace("MANIFEST_VERSION=1", "MANIFEST_OK=true");
    assert_eq!(read(&project, &[]).stdout, accepted);
    let crumb = "📥 1: design plan — manifest loaded (plan=plan.txt)\n";
    assert_eq!(read(&project, &["--emit-load-breadcrumb"]).stdout, format!("{accepted}{crumb}"));
    // Nothing is left over, neither beside the bundle nor in it.
    assert_eq!(listed(&project, "p"), ["design-export", "keep"]);
    assert_eq!(listed(&project, "p/design-export").len(), FILES.len() + 2);
}

fn listed(project: &Project, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(project.path(folder)).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// P-326
#[test]
fn a_writer_exits_with_2_for_wrong_usage_and_1_without_its_folders() {
    let project = finished();
    for (words, code) in [
        (&["--nonsense"][..], 2),
        (&["--design-tmpdir"], 2),
        (&["--design-tmpdir", ""], 2),
        (&["--design-tmpdir", "d"], 2),
        (&["--implement-tmpdir", "p"], 2),
        (&[], 2),
        (&["--design-tmpdir", "d", "--implement-tmpdir", "nowhere"], 1),
        (&["--design-tmpdir", "nowhere", "--implement-tmpdir", "p"], 1),
        (&["--design-tmpdir", "d/plan.txt", "--implement-tmpdir", "p"], 1),
    ] {
        let outcome = project.run(&[&["plumbing", "manifest-write"], words].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{words:?}");
        assert!(outcome.stderr.starts_with("error: cannot "), "{outcome}");
    }
    assert_eq!(listed(&project, "p"), ["keep"]);
}

// P-326, P-332
#[test]
fn the_environment_can_say_where_and_whose() {
    let project = finished().variable("DESIGN_TMPDIR", "d").variable("IMPLEMENT_TMPDIR", "p");
    let session = |project: &Project| {
        let outcome = project.run(&["plumbing", "manifest-write"]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        let outcome = project.run(&["plumbing", "manifest-read"]);
        outcome.stdout.lines().last().unwrap().to_owned()
    };
    assert_eq!(session(&project), "SESSION_ID=p");
    let project = project.file("p/session-id", "from\r\n-file\n");
    assert_eq!(session(&project), "SESSION_ID=from-file");
    let project = project.variable("SESSION_ID", "said\n\u{1}PLAN_FILE=/etc/passwd");
    assert_eq!(session(&project), "SESSION_ID=saidPLAN_FILE=/etc/passwd");
    let project = project.variable("SESSION_ID", "\u{7f}\t");
    let outcome = project.run(&["plumbing", "manifest-write"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
}

/// Breaks a file of a project.
type Break = fn(&Project, &str);

// P-328, P-329, P-333, T-4, T-11
#[test]
fn what_cannot_be_exported_leaves_the_last_bundle_as_it_was() {
    let wrong: [(&str, Break); 6] = [
        ("is missing", |project, file| fs::remove_file(project.path(file)).unwrap()),
        ("is a symbolic link", |project, file| {
            fs::rename(project.path(file), project.path("d/real")).unwrap();
            symlink("real", project.path(file)).unwrap();
        }),
        ("is a symbolic link", |project, file| {
            fs::remove_file(project.path(file)).unwrap();
            symlink("/etc/hostname", project.path(file)).unwrap();
        }),
        ("is a symbolic link", |project, file| {
            fs::remove_file(project.path(file)).unwrap();
            symlink("nowhere", project.path(file)).unwrap();
        }),
        ("is not a regular file", |project, file| {
            fs::remove_file(project.path(file)).unwrap();
            fs::create_dir(project.path(file)).unwrap();
        }),
        ("is empty", |project, file| fs::write(project.path(file), "").unwrap()),
    ];
    for (why, break_it) in wrong {
        for (_, file, is_filled) in FILES.into_iter().chain([("", DIAGRAM, false)]) {
            let is_fine = match why {
                "is missing" => file == DIAGRAM,
                "is empty" => !is_filled,
                _ => false,
            };
            let project = finished();
            break_it(&project, &format!("d/{file}"));
            let outcome = write(&project);
            assert_eq!(outcome.code, Some(i32::from(!is_fine)), "{file} {why}: {outcome}");
            if is_fine {
                continue;
            }
            let said = format!("error: cannot export `{file}`: it {why}\n");
            assert_eq!(outcome.stderr, said);
            assert_eq!(listed(&project, "p/design-export"), [""; 0]);
            assert_eq!(listed(&project, "p"), ["design-export", "keep"]);
        }
    }
    let project = finished();
    write(&project);
    let before = (project.listing(), fs::read(manifest(&project)).unwrap());
    fs::remove_file(project.path("d/oos.md")).unwrap();
    fs::write(project.path("d/plan.txt"), "another").unwrap();
    assert_eq!(write(&project).code, Some(1));
    fs::write(project.path("d/oos.md"), "").unwrap();
    fs::write(project.path("d/plan.txt"), "the plan.txt\n").unwrap();
    assert_eq!((project.listing(), fs::read(manifest(&project)).unwrap()), before);
}

// P-333: nothing of an older bundle is left, nor of a writer that was killed.
#[test]
fn a_bundle_replaces_the_one_before() {
    let project = finished();
    write(&project);
    fs::remove_file(project.path(&format!("d/{DIAGRAM}"))).unwrap();
    fs::write(project.path("d/plan.txt"), "another").unwrap();
    let project = project
        .file("p/design-export.stage.abcdef/plan.txt", "half")
        .file("p/design-export/manifest.env.tmp.abcdef", "half")
        .file("p/design-export.stage.backup/plan.txt", "mine")
        .file("p/design-export.stage.backup/notes.md", "mine")
        .file("p/design-export.stage.x/plan.txt", "mine");
    assert_eq!(write(&project).code, Some(0));
    let others = ["design-export.stage.backup", "design-export.stage.x", "keep"];
    assert_eq!(listed(&project, "p"), [&["design-export"][..], &others].concat());
    assert_eq!(listed(&project, "p/design-export.stage.backup"), ["notes.md", "plan.txt"]);
    assert_eq!(listed(&project, "p/design-export").len(), FILES.len() + 1);
    let shown = read(&project, &[]).stdout;
    assert!(shown.starts_with("MANIFEST_OK=true\n") && !shown.contains("DIAGRAM"), "{shown}");
    let plan = fs::read_to_string(project.path("p/design-export/plan.txt")).unwrap();
    assert_eq!(plan, "another");
}

#[test]
fn a_bundle_is_not_written_through_a_link_or_into_a_path_that_is_no_line() {
    let project = finished().file("elsewhere/plan.txt", "mine");
    symlink("../elsewhere", project.path("p/design-export")).unwrap();
    assert_eq!(write(&project).code, Some(1));
    assert_eq!(fs::read_to_string(project.path("elsewhere/plan.txt")).unwrap(), "mine");
    let odd = "p\nPLAN_FILE=x";
    fs::create_dir(project.path(odd)).unwrap();
    let words = ["plumbing", "manifest-write", "--design-tmpdir", "d", "--implement-tmpdir", odd];
    let outcome = project.run(&words);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(!project.path(odd).join("design-export/manifest.env").exists());
}

// P-337, P-340, T-14
#[test]
fn a_reader_always_exits_with_0() {
    let project = finished();
    let answer = |words: &[&str]| {
        let outcome = project.run(&[&["plumbing", "manifest-read"], words].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        outcome.stdout
    };
    let failed = |token: &str| format!("MANIFEST_FAILED=true\nERROR={token}\n");
    assert_eq!(answer(&["--nonsense"]), failed("unknown-flag"));
    assert_eq!(answer(&["--implement-tmpdir", "p", "more"]), failed("unknown-flag"));
    assert_eq!(answer(&["--emit-load-breadcrumb"]), failed("missing-implement-tmpdir"));
    assert_eq!(answer(&["--manifest", "x"]), failed("missing-implement-tmpdir"));
    assert_eq!(answer(&["--implement-tmpdir"]), failed("internal-error"));
    assert_eq!(answer(&["--implement-tmpdir", "p"]), failed("manifest-not-found"));
    assert_eq!(answer(&["--implement-tmpdir", "nowhere"]), failed("manifest-not-found"));
    let given = ["--implement-tmpdir", "p", "--manifest", "d/plan.txt"];
    assert_eq!(answer(&given), failed("export-dir-not-found"));
    fs::create_dir_all(manifest(&project)).unwrap();
    assert_eq!(answer(&["--implement-tmpdir", "p"]), failed("manifest-not-found"));
    fs::remove_dir(manifest(&project)).unwrap();
    fs::write(manifest(&project), "").unwrap();
    assert_eq!(answer(&["--implement-tmpdir", "p"]), failed("manifest-not-found"));
}

// P-337: a manifest may be elsewhere; its files may not.
#[test]
fn a_manifest_can_be_named() {
    let project = finished();
    write(&project);
    fs::rename(manifest(&project), project.path("mine.env")).unwrap();
    refused(&project, "manifest-not-found");
    let shown = read(&project, &["--manifest", "mine.env"]).stdout;
    assert!(shown.starts_with("MANIFEST_OK=true\nPLAN_FILE=/"), "{shown}");
}

// P-340, P-341, T-5, T-6, T-7, T-10, T-13, T-15
#[test]
fn lines_that_are_not_in_order_are_refused() {
    let added = |line: &'static str| changed(move |_, text| text + line);
    refused(&added("bad-key=value\n"), "invalid-key");
    refused(&added("\n"), "malformed-line");
    refused(&added("SESSION_ID=\u{1}\n"), "control-char");
    refused(&added("A=\0\n"), "control-char");
    refused(&added("PLAN_FILE=/x\n"), "duplicate-key:PLAN_FILE");
    refused(&changed(|_, text| text.replace("VERSION=1", "VERSION=2")), "unsupported-version");
    refused(&changed(|_, text| text.replace("OOS_FILE", "OOS_FILES")), "missing-oos-file");
    let shown = read(&added("INJECT=$(echo sourced)\n"), &[]).stdout;
    assert!(shown.starts_with("MANIFEST_OK=true\n") && !shown.contains("INJECT"), "{shown}");
    let without = changed(|_, text| {
        let lines: Vec<_> = text.lines().filter(|line| !line.contains("DIAGRAM")).collect();
        lines.join("\n")
    });
    assert!(read(&without, &[]).stdout.starts_with("MANIFEST_OK=true\n"));
}

// P-340, P-342, T-8, T-9
#[test]
fn files_that_are_not_in_order_are_refused() {
    let plan = |path: &'static str| {
        changed(move |project, text| {
            let root = project.root().display().to_string();
            let lines = text.lines().map(|line| match line.strip_prefix("PLAN_FILE=") {
                Some(_) => format!("PLAN_FILE={}\n", path.replace("ROOT", &root)),
                None => format!("{line}\n"),
            });
            lines.collect()
        })
    };
    refused(&plan("p/design-export/plan.txt"), "path-not-absolute");
    refused(&plan("ROOT/d/plan.txt"), "path-escaped-export-dir");
    refused(&plan("ROOT/p/design-export/../keep"), "path-escaped-export-dir");
    refused(&plan("ROOT/p/design-export/nothing"), "path-not-regular");
    refused(&plan("ROOT/p/design-export"), "path-not-regular");
    refused(&plan("ROOT/p/design-export/plan.txt/"), "path-not-regular");
    refused(&plan("ROOT/p/design-export/plan.txt/."), "path-not-regular");
    refused(&plan("/dev/null"), "path-not-regular");
    let around = plan("ROOT/p/../p/./design-export//plan.txt");
    let root = around.root().canonicalize().unwrap();
    let canonical = format!("PLAN_FILE={}/p/design-export/plan.txt\n", root.display());
    assert!(read(&around, &[]).stdout.contains(&canonical));
    for (target, name) in [("oos.md", "link"), ("../../d/plan.txt", "link"), ("nowhere", "link")] {
        let project = plan("ROOT/p/design-export/link");
        symlink(target, project.path("p/design-export").join(name)).unwrap();
        refused(&project, "symlink-rejected");
    }
    // A folder behind a link leads out, too.
    let project = plan("ROOT/p/design-export/folder/plan.txt");
    symlink("../../d", project.path("p/design-export/folder")).unwrap();
    refused(&project, "path-escaped-export-dir");
    // A folder in the folder does not.
    let project =
        plan("ROOT/p/design-export/folder/plan.txt").file("p/design-export/folder/plan.txt", "x");
    assert!(read(&project, &[]).stdout.starts_with("MANIFEST_OK=true\n"));
    for file in ["plan.txt", "voting-tally.md"] {
        let project = changed(|_, text| text);
        fs::write(project.path("p/design-export").join(file), "").unwrap();
        refused(&project, "required-empty");
    }
}

// P-343
#[test]
fn a_manifest_is_no_link_and_each_file_is_one_of_its_own() {
    let project = changed(|_, text| text);
    fs::rename(manifest(&project), project.path("p/design-export/real.env")).unwrap();
    symlink("real.env", manifest(&project)).unwrap();
    refused(&project, "symlink-rejected");
    let project = changed(|_, text| text.replace("/rejected-findings.md", "/oos.md"));
    refused(&project, "duplicate-file:REJECTED_FINDINGS_FILE");
    let project = changed(|_, text| text);
    let tally = project.path("p/design-export/voting-tally.md");
    fs::remove_file(&tally).unwrap();
    fs::hard_link(project.path("p/design-export/plan.txt"), tally).unwrap();
    refused(&project, "duplicate-file:PLAN_REVIEW_TALLY_FILE");
}

#[test]
fn a_manifest_without_end_is_not_read() {
    let project = changed(|_, text| text + "A=" + &"a".repeat(70_000) + "\n");
    refused(&project, "manifest-too-large");
    let project = changed(|_, text| text + &"A=\n".repeat(300));
    refused(&project, "manifest-too-large");
    let pipe = changed(|_, text| text);
    fs::remove_file(manifest(&pipe)).unwrap();
    let mut made =
        pipe.command(std::path::Path::new("/usr/bin/mkfifo"), &["p/design-export/manifest.env"]);
    assert!(made.status().unwrap().success());
    refused(&pipe, "manifest-not-found");
}
